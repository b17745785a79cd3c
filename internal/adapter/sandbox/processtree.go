//go:build unix

package sandbox

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// processInfo is a process as the system lists it.
type processInfo struct {
	pid, parent, group int
	started            int64 // a pid with its start time is unique
	dead               bool  // a zombie
}

// processTree finds the processes of a command on a system that does not track them: its
// group, its descendants, and processes that an earlier listing found to be descendants.
type processTree struct {
	leader  int
	list    func() ([]processInfo, error)
	ended   chan struct{} // closed at the command's end
	tooMany atomic.Bool

	mu    sync.Mutex
	known map[int]int64 // start times by pid; nil before the first listing
}

func newProcessTree(leader int, list func() ([]processInfo, error)) *processTree {
	f := &processTree{leader: leader, list: list, ended: make(chan struct{})}
	f.count()
	return f
}

// count returns how many living members there are now.
func (f *processTree) count() int { return len(f.members()) }

func (f *processTree) members() []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	all, err := f.list()
	if err != nil {
		if syscall.Kill(-f.leader, 0) == nil {
			return []int{-f.leader}
		}
		return nil
	}
	first := f.known == nil
	in := map[int]int64{}
	group := f.leader
	for _, k := range all {
		at, ok := f.known[k.pid]
		switch {
		case ok && at == k.started, first && k.pid == f.leader:
			in[k.pid] = k.started
		case k.pid == f.leader: // another process has the pid now
			group = -1
		}
	}
	for _, k := range all {
		if k.group == group {
			in[k.pid] = k.started
		}
	}
	for grown := true; grown; {
		grown = false
		for _, k := range all {
			if _, ok := in[k.pid]; ok {
				continue
			}
			if _, ok := in[k.parent]; ok {
				in[k.pid], grown = k.started, true
			}
		}
	}
	f.known = in
	var out []int
	for _, k := range all {
		if _, ok := in[k.pid]; ok && !k.dead {
			out = append(out, k.pid)
		}
	}
	return out
}

// end kills the members until there are none: a process can fork between listing and
// killing.
func (f *processTree) end() {
	for pause := time.Millisecond; pause < time.Second; pause *= 2 {
		ps := f.members()
		if len(ps) == 0 {
			return
		}
		for _, p := range ps {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		time.Sleep(pause)
	}
}
