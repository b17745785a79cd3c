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

// TryArgument is the first argument that makes pawl run the tests of a sandbox, from the
// inside. The targets follow as JSON.
const TryArgument = "__try-sandbox"

// targets are what the tests use, made for them outside the sandbox.
type targets struct {
	Work, Keys, Outside string
	TCP, TCP6, Unix     string // servers outside
	Parent, Other       int    // processes outside; Other is in another sandbox
	Write               bool   // the level allows changes of the workspace
}

// testResult is the result of a test, a line of the program's output. The last line has
// only Left, the process that is left behind.
type testResult struct {
	Name string `json:"name"`
	Err  string `json:"err,omitempty"` // "": it succeeded
	Left int    `json:"left,omitempty"`
}

// selfTest is something that a command does in a sandbox. It must work, or must be
// refused for a promise to hold.
type selfTest struct {
	promise, name string
	mustWork      bool // else it must be refused
	level         byte // 'w': only where changes are allowed, 'r': only where not
	do            func(targets) error
}

// errNoEffect is the result of a test that was not refused, but had no effect.
var errNoEffect = errors.New("nothing came of it")

// Try runs the tests with the targets in arg, and prints their results. Then it leaves a
// process behind and waits for the end of in. It returns the exit code.
func Try(arg string, in io.Reader, out io.Writer) int {
	var t targets
	if err := json.Unmarshal([]byte(arg), &t); err != nil {
		if arg == "stay" {
			_, _ = io.Copy(io.Discard, in)
			return 0
		}
		return 2
	}
	send := json.NewEncoder(out)
	for _, o := range selfTests(systemSelfTests()) {
		if o.applies(t) {
			r := testResult{Name: o.promise + ": " + o.name}
			if err := o.do(t); err != nil {
				r.Err = err.Error()
			}
			_ = send.Encode(r)
		}
	}
	left, err := leaveProcess()
	if err != nil {
		_ = send.Encode(testResult{Name: "leave", Err: err.Error()})
		return 1
	}
	_ = send.Encode(testResult{Left: left})
	_, _ = io.Copy(io.Discard, in)
	return 0
}

// leaveProcess starts a process in a session of its own that does not end by itself.
func leaveProcess() (pid int, err error) {
	self, err := os.Executable()
	if err != nil {
		return 0, err
	}
	r, w, err := os.Pipe() // the process has both ends, so its input never ends
	if err != nil {
		return 0, err
	}
	cmd := exec.Command(self, TryArgument, "stay")
	cmd.Stdin, cmd.ExtraFiles, cmd.SysProcAttr = r, []*os.File{w}, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	return cmd.Process.Pid, nil
}

func (o selfTest) applies(t targets) bool {
	return o.level == 0 || o.level == 'w' && t.Write || o.level == 'r' && !t.Write
}

func writeTo(path string) error {
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString("tried")
	return errors.Join(err, f.Close())
}

func readFrom(path string) error {
	b, err := os.ReadFile(path)
	if err == nil && len(b) == 0 {
		return errNoEffect
	}
	return err
}

// moveAndBack renames a file, and back, so that later tests find it.
func moveAndBack(from, to string) error {
	if err := os.Rename(from, to); err != nil {
		return err
	}
	_ = os.Rename(to, from)
	return nil
}

// protectedNames are names of protected files (is), and names that a file system may take
// for them (try).
var protectedNames = []struct{ try, is string }{
	{".git/hooks/pre-commit", ".git/hooks/pre-commit"}, {".GIT/hooks/pre-commit", ".git/hooks/pre-commit"}, {".git/HOOKS/post-commit", ".git/hooks/post-commit"},
	{".git/config", ".git/config"}, {".Git/Config", ".git/config"}, {".git/config.lock", ".git/config.lock"}, {".git/info/attributes", ".git/info/attributes"},
	{".git/objects/info/alternates", ".git/objects/info/alternates"}, {".git/objects/info/Alternates", ".git/objects/info/alternates"},
	{"AGENTS.md", "AGENTS.md"}, {"agents.MD", "AGENTS.md"}, {"AGENT\u017f.md", "AGENTS.md"}, {"CLAUDE.md", "CLAUDE.md"}, {"sub/deep/claude.md", "sub/deep/CLAUDE.md"},
	{".pawl/config.json", ".pawl/config.json"}, {".claude/settings.json", ".claude/settings.json"}, {".vscode/tasks.json", ".vscode/tasks.json"},
	{".v\u017fcode/tasks.json", ".vscode/tasks.json"}, {".mcp.json", ".mcp.json"}, {".envrc", ".envrc"}, {".gitmodules", ".gitmodules"},
	{"sub/.git/config", "sub/.git/config"}, {"bare/HEAD", "bare/HEAD"}, {"bare/head", "bare/HEAD"},
}

