//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// person answers what is asked while a command is held.
type person struct {
	mu      sync.Mutex
	asked   []string
	come    chan string                                    // each question
	answer  func(process.Refusal) (string, process.Answer) // nil: waits until the question is withdrawn
	asks    bool                                           // also about changes here
	editors []string                                       // see process.Confine
	gone    chan error                                     // why a question was withdrawn
	scratch *scratch
}

func answering(f func(process.Refusal) (string, process.Answer)) *person {
	return &person{come: make(chan string, 100), answer: f, gone: make(chan error, 100)}
}

func yes(r process.Refusal) (string, process.Answer) { return r.What, process.Allowed }
func no(process.Refusal) (string, process.Answer)    { return "", process.Refused }

func onlyIf(ok bool) process.Answer {
	if ok {
		return process.Allowed
	}
	return process.Refused
}

// list returns what was asked.
func (p *person) list() []string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.asked)
}

func (p *person) hold(ctx context.Context, r process.Refusal) (string, process.Answer) {
	p.mu.Lock()
	p.asked = append(p.asked, r.String())
	p.mu.Unlock()
	p.come <- r.String()
	if p.answer == nil {
		<-ctx.Done()
		p.gone <- context.Cause(ctx)
		return "", process.Refused
	}
	return p.answer(r)
}

// heldRun runs a line in a box with a person.
func heldRun(t *testing.T, b *Box, dir, line string, p *person) (out string, c *Child) {
	t.Helper()
	var buf bytes.Buffer
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Stdout, cmd.Stderr = dir, &buf, &buf
	c = must.Get(b.start(cmd, holding{hold: p.hold, asks: p.asks, editors: p.editors, scratch: p.scratch}))(t)
	_ = c.Wait()
	return buf.String(), c
}

// SPEC 16.14: a call that the grants do not cover waits, and after a yes the same process
// goes on: nothing runs twice, and what was allowed can be read as well.
func TestHeldCallGoesOn(t *testing.T) {
	for _, c := range []struct {
		name, line string // OUT is a folder outside
		opened     string // "" is the path that was asked for
		asked      []string
		out        string
	}{
		{"a new file", "echo once; echo x > OUT/a; cat OUT/a", "", []string{"write OUT/a"}, "once\nx\n"},
		{"appended", "echo a > OUT/old; echo b >> OUT/old; cat OUT/old", "", []string{"write OUT/old"}, "a\nb\n"},
		{"a folder and what is made in it", "mkdir OUT/d && echo x > OUT/d/f && ls OUT/d && cat OUT/d/f", "", []string{"write OUT/d"}, "f\nx\n"},
		{"the folder above", "echo x > OUT/a; echo y > OUT/b; mv OUT/a OUT/c; cat OUT/c OUT/b", "OUT", []string{"write OUT/a"}, "x\ny\n"},
		{"removed", "rm OUT/there; ls OUT", "OUT", []string{"remove OUT/there"}, ""},
		{"chmod", "chmod 600 OUT/there; stat -c %a OUT/there", "", []string{"write OUT/there"}, "600\n"},
		{"truncated", "truncate -s 3 OUT/there; cat OUT/there; echo", "", []string{"write OUT/there"}, "con\n"},
		{"eight children at once", "for i in 1 2 3 4 5 6 7 8; do echo $i > OUT/$i & done; wait; cat OUT/[1-8]", "OUT", nil, "1\n2\n3\n4\n5\n6\n7\n8\n"},
		{"read", "cat OUT/there OUT/there; echo", "", []string{"read OUT/there"}, "contentcontent\n"},
		{"read with the folder above", "cp OUT/there x; ls OUT; cat OUT/there; cat OUT/.env 2>/dev/null || echo no", "OUT", nil, "there\ncontentno\n"},
		{"read up", "mkdir d; cd d; cat ../../other/y", "", nil, "y\n"},
		{"sed in place", "sed -i s/con/CON/ OUT/there; cat OUT/there; echo", "OUT", nil, "CONtent\n"},
		{"a link outside", "ln -s there OUT/l; readlink OUT/l", "OUT", []string{"write OUT/l"}, "there\n"},
		{"read by a relative path in a folder outside", "cd OUT && cat there; echo", "", []string{"read OUT/there"}, "content\n"},
		{"python", `python3 -c 'open("OUT/p", "w").write("py"); print(open("OUT/p").read())'`, "", []string{"write OUT/p"}, "py\n"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, outside := folder(t), folder(t)
			must.Write(t, filepath.Join(outside, "there"), "content")
			for name, text := range map[string]string{outside + "/.env": "K=v\n", filepath.Dir(root) + "/other/y": "y\n"} {
				must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(text), 0o644)))
			}
			at := strings.NewReplacer("OUT", outside)
			p := answering(func(r process.Refusal) (string, process.Answer) {
				if c.opened != "" {
					return at.Replace(c.opened), process.Allowed
				}
				return r.What, process.Allowed
			})
			out, child := heldRun(t, open(t, confine.Workspace, root), root, at.Replace(c.line), p)
			if out != c.out {
				t.Errorf("%q, want %q", out, c.out)
			}
			want := make([]string, len(c.asked))
			for i, a := range c.asked {
				want[i] = at.Replace(a)
			}
			if c.asked != nil && !slices.Equal(p.list(), want) {
				t.Errorf("asked %q, want %q", p.list(), want)
			}
			if r := child.Refused(); len(r) > 0 {
				t.Errorf("refused %v", r)
			}
		})
	}
}

