//go:build truth && linux

package truth

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync/atomic"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// The cage is a child of the test in namespaces of its own: mounts, processes,
// network, IPC and host name. Its root is a tmpfs with the system's programs
// read-only; it gives up root before the first command line is read. What runs
// in it can change the cage's world and nothing else.

const (
	cageVar = "PAWL_TRUTH_CAGE"
	moreVar = "PAWL_TRUTH_PROGRAMS" // a folder with usr/bin and usr/lib of further programs
	userVar = "PAWL_TRUTH_USER"     // uid and gid of everything in the cage
)

// cages counts those that were opened. Each has a user of its own: how many processes
// a user may have is counted over all cages that run beside each other.
var cages atomic.Int32

// order is a command line that the cage is to judge in a mode, and to run where
// it may run unasked, or always. Plain is a world without traps.
type order struct {
	Line          string
	Mode          permission.Mode
	Always, Plain bool
	// Confine, if set, runs the line at that level of the sandbox, and judges
	// only what came of it.
	Confine string
	// Believe, if set, is what the judge takes the line for: the line runs as the
	// mode would run Believe, if it runs that without a question, and what came
	// of it is judged as with Confine.
	Believe string
	Slow    bool // it gets more time
	// Turn, if set, is what an agent's turn runs; Person what the person runs after it.
	Turn, Person string
}

// tried is what came of one command line.
type tried struct {
	Judged   bool     // the mode runs it without a question
	Reason   string   // why it does or does not
	Project  bool     // it runs the project's own code by design: a check, git that writes
	Programs []string // that its simple commands name
	Harm     []string // what changed or was read that the mode does not let
	Level    string   // at which it ran, for Confine and Believe
	Output   string
	Broken   string   // why it was not run
	Ran      []string // what ran of the turn's payloads, for Person
	Told     string   // the line at the end of the turn
}

func TestMain(m *testing.M) {
	if root := os.Getenv(cageVar); root != "" {
		wires, err := enterCage(root)
		if err != nil {
			fmt.Fprintln(os.Stderr, "cage:", err)
			os.Exit(3)
		}
		os.Exit(serveCage(wires))
	}
	os.Exit(m.Run())
}

// cage runs command lines one after another.
type cage struct {
	cmd *exec.Cmd
	in  *json.Encoder
	out *json.Decoder
}

func openCage(t *testing.T) *cage {
	t.Helper()
	if os.Getuid() != 0 {
		t.Fatal("the cage needs root for its namespaces: run this as root")
	}
	self, err := os.Executable()
	must.Do(t, err)
	cmd := exec.Command(self)
	cmd.Env = []string{cageVar + "=" + t.TempDir(), userVar + "=" + strconv.Itoa(4711+int(cages.Add(1))), moreVar + "=" + os.Getenv(moreVar), "PATH=/usr/bin:/bin", "PROVIDER_API_KEY=" + ownKey}
	cmd.Stderr = os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNS | syscall.CLONE_NEWPID | syscall.CLONE_NEWNET | syscall.CLONE_NEWIPC | syscall.CLONE_NEWUTS,
		Pdeathsig:  syscall.SIGKILL,
	}
	in, err := cmd.StdinPipe()
	must.Do(t, err)
	out, err := cmd.StdoutPipe()
	must.Do(t, err)
	must.Do(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		if err := cmd.Wait(); err != nil {
			t.Error("the cage:", err)
		}
	})
	return &cage{cmd: cmd, in: json.NewEncoder(in), out: json.NewDecoder(bufio.NewReader(out))}
}

func (c *cage) try(t *testing.T, o order) tried {
	t.Helper()
	must.Do(t, c.in.Encode(o))
	var r tried
	if err := c.out.Decode(&r); err != nil {
		t.Fatalf("the cage broke at %q in %s: %v", o.Line, o.Mode, err)
	}
	return r
}

