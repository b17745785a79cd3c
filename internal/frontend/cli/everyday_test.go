//go:build ordinary && linux

package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// day is a person's machine in one task: their home, a repository, and what is around it.
type day struct {
	t         *testing.T
	top, home string
	dir       string // the repository
	env       []string
	bodies    func() [][]byte // what the model was sent
}

func (d *day) write(name, text string) { writeFile(d.t, filepath.Join(d.top, name), text) }

// sh runs a line as the person does.
func (d *day) sh(line string) string {
	d.t.Helper()
	cmd := exec.Command("bash", "-c", line)
	cmd.Dir, cmd.Env = d.dir, d.env
	out, err := cmd.CombinedOutput()
	if err != nil {
		d.t.Fatalf("%s: %v\n%s", line, err, out)
	}
	return strings.TrimSpace(string(out))
}

// result is the last result that the model was sent.
func (d *day) result() string {
	b := d.bodies()
	last := b[len(b)-1]
	return string(last[max(bytes.LastIndex(last, []byte(`"tool_result"`)), 0):])
}

func (d *day) holds(name, text string) error {
	got, err := os.ReadFile(filepath.Join(d.top, name))
	if err == nil && !strings.Contains(string(got), text) {
		err = fmt.Errorf("%s holds %q", name, got)
	}
	return err
}

func (d *day) told(want ...string) error {
	for _, w := range want {
		if !strings.Contains(d.result(), w) {
			return fmt.Errorf("the model was told %s", d.result())
		}
	}
	return nil
}

// everyday is a task that many people give an agent each day: the calls that a model makes
// for it, and how a person sees that it happened.
type everyday struct {
	name  string
	ready func(*day) []string // prepares the machine; the tools and arguments of the calls
	live  func(*day) error    // looks before pawl has ended
	after func(*day) error
}

func bashCall(line string, more ...string) []string {
	b, err := json.Marshal(line)
	if err != nil {
		panic(err)
	}
	return []string{"bash", `{"command":` + string(b) + strings.Join(more, "") + `}`}
}

// served answers on all addresses of this machine, as other programs of the person do.
func (d *day) served(h http.HandlerFunc) (port int) {
	l, err := net.Listen("tcp", ":0")
	must.Do(d.t, err)
	srv := httptest.NewUnstartedServer(h)
	_ = srv.Listener.Close()
	srv.Listener = l
	srv.Start()
	d.t.Cleanup(srv.Close)
	return l.Addr().(*net.TCPAddr).Port
}

// elsewhere is an address that stands for another machine.
func (d *day) elsewhere() string {
	all, err := net.InterfaceAddrs()
	must.Do(d.t, err)
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && n.IP.To4() != nil && !n.IP.IsLoopback() {
			return n.IP.String()
		}
	}
	return "127.0.0.2"
}

func hello(w http.ResponseWriter, _ *http.Request) {
	_, _ = io.WriteString(w, "hello from the server\n")
}

// registry serves one npm package and counts what it was asked.
func (d *day) registry() (port int, asked func() []string) {
	d.write("pack/package/package.json", `{"name":"inner-thing","version":"1.0.0"}`)
	d.write("pack/package/index.js", "module.exports = 42\n")
	d.sh("tar czf ../pack.tgz -C ../pack package")
	tar, err := os.ReadFile(filepath.Join(d.top, "pack.tgz"))
	must.Do(d.t, err)
	var mu sync.Mutex
	var paths []string
	port = d.served(func(w http.ResponseWriter, r *http.Request) {
		mu.Lock()
		paths = append(paths, r.URL.Path)
		mu.Unlock()
		switch r.URL.Path {
		case "/inner-thing":
			_, _ = fmt.Fprintf(w, `{"name":"inner-thing","dist-tags":{"latest":"1.0.0"},"versions":{"1.0.0":{"name":"inner-thing","version":"1.0.0","dist":{"tarball":"http://%s/pack.tgz"}}}}`, r.Host)
		case "/pack.tgz":
			_, _ = w.Write(tar)
		default:
			http.NotFound(w, r)
		}
	})
	return port, func() []string { mu.Lock(); defer mu.Unlock(); return paths }
}