// SPEC 16.14: where changes ask, a command that only reads is not held, and the first change
// of the workspace is one question for all of them, by whatever call it is made.
func TestHeldChangeIsOneQuestion(t *testing.T) {
	for _, line := range []string{
		"echo x > new; echo y > other; mkdir d; mv new d/; ls d", "rm f; ls f 2>&1 | tail -c 1 >&2", "chmod 600 f; touch f", "ln -s f l", "truncate -s 0 f", "mkdir d", "mv f g", "echo >> f", "ln f g",
		"for i in 1 2 3 4 5 6 7 8; do echo $i > $i & done; wait", `python3 -c 'import os; os.utime("f"); os.rename("f", "g")'`,
	} {
		for _, a := range []process.Answer{process.Allowed, process.Refused} {
			root := folder(t)
			must.Do(t, os.WriteFile(filepath.Join(root, "f"), []byte("f"), 0o644))
			p := answering(func(r process.Refusal) (string, process.Answer) { return r.What, a })
			p.asks = true
			look := func() string { return bash(t, nil, root, "find . -printf '%p %s %m %Y\\n' | sort") }
			before := look()
			out, _ := heldRun(t, open(t, confine.Workspace, root), root, "cat f >$TMPDIR/copy; ls; "+line, p)
			if len(p.list()) != 1 || !strings.HasPrefix(p.list()[0], "change "+root+"/") {
				t.Errorf("%s: asked %q", line, p.list())
			}
			if after := look(); (after == before) != (a == process.Refused) {
				t.Errorf("%s, %v: %s\n%s", line, a, after, out)
			}
		}
	}
	p := answering(no)
	p.asks = true
	root := folder(t)
	bash(t, nil, root, "git init -q .; echo a > a; git add a")
	if out, _ := heldRun(t, open(t, confine.Workspace, root), root, "GIT_OPTIONAL_LOCKS=0 git status --short; cat a; ls; echo x > $TMPDIR/x; cat $TMPDIR/x; python3 -c 'print(1)'", p); len(p.list()) > 0 {
		t.Errorf("reading asked %q: %s", p.list(), out)
	}
}

