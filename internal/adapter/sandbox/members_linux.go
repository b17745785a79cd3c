//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// scope holds whether it is proven that the kernel lets a confined thread signal only
// its own domain.
var scope signals

type signals struct {
	refused atomic.Int64 // the parent that a confined thread could not signal
	proven  atomic.Bool
}

// try lets the confined thread signal pawl's parent, which is outside.
func (s *signals) try() error {
	parent := unix.Getppid()
	if parent <= 0 || s.proven.Load() {
		return nil
	}
	switch err := unix.Kill(parent, 0); {
	case err == nil:
		return &Unsupported{"that processes outside are not signalled", "a signal to pawl's parent was not refused"}
	case errors.Is(err, unix.EPERM):
		s.refused.Store(int64(parent))
	}
	return nil
}

// confirm marks the scope as proven if an unconfined thread can signal what a confined
// one could not.
func (s *signals) confirm() {
	if parent := unix.Getppid(); !s.proven.Load() && int64(parent) == s.refused.Load() && unix.Kill(parent, 0) == nil && parent > 0 {
		s.proven.Store(true)
	}
}

// killDomain kills all processes in the calling thread's domain at once: no new process
// can start meanwhile. It is called only if the scope is proven, since otherwise it
// would kill every process.
func killDomain() { _ = unix.Kill(-1, unix.SIGKILL) }

// members returns the living processes of the child's domain, and how many threads
// they have. The kernel decides who belongs: the confined thread can signal only
// its own domain. That alone is not trusted, since on a kernel that does not
// scope signals it would be every process.
func (c *Child) members() (pids []int, threads int) {
	done := make(chan struct{})
	c.do <- func() {
		defer close(done)
		for _, pid := range signallable() {
			if n, ok := confined(pid); ok {
				pids = append(pids, pid)
				threads += n
			}
		}
	}
	<-done
	return pids, threads
}

// signallable returns the processes that the calling thread can signal.
func signallable() []int {
	d, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer d.Close()
	self := os.Getpid()
	var out []int
	names, _ := d.Readdirnames(-1)
	for _, n := range names {
		if pid, err := strconv.Atoi(n); err == nil && pid > 1 && pid != self && unix.Kill(pid, 0) == nil {
			out = append(out, pid)
		}
	}
	return out
}

// confined reports whether a living process is in a sandbox of any kind, and
// how many threads it has.
func confined(pid int) (threads int, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	if err != nil {
		return 0, false
	}
	state := field(b, "State:")
	if strings.HasPrefix(state, "Z") || strings.HasPrefix(state, "X") || field(b, "NoNewPrivs:") != "1" || field(b, "Seccomp:") != "2" {
		return 0, false
	}
	threads, _ = strconv.Atoi(field(b, "Threads:"))
	return threads, true
}

func field(status []byte, name string) string {
	for line := range bytes.Lines(status) {
		if v, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// sweep ends all members, where the scope is not proven. They are stopped before they are killed: what is
// stopped does not fork, so each look finds fewer new ones.
func (c *Child) sweep() {
	stopped := map[int]bool{}
	for pause := time.Millisecond; ; {
		pids, _ := c.members()
		fresh := false
		for _, pid := range pids {
			if !stopped[pid] {
				stopped[pid], fresh = true, true
				_ = unix.Kill(pid, unix.SIGSTOP)
			}
		}
		switch {
		case len(pids) == 0:
			return
		case fresh:
			continue
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(pause)
		pause = min(2*pause, 50*time.Millisecond)
	}
}

// watch ends a child that has too many processes, or that uses up the machine's memory or
// disk. Root is not bound by RLIMIT_NPROC, and for others it counts what runs outside as
// well. RLIMIT_DATA and RLIMIT_FSIZE would refuse what reserves far more than it uses:
// sanitizers and sparse files.
type watch struct {
	child *Child
	most  int
	short func() (what, why string) // nil: nobody knows
	low   int                       // the fewest threads that the machine had
	mu    sync.Mutex
	timer *time.Timer // nil: it is over
}

const watchEvery = 50 * time.Millisecond

// guilty is how much of what is short a child must hold or have written to be ended for it.
const guilty = 64 << 20

func (c *Child) startWatch(most int, short func() (what, why string)) *watch {
	w := &watch{child: c, most: most, short: short}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.timer = time.AfterFunc(watchEvery, w.look)
	return w
}

func (w *watch) look() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer == nil {
		return
	}
	if err := w.excess(); err != nil {
		w.child.excess = err
		w.child.sweep()
		w.timer = nil
		return
	}
	w.timer.Reset(watchEvery)
}

// excess returns why the child must end, nil if it need not. What is known of the whole
// machine is asked first: that is a small read.
func (w *watch) excess() error {
	now := tasks()
	if first := w.low == 0; first || now >= w.low+w.most/4 {
		if _, threads := w.child.members(); threads > w.most {
			return ErrProcesses
		}
	}
	if w.low == 0 || now < w.low {
		w.low = now
	}
	if w.short == nil {
		return nil
	}
	what, why := w.short()
	if what == "" {
		return nil
	}
	used, verb := int64(0), "held"
	if what != "memory" && w.child.sup != nil {
		used = w.child.sup.reserved.Load()
	}
	pids, _ := w.child.members()
	for _, pid := range pids {
		if what == "memory" {
			used += resident(pid)
		} else {
			used += written(pid)
			verb = "had written"
		}
	}
	if used < guilty {
		return nil
	}
	return fmt.Errorf("%w: %s; it %s %d MB and was killed", ErrExhausted, why, verb, used>>20)
}

// resident returns the memory of a process that its end gives back.
func resident(pid int) int64 {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/status")
	return number(b, "RssAnon:")<<10 + number(b, "RssShmem:")<<10
}

// written returns how much a process has written, with the children that it waited for.
func written(pid int) int64 {
	b, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/io")
	return max(number(b, "wchar:"), number(b, "write_bytes:"))
}

// reserves returns how much of a file system a call of fallocate takes: what it asks for
// beyond what the file has, as far as there is room.
func reserves(pid uint32, args [6]uint64) int64 {
	file := fmt.Sprintf("/proc/%d/fd/%d", pid, int32(args[0]))
	var st unix.Stat_t
	var fs unix.Statfs_t
	if args[1]&(unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_COLLAPSE_RANGE) != 0 || unix.Stat(file, &st) != nil || unix.Statfs(file, &fs) != nil {
		return 0
	}
	end := min(args[2], math.MaxInt64/2) + min(args[3], math.MaxInt64/2)
	room := int64(min(fs.Bavail, math.MaxInt64>>20)) * int64(fs.Bsize)
	return max(0, min(int64(min(args[3], math.MaxInt64)), int64(end)-st.Blocks*512, room))
}

func number(fields []byte, name string) int64 {
	n, _ := strconv.ParseInt(strings.TrimSuffix(field(fields, name), " kB"), 10, 64)
	return n
}

func (w *watch) stop() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
		w.timer = nil
	}
}

// tasks returns how many threads the machine has.
func tasks() int {
	b, _ := os.ReadFile("/proc/loadavg")
	f := bytes.Fields(b)
	if len(f) < 4 {
		return 0
	}
	_, total, _ := strings.Cut(string(f[3]), "/")
	n, _ := strconv.Atoi(total)
	return n
}