// signs makes a key of the person's, for an agent and for commits.
func (d *day) signs() {
	d.sh("mkdir -m 700 ~/.ssh && ssh-keygen -q -t ed25519 -N '' -C me -f ~/.ssh/id_ed25519 && " +
		"echo \"me@example.com $(cat ~/.ssh/id_ed25519.pub)\" > ~/.ssh/allowed && " +
		"git config --global gpg.format ssh && git config --global user.signingkey ~/.ssh/id_ed25519.pub && " +
		"git config --global gpg.ssh.allowedSignersFile ~/.ssh/allowed && git config --global commit.gpgsign true")
	sock := filepath.Join(d.top, "agent")
	agent := exec.Command("ssh-agent", "-D", "-a", sock)
	agent.Env = d.env
	must.Do(d.t, agent.Start())
	d.t.Cleanup(func() { _ = agent.Process.Kill(); _ = agent.Wait() })
	d.env = append(d.env, "SSH_AUTH_SOCK="+sock)
	d.sh("until test -S $SSH_AUTH_SOCK; do :; done; ssh-add -q ~/.ssh/id_ed25519 && mv ~/.ssh/id_ed25519 ~/.ssh/away")
}

const pushed = "git rev-parse HEAD && git --git-dir=../remote.git rev-parse main"

func (d *day) remote(url string) {
	d.sh("git init -q --bare ../remote.git && git branch -qM main && git remote add origin " + url)
}

func (d *day) arrived() error {
	if out := strings.Fields(d.sh(pushed + " || true")); len(out) != 2 || out[0] != out[1] {
		return fmt.Errorf("not pushed: %s; %s", out, d.result())
	}
	return nil
}