// SPEC 16.14: after a No the call fails, the same access is not asked for again, and the
// refusal is told as if nobody had been there. A yes opens nothing else.
func TestHeldCallFailsAfterNo(t *testing.T) {
	root, outside := folder(t), folder(t)
	p := answering(no)
	out, c := heldRun(t, open(t, confine.Workspace, root), root, "for i in 1 2 3; do echo x > "+outside+"/a; done; echo end", p)
	if len(p.list()) != 1 || strings.Count(out, "Permission denied") < 3 || !strings.HasSuffix(out, "end\n") {
		t.Errorf("asked %q: %s", p.list(), out)
	}
	if r := c.Refused(); len(r) != 1 || r[0].String() != "write "+outside+"/a" {
		t.Errorf("refused %v", r)
	}
	p = answering(func(r process.Refusal) (string, process.Answer) {
		return r.What, onlyIf(strings.HasSuffix(r.What, "/yes"))
	})
	out, _ = heldRun(t, open(t, confine.Workspace, root), root, "cd "+outside+"; echo x > yes; echo x > no; echo x > "+root+"/.git/hooks/x; cat yes /etc/shadow; ls", p)
	if got, err := os.ReadDir(outside); err != nil || len(got) != 1 || got[0].Name() != "yes" {
		t.Errorf("%v %v: %s", got, err, out)
	}
}

// SPEC 16.14: a command that dies while it is held withdraws its question, and none of its
// calls is made later. A handler of a signal runs before the answer.
func TestHeldCommandEnds(t *testing.T) {
	for name, end := range map[string]func(c *Child){
		"killed":  func(c *Child) { _ = syscall.Kill(c.cmd.Process.Pid, syscall.SIGKILL) },
		"ended":   func(c *Child) { c.End() },
		"stopped": func(c *Child) { _ = syscall.Kill(c.cmd.Process.Pid, syscall.SIGTERM) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, outside := folder(t), folder(t)
			p := answering(nil)
			cmd := exec.Command("bash", "-c", "exec touch "+outside+"/a")
			cmd.Dir = root
			c := must.Get(open(t, confine.Workspace, root).start(cmd, holding{hold: p.hold}))(t)
			<-p.come
			end(c)
			_ = c.Wait()
			if why := <-p.gone; !errors.Is(why, process.ErrWithdrawn) {
				t.Errorf("withdrawn: %v", why)
			}
			if _, err := os.Stat(filepath.Join(outside, "a")); err == nil {
				t.Error("the call was made after the end")
			}
		})
	}
	t.Run("a handler", func(t *testing.T) {
		t.Parallel()
		root, outside := folder(t), folder(t)
		p := answering(nil)
		var out bytes.Buffer
		cmd := exec.Command("python3", "-c", `
import signal, sys
def handler(*a): print("handled", flush=True); sys.exit(3)
signal.signal(signal.SIGUSR1, handler)
open("`+outside+`/a", "w")
`)
		cmd.Dir, cmd.Stdout = root, &out
		c := must.Get(open(t, confine.Workspace, root).start(cmd, holding{hold: p.hold}))(t)
		<-p.come
		_ = syscall.Kill(cmd.Process.Pid, syscall.SIGUSR1)
		_ = c.Wait()
		if out.String() != "handled\n" || cmd.ProcessState.ExitCode() != 3 {
			t.Errorf("%q %v", out.String(), cmd.ProcessState)
		}
		if _, err := os.Stat(filepath.Join(outside, "a")); err == nil {
			t.Error("the file was made after the handler")
		}
	})
}

// SPEC 16.14: a signal that a handler deals with does not ask again: the call that comes
// after it waits for the same question.
func TestHeldCallAfterSignal(t *testing.T) {
	root, outside := folder(t), folder(t)
	begun, answer := make(chan struct{}), make(chan struct{})
	p := answering(func(r process.Refusal) (string, process.Answer) {
		close(begun)
		<-answer
		return r.What, process.Allowed
	})
	var out bytes.Buffer
	handled, w, err := os.Pipe()
	must.Do(t, err)
	defer handled.Close()
	cmd := exec.Command("python3", "-c", `
import os, signal
signal.signal(signal.SIGUSR1, lambda *a: os.write(2, b"handled\n"))
open("`+outside+`/a", "w").write("x"); print("made")
`)
	cmd.Dir, cmd.Stdout, cmd.Stderr = root, &out, w
	c, err := open(t, confine.Workspace, root).start(cmd, holding{hold: p.hold})
	_ = w.Close()
	must.Do(t, err)
	<-begun
	_ = syscall.Kill(cmd.Process.Pid, syscall.SIGUSR1)
	if _, err := handled.Read(make([]byte, 100)); err != nil {
		t.Error(err)
	}
	close(answer)
	if err := c.Wait(); err != nil || out.String() != "made\n" || len(p.list()) != 1 {
		t.Errorf("%v %q, asked %q", err, out.String(), p.list())
	}
}