func selfTests(own []selfTest) []selfTest {
	at := func(t targets, name string) string { return filepath.Join(t.Work, filepath.FromSlash(name)) }
	temp := func(name string) string { return filepath.Join(os.TempDir(), name) }
	var out []selfTest
	add := func(o selfTest) { out = append(out, o) }
	works := func(name string, level byte, do func(targets) error) {
		add(selfTest{"commands work in the workspace", name, true, level, do})
	}
	works("read", 0, func(t targets) error { return readFrom(at(t, "free")) })
	works("run a program", 0, func(targets) error { return exec.Command("/bin/sh", "-c", ":").Run() })
	works("write to the null device", 0, func(targets) error { return writeTo(os.DevNull) })
	works("write", 'w', func(t targets) error { return writeTo(at(t, "new")) })
	works("make, move and remove", 'w', func(t targets) error {
		return errors.Join(os.MkdirAll(at(t, "d/e"), 0o700), os.Rename(at(t, "d"), at(t, "f")), os.RemoveAll(at(t, "f")))
	})
	works("write by a program", 'w', func(t targets) error { return exec.Command("/bin/sh", "-c", `echo >"$0"`, at(t, "by-sh")).Run() })
	works("write as git does", 'w', func(t targets) error {
		return errors.Join(writeTo(at(t, ".git/index.lock")), os.Rename(at(t, ".git/index.lock"), at(t, ".git/index")), os.MkdirAll(at(t, ".git/objects/ab"), 0o700),
			writeTo(at(t, ".git/objects/ab/cd")), writeTo(at(t, ".git/HEAD.lock")), os.Rename(at(t, ".git/HEAD.lock"), at(t, ".git/HEAD")))
	})
	works("write to the temporary folder", 'w', func(targets) error { return writeTo(temp("new")) })

	outside := func(name string, do func(targets) error) {
		add(selfTest{"no write outside", name, false, 0, do})
	}
	outside("create", func(t targets) error { return writeTo(filepath.Join(t.Outside, "new")) })
	outside("write", func(t targets) error { return writeTo(filepath.Join(t.Outside, "file")) })
	outside("make a folder", func(t targets) error { return os.Mkdir(filepath.Join(t.Outside, "dir"), 0o700) })
	outside("truncate", func(t targets) error { return os.Truncate(filepath.Join(t.Outside, "file"), 1) })
	outside("chmod", func(t targets) error { return os.Chmod(filepath.Join(t.Outside, "file"), 0o644) })
	outside("remove", func(t targets) error { return os.Remove(filepath.Join(t.Outside, "old")) })
	outside("write to a key", func(t targets) error { return writeTo(filepath.Join(t.Keys, "id")) })
	outside("move in", func(t targets) error { return os.Rename(filepath.Join(t.Outside, "moved"), at(t, "moved")) })
	outside("move out", func(t targets) error { return os.Rename(at(t, "free2"), filepath.Join(t.Outside, "out")) })
	outside("link in", func(t targets) error { return os.Link(filepath.Join(t.Outside, "file"), at(t, "linked")) })
	outside("link to", func(t targets) error { return os.Symlink("/", filepath.Join(t.Outside, "link")) })
	outside("through a link", func(t targets) error { return writeTo(at(t, "to-outside/through")) }) // made beforehand
	outside("the folder above", func(t targets) error { return moveAndBack(t.Work, t.Work+"-moved") })
	add(selfTest{"read-only commands change nothing", "write in the workspace", false, 'r', func(t targets) error { return writeTo(at(t, "new")) }})
	add(selfTest{"read-only commands change nothing", "write to the temporary folder", false, 'r', func(targets) error { return writeTo(temp("pawl-tried")) }})
	add(selfTest{"read-only commands change nothing", "remove in the workspace", false, 'r', func(t targets) error { return os.Remove(at(t, "free2")) }})

	protects := func(name string, do func(targets) error) {
		add(selfTest{"protected files stay", name, false, 'w', do})
	}
	for _, p := range protectedNames {
		protects("write "+p.try, func(t targets) error {
			_ = os.MkdirAll(filepath.Dir(at(t, p.try)), 0o700) // it may be refused
			if err := writeTo(at(t, p.try)); err != nil {
				return err
			}
			return sameFile(at(t, p.try), at(t, p.is))
		})
	}
	protects("move a file onto one", func(t targets) error { return os.Rename(at(t, "new"), at(t, ".git/config")) })
	protects("move the .git away", func(t targets) error { return moveAndBack(at(t, ".git"), at(t, "g")) })
	protects("move a hook's folder away", func(t targets) error { return moveAndBack(at(t, ".git/hooks"), at(t, "h")) })
	protects("chmod", func(t targets) error { return os.Chmod(at(t, ".git/config"), 0o666) })
	protects("a second name", func(t targets) error {
		if err := os.Link(at(t, "AGENTS.md"), at(t, "second")); err != nil {
			return err
		}
		return writeTo(at(t, "second"))
	})
	protects("a link in the .git", func(t targets) error {
		return os.Symlink(filepath.Join(t.Outside, "file"), at(t, ".git/COMMIT_EDITMSG"))
	})
	protects("a link named as one", func(t targets) error { return os.Symlink(t.Outside, at(t, "sub/.claude")) })
	protects("a repository that is made elsewhere and moved in", func(t targets) error {
		_ = os.MkdirAll(temp("made/.git/hooks"), 0o700)
		_ = writeTo(temp("made/.git/hooks/pre-commit"))
		_ = os.Rename(temp("made"), at(t, "made"))
		return readFrom(at(t, "made/.git/hooks/pre-commit"))
	})
	protects("instructions that are made elsewhere and moved in", func(t targets) error {
		_ = os.MkdirAll(temp("told"), 0o700)
		_ = writeTo(temp("told/AGENTS.md"))
		_ = os.Rename(temp("told"), at(t, "told"))
		return readFrom(at(t, "told/AGENTS.md"))
	})

	protects("remove", func(t targets) error { return os.Remove(at(t, "AGENTS.md")) })

	reads := func(name string, do func(targets) error) { add(selfTest{"no read of a key", name, false, 0, do}) }
	reads("read", func(t targets) error { return readFrom(filepath.Join(t.Keys, "id")) })
	reads("through a link", func(t targets) error { return readFrom(at(t, "to-keys/id")) })
	reads("list", func(t targets) error { _, err := os.ReadDir(t.Keys); return err })
	reads("read by a program", func(t targets) error { return exec.Command("/bin/cat", filepath.Join(t.Keys, "id")).Run() })
	reads("a file that is nobody's business", func(t targets) error { return readFrom(filepath.Join(t.Outside, "file")) })
	reads("copy", func(t targets) error {
		return exec.Command("/bin/cp", filepath.Join(t.Keys, "id"), at(t, "copied")).Run()
	})
	reads("the environment of a process outside", func(t targets) error { return readFrom(fmt.Sprintf("/proc/%d/environ", t.Parent)) })

	net := func(name string, do func(targets) error) { add(selfTest{"no network", name, false, 0, do}) }
	net("tcp", func(t targets) error { return dial("tcp4", t.TCP) })
	net("tcp over IPv6", func(t targets) error { return dial("tcp6", t.TCP6) })
	net("udp", func(t targets) error { return dial("udp4", t.TCP) })
	net("a unix socket", func(t targets) error { return dial("unix", t.Unix) })
	signals := func(name string, do func(targets) error) {
		add(selfTest{"no signal to processes outside", name, false, 0, do})
	}
	// SIGURG does nothing where it arrives. Signal 0 may not be checked.
	signals("to pawl", func(t targets) error { return syscall.Kill(t.Parent, syscall.SIGURG) })
	signals("into another sandbox", func(t targets) error { return syscall.Kill(t.Other, syscall.SIGURG) })
	return append(out, own...)
}

// sameFile returns nil if both names are of the same file.
func sameFile(a, b string) error {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	if errX == nil && errY == nil && !os.SameFile(x, y) || errY != nil {
		return errNoEffect
	}
	return errX
}

// dial connects and sends a few bytes.
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