var everydays = []everyday{
	{
		"edit a file", func(d *day) []string {
			return []string{"edit", `{"path":"a.go","old":"return 1","new":"return 2"}`}
		}, nil, func(d *day) error { return d.holds("w/a.go", "return 2") },
	},
	{
		"run the tests", func(d *day) []string { return bashCall("go test ./...") }, nil,
		func(d *day) error { return d.told("ok", "exit code 0") },
	},
	{
		"commit", func(d *day) []string {
			d.write("w/b.txt", "b\n")
			return bashCall("git add b.txt && git commit -qm two")
		}, nil, func(d *day) error {
			if out := d.sh("git log --format=%s; git status --short"); out != "two\none" {
				return errors.New(out)
			}
			return nil
		},
	},
	{
		"commit, signed over ssh", func(d *day) []string {
			d.signs()
			d.write("w/b.txt", "b\n")
			return bashCall("git add b.txt && git commit -qm two")
		}, nil, func(d *day) error {
			if out := d.sh("git log -1 --format=%s%G?; git status --short"); out != "twoG" {
				return fmt.Errorf("%s; %s", out, d.result())
			}
			return nil
		},
	},
	{
		"install a package", func(d *day) []string {
			port, asked := d.registry()
			d.write(".npmrc", fmt.Sprintf("registry=http://127.0.0.1:%d/\n//127.0.0.1:%d/:_authToken=npm_0123456789abcdefghijklmnopqrstuvwxyz\n", port, port))
			d.write("w/package.json", `{"name":"a","version":"1.0.0"}`)
			d.t.Cleanup(func() { d.t.Log("registry: ", asked()) })
			return bashCall("npm install --no-audit --no-fund inner-thing")
		}, nil, func(d *day) error {
			return errors.Join(d.holds("w/node_modules/inner-thing/index.js", "42"), d.told("added 1 package"))
		},
	},
	{
		"curl one's own server", func(d *day) []string {
			return bashCall(fmt.Sprintf("curl http://127.0.0.1:%d/", d.served(hello)))
		}, nil, func(d *day) error { return d.told("hello from the server") },
	},
	{
		"curl -s another host", func(d *day) []string {
			return bashCall(fmt.Sprintf("curl -s http://%s:%d/", d.elsewhere(), d.served(hello)))
		}, nil, func(d *day) error { return d.told("hello from the server") },
	},
	{
		"rm -rf an ignored folder, and undo", func(d *day) []string {
			d.write("w/.gitignore", "build/\n")
			d.write("w/build/deep/out.bin", "built\n")
			return bashCall("rm -rf build")
		}, func(d *day) error {
			if _, err := os.Stat(filepath.Join(d.dir, "build")); err == nil {
				return errors.New("it is still there")
			}
			return nil
		}, func(d *day) error {
			cmd := exec.Command(d.env[0][len("PAWL="):], "undo", "--yes")
			cmd.Dir, cmd.Env = d.dir, d.env
			out, err := cmd.CombinedOutput()
			if held := d.holds("w/build/deep/out.bin", "built"); held != nil {
				return fmt.Errorf("%w; undo: %w %s", held, err, out)
			}
			return nil
		},
	},
	{
		"a dev server, fetched from outside", func(d *day) []string {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			must.Do(d.t, err)
			port := l.Addr().(*net.TCPAddr).Port
			_ = l.Close()
			d.env = append(d.env, fmt.Sprintf("DEV=http://127.0.0.1:%d/a.go", port))
			return append(bashCall(fmt.Sprintf("python3 -m http.server %d", port), `,"background":true`),
				bashCall(fmt.Sprintf("until curl -sf http://127.0.0.1:%d/a.go; do sleep 0.1; done", port))...)
		}, func(d *day) error {
			if out := d.sh("curl -s $DEV || true"); !strings.Contains(out, "package a") {
				return fmt.Errorf("outside sees %q; %s", out, d.result())
			}
			return nil
		}, nil,
	},
	{
		"append to a file outside", func(d *day) []string {
			d.write("notes/todo.txt", "one\n")
			return bashCall("echo two >> ../notes/todo.txt")
		}, nil, func(d *day) error { return d.holds("notes/todo.txt", "one\ntwo\n") },
	},
	{
		"read .env, masked", func(d *day) []string {
			d.write("w/.env", "PORT=8080\nDB_PASSWORD=Tr0ub4dor-and-3-more\n")
			return append([]string{"read", `{"path":".env"}`}, bashCall("cat .env")...)
		}, nil, func(d *day) error {
			for _, b := range d.bodies() {
				if bytes.Contains(b, []byte("Tr0ub4dor")) {
					return errors.New("the value was shown")
				}
			}
			return d.told("PORT=8080", "DB_PASSWORD=")
		},
	},
	{
		"push by path", func(d *day) []string {
			d.remote("../remote.git")
			return bashCall("git push -q origin main")
		}, nil, (*day).arrived,
	},
	{
		"push over ssh", func(d *day) []string {
			// A program in place of ssh that, as ssh does, needs the person's key and runs the
			// other side.
			d.remote("git@git.example.com:" + filepath.Join(d.top, "remote.git"))
			d.write(".ssh/id_ed25519", "the key\n")
			d.write("bin/ssh", "#!/bin/sh\nkey=$(cat \"$HOME/.ssh/id_ed25519\") || exit 255\n[ \"$key\" = 'the key' ] || exit 255\nfor last; do :; done\nexec sh -c \"$last\"\n")
			d.sh("chmod +x ~/bin/ssh")
			return bashCall("git push -q origin main")
		}, nil, (*day).arrived,
	},
	{
		"scratch files in /tmp", func(d *day) []string {
			name := "/tmp/" + filepath.Base(d.top)
			d.t.Cleanup(func() { _ = os.RemoveAll(name + ".log"); _ = os.RemoveAll(name + ".moved") })
			d.write("others", "not yours\n")
			return append(append(append(bashCall("echo scratched > "+name+".log && grep scratched "+name+".log"),
				"read", `{"path":"`+name+`.log"}`), "grep", `{"pattern":"scratched","path":"`+name+`.log"}`),
				bashCall("mv "+name+".log "+name+".moved && cat "+name+".moved && rm "+name+".moved && echo gone")...)
		}, nil, func(d *day) error {
			if left, _ := filepath.Glob("/tmp/" + filepath.Base(d.top) + ".*"); len(left) > 0 {
				return fmt.Errorf("left: %s; %s", left, d.result())
			}
			for _, b := range d.bodies()[1:] {
				if bytes.Count(b, []byte("scratched")) < 2 {
					return fmt.Errorf("told %s", b)
				}
			}
			return d.told("scratched", "gone")
		},
	},
	{
		"read the standard library and a module", func(d *day) []string {
			d.write("go/pkg/mod/example.com/m@v1.0.0/m.go", "package m // a module\n")
			root := d.sh("go env GOROOT")
			return append([]string{"read", `{"path":"` + root + `/src/errors/errors.go"}`, "grep", `{"pattern":"a module","path":"` + d.home + `/go/pkg/mod/example.com/m@v1.0.0"}`},
				bashCall("head -3 "+root+"/src/errors/errors.go && cat ~/go/pkg/mod/example.com/m@v1.0.0/m.go")...)
		}, nil, func(d *day) error { return d.told("The Go Authors", "package m") },
	},
}

