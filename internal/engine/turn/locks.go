package turn

import (
	"context"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Locks is one workspace's lock. Each call holds it, and it is shared with
// child sessions so that agents can work in parallel: calls whose footprints do
// not conflict run together, the others in the order of their reservations.
type Locks struct {
	mu      sync.Mutex
	tickets []*Ticket // in the order of reservation, including held ones
	running int       // of those that do the work of a call
	// Most is how many calls may run at once (SPEC 4.1).
	Most int
}

// NewLocks makes a workspace's lock for at most n calls at once.
func NewLocks(n int) *Locks { return &Locks{Most: n} }

// Ticket is a place in the queue.
type Ticket struct {
	locks *Locks
	fp    tool.Footprint
	ready chan struct{} // closed when the call may run
	held  bool
}

// Reserve takes a place in the queue. Every ticket must be released.
func (l *Locks) Reserve(fp tool.Footprint) *Ticket {
	l.mu.Lock()
	defer l.mu.Unlock()
	t := &Ticket{locks: l, fp: fp, ready: make(chan struct{})}
	l.tickets = append(l.tickets, t)
	l.admit()
	return t
}

// Wait returns when the call may run, or with ctx's error.
func (t *Ticket) Wait(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Release returns the place; a second call, or one on nil, is harmless.
func (t *Ticket) Release() {
	if t == nil {
		return
	}
	l := t.locks
	l.mu.Lock()
	defer l.mu.Unlock()
	i := slices.Index(l.tickets, t)
	if i < 0 {
		return
	}
	l.tickets = slices.Delete(l.tickets, i, i+1)
	if t.held && !onlyWaits(t.fp) {
		l.running--
	}
	l.admit()
}

// admit lets every ticket run that conflicts with none before it. A call that
// only waits, for a person or for the calls of a child session, does not count
// as running: the calls that it waits for need the places.
func (l *Locks) admit() {
	for i, t := range l.tickets {
		if t.held || !onlyWaits(t.fp) && l.running >= l.Most {
			continue
		}
		if slices.ContainsFunc(l.tickets[:i], func(o *Ticket) bool { return conflict(o.fp, t.fp) }) {
			continue
		}
		t.held = true
		if !onlyWaits(t.fp) {
			l.running++
		}
		close(t.ready)
	}
}

func onlyWaits(fp tool.Footprint) bool { return fp.AsksPerson || fp.RunsChild }

// conflict reports whether two calls must not run together: one writes what the
// other reads or writes. An unknown footprint conflicts with everything except
// a question to a person. A child session conflicts with nothing: its calls
// take their own places in the queue, and would otherwise wait for the call
// that waits for them.
func conflict(a, b tool.Footprint) bool {
	if a.RunsChild || b.RunsChild {
		return false
	}
	if a.AsksPerson || b.AsksPerson {
		return a.AsksPerson && b.AsksPerson // two questions at once confuse
	}
	if a.Unknown || b.Unknown {
		return true
	}
	return overlap(a.Writes, b.Writes) || overlap(a.Writes, b.Reads) || overlap(a.Reads, b.Writes)
}

func overlap(a, b []tool.Span) bool {
	for _, x := range a {
		for _, y := range b {
			if x.Path == y.Path || x.Dir && below(y.Path, x.Path) || y.Dir && below(x.Path, y.Path) {
				return true
			}
		}
	}
	return false
}

func below(path, dir string) bool {
	return dir == "" || dir == "." || dir == "/" || strings.HasPrefix(path, strings.TrimSuffix(dir, "/")+"/")
}
