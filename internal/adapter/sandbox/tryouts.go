//go:build unix

package sandbox

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
)

// TryWord is the first argument of pawl that makes it the program that tries a
// sandbox from the inside, before the task.
const TryWord = "__try-sandbox"

// task is what the program tries, in a place that was made for it.
type task struct {
	Work, Keys, Outside string
	TCP, TCP6, Unix     string // servers outside
	Parent, Other       int    // processes outside; Other is in a sandbox of its own
	Write               bool   // the level allows changes of the workspace
}

// tried is the result of a try, a line of the program's output.
type tried struct {
	Name string `json:"name"`
	Err  string `json:"err,omitempty"` // "": it succeeded
	Left int    `json:"left,omitempty"`
}

// tryOut is something that a command does in a sandbox: what must work, or what
// must be refused for a promise to hold.
type tryOut struct {
	promise, name string
	works         bool // else it must be refused
	level         byte // 'w': only where changes are allowed, 'r': only where not
	do            func(task) error
}

// errNoEffect is the end of a try that went through and did no harm.
var errNoEffect = errors.New("nothing came of it")

// Try makes the tries of a task and prints what came of them. Then it leaves a
// process behind and ends with its input. It returns the exit code.
func Try(words string, in io.Reader, out io.Writer) int {
	var t task
	if err := json.Unmarshal([]byte(words), &t); err != nil {
		if words == "stay" {
			_, _ = io.Copy(io.Discard, in)
			return 0
		}
		return 2
	}
	send := json.NewEncoder(out)
	for _, o := range tryOuts(systemTries()) {
		if o.applies(t) {
			r := tried{Name: o.promise + ": " + o.name}
			if err := o.do(t); err != nil {
				r.Err = err.Error()
			}
			_ = send.Encode(r)
		}
	}
	left, err := leave()
	if err != nil {
		_ = send.Encode(tried{Name: "leave", Err: err.Error()})
		return 1
	}
	_ = send.Encode(tried{Left: left})
	_, _ = io.Copy(io.Discard, in)
	return 0
}

// leave starts a process in a session of its own that waits for good.
func leave() (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	r, w, err := os.Pipe() // its input ends with w, which it has itself
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, TryWord, "stay")
	cmd.Stdin, cmd.ExtraFiles, cmd.SysProcAttr = r, []*os.File{w}, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	return cmd.Process.Pid, nil
}

func (o tryOut) applies(t task) bool {
	return o.level == 0 || o.level == 'w' && t.Write || o.level == 'r' && !t.Write
}

func put(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("tried")
	return errors.Join(err, f.Close())
}

func get(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && len(b) == 0 {
		return errNoEffect
	}
	return err
}

// there moves something, and back, so that further tries find it.
func there(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	_ = os.Rename(to, from)
	return nil
}

// The names of protected files by which they are tried: as they are, and as a
// file system that folds names may take them.
var protectedTries = []struct{ try, is string }{
	{".git/hooks/pre-commit", ".git/hooks/pre-commit"}, {".GIT/hooks/pre-commit", ".git/hooks/pre-commit"}, {".git/HOOKS/post-commit", ".git/hooks/post-commit"},
	{".git/config", ".git/config"}, {".Git/Config", ".git/config"}, {".git/config.lock", ".git/config.lock"}, {".git/info/attributes", ".git/info/attributes"},
	{".git/objects/info/alternates", ".git/objects/info/alternates"}, {".git/objects/info/Alternates", ".git/objects/info/alternates"},
	{"AGENTS.md", "AGENTS.md"}, {"agents.MD", "AGENTS.md"}, {"AGENT\u017f.md", "AGENTS.md"}, {"CLAUDE.md", "CLAUDE.md"}, {"sub/deep/claude.md", "sub/deep/CLAUDE.md"},
	{".pawl/config.json", ".pawl/config.json"}, {".claude/settings.json", ".claude/settings.json"}, {".vscode/tasks.json", ".vscode/tasks.json"},
	{".v\u017fcode/tasks.json", ".vscode/tasks.json"}, {".mcp.json", ".mcp.json"}, {".envrc", ".envrc"}, {".gitmodules", ".gitmodules"},
	{"sub/.git/config", "sub/.git/config"}, {"bare/HEAD", "bare/HEAD"}, {"bare/head", "bare/HEAD"},
}

