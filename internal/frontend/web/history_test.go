package web

import (
	"context"
	"fmt"
	"iter"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// counted is a store that counts the events that are read.
type counted struct {
	event.Store
	events int
}

func (c *counted) Read(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		for e, err := range c.Store.Read(ctx, id, after) {
			if c.events++; !yield(e, err) {
				return
			}
		}
	}
}

// reader is a server that reads logs of prompts.
type reader struct {
	*sessions
	t     *testing.T
	store *counted
	last  map[string]int64
}

func newReader(t *testing.T) *reader {
	s := &counted{Store: memory.New(time.Now)}
	return &reader{&sessions{cfg: Config{Store: s}, live: map[string]*live{}}, t, s, map[string]int64{}}
}

// write writes n prompts whose texts have a size in bytes.
func (r *reader) write(id string, n, size int) {
	r.t.Helper()
	for range n {
		last := r.last[id]
		es, err := r.store.Append(r.t.Context(), id, last, event.Draft{Body: event.Prompted{Source: event.Person, Text: strings.Repeat("x", size)}})
		must.Do(r.t, err)
		r.last[id] = es[0].Seq
	}
}

// asks asks for blocks, and reports how many events were read for them.
func (r *reader) asks(id, before string, n int) (Blocks, int) {
	r.t.Helper()
	r.store.events = 0
	b, err := r.blocks(r.t.Context(), id, before, n)
	must.Do(r.t, err)
	return b, r.store.events
}

// SPEC 21.1: each event of a session is folded once, however often its blocks are asked
// for, and only what is new is read.
func TestEventsAreFoldedOnce(t *testing.T) {
	r := newReader(t)
	r.write("s1", 500, 1)
	first, read := r.asks("s1", "", 100)
	if len(first.Blocks) != 100 || !first.More || read != 500 {
		t.Fatal(len(first.Blocks), first.More, read)
	}
	for name, ask := range map[string]func() (Blocks, int){
		"the same again":                   func() (Blocks, int) { return r.asks("s1", "", 100) },
		"the page before it":               func() (Blocks, int) { return r.asks("s1", first.Blocks[0].ID, 100) },
		"the first page":                   func() (Blocks, int) { return r.asks("s1", first.Blocks[9].ID, 200) },
		"before a block that is not there": func() (Blocks, int) { return r.asks("s1", "e-9999", 100) },
	} {
		if b, read := ask(); read != 0 || len(b.Blocks) < 100 {
			t.Errorf("%s: %d events were read for %d blocks", name, read, len(b.Blocks))
		}
	}
	r.write("s1", 3, 1)
	next, read := r.asks("s1", "", 100)
	if read != 3 || next.Blocks[96].ID != first.Blocks[99].ID {
		t.Errorf("%d events were read after 3 new ones; %s", read, next.Blocks[96].ID)
	}
}

// SPEC 21.1: a reading that is cut off is gone on with, without a gap and nothing twice.
func TestReadingIsCutOff(t *testing.T) {
	r := newReader(t)
	r.write("s1", 50, 1)
	broken := &failing{Store: r.store.Store, after: 20}
	r.cfg.Store = broken
	if _, err := r.blocks(t.Context(), "s1", "", 100); err == nil {
		t.Fatal("no error")
	}
	r.cfg.Store = r.store
	b, read := r.asks("s1", "", 100)
	seen := map[string]bool{}
	for _, b := range b.Blocks {
		seen[b.ID] = true
	}
	if read != 30 || len(b.Blocks) != 50 || len(seen) != 50 {
		t.Errorf("%d events, %d blocks, %d ids", read, len(b.Blocks), len(seen))
	}
}

// failing is a store that fails after some events.
type failing struct {
	event.Store
	after int
}

func (c *failing) Read(ctx context.Context, id string, after int64) iter.Seq2[event.Event, error] {
	return func(yield func(event.Event, error) bool) {
		n := 0
		for e, err := range c.Store.Read(ctx, id, after) {
			if n++; n > c.after {
				yield(event.Event{}, context.DeadlineExceeded)
				return
			}
			if !yield(e, err) {
				return
			}
		}
	}
}

// SPEC 21.1: what is kept has a limit, for one session and for all of them; all blocks
// can be had page by page nevertheless, each once.
func TestHistoryIsBounded(t *testing.T) {
	r := newReader(t)
	const size, all = 16 << 10, 700
	r.write("s1", all, size)
	var ids []string
	pages := 0
	for before, more := "", true; more; pages++ {
		b, _ := r.asks("s1", before, 90)
		for i := len(b.Blocks) - 1; i >= 0; i-- {
			ids = append(ids, b.Blocks[i].ID)
		}
		if len(b.Blocks) == 0 {
			t.Fatalf("an empty page before %s", before)
		}
		before, more = b.Blocks[0].ID, b.More
	}
	seen := map[string]bool{}
	for _, id := range ids {
		seen[id] = true
	}
	if len(ids) != all || len(seen) != all || pages != (all+89)/90 {
		t.Errorf("%d blocks, %d of them different, on %d pages", len(ids), len(seen), pages)
	}
	h := r.history("s1")
	if h.size > mostHistory || !h.dropped || len(h.blocks) < mostAtOnce {
		t.Errorf("%d bytes of %d blocks are kept", h.size, len(h.blocks))
	}
	for i := range 2 * mostHistories {
		r.write(fmt.Sprint("other", i), 1, 1)
		r.asks(fmt.Sprint("other", i), "", 10)
	}
	if len(r.read) != mostHistories {
		t.Errorf("%d sessions are kept", len(r.read))
	}
	if _, read := r.asks(fmt.Sprint("other", 2*mostHistories-1), "", 10); read != 0 {
		t.Errorf("the newest one was forgotten: %d events", read)
	}
}
