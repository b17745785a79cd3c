//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/gocache"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// The escape suite (SPEC 16.12): each attempt is made by a child in the sandbox,
// where none may succeed, and by one without, where all must: else it would
// prove nothing. The child without is in namespaces of its own where it can
// be, and every attempt is on victims in a temporary folder.

const (
	modeVar    = "PAWL_ESCAPE"         // try: make the attempts; confine: start such a child confined
	victimsVar = "PAWL_ESCAPE_VICTIMS" // the victims as JSON
	// free is a user that owns nothing on this machine.
	free = 4712
)

// targets is what attempts are made on.
type victims struct {
	Root     string // the workspace, with a folder for each attempt
	Outside  string // a folder beside it, with a folder for each attempt
	Victim   int    // a process outside
	TCP, UDP int    // ports of servers outside
	TCP6     int
	Any      int    // of a server on any address
	Shared   int    // of one that shares its port
	Stream   string // unix sockets of servers outside
	Datagram string
	Abstract string
	Terminal string // of the same person
	Control  bool   // without the sandbox
	Ruled    bool   // a rule is about reading, so pawl opens for the commands
}

func TestMain(m *testing.M) {
	if a := os.Args; len(a) == 4 && a[1] == gocache.Word {
		os.Exit(gocache.Serve(a[2], a[3], os.Stdin, os.Stdout))
	}
	if a := os.Args; len(a) == 3 && a[1] == TryArgument {
		os.Exit(Try(a[2], os.Stdin, os.Stdout))
	}
	switch os.Getenv(modeVar) {
	case "try":
		try()
	case "confine":
		os.Exit(confineSelf())
	default:
		if f := modes[os.Getenv(modeVar)]; f != nil {
			os.Exit(f())
		}
		os.Exit(m.Run())
	}
}

// modes are what else this program is started as.
var modes = map[string]func() int{}

func victimsFromEnv() victims {
	var w victims
	if err := json.Unmarshal([]byte(os.Getenv(victimsVar)), &w); err != nil {
		panic(err)
	}
	return w
}

// try makes every attempt and says what came of each.
func try() {
	w := victimsFromEnv()
	for i, a := range attemptsOn() {
		at := spot{victims: w, in: filepath.Join(w.Root, strconv.Itoa(i)), out: filepath.Join(w.Outside, strconv.Itoa(i))}
		if err := a.do(at); err != nil {
			fmt.Printf("%s\t%v\n", a.name, strings.ReplaceAll(err.Error(), "\n", " "))
		} else {
			fmt.Printf("%s\tsucceeded\n", a.name)
		}
	}
	os.Exit(0)
}

// confineSelf runs the attempts in the sandbox, as whoever this process is.
func confineSelf() int {
	w := victimsFromEnv()
	facts := confine.Facts{Root: w.Root, State: []string{w.Outside}, Hosts: []string{"granted.invalid"}}
	policy := confine.New(confine.Workspace, facts)
	if w.Ruled {
		policy.Rules = []process.PathRule{{List: process.DeniesPath, Pattern: w.Root + "/**/ruled", Rank: 1}}
	}
	box, err := Open(policy)
	if noSockets() != nil && errors.Is(err, ErrMissing) {
		policy.Hosts = nil
		box, err = Open(policy)
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer box.Close()
	cmd := exec.Command(filepath.Join(w.Root, "helper"))
	cmd.Dir, cmd.Stdout, cmd.Stderr = w.Root, os.Stdout, os.Stderr
	cmd.Env = []string{modeVar + "=try", victimsVar + "=" + os.Getenv(victimsVar), "PATH=/usr/bin:/bin"}
	c, err := box.start(cmd, holding{})
	if err == nil {
		err = c.Wait()
	}
	if err != nil {
		fmt.Println(err)
		return 1
	}
	return 0
}

// spot is the part of the victims for one attempt.
type spot struct {
	victims
	in, out string
}

// build makes victims that belong to a user.
func build(t *testing.T, uid int) victims {
	t.Helper()
	dir := real(t.TempDir())
	w := victims{Root: filepath.Join(dir, "w"), Outside: filepath.Join(dir, "outside")}
	file := func(text string, mode os.FileMode, path ...string) {
		p := filepath.Join(path...)
		must.Do(t, os.MkdirAll(filepath.Dir(p), 0o755))
		must.Do(t, os.WriteFile(p, []byte(text), mode))
	}
	for i := range attemptsOn() {
		in, out := filepath.Join(w.Root, strconv.Itoa(i)), filepath.Join(w.Outside, strconv.Itoa(i))
		file("secret", 0o600, out, "file")
		file("hook", 0o755, in, ".git/hooks/file")
		file("[core]", 0o644, in, ".git/config")
		file("ref: refs/heads/main\n", 0o644, in, ".git/HEAD")
		file("rules", 0o644, in, "AGENTS.md")
		file("free", 0o644, in, "free")
		file("sub", 0o644, in, "sub/f")
		for _, d := range []string{".git/objects", ".git/refs/heads"} {
			must.Do(t, os.MkdirAll(filepath.Join(in, d), 0o755))
		}
		must.Do(t, os.Link(filepath.Join(out, "file"), filepath.Join(in, "stored")))
	}
	self := must.Get(os.Executable())(t)
	text := must.Get(os.ReadFile(self))(t)
	file(string(text), 0o755, w.Root, "helper")
	w.serve(t, dir)
	w.Terminal = terminal(t, uid)
	if uid != os.Getuid() {
		for _, d := range []string{filepath.Dir(dir), dir} { // of t.TempDir, which others cannot enter
			must.Do(t, os.Chown(d, uid, uid))
		}
		err := filepath.WalkDir(dir, func(p string, _ os.DirEntry, err error) error {
			if err == nil {
				err = os.Lchown(p, uid, uid)
			}
			return err
		})
		must.Do(t, err)
	}
	victim := exec.Command("sleep", "1000")
	victim.Env = []string{"SECRET=secret"}
	victim.SysProcAttr = as(uid)
	must.Do(t, victim.Start())
	t.Cleanup(func() {
		if err := victim.Process.Signal(syscall.Signal(0)); err != nil && !w.Control {
			t.Error("the process outside is dead")
		}
		_ = victim.Process.Kill()
		_ = victim.Wait()
	})
	w.Victim = victim.Process.Pid
	return w
}

func as(uid int) *syscall.SysProcAttr {
	if uid == os.Getuid() {
		return &syscall.SysProcAttr{}
	}
	return &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: uint32(uid), Gid: uint32(uid)}}
}