func tryOuts(own []tryOut) []tryOut {
	at := func(t task, name string) string { return filepath.Join(t.Work, filepath.FromSlash(name)) }
	temp := func(name string) string { return filepath.Join(os.TempDir(), name) }
	var out []tryOut
	add := func(o tryOut) { out = append(out, o) }
	works := func(name string, level byte, do func(task) error) {
		add(tryOut{"commands work in the workspace", name, true, level, do})
	}
	works("read", 0, func(t task) error { return get(at(t, "free")) })
	works("run a program", 0, func(task) error { return exec.Command("/bin/sh", "-c", ":").Run() })
	works("write to the null device", 0, func(task) error { return put(os.DevNull) })
	works("write", 'w', func(t task) error { return put(at(t, "new")) })
	works("make, move and remove", 'w', func(t task) error {
		return errors.Join(os.MkdirAll(at(t, "d/e"), 0o700), os.Rename(at(t, "d"), at(t, "f")), os.RemoveAll(at(t, "f")))
	})
	works("write by a program", 'w', func(t task) error { return exec.Command("/bin/sh", "-c", `echo >"$0"`, at(t, "by-sh")).Run() })
	works("write as git does", 'w', func(t task) error {
		return errors.Join(put(at(t, ".git/index.lock")), os.Rename(at(t, ".git/index.lock"), at(t, ".git/index")), os.MkdirAll(at(t, ".git/objects/ab"), 0o700),
			put(at(t, ".git/objects/ab/cd")), put(at(t, ".git/HEAD.lock")), os.Rename(at(t, ".git/HEAD.lock"), at(t, ".git/HEAD")))
	})
	works("write to the temporary folder", 'w', func(task) error { return put(temp("new")) })

	outside := func(name string, do func(task) error) {
		add(tryOut{"no write outside", name, false, 0, do})
	}
	outside("create", func(t task) error { return put(filepath.Join(t.Outside, "new")) })
	outside("write", func(t task) error { return put(filepath.Join(t.Outside, "file")) })
	outside("make a folder", func(t task) error { return os.Mkdir(filepath.Join(t.Outside, "dir"), 0o700) })
	outside("truncate", func(t task) error { return os.Truncate(filepath.Join(t.Outside, "file"), 1) })
	outside("chmod", func(t task) error { return os.Chmod(filepath.Join(t.Outside, "file"), 0o644) })
	outside("remove", func(t task) error { return os.Remove(filepath.Join(t.Outside, "old")) })
	outside("write to a key", func(t task) error { return put(filepath.Join(t.Keys, "id")) })
	outside("move in", func(t task) error { return os.Rename(filepath.Join(t.Outside, "moved"), at(t, "moved")) })
	outside("move out", func(t task) error { return os.Rename(at(t, "free2"), filepath.Join(t.Outside, "out")) })
	outside("link in", func(t task) error { return os.Link(filepath.Join(t.Outside, "file"), at(t, "linked")) })
	outside("link to", func(t task) error { return os.Symlink("/", filepath.Join(t.Outside, "link")) })
	outside("through a link", func(t task) error { return put(at(t, "to-outside/through")) }) // made beforehand
	outside("the folder above", func(t task) error { return there(t.Work, t.Work+"-moved") })
	add(tryOut{"read-only commands change nothing", "write in the workspace", false, 'r', func(t task) error { return put(at(t, "new")) }})
	add(tryOut{"read-only commands change nothing", "write to the temporary folder", false, 'r', func(task) error { return put(temp("pawl-tried")) }})
	add(tryOut{"read-only commands change nothing", "remove in the workspace", false, 'r', func(t task) error { return os.Remove(at(t, "free2")) }})

	protects := func(name string, do func(task) error) {
		add(tryOut{"protected files stay", name, false, 'w', do})
	}
	for _, p := range protectedTries {
		protects("write "+p.try, func(t task) error {
			_ = os.MkdirAll(filepath.Dir(at(t, p.try)), 0o700) // refused is as good
			if err := put(at(t, p.try)); err != nil {
				return err
			}
			return sameFile(at(t, p.try), at(t, p.is))
		})
	}
	protects("move a file onto one", func(t task) error { return os.Rename(at(t, "new"), at(t, ".git/config")) })
	protects("move the .git away", func(t task) error { return there(at(t, ".git"), at(t, "g")) })
	protects("move a hook's folder away", func(t task) error { return there(at(t, ".git/hooks"), at(t, "h")) })
	protects("chmod", func(t task) error { return os.Chmod(at(t, ".git/config"), 0o666) })
	protects("a second name", func(t task) error {
		if err := os.Link(at(t, "AGENTS.md"), at(t, "second")); err != nil {
			return err
		}
		return put(at(t, "second"))
	})
	protects("a link in the .git", func(t task) error { return os.Symlink(filepath.Join(t.Outside, "file"), at(t, ".git/COMMIT_EDITMSG")) })
	protects("a link named as one", func(t task) error { return os.Symlink(t.Outside, at(t, "sub/.claude")) })
	protects("a repository that is made elsewhere and moved in", func(t task) error {
		_ = os.MkdirAll(temp("made/.git/hooks"), 0o700)
		_ = put(temp("made/.git/hooks/pre-commit"))
		_ = os.Rename(temp("made"), at(t, "made"))
		return get(at(t, "made/.git/hooks/pre-commit"))
	})
	protects("instructions that are made elsewhere and moved in", func(t task) error {
		_ = os.MkdirAll(temp("told"), 0o700)
		_ = put(temp("told/AGENTS.md"))
		_ = os.Rename(temp("told"), at(t, "told"))
		return get(at(t, "told/AGENTS.md"))
	})

	protects("remove", func(t task) error { return os.Remove(at(t, "AGENTS.md")) })

	reads := func(name string, do func(task) error) { add(tryOut{"no read of a key", name, false, 0, do}) }
	reads("read", func(t task) error { return get(filepath.Join(t.Keys, "id")) })
	reads("through a link", func(t task) error { return get(at(t, "to-keys/id")) })
	reads("list", func(t task) error { _, err := os.ReadDir(t.Keys); return err })
	reads("read by a program", func(t task) error { return exec.Command("/bin/cat", filepath.Join(t.Keys, "id")).Run() })
	reads("a file that is nobody's business", func(t task) error { return get(filepath.Join(t.Outside, "file")) })
	reads("copy", func(t task) error {
		return exec.Command("/bin/cp", filepath.Join(t.Keys, "id"), at(t, "copied")).Run()
	})
	reads("the environment of a process outside", func(t task) error { return get(fmt.Sprintf("/proc/%d/environ", t.Parent)) })

	net := func(name string, do func(task) error) { add(tryOut{"no network", name, false, 0, do}) }
	net("tcp", func(t task) error { return dial("tcp4", t.TCP) })
	net("tcp over IPv6", func(t task) error { return dial("tcp6", t.TCP6) })
	net("udp", func(t task) error { return dial("udp4", t.TCP) })
	net("a unix socket", func(t task) error { return dial("unix", t.Unix) })
	signals := func(name string, do func(task) error) {
		add(tryOut{"no signal to processes outside", name, false, 0, do})
	}
	// One that does nothing where it arrives, and not 0, which may not be judged.
	signals("to pawl", func(t task) error { return syscall.Kill(t.Parent, syscall.SIGURG) })
	signals("into another sandbox", func(t task) error { return syscall.Kill(t.Other, syscall.SIGURG) })
	return append(out, own...)
}

// sameFile returns nil if both names lead to one file.
func sameFile(a, b string) error {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil && !os.SameFile(x, y) || errY != nil {
		return errNoEffect
	}
	return errX
}

// dial connects and sends something.
func dial(network, address string) error {
	if address == "" {
		return errNoEffect // this machine has none
	}
	c, err := net.Dial(network, address)
	if err != nil {
		return err
	}
	defer c.Close()
	_, err = c.Write([]byte("tried"))
	return err
}
