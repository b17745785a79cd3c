package sqlite

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 19.3: pages are read ahead, and a reader sees nothing of it: every event
// once and in order, an end wherever it wants one, what comes before damage, and
// its own reads and writes in between.
func TestReadAhead(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	const all = 1500
	var ds []event.Draft
	for i := range all {
		ds = append(ds, noted(fmt.Sprint("event ", i+1)))
	}
	add(t, s, "a", 0, ds...)
	must.Do(t, s.Fork(t.Context(), event.Origin{Session: "a", At: all - 700}, "b"))
	add(t, s, "b", all-700, ds[:600]...)
	read := func(ctx context.Context, id string, after, until int64) (last int64, err error) {
		last = after
		for e, err := range s.Read(ctx, id, after) {
			if err != nil {
				return last, err
			}
			if last++; e.Seq != last {
				t.Fatalf("%s: event %d after %d", id, e.Seq, last-1)
			}
			if last%200 == 0 {
				must.Done(t)(s.Session(ctx, id))
				must.Done(t)(s.Put(ctx, fmt.Append(nil, last)))
			}
			if last == until {
				break
			}
		}
		return last, nil
	}
	for _, id := range []string{"a", "b"} {
		end := map[string]int64{"a": all, "b": all - 100}[id]
		for _, from := range []int64{0, 1, 15, 16, 17, 271, 272, 273, 799, 800, 801, end - 1, end} {
			if last, err := read(t.Context(), id, from, 0); err != nil || last != end {
				t.Errorf("%s after %d: up to %d, %v", id, from, last, err)
			}
			for _, until := range []int64{1, 16, 17, 272, 273, 600} {
				if until = from + until; until > end {
					continue
				}
				if last, err := read(t.Context(), id, from, until); err != nil || last != until {
					t.Errorf("%s after %d until %d: up to %d, %v", id, from, until, last, err)
				}
			}
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	seen := 0
	for _, err := range s.Read(ctx, "a", 0) {
		if err != nil {
			if !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
			break
		}
		if seen++; seen == 20 {
			cancel()
		}
	}
	if seen == all {
		t.Error("a reader that is cancelled reads on to the end")
	}
	must.Do(t, s.w.script(t.Context(), "DROP TRIGGER events_never_go; DELETE FROM events WHERE id = (1 << 32) | 700"))
	if last, err := read(t.Context(), "a", 0, 0); last != 699 || !errors.Is(err, store.ErrCorrupt) {
		t.Errorf("up to %d, %v; want 699 and the damage", last, err)
	}
}

// SPEC 19.3: of some kinds only their events are read, also of a fork, wherever
// they are; damage between them is found.
func TestReadKinds(t *testing.T) {
	t.Parallel()
	s := fresh(t)
	r := rand.New(rand.NewPCG(9, 9))
	large := strings.Repeat("output ", 4000)
	var ds []event.Draft
	for i := range 10_000 {
		switch n := r.IntN(100); {
		case i > 3000 && i < 8000: // more than is passed at once
			ds = append(ds, noted("x"))
		case n < 3:
			ds = append(ds, noted(large))
		case n < 60:
			ds = append(ds, noted("x"))
		case n < 80:
			ds = append(ds, event.Draft{Body: event.ModeSet{Mode: fmt.Sprint(i)}})
		default:
			ds = append(ds, event.Draft{Body: event.Warned{Text: fmt.Sprint(i)}})
		}
	}
	add(t, s, "a", 0, ds...)
	must.Do(t, s.Fork(t.Context(), event.Origin{Session: "a", At: 2500}, "b"))
	add(t, s, "b", 2500, ds[2500:4000]...)
	for _, id := range []string{"a", "b"} {
		var all []event.Event
		for e, err := range s.Read(t.Context(), id, 0) {
			must.Do(t, err)
			all = append(all, e)
		}
		for _, kinds := range [][]string{{"mode_set"}, {"mode_set", "warned"}, {"noted", "warned"}, {"mode"}, {"ended"}} {
			for _, after := range []int64{0, 5, 2499, 2500, 2501, 3999, 9999} {
				var got, want []event.Event
				for e, err := range s.ReadKinds(t.Context(), id, after, kinds...) {
					must.Do(t, err)
					got = append(got, e)
				}
				for _, e := range all {
					if e.Seq > after && slices.Contains(kinds, e.Body.Kind()) {
						want = append(want, e)
					}
				}
				if !reflect.DeepEqual(got, want) {
					t.Errorf("%s after %d, %q: %d events, want %d", id, after, kinds, len(got), len(want))
				}
			}
		}
	}
	must.Do(t, s.w.script(t.Context(), "DROP TRIGGER events_never_go; DELETE FROM events WHERE id = (1 << 32) | 5000"))
	var last error
	for _, err := range s.ReadKinds(t.Context(), "a", 0, "mode_set") {
		last = err
	}
	if !errors.Is(last, store.ErrCorrupt) {
		t.Errorf("%v, want the damage", last)
	}
}