// SPEC 16.14: a server of this machine that is not the sandbox's is connected to after a
// yes, by the address, and refused after a No; so is a host that the proxy is asked for.
func TestHeldConnections(t *testing.T) {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "hello") }))
	defer up.Close()
	at := up.Listener.Addr().String()
	_, port, _ := net.SplitHostPort(at)
	for _, c := range []struct {
		name, line string
		answer     func(process.Refusal) (string, process.Answer)
		asked      []string
		out        string
	}{
		{"a server of this machine", "curl -s http://" + at + "/; curl -s http://" + at + "/", yes, []string{"connect " + at}, "hellohello"},
		{"by its name", "curl -s -4 http://localhost:" + port + "/", yes, []string{"connect " + at}, "hello"},
		{"no", "curl -s http://" + at + "/; echo $?", no, []string{"connect " + at}, "7\n"},
		{"python, which does not block", `python3 -c '
import asyncio
async def main():
    r, w = await asyncio.open_connection("127.0.0.1", ` + port + `)
    w.write(b"GET / HTTP/1.0\r\n\r\n"); print((await r.read())[-5:].decode())
asyncio.run(main())'`, yes, []string{"connect " + at}, "hello\n"},
		{"a host", "curl -s http://good.test/x; curl -s -o /dev/null -w '%{http_code}' https://good.test/ -p; curl -s -d a http://good.test/y", yes, nil, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := folder(t)
			box := open(t, confine.Workspace, root)
			p := answering(c.answer)
			if c.asked == nil { // by the proxy
				box = granted(t, root)
				out, _ := heldRun(t, box, root, "curl -sS http://good.test/x; curl -sS -d a http://good.test/y; curl -s -o /dev/null -w '%{http_code}\n' http://other.test/; curl -sS http://private.test/", answeringHosts(p))
				if out != "GET good.test/x \nPOST good.test/y a\n403\nGET private.test/ \n" {
					t.Errorf("%q", out)
				}
				if got := strings.Join(p.list(), ", "); got != "host good.test, host other.test, host private.test, connect 10.0.0.5" {
					t.Errorf("asked %q", got)
				}
				return
			}
			out, _ := heldRun(t, box, root, c.line, p)
			if out != c.out || !slices.Equal(p.list(), c.asked) {
				t.Errorf("%q, asked %q", out, p.list())
			}
		})
	}
}

func answeringHosts(p *person) *person {
	p.answer = func(r process.Refusal) (string, process.Answer) {
		return r.What, onlyIf(r.What != "other.test")
	}
	return p
}

// SPEC 16.12: commands of two boxes of a session reach each other's servers, and the
// servers of another session are not theirs.
func TestBoxesShareServers(t *testing.T) {
	root := folder(t)
	one, two, other := open(t, confine.Workspace, root), open(t, confine.Workspace, root), open(t, confine.Workspace, root)
	two.share(one)
	var out bytes.Buffer
	cmd := exec.Command("bash", "-c", `python3 -um http.server 0 --bind 127.0.0.1 >log 2>&1`)
	cmd.Dir, cmd.Stdout = root, &out
	c := must.Get(one.start(cmd, holding{}))(t)
	defer func() { c.End(); _ = c.Wait() }()
	port := ""
	for range 400 {
		if b, _ := os.ReadFile(filepath.Join(root, "log")); bytes.Contains(b, []byte("port ")) {
			_, rest, _ := strings.Cut(string(b), "port ")
			port, _, _ = strings.Cut(rest, " ")
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	line := "curl -s -o /dev/null -w '%{http_code}' http://127.0.0.1:" + port + "/"
	if got := bash(t, two, root, line); got != "200" {
		t.Errorf("the other box of the session: %q", got)
	}
	if got := bash(t, other, root, line); strings.HasPrefix(got, "200") {
		t.Errorf("a box of another session: %q", got)
	}
}
