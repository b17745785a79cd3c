package shell

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 4.11: nothing is left after a run, also nothing that cleared its
// environment, left its session and lost all its parents.
func TestGhosts(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		command func(fifo string) string
		procs   int
	}{
		"daemon without environment": {func(f string) string { return self("ghost", f) }, 1},
		"env -i in the background":   {func(f string) string { return "env -i " + self("daemon", f) + " > /dev/null 2>&1 & :" }, 1},
		"exec -c, fork by fork":      {func(f string) string { return "( ( (exec -c " + self("ghost", f) + ") & ) & )" }, 1},
		"unset, variable by variable": {func(f string) string {
			return "for v in $(compgen -e); do unset $v; done 2>/dev/null; " + self("ghost", f)
		}, 1},
		"a shell that goes on": {func(f string) string {
			return "env -i /bin/sh -c \"" + self("ghost", f) + "; " + self("daemon", f) + "\" & disown; " + self("ghost", f)
		}, 3},
		"its files closed": {func(f string) string { return self("ghost", f) + " <&- >&- 2>&-" }, 1},
		"in another folder, under another limit": {func(f string) string {
			return "cd / && ulimit -c 0 -S -n 100; umask 0; " + self("ghost", f)
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := newShell(t, Options{}), watching(t)
			run(t, s, c.command(w.path))
			w.wait(c.procs)
			if err := s.Close(); err != nil {
				t.Error(err)
			}
			w.gone()
		})
		t.Run(name+", cancelled", func(t *testing.T) {
			t.Parallel()
			s, w := newShell(t, Options{}), watching(t)
			ctx, cancel := context.WithCancel(t.Context())
			ended := make(chan error, 1)
			go func() {
				_, err := s.Run(ctx, tool.Run{Confine: process.Free, Command: c.command(w.path) + "\n" + self("hold", w.path)})
				ended <- err
			}()
			w.wait(c.procs + 1)
			cancel()
			if err := <-ended; err == nil {
				t.Error("it was not cancelled")
			}
			w.gone()
		})
	}
}

// What one command, or one shell, ends is its own and nobody else's.
func TestGhostsOfOthers(t *testing.T) {
	t.Parallel()
	s, other := newShell(t, Options{}), newShell(t, Options{})
	mine, theirs := watching(t), watching(t)
	run(t, s, self("ghost", mine.path))
	run(t, other, self("ghost", theirs.path))
	mine.wait(1)
	theirs.wait(1)
	if r, err := s.Run(t.Context(), tool.Run{Confine: process.Free, Command: self("hold", t.TempDir()+"/nowhere/x") + "; cat <> <(:)", Timeout: 50 * time.Millisecond}); err != nil || !r.TimedOut {
		t.Errorf("%+v, %v", r, err)
	}
	stillThere := func(w *watched) {
		t.Helper()
		select {
		case _, ok := <-w.in:
			if !ok {
				t.Error("it was ended with another's command")
			}
		default:
		}
	}
	stillThere(mine)
	must.Do(t, s.Close())
	mine.gone()
	stillThere(theirs)
	must.Do(t, other.Close())
	theirs.gone()
}

// The limit is a command's, the hard one the same for all, and never pawl's own: what pawl
// starts itself meanwhile, such as git, is nobody's command.
func TestMarkIsTheCommands(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	unmarked := make(chan error, 1)
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				unmarked <- nil
				return
			default:
			}
			out, err := exec.Command("cat", "/proc/self/limits").Output()
			if err == nil && !strings.Contains(string(out), limitName+"      unlimited") {
				err = fmt.Errorf("a process that is no command:\n%s", out)
			}
			if err != nil {
				unmarked <- err
				return
			}
		}
	}()
	for range 50 {
		r := run(t, s, "sleep 0; grep realtime.timeout /proc/self/limits")
		f := strings.Fields(strings.TrimPrefix(r.Output, limitName))
		if len(f) != 3 || !s.starter.mark.hasLimit(f[0]) || f[1] != strconv.FormatUint(ceiling, 10) {
			t.Fatalf("the command's: %q", r.Output)
		}
	}
	close(stop)
	must.Do(t, <-unmarked)
}

func TestMarks(t *testing.T) {
	t.Parallel()
	a, b := newMark(), newMark()
	one, ten := a.of(1), a.of(10)
	for _, c := range []struct {
		what string
		got  bool
		want bool
	}{
		{"shell, its command", a.hasEnv(one.env) && a.hasLimit(one.limit), true},
		{"shell, another's", b.hasEnv(one.env) || b.hasLimit(one.limit), false},
		{"command, itself", one.hasEnv(one.env) && one.hasLimit(one.limit), true},
		{"command, one whose number it begins", one.hasEnv(ten.env) || one.hasLimit(ten.limit), false},
		{"no limit", a.hasLimit("unlimited") || a.hasLimit(""), false},
		{"no environment", a.hasEnv("") || one.hasEnv(""), false},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v", c.what, c.got)
		}
	}
}

