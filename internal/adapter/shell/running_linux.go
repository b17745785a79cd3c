package shell

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// ticks is how many units of CPU time /proc counts in a second: the same on all systems
// that Go runs on.
const ticks = 100

// observed is how long the work of processes is watched.
const observed = 200 * time.Millisecond

// stillRunning lists what a family still does: its processes that wait for no other of the
// family, or that work, with their share of a CPU.
func stillRunning(f family) []tool.Running {
	begin := time.Now()
	before := map[int]int{}
	for _, pid := range members(f) {
		before[pid], _, _, _ = spent(pid)
	}
	time.Sleep(observed)
	parents := map[int]bool{}
	for pid := range before {
		if p, ok := stat(pid); ok {
			parents[p.parent] = true
		}
	}
	took := time.Since(begin).Seconds()
	self, _ := os.Readlink("/proc/self/exe")
	var out []tool.Running
	for _, pid := range slices.Sorted(maps.Keys(before)) {
		now, name, runs, ok := spent(pid)
		cpu := int(100 * float64(now-before[pid]) / ticks / took)
		if runs { // it may have got no CPU meanwhile, on a busy machine
			cpu = max(cpu, 1)
		}
		exe, _ := os.Readlink("/proc/" + strconv.Itoa(pid) + "/exe")
		helps := exe == self && exe != "" // pawl's own, such as go's cache in the sandbox
		if ok && !helps && (!parents[pid] || cpu > 0) {
			out = append(out, tool.Running{Name: name, CPU: cpu})
		}
	}
	return out
}

// workOf returns what the processes of a family have done.
func workOf(f family) work {
	w := work{known: true, pids: members(f)}
	for _, pid := range w.pids {
		cpu, _, runs, _ := spent(pid)
		w.spent += time.Duration(cpu) * time.Second / ticks
		w.runs = w.runs || runs
	}
	return w
}

// waiting lists the processes of a family that wait for none of it: they have no children
// there, and no pipe is their input.
func waiting(f family) []int {
	pids := members(f)
	parents := map[int]bool{}
	for _, pid := range pids {
		if p, ok := stat(pid); ok {
			parents[p.parent] = true
		}
	}
	return slices.DeleteFunc(pids, func(pid int) bool {
		input, err := os.Readlink("/proc/" + strconv.Itoa(pid) + "/fd/0")
		return parents[pid] || err != nil || strings.HasPrefix(input, "pipe:")
	})
}

// endWaiting ends the processes that wait, and reports whether they did end: then the line
// goes on, so that the results of its other commands, and of a test runner's other tests,
// are not lost.
func (j *job) endWaiting() bool {
	pids := waiting(family{group: j.group, mark: j.mark})
	for _, pid := range pids {
		_ = syscall.Kill(pid, syscall.SIGTERM) // it may have ended
	}
	for late := time.After(killGrace); slices.ContainsFunc(pids, alive); {
		select {
		case <-late:
			return false
		case <-time.After(10 * time.Millisecond):
		}
	}
	return len(pids) > 0
}

// spent returns the CPU time of a process and its name, and whether it runs now, or could
// if it had a CPU or its disk.
func spent(pid int) (cpu int, name string, runs, ok bool) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	i, j := bytes.IndexByte(b, '('), bytes.LastIndexByte(b, ')')
	if err != nil || i < 0 || j < i {
		return 0, "", false, false
	}
	f := bytes.Fields(b[j+1:])
	if len(f) < 13 {
		return 0, "", false, false
	}
	user, _ := strconv.Atoi(string(f[11]))
	system, _ := strconv.Atoi(string(f[12]))
	return user + system, string(bytes.ToValidUTF8(b[i+1:j], []byte("?"))), f[0][0] == 'R' || f[0][0] == 'D', true
}
