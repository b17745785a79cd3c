package shell

import (
	"bytes"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"sync"
	"syscall"

	"golang.org/x/sys/unix"
)

// spawner starts commands on one thread that lives until stop: the
// parent-death signal comes when the thread that forked dies, not the process.
type spawner struct {
	mu   sync.Mutex
	reqs chan spawnReq
	quit chan struct{}
}

type spawnReq struct {
	cmd  *exec.Cmd
	mark mark
	err  chan error
}

func (s *spawner) start(cmd *exec.Cmd, m mark) error {
	detach(cmd)
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL
	s.mu.Lock()
	if s.reqs == nil {
		s.reqs, s.quit = make(chan spawnReq), make(chan struct{})
		go func(reqs <-chan spawnReq, quit <-chan struct{}) {
			runtime.LockOSThread() // never unlocked: the thread ends with the goroutine
			for {
				select {
				case r := <-reqs:
					r.err <- branded(r.cmd, r.mark)
				case <-quit:
					return
				}
			}
		}(s.reqs, s.quit)
	}
	reqs, quit := s.reqs, s.quit
	s.mu.Unlock()
	r := spawnReq{cmd, m, make(chan error, 1)}
	select {
	case reqs <- r:
		return <-r.err
	case <-quit:
		return ErrClosed
	}
}

func (s *spawner) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.reqs == nil {
		s.reqs, s.quit = make(chan spawnReq), make(chan struct{})
	}
	close(s.quit)
}

type process struct {
	pid, parent, group, session int
	zombie                      bool
	start                       uint64 // in ticks since boot
}

// members lists the living processes of a family: those in the group or the
// session, those with the mark, and all that descend from one of them.
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
			continue // older than pawl: no need to look closer
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

// alive says whether a process runs, and has not merely not been reaped.
func alive(pid int) bool {
	p, ok := stat(pid)
	return ok && !p.zombie
}

// marked reports whether a process carries a mark. Those of other users cannot
// be read, and are not ours.
func marked(p process, m mark) bool {
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

// branding is held while pawl itself carries a command's limit. Limits are of
// the process, so two commands of two shells must not start at once.
var branding sync.Mutex

// branded starts a command that carries the mark as a limit. There is no way
// to set one on a child before its first instruction, so pawl takes the limit
// on for as long as starting takes. Where that is refused, or somebody set the
// limit, the mark in the environment must do.
func branded(cmd *exec.Cmd, m mark) error {
	branding.Lock()
	defer branding.Unlock()
	was := unix.Rlimit{}
	n, err := strconv.ParseUint(m.limit, 10, 64)
	if err != nil || unix.Prlimit(0, unix.RLIMIT_RTTIME, nil, &was) != nil || was.Max != unix.RLIM_INFINITY {
		return cmd.Start()
	}
	if err := unix.Prlimit(0, unix.RLIMIT_RTTIME, &unix.Rlimit{Cur: n, Max: was.Max}, nil); err == nil {
		defer func() { _ = unix.Prlimit(0, unix.RLIMIT_RTTIME, &was, nil) }()
	}
	return cmd.Start()
}

// unbranded starts a process that is none of a command's.
func unbranded(cmd *exec.Cmd) error {
	branding.Lock()
	defer branding.Unlock()
	return cmd.Start()
}

func processes() []process {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(-1)
	out := make([]process, 0, len(names))
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

func stat(pid int) (process, bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return process{}, false
	}
	// The name in parentheses may hold anything, also parentheses.
	i := bytes.LastIndexByte(b, ')')
	f := bytes.Fields(b[i+1:])
	if i < 0 || len(f) < 20 {
		return process{}, false
	}
	num := func(i int) int { n, _ := strconv.Atoi(string(f[i])); return n }
	start, _ := strconv.ParseUint(string(f[19]), 10, 64)
	return process{
		pid: pid, parent: num(1), group: num(2), session: num(3),
		zombie: f[0][0] == 'Z' || f[0][0] == 'X', start: start,
	}, true
}
