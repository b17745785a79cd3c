package eventlog

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
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
			if err := s.Append(ctx, event.Draft{Body: event.Ticked{}}); err != nil {
				t.Fatal(err)
			}
		}
	}
	tick(20)
	begin := s.Last() - 10
	events := s.Events(ctx, begin)
	tick(5) // queued, and in the log that is read first
	last, seen, pieces := begin, 0, map[string]bool{}
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
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
	if err := s.Append(t.Context(), event.Draft{Body: event.Ticked{}}); err != nil {
		t.Fatal(err)
	}
	s.EndReaders(true)
	shown, stored := 0, 0
	for e, err := range events {
		if err != nil {
			t.Fatal(err)
		}
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