// serve opens what a command must not reach.
func (w *victims) serve(t *testing.T, dir string) {
	t.Helper()
	listen := func(network, address string) net.Addr {
		l := must.Get(net.Listen(network, address))(t)
		t.Cleanup(func() { l.Close() })
		go func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				c.Close()
			}
		}()
		return l.Addr()
	}
	packets := func(network, address string) net.Addr {
		l := must.Get(net.ListenPacket(network, address))(t)
		t.Cleanup(func() { l.Close() })
		return l.LocalAddr()
	}
	w.TCP = listen("tcp", "127.0.0.1:0").(*net.TCPAddr).Port
	w.TCP6 = w.TCP
	if l, err := net.Listen("tcp6", "[::1]:0"); err == nil {
		w.TCP6 = l.Addr().(*net.TCPAddr).Port
		t.Cleanup(func() { l.Close() })
	}
	w.UDP = packets("udp", "127.0.0.1:0").(*net.UDPAddr).Port
	w.Any = listen("tcp4", "0.0.0.0:0").(*net.TCPAddr).Port
	share := net.ListenConfig{Control: func(_, _ string, c syscall.RawConn) (err error) {
		cerr := c.Control(func(fd uintptr) { err = unix.SetsockoptInt(int(fd), unix.SOL_SOCKET, unix.SO_REUSEPORT, 1) })
		return errors.Join(err, cerr)
	}}
	shared := must.Get(share.Listen(t.Context(), "tcp4", "127.0.0.1:0"))(t)
	t.Cleanup(func() { shared.Close() })
	w.Shared = shared.Addr().(*net.TCPAddr).Port
	short, err := os.MkdirTemp("", "s") // a socket's name is short
	must.Do(t, err)
	t.Cleanup(func() { os.RemoveAll(short) })
	must.Do(t, os.Chmod(short, 0o755))
	w.Stream, w.Datagram = filepath.Join(short, "s"), filepath.Join(short, "d")
	w.Abstract = "@pawl-" + filepath.Base(short) + strconv.Itoa(os.Getpid())
	listen("unix", w.Stream)
	packets("unixgram", w.Datagram)
	listen("unix", w.Abstract)
	near := filepath.Join(w.Root, "s")
	if len(near) < 108 {
		listen("unix", near)
	}
	for _, s := range []string{w.Stream, w.Datagram} {
		must.Do(t, os.Chmod(s, 0o777))
	}
}

