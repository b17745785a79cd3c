//go:build unix

package sandbox

import (
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// kin is a process as the system lists it.
type kin struct {
	pid, parent, group int
	started            int64 // with the pid it is one process for good
	dead               bool  // it only waits to be waited for
}

// lineage is the processes of a command where the system keeps no account of
// them: its group, all that descend from it, and who was seen to.
type lineage struct {
	leader  int
	list    func() ([]kin, error)
	over    chan struct{} // closed at the command's end
	tooMany atomic.Bool

	mu    sync.Mutex
	known map[int]int64 // by pid, when it started; nil before the first look
}

func newLineage(leader int, list func() ([]kin, error)) *lineage {
	f := &lineage{leader: leader, list: list, over: make(chan struct{})}
	f.look()
	return f
}

// look finds the living members and returns how many there are.
func (f *lineage) look() int { return len(f.members()) }

func (f *lineage) members() []int {
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
		case k.pid == f.leader: // somebody else has the number by now
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

// end kills the members until there are none: a process can fork between a look
// and a kill.
func (f *lineage) end() {
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
