package eventlog

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 10.4: a reader that falls behind until its queue is given up, and that
// reads from the log while more comes, sees every stored event once and in
// order; of what is not stored it may miss pieces, and sees none twice.
func TestLaggingReader(t *testing.T) {
	s := opened(t, memory.New(time.Now))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	tick := func(n int) {
		for range n {
			must.Do(t, s.Append(ctx, event.Draft{Body: event.Ticked{}}))
		}
	}
	tick(20)
	begin := s.Last() - 10
	events := s.Events(ctx, begin)
	tick(5) // queued, and in the log that is read first
	last, seen, pieces := begin, 0, map[string]bool{}
	for e, err := range events {
		must.Do(t, err)
		if d, ok := e.Body.(event.TextDelta); ok {
			if pieces[d.Text] {
				t.Errorf("%q is shown twice", d.Text)
			}
			pieces[d.Text] = true
			continue
		}
		if e.Seq != last+1 {
			t.Fatalf("event %d after %d", e.Seq, last)
		}
		last = e.Seq
		switch seen++; seen {
		case 3: // in the middle of the first look at the log
			tick(5)
		case 20: // the last there is: far too much for the queue
			s.Publish(event.TextDelta{Text: "before"})
			tick(maxQueued + 100)
			s.Publish(event.TextDelta{Text: "behind"})
		case 4000: // in the middle of catching up
			tick(7)
			s.Publish(event.TextDelta{Text: "while it catches up"})
		}
		if e.Seq == s.Last() && seen > 4000 {
			break
		}
	}
	if want := int(s.Last() - begin); seen != want {
		t.Errorf("%d events seen of %d", seen, want)
	}
}

// SPEC 19.3: a reader that does not read holds a bounded part of what a command
// prints, however much that is; what is stored it gets all the same.
func TestSlowReaderIsBounded(t *testing.T) {
	s := opened(t, memory.New(time.Now))
	events := s.Events(t.Context(), 0)
	piece := strings.Repeat("x", 60<<10) + "\n"
	for range 400 {
		s.Publish(event.OutputDelta{Call: "c", Text: piece})
	}
	must.Do(t, s.Append(t.Context(), event.Draft{Body: event.Ticked{}}))
	s.EndReaders(true)
	shown, stored := 0, 0
	for e, err := range events {
		must.Do(t, err)
		if d, ok := e.Body.(event.OutputDelta); ok {
			shown += len(d.Text)
		} else {
			stored++
		}
	}
	if shown > maxPieces || shown < maxPieces/2 || stored != 1 {
		t.Errorf("%d bytes of pieces and %d events", shown, stored)
	}
}

// SPEC 10.4: who begins at any point of a session, also one that was opened again or that
// another process goes on with, gets what comes after it, once and in order.
func TestReaderBegins(t *testing.T) {
	for _, c := range []struct {
		name          string
		before, since int
		after         int64
		mirrored      bool // another process stored one, and it was told here
		unknown       bool // or is not known here yet
	}{
		{name: "a new session", since: 3},
		{name: "in the middle", since: 5, after: 2},
		{name: "when the log keeps no more", since: maxFresh, after: 1},
		{name: "when it kept all before", since: maxFresh + 1, after: 1},
		{name: "since it was opened again", before: 4, since: 3, after: 4},
		{name: "from before it was opened again", before: 4, since: 3, after: 3},
		{name: "another process stored one", since: 3, mirrored: true},
		{name: "one that is not folded here", before: 2, since: 3, unknown: true},
	} {
		t.Run(c.name, func(t *testing.T) {
			st := memory.New(time.Now)
			tick := func(l *Log, n int) {
				for range n {
					must.Do(t, l.Append(t.Context(), event.Draft{Body: event.Ticked{}}))
				}
			}
			tick(opened(t, st), c.before)
			l := opened(t, st)
			tick(l, c.since)
			if c.mirrored || c.unknown {
				if es := must.Get(st.Append(t.Context(), "s", l.Last(), event.Draft{Body: event.Ticked{}}))(t); c.mirrored {
					l.Mirror(es[0])
				}
			}
			events := l.Events(t.Context(), c.after)
			if !c.mirrored && !c.unknown {
				tick(l, 2)
			}
			l.EndReaders(true)
			last := c.after
			for e, err := range events {
				if err != nil || e.Seq != last+1 {
					t.Fatalf("event %d after %d: %v", e.Seq, last, err)
				}
				last = e.Seq
			}
			if last != l.Last() {
				t.Errorf("the last is %d of %d", last, l.Last())
			}
		})
	}
}

// SPEC 19.3: what bounds a reader is what it has not read yet: who reads along misses
// nothing, however much is printed in all.
func TestReaderThatReadsAlong(t *testing.T) {
	s := opened(t, memory.New(time.Now))
	piece := strings.Repeat("x", 60<<10) + "\n"
	const all = 3 * maxPieces / (60 << 10)
	n := 0
	events := s.Events(t.Context(), s.Last())
	s.Publish(event.OutputDelta{Call: "c", Text: piece})
	for _, err := range events {
		must.Do(t, err)
		if n++; n == all {
			break
		}
		s.Publish(event.OutputDelta{Call: "c", Text: piece})
		if n > 1 && n%10 == 0 {
			s.EndReaders(false) // it wakes one that waits for what was dropped
		}
	}
	if n != all || len(s.subs) != 0 {
		t.Errorf("%d pieces of %d, %d readers are left", n, all, len(s.subs))
	}
	s.EndReaders(true) // closed: who comes now waits for nothing
	for e := range s.Events(t.Context(), s.Last()) {
		t.Errorf("%+v", e)
	}
}

// SPEC 10.4: a piece of something that the reader got from the log whole is not shown
// after it.
func TestPiecesBeforeTheWhole(t *testing.T) {
	s := opened(t, memory.New(time.Now))
	tick := event.Draft{Body: event.Ticked{}}
	for range maxFresh + 1 {
		must.Do(t, s.Append(t.Context(), tick))
	}
	events := s.Events(t.Context(), 0) // which begins with the store
	s.Publish(event.TextDelta{Text: "a piece"})
	if err := s.Append(t.Context(), tick); err != nil { // the whole: read with the log
		t.Fatal(err)
	}
	s.EndReaders(true)
	for e, err := range events {
		if err != nil || e.Seq == 0 {
			t.Errorf("%+v, %v", e, err)
		}
	}
}