// SPEC 16.14, 16.15, 16.18: everyday tasks work after each question was answered yes once,
// and few are asked. Issue 24, Proof.
func TestEverydayTasks(t *testing.T) {
	bin := pawlProgram(t)
	folders, err := goFolders()
	must.Do(t, err)
	for mode, most := range map[string]int{"ask": 12, "auto": 7} {
		t.Run(mode, func(t *testing.T) {
			var table strings.Builder
			asked, worked := 0, 0
			for _, task := range everydays {
				t.Run(task.name, func(t *testing.T) {
					n, silent, err := live(t, bin, folders, mode, task)
					asked += n
					word := "works"
					if err != nil {
						word = "FAILS: " + fmt.Sprintf("%.300s", strings.ReplaceAll(err.Error(), "\n", " "))
						t.Error(err)
					} else {
						worked++
					}
					if silent > time.Minute {
						t.Errorf("silent for %s", silent)
					}
					fmt.Fprintf(&table, "%-40s %2d asked  %4.1fs silent  %s\n", task.name, n, silent.Seconds(), word)
				})
			}
			t.Logf("mode %s: %d asked, %d of %d work\n%s", mode, asked, worked, len(everydays), table.String())
			if asked > most {
				t.Errorf("%d questions, at most %d", asked, most)
			}
		})
	}
}

// live plays one task on a terminal, answers each question yes, and looks. It returns the
// number of questions and the longest time without a sign of life.
func live(t *testing.T, bin string, folders map[string]string, mode string, task everyday) (asked int, silent time.Duration, err error) {
	top, err := os.MkdirTemp("/var/tmp", "everyday-") // /tmp is the subject of one of them
	must.Do(t, err)
	t.Cleanup(func() { _ = exec.Command("chmod", "-R", "u+w", top).Run(); _ = os.RemoveAll(top) })
	d := &day{t: t, top: top, home: top, dir: filepath.Join(top, "w")}
	d.env = []string{
		"PAWL=" + bin, "HOME=" + d.home, "PATH=" + filepath.Join(d.home, "bin") + ":" + os.Getenv("PATH"), "GOCACHE=" + folders["GOCACHE"], "GOFLAGS=-modcacherw",
		"TERM=xterm-256color", "PAWL_MODEL=anthropic/claude-script", "ANTHROPIC_API_KEY=sk-ant-test-0000000000000000",
	}
	d.write(".gitconfig", "[user]\n\tname = me\n\temail = me@example.com\n[init]\n\tdefaultBranch = main\n")
	d.write("w/go.mod", "module example.com/a\n\ngo 1.22\n")
	d.write("w/a.go", "package a\n\nfunc One() int {\n\treturn 1\n}\n")
	d.write("w/a_test.go", "package a\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) {\n\tif One() < 1 {\n\t\tt.Fatal()\n\t}\n}\n")
	d.sh("git init -q && git add . && git commit -qm one")
	calls := task.ready(d)
	var lived error
	web := &llmtest.Server{}
	web.Reply = func(n int, _ []byte) llmtest.Turn {
		switch {
		case 2*n < len(calls):
			return llmtest.Use(calls[2*n : 2*n+2]...)
		case 2*n == len(calls) && task.live != nil:
			lived = task.live(d)
		}
		return llmtest.Say("all is done now")
	}
	d.bodies = web.Bodies
	srv := httptest.NewServer(web)
	defer srv.Close()
	d.env = append(d.env, "ANTHROPIC_BASE_URL="+srv.URL)
	d.sh("$PAWL trust --yes </dev/null >/dev/null 2>&1 || true")

	cmd := exec.Command(bin, "--plain", "--permission-mode", mode)
	cmd.Dir, cmd.Env = d.dir, d.env
	x := onTerminalAs(t, cmd, d.home)
	x.expect("> ")
	x.send("do it\r")
	last := time.Now()
	for late := time.After(patient); !strings.Contains(x.text(), "model repl"); {
		select {
		case <-x.more:
			silent, last = max(silent, time.Since(last)), time.Now()
			if n := strings.Count(x.text(), question); n > asked {
				asked = n
				x.send("y\r")
			}
		case <-late:
			return asked, time.Since(last), fmt.Errorf("it does not end: %s", x.text())
		}
	}
	x.send("\x04")
	x.ended(0)
	t.Log(x.text())
	if lived != nil || task.after == nil {
		return asked, silent, lived
	}
	return asked, silent, task.after(d)
}
