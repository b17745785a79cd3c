//go:build amd64 || arm64

package sandbox

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// members are the living processes of the child's domain, and how many threads
// they have. The kernel says who belongs: the confined thread can signal only
// its own domain. Its word is not taken alone, since a kernel that does not
// scope signals would name every process.
func (c *Child) members() (pids []int, threads int) {
	self := os.Getpid()
	var all []int
	if d, err := os.Open("/proc"); err == nil {
		names, _ := d.Readdirnames(-1)
		d.Close()
		for _, n := range names {
			if pid, err := strconv.Atoi(n); err == nil && pid > 1 && pid != self {
				all = append(all, pid)
			}
		}
	}
	done := make(chan []int, 1)
	c.do <- func() {
		var reached []int
		for _, pid := range all {
			if unix.Kill(pid, 0) == nil {
				reached = append(reached, pid)
			}
		}
		done <- reached
	}
	for _, pid := range <-done {
		if n, ok := confined(pid); ok {
			pids = append(pids, pid)
			threads += n
		}
	}
	return pids, threads
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

// field is a value of a status file.
func field(status []byte, name string) string {
	for line := range bytes.Lines(status) {
		if v, ok := bytes.CutPrefix(line, []byte(name)); ok {
			return string(bytes.TrimSpace(v))
		}
	}
	return ""
}

// sweep ends all members. They are stopped before they are killed: what is
// stopped does not fork, so each look finds fewer new ones.
func (c *Child) sweep() {
	stopped := map[int]bool{}
	for {
		pids, _ := c.members()
		fresh := false
		for _, pid := range pids {
			if !stopped[pid] {
				stopped[pid], fresh = true, true
				_ = unix.Kill(pid, unix.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
	}
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		pids, _ := c.members()
		if len(pids) == 0 {
			return
		}
		for _, pid := range pids {
			_ = unix.Kill(pid, unix.SIGKILL)
		}
		time.Sleep(pause)
	}
}

// watch ends a child that has too many processes. Root is not bound by
// RLIMIT_NPROC, and for others it counts what runs outside as well.
type watch struct{ quit, done chan struct{} }

func (c *Child) startWatch(most int) *watch {
	w := &watch{make(chan struct{}), make(chan struct{})}
	before := tasks()
	go func() {
		defer close(w.done)
		tick := time.NewTicker(50 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-w.quit:
				return
			case <-tick.C:
			}
			// The count of the whole machine is one small read.
			if tasks() < before+most/4 {
				continue
			}
			if _, threads := c.members(); threads > most {
				c.tooMany = true
				c.sweep()
				return
			}
		}
	}()
	return w
}

func (w *watch) stop() {
	close(w.quit)
	<-w.done
}

// tasks is how many threads the machine has.
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