// terminal opens a terminal of a user.
func terminal(t *testing.T, uid int) string {
	t.Helper()
	m := must.Get(unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC, 0))(t)
	t.Cleanup(func() { _ = unix.Close(m) })
	n, err := unix.IoctlGetInt(m, unix.TIOCGPTN)
	if err == nil {
		err = unix.IoctlSetPointerInt(m, unix.TIOCSPTLCK, 0)
	}
	name := "/dev/pts/" + strconv.Itoa(n)
	if err == nil {
		err = os.Chown(name, uid, -1)
	}
	must.Do(t, err)
	return name
}

// outcomes runs the attempts and gives what each said.
func outcomes(t *testing.T, w victims, mode string, attr *syscall.SysProcAttr) map[string]string {
	t.Helper()
	j := must.Get(json.Marshal(w))(t)
	cmd := exec.Command(filepath.Join(w.Root, "helper"))
	cmd.Dir = w.Root
	cmd.Env = []string{modeVar + "=" + mode, victimsVar + "=" + string(j), "PATH=/usr/bin:/bin", "TMPDIR=" + filepath.Dir(w.Root)}
	cmd.SysProcAttr = attr
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	left, err := unix.Open(filepath.Join(w.Outside, "0/file"), unix.O_RDWR, 0) // as a careless parent leaves one open
	must.Do(t, err)
	defer unix.Close(left)
	if err := cmd.Run(); err != nil {
		t.Fatalf("%v\n%s", err, out.String())
	}
	got := map[string]string{}
	for line := range strings.Lines(out.String()) {
		name, said, ok := strings.Cut(strings.TrimSpace(line), "\t")
		if !ok {
			t.Errorf("unexpected output: %s", line)
		}
		got[name] = said
	}
	return got
}

// SPEC 16.12: no attempt gets out, as root and as a user without rights; and
// nothing outside or protected is other than it was.
func TestNoEscape(t *testing.T) {
	if v := version(); v < minVersion && os.Getenv("PAWL_NO_LANDLOCK") == "" {
		t.Fatalf("this kernel has version %d of Landlock, so nothing is proven; set PAWL_NO_LANDLOCK=1 to accept that", v)
	}
	uids := []int{os.Getuid()}
	if os.Getuid() == 0 {
		uids = append(uids, free)
	}
	try := func(uid int, ruled bool) {
		t.Run(fmt.Sprintf("uid %d, with rules %t", uid, ruled), func(t *testing.T) {
			w := build(t, uid)
			w.Ruled = ruled
			before := state(t, w)
			got := outcomes(t, w, "confine", as(uid))
			for _, a := range attemptsOn() {
				switch said := got[a.name]; said {
				case "succeeded":
					t.Errorf("got out: %s", a.name)
				case "":
					t.Errorf("not made: %s", a.name)
				}
			}
			if after := state(t, w); after != before {
				t.Errorf("changed:\n%s", firstDifference(before, after))
			}
		})
	}
	for _, uid := range uids {
		try(uid, false)
		try(uid, true)
	}
}

// The same attempts without the sandbox do what they say.
func TestAttemptsAreReal(t *testing.T) {
	w := build(t, os.Getuid())
	w.Control = true
	attr := &syscall.SysProcAttr{}
	var head unix.CapUserHeader
	var caps [2]unix.CapUserData
	head.Version = unix.LINUX_CAPABILITY_VERSION_3
	must.Do(t, unix.Capget(&head, &caps[0]))
	root := caps[0].Effective&(1<<unix.CAP_SYS_ADMIN) != 0 // in a container root has not
	if root {
		attr.Cloneflags = syscall.CLONE_NEWNS | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS
	}
	got := outcomes(t, w, "try", attr)
	n := 0
	for _, a := range attemptsOn() {
		if said := got[a.name]; said == "succeeded" {
			n++
		} else if missing := strings.Contains(said, "not implemented") || strings.Contains(said, "not supported") || strings.Contains(said, "inappropriate ioctl"); a.some || missing {
			t.Logf("this kernel does not have %s: %s", a.name, said)
		} else if !a.root || root {
			t.Errorf("%s: %s", a.name, said)
		}
	}
	t.Logf("%d attempts succeed without the sandbox", n)
	if root && n < 200 {
		t.Errorf("only %d attempts", n)
	}
}