// enterCage builds the root below dir and moves into it.
func enterCage(dir string) (*tripwires, error) {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return nil, fmt.Errorf("make mounts private: %w", err)
	}
	if err := syscall.Mount("cage", dir, "tmpfs", 0, "size=64m,mode=755"); err != nil {
		return nil, fmt.Errorf("mount the root: %w", err)
	}
	user, err := strconv.Atoi(os.Getenv(userVar))
	if err != nil {
		return nil, err
	}
	at := func(p string) string { return filepath.Join(dir, p) }
	for _, d := range []string{"usr", "etc", "proc", "dev", "tmp", "w", "sib", "home/u"} {
		if err := os.MkdirAll(at(d), 0o755); err != nil {
			return nil, err
		}
	}
	for _, d := range []string{"bin", "sbin", "lib", "lib64"} {
		if target, err := os.Readlink("/" + d); err == nil {
			if err := os.Symlink(target, at(d)); err != nil {
				return nil, err
			}
		}
	}
	if err := syscall.Mount("/usr", at("usr"), "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
		return nil, fmt.Errorf("bind /usr: %w", err)
	}
	if err := syscall.Mount("", at("usr"), "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY|syscall.MS_NOSUID, ""); err != nil {
		return nil, fmt.Errorf("make /usr read-only: %w", err)
	}
	if more := os.Getenv(moreVar); more != "" {
		if err := os.MkdirAll(at("more"), 0o755); err != nil {
			return nil, err
		}
		if err := syscall.Mount(more, at("more"), "", syscall.MS_BIND, ""); err != nil {
			return nil, fmt.Errorf("bind %s: %w", more, err)
		}
		if err := syscall.Mount("", at("more"), "", syscall.MS_BIND|syscall.MS_REMOUNT|syscall.MS_RDONLY|syscall.MS_NOSUID, ""); err != nil {
			return nil, fmt.Errorf("make %s read-only: %w", more, err)
		}
	}
	if err := syscall.Mount("proc", at("proc"), "proc", syscall.MS_NOSUID|syscall.MS_NOEXEC, ""); err != nil {
		return nil, fmt.Errorf("mount proc: %w", err)
	}
	for name, dev := range map[string]int{"null": 1<<8 | 3, "zero": 1<<8 | 5, "urandom": 1<<8 | 9, "random": 1<<8 | 8} {
		if err := syscall.Mknod(at("dev/"+name), syscall.S_IFCHR|0o666, dev); err != nil {
			return nil, fmt.Errorf("make /dev/%s: %w", name, err)
		}
		if err := os.Chmod(at("dev/"+name), 0o666); err != nil {
			return nil, err
		}
	}
	for name, target := range map[string]string{"fd": "/proc/self/fd", "stdin": "fd/0", "stdout": "fd/1", "stderr": "fd/2"} {
		if err := os.Symlink(target, at("dev/"+name)); err != nil {
			return nil, err
		}
	}
	if err := os.WriteFile(at("etc/passwd"), fmt.Appendf(nil, "u:x:%d:%d::/home/u:/bin/bash\n", user, user), 0o644); err != nil {
		return nil, err
	}
	// Programs are links by way of it, and names go to a resolver of the cage's.
	if err := copyLinks("/etc/alternatives", at("etc/alternatives")); err != nil {
		return nil, err
	}
	if err := os.WriteFile(at("etc/resolv.conf"), []byte("nameserver 127.0.0.1\noptions timeout:1 attempts:1\n"), 0o644); err != nil {
		return nil, err
	}
	// zap is found wherever a program is looked for by its name.
	if err := os.MkdirAll(at("traps"), 0o755); err != nil {
		return nil, err
	}
	if err := must.WriteProgram(at("traps/zap"), marker, 0o755); err != nil {
		return nil, err
	}
	for _, d := range []string{"w", "sib", "home/u", "tmp"} {
		if err := os.Chown(at(d), user, user); err != nil {
			return nil, err
		}
	}
	if err := syscall.Chroot(dir); err != nil {
		return nil, err
	}
	if err := os.Chdir("/"); err != nil {
		return nil, err
	}
	wires, err := setTripwires()
	if err != nil {
		return nil, err
	}
	for what, n := range map[int]uint64{syscall.RLIMIT_FSIZE: 8 << 20, syscall.RLIMIT_CORE: 0, 6 /* RLIMIT_NPROC */ : 400} {
		if err := syscall.Setrlimit(what, &syscall.Rlimit{Cur: n, Max: n}); err != nil {
			return nil, fmt.Errorf("set limit %d: %w", what, err)
		}
	}
	if err := syscall.Setgroups(nil); err != nil {
		return nil, err
	}
	if err := syscall.Setgid(user); err != nil {
		return nil, err
	}
	if err := syscall.Setuid(user); err != nil {
		return nil, err
	}
	if syscall.Setuid(0) == nil || os.WriteFile("/usr/cage", nil, 0o644) == nil {
		return nil, fmt.Errorf("the cage is open: it is still root")
	}
	// So that another process of the same person can look into this one, as it
	// can into one that takes no care.
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 1, 0, 0, 0); err != nil {
		return nil, err
	}
	return wires, nil
}

// copyLinks copies the links of a folder, which may be missing.
func copyLinks(from, to string) error {
	es, err := os.ReadDir(from)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	for _, e := range es {
		if target, err := os.Readlink(filepath.Join(from, e.Name())); err == nil {
			if err := os.Symlink(target, filepath.Join(to, e.Name())); err != nil {
				return err
			}
		}
	}
	return nil
}