// A process cannot hide that a pawl started it: not without environment, not in
// a session of its own, not when all its parents are gone, and no unprivileged
// one by setting the limit anew.
func TestStarted(t *testing.T) {
	t.Parallel()
	if yes, err := Started(os.Getppid()); yes || err != nil {
		t.Errorf("the parent of this pawl: %v, %v", yes, err)
	}
	if yes, _ := Started(os.Getpid()); !yes {
		t.Error("this pawl connects for its commands")
	}
	if yes, err := Started(1 << 30); yes || err == nil {
		t.Errorf("nobody: %v, %v", yes, err)
	}
	child := exec.Command("cat")
	must.Done(t)(child.StdinPipe())
	must.Do(t, child.Start())
	if yes, _ := Started(child.Process.Pid); !yes {
		t.Error("a child of this pawl, whatever started it")
	}
	_ = child.Process.Kill()
	_ = child.Wait()
	for name, line := range map[string]string{
		"as it is":                         "HOLD > /dev/null 2>&1 &",
		"without environment":              "env -i HOLD > /dev/null 2>&1 &",
		"in a session of its own":          "env -i setsid -f HOLD > /dev/null 2>&1",
		"without parents":                  "(env -i setsid HOLD > /dev/null 2>&1 &) &",
		"with the soft limit set anew":     "ulimit -S -R unlimited; ulimit -S -R 1000000; env -i setsid -f HOLD > /dev/null 2>&1",
		"with the limit set anew, no root": "UNPRIVILEGED 'ulimit -R unlimited; ulimit -S -R unlimited; env -i setsid -f HOLD > /dev/null 2>&1'",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, w := newShell(t, Options{}), watching(t)
			hold := os.Args[0] + " hold " + w.path
			as := "bash -c"
			if os.Getuid() == 0 { // root may set it anew
				as = "setpriv --bounding-set=-all --inh-caps=-all -- bash -c"
			}
			run(t, s, strings.NewReplacer("HOLD", hold, "UNPRIVILEGED", as).Replace(line))
			for _, pid := range w.wait(1) {
				// What gave itself other limits outlives the shell.
				t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
				if yes, err := Started(pid); !yes || err != nil {
					limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", pid))
					t.Errorf("%v, %v:\n%s", yes, err, limits)
				}
			}
		})
	}
}

// A parent that ends while the processes above are looked at leaves its children to
// another one, and that one is looked at.
func TestStartedWhileParentsEnd(t *testing.T) {
	t.Parallel()
	const self, persons, pawls, end = 500, 400, 600, 20
	for name, c := range map[string]struct {
		ends   map[int]int // a process that ends when it is looked at: who gets its children
		zombie bool
		unread int // a process whose mark cannot be read
		parent int // of the process at the end
		yes    bool
		fails  bool
	}{
		"none ends":                     {parent: persons},
		"of this pawl":                  {parent: self, yes: true},
		"of another pawl":               {parent: pawls, yes: true},
		"a parent ends":                 {ends: map[int]int{end: 1}, parent: persons},
		"a parent ends, not yet waited": {ends: map[int]int{end: 1}, zombie: true, parent: persons},
		"two end":                       {ends: map[int]int{end: persons, persons: 1}, parent: persons},
		"a parent ends, pawl gets it":   {ends: map[int]int{end: self}, parent: persons, yes: true},
		"its mark cannot be read":       {unread: end, parent: persons, fails: true},
		"the process ends itself":       {ends: map[int]int{10: 0}, parent: persons, fails: true},
	} {
		t.Run(name, func(t *testing.T) {
			parents := map[int]int{10: end, end: c.parent, persons: 1, pawls: 1}
			ended := map[int]bool{}
			look := func(pid int) (entry, bool) {
				to, ends := c.ends[pid]
				if ends && !ended[pid] {
					ended[pid] = true
					for child, of := range parents {
						if of == pid {
							parents[child] = to
						}
					}
				}
				return entry{pid: pid, parent: parents[pid], zombie: ends && c.zombie}, !ends || c.zombie
			}
			marked := func(pid int) (bool, error) {
				if pid == c.unread {
					return false, os.ErrPermission
				}
				return pid == pawls, nil
			}
			if yes, err := startedBy(self, 10, look, marked); yes != c.yes || (err != nil) != c.fails {
				t.Errorf("%v, %v", yes, err)
			}
		})
	}
}

// SPEC 15.1: where memory runs out all at once, the kernel ends a command and what it
// started, before pawl.
func TestEndedFirst(t *testing.T) {
	t.Parallel()
	s := newShell(t, Options{})
	ran := run(t, s, "cat /proc/self/oom_score_adj; (exec -c cat /proc/self/oom_score_adj)")
	for _, line := range strings.Fields(ran.Output) {
		if n, err := strconv.Atoi(line); err != nil || n < 500 {
			t.Errorf("the kernel ends it with a score of %q", line)
		}
	}
}