// state is what must not change, with the time of the last change of each.
func state(t *testing.T, w victims) string {
	t.Helper()
	var b strings.Builder
	add := func(p string) {
		var st unix.Stat_t
		err := unix.Lstat(p, &st)
		fmt.Fprintln(&b, p, st.Ino, st.Size, st.Mode, st.Nlink, st.Uid, st.Ctim, err)
	}
	for i := range attemptsOn() {
		for _, d := range []string{filepath.Join(w.Outside, strconv.Itoa(i)), filepath.Join(w.Root, strconv.Itoa(i), ".git/hooks")} {
			add(d)
			entries, err := os.ReadDir(d)
			if err != nil {
				fmt.Fprintln(&b, d, err)
			}
			for _, e := range entries {
				add(filepath.Join(d, e.Name()))
			}
		}
		for _, f := range []string{"AGENTS.md", ".git/config", ".git/HEAD", ".pawl", "HEAD", ".vscode"} {
			add(filepath.Join(w.Root, strconv.Itoa(i), f))
		}
	}
	return b.String()
}

func firstDifference(a, b string) string {
	x, y := strings.Split(a, "\n"), strings.Split(b, "\n")
	for i := range min(len(x), len(y)) {
		if x[i] != y[i] {
			return x[i] + "\n" + y[i]
		}
	}
	return "length"
}

// SPEC 16.12: nothing of a command runs on, whatever it does to be forgotten.
func TestNothingRunsOn(t *testing.T) {
	box := open(t, confine.Workspace, folder(t))
	var out bytes.Buffer
	cmd := exec.Command("bash", "-c", `(trap "" TERM HUP INT; while :; do :; done) & (setsid env -i bash -c "(sleep 1000 &) ; sleep 1000" &) ; echo started`)
	cmd.Dir, cmd.Stdout = box.policy.Root, &out // who lives on keeps the pipe open
	c := must.Get(box.start(cmd, holding{}))(t)
	if err := c.Wait(); err != nil || out.String() != "started\n" {
		t.Errorf("%v, %q", err, out.String())
	}
}

// SPEC 16.12: a fork bomb ends, and with it the call.
func TestForkBomb(t *testing.T) {
	for _, l := range []confine.Level{confine.ReadOnly, confine.Workspace} {
		box := open(t, l, folder(t))
		box.most = 80
		cmd := exec.Command("bash", "-c", "b() { while :; do sleep 1000 & done; }; b & b & wait")
		cmd.Dir = box.policy.Root
		c := must.Get(box.start(cmd, holding{}))(t)
		if err := c.Wait(); !errors.Is(err, ErrProcesses) {
			t.Errorf("%v: %v", l, err)
		}
	}
}

// SPEC 16.12: a name that changes while it is judged: the free file is written,
// the protected one never.
func TestRace(t *testing.T) {
	root := folder(t)
	hooks := filepath.Join(root, ".git/hooks")
	must.Do(t, os.MkdirAll(hooks, 0o755))
	must.Do(t, os.MkdirAll(filepath.Join(root, "dir"), 0o755))
	box := open(t, confine.Workspace, root)
	line := `
import os, threading, ctypes
libc = ctypes.CDLL(None, use_errno=True)
stop = False
buf = ctypes.create_string_buffer(b"dir/file-------------", 64)
def swap():
    while not stop:
        ctypes.memmove(buf, b".git/hooks/x\0", 13)
        ctypes.memmove(buf, b"dir/file\0", 9)
def folder():
    while not stop:
        try:
            os.rename("dir", "old"); os.symlink(".git/hooks", "dir"); os.unlink("dir"); os.rename("old", "dir")
        except OSError: pass
ts = [threading.Thread(target=swap), threading.Thread(target=folder)]
for t in ts: t.start()
n = 0
for i in range(1500):
    fd = libc.open(buf, os.O_WRONLY | os.O_CREAT, 0o644)
    if fd >= 0:
        n += 1; os.close(fd)
stop = True
for t in ts: t.join()
print(n > 0)
`
	if got := bash(t, box, root, "python3 -c '"+line+"' 2>&1"); strings.TrimSpace(got) != "True" {
		t.Error(got)
	}
	if entries, err := os.ReadDir(hooks); err != nil || len(entries) != 0 {
		t.Error("a hook was made", entries, err)
	}
}

// SPEC 16.12: the thread that starts a command is gone with it, and pawl's
// others are as they were.
func TestThreadsEnd(t *testing.T) {
	box := open(t, confine.Workspace, folder(t))
	for range 20 {
		cmd := exec.Command("true")
		c := must.Get(box.start(cmd, holding{}))(t)
		must.Do(t, c.Wait())
	}
	deadline := time.Now().Add(time.Minute)
	for {
		n := 0
		threads := must.Get(os.ReadDir("/proc/self/task"))(t)
		for _, th := range threads {
			if b, err := os.ReadFile(filepath.Join("/proc/self/task", th.Name(), "status")); err == nil && field(b, "Seccomp:") == "2" {
				n++
			}
		}
		if n == 0 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d threads are confined still", n)
		}
	}
}
