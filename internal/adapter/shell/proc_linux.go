package shell

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"strconv"
	"syscall"

	"golang.org/x/sys/unix"
)

// begin starts a command that ends with pawl: the parent-death signal comes when the
// thread that forked dies. The caller must have locked its goroutine to that thread, and
// keeps it locked until the command has ended.
func begin(cmd *exec.Cmd, m mark) error {
	detach(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	return branded(cmd, m)
}

type entry struct {
	pid, parent, group, session int
	name                        string
	zombie                      bool
	runs                        bool   // now, or could if it had a CPU or its disk
	cpu                         int    // in ticks
	start                       uint64 // in ticks since boot
}

// members lists the living processes of a family: those in the group or the session,
// those with the mark, and all their descendants.
func members(f family) []int {
	all := processes()
	self := os.Getpid()
	var born uint64
	for _, p := range all {
		if p.pid == self {
			born = p.start
		}
	}
	in := map[int]bool{}
	for _, p := range all {
		if p.pid == self || p.start < born {
			continue // older than pawl: it cannot belong to the family
		}
		if f.group > 0 && (p.group == f.group || p.session == f.group) || marked(p, f.mark) {
			in[p.pid] = true
		}
	}
	for grown := true; grown && len(in) > 0; {
		grown = false
		for _, p := range all {
			if !in[p.pid] && in[p.parent] && p.pid != self {
				in[p.pid], grown = true, true
			}
		}
	}
	var out []int
	for _, p := range all {
		if in[p.pid] && !p.zombie {
			out = append(out, p.pid)
		}
	}
	return out
}

// alive reports whether a process runs; a zombie does not count.
func alive(pid int) bool {
	p, ok := stat(pid)
	return ok && !p.zombie
}

// marked reports whether a process has a mark. Processes of other users cannot be read,
// and are not ours.
func marked(p entry, m mark) bool {
	if p.zombie {
		return false
	}
	folder := "/proc/" + strconv.Itoa(p.pid)
	if limits, err := os.ReadFile(folder + "/limits"); err == nil {
		_, rest, _ := bytes.Cut(limits, []byte("\n"+limitName))
		if soft := bytes.Fields(rest); len(soft) > 0 && m.hasLimit(string(soft[0])) {
			return true
		}
	}
	env, err := os.ReadFile(folder + "/environ")
	if err != nil {
		return false
	}
	for entry := range bytes.SplitSeq(env, []byte{0}) {
		if m.hasEnv(string(entry)) {
			return true
		}
	}
	return false
}

// branded starts a command with the mark as a resource limit, which its children inherit.
// A limit belongs to a process. The only way to set it on a child before its first
// instruction is to stop the child there: the child is traced until its exec, then
// released. The limit is never set on pawl itself, not even for an instant: a process
// that another thread starts then, such as git, would be ended with the command. The
// caller must have locked its thread, which is the tracer.
func branded(cmd *exec.Cmd, m mark) error {
	plain := exec.Cmd{
		Path: cmd.Path, Args: cmd.Args, Env: cmd.Env, Dir: cmd.Dir, Stdin: cmd.Stdin, Stdout: cmd.Stdout, Stderr: cmd.Stderr,
		ExtraFiles: cmd.ExtraFiles, WaitDelay: cmd.WaitDelay,
	}
	attr := *cmd.SysProcAttr
	cmd.SysProcAttr.Ptrace = true
	err := cmd.Start()
	if errors.Is(err, syscall.EPERM) || errors.Is(err, syscall.ENOSYS) {
		// Tracing is forbidden here. Processes that the command starts before brand have
		// only the mark in the environment.
		*cmd = plain
		cmd.SysProcAttr = &attr
		if err = cmd.Start(); err == nil {
			brand(cmd.Process.Pid, m)
		}
		return err
	}
	if err != nil {
		return err
	}
	pid := cmd.Process.Pid
	// WNOWAIT only looks: cmd must be able to wait for the child later.
	for errors.Is(unix.Waitid(unix.P_PID, pid, nil, unix.WSTOPPED|unix.WEXITED|unix.WNOWAIT, nil), unix.EINTR) {
	}
	brand(pid, m)
	_ = syscall.PtraceDetach(pid) // fails if it was killed
	return nil
}

// brand sets the mark as a resource limit of a process, and makes it one to end where
// memory runs out. If pawl itself runs as a command
// of another pawl, the hard limit is set already, and only the soft one changes.
func brand(pid int, m mark) {
	endFirst(pid)
	n, err := strconv.ParseUint(m.limit, 10, 64)
	if err != nil {
		return
	}
	var was unix.Rlimit
	if unix.Prlimit(pid, unix.RLIMIT_RTTIME, nil, &was) == nil && was.Max >= ceiling {
		_ = unix.Prlimit(pid, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: n, Max: ceiling}, nil)
	}
}

// endFirst makes the kernel end a process and its children before pawl where memory runs
// out all at once.
func endFirst(pid int) {
	file := "/proc/" + strconv.Itoa(pid) + "/oom_score_adj"
	b, _ := os.ReadFile(file)
	if n, err := strconv.Atoi(string(bytes.TrimSpace(b))); err == nil && n < 500 {
		_ = os.WriteFile(file, []byte("500"), 0)
	}
}

func processes() []entry {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	out := make([]entry, 0, len(names))
	for _, name := range names {
		pid, err := strconv.Atoi(name)
		if err != nil {
			continue
		}
		if p, ok := stat(pid); ok {
			out = append(out, p)
		}
	}
	return out
}

func stat(pid int) (entry, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return entry{}, false
	}
	// The name in parentheses may contain anything, also parentheses.
	at, i := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	f := bytes.Fields(b[i+1:])
	if at < 0 || i < at || len(f) < 20 {
		return entry{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	start, _ := strconv.ParseUint(string(f[19]), 10, 64)
	return entry{
		pid: pid, parent: num(1), group: num(2), session: num(3),
		name: string(bytes.ToValidUTF8(b[at+1:i], []byte("?"))), zombie: f[0][0] == 'Z' || f[0][0] == 'X', runs: f[0][0] == 'R' || f[0][0] == 'D',
		cpu: num(11) + num(12), start: start,
	}, true
}
