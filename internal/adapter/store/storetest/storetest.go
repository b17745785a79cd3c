// Package storetest tests that an event.Store fulfils its contract and the
// additional promises of package store. Every store's tests run it.
package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Run runs the suite. open returns a new, empty store that it closes itself when
// the test ends; closing twice must be fine.
func Run(t *testing.T, open func(t *testing.T) event.Store) {
	for _, c := range []struct {
		name string
		f    func(*testing.T, event.Store)
	}{
		{"append and read", appendAndRead},
		{"stale", stale},
		{"atomic batch", atomicBatch},
		{"one winner per seq", oneWinner},
		{"refused bodies and ids", refused},
		{"unknown kept byte for byte", unknownKept},
		{"returned as read", returnedAsRead},
		{"row", row},
		{"sessions newest first", newestFirst},
		{"many sessions", manySessions},
		{"prefix", prefix},
		{"forks of forks", forksOfForks},
		{"fork of what is not there", forkRefused},
		{"fork's row", forkRow},
		{"delete", deleteOne},
		{"delete with forks", deleteWithForks},
		{"agents", agents},
		{"blobs", blobs},
		{"blobs go with their sessions", blobsGo},
		{"read what was there", readSnapshot},
		{"read while a session goes", readGone},
		{"contexts", contexts},
		{"a long session", manyEvents},
		{"closed", closed},
		{"against a naive model", property},
	} {
		t.Run(c.name, func(t *testing.T) { c.f(t, open(t)) })
	}
}

func note(s string) event.Draft { return event.Draft{Body: event.Noted{Why: "test", Text: s}} }

func prompt(s string) event.Draft {
	return event.Draft{Body: event.Prompted{Source: event.Person, Text: s}}
}

func changed(before, after string) event.Draft {
	return event.Draft{Body: event.FileChanged{Tool: "put", Path: "a.go", Before: tool.Hash(before), After: tool.Hash(after), Kept: true}}
}

func must[T any](t *testing.T) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}

func app(t *testing.T, s event.Store, id string, after int64, ds ...event.Draft) []event.Event {
	t.Helper()
	return must[[]event.Event](t)(s.Append(context.Background(), id, after, ds...))
}

func read(s event.Store, id string, after int64) ([]event.Event, error) {
	var out []event.Event
	for e, err := range s.Read(context.Background(), id, after) {
		if err != nil {
			return out, err
		}
		out = append(out, e)
	}
	return out, nil
}

func all(t *testing.T, s event.Store, id string, after int64) []event.Event {
	t.Helper()
	return must[[]event.Event](t)(read(s, id, after))
}

func texts(es []event.Event) string {
	var out []string
	for _, e := range es {
		if n, ok := e.Body.(event.Noted); ok {
			out = append(out, n.Text)
		} else {
			out = append(out, e.Body.Kind())
		}
	}
	return strings.Join(out, " ")
}

func wantErr(t *testing.T, err error, is ...error) {
	t.Helper()
	for _, want := range is {
		if !errors.Is(err, want) {
			t.Fatalf("error is %v, want %v", err, want)
		}
	}
}

// SPEC 10.4: stored before it is shown, in order, as it was.
func appendAndRead(t *testing.T, s event.Store) {
	first := app(t, s, "s", 0, note("a"), event.Draft{Cause: 1, Body: event.Noted{Text: "b"}})
	if first[0].Seq != 1 || first[1].Seq != 2 || first[1].Cause != 1 || first[0].Session != "s" {
		t.Fatalf("places: %+v", first)
	}
	app(t, s, "s", 2, note("c"))
	app(t, s, "other", 0, note("x"))
	es := all(t, s, "s", 0)
	if texts(es) != "a b c" {
		t.Fatalf("read %q", texts(es))
	}
	for i, e := range es {
		if e.Session != "s" || e.Seq != int64(i+1) || e.Time.IsZero() || i > 0 && e.Time.Before(es[i-1].Time) {
			t.Errorf("event %d: %+v", i, e)
		}
	}
	if got := texts(all(t, s, "s", 2)); got != "c" {
		t.Errorf("after 2: %q", got)
	}
	if got := all(t, s, "s", 3); len(got) != 0 {
		t.Errorf("after the last: %v", got)
	}
	if got := all(t, s, "s", 99); len(got) != 0 {
		t.Errorf("after more than there is: %v", got)
	}
	if _, err := read(s, "nobody", 0); !errors.Is(err, event.ErrNoSession) {
		t.Errorf("no session: %v", err)
	}
	updated := rowOf(t, s, "s").Updated
	if got := app(t, s, "s", 3); len(got) != 0 {
		t.Errorf("appending nothing gave %v", got)
	}
	if got := app(t, s, "new", 0); len(got) != 0 {
		t.Errorf("appending nothing to nothing gave %v", got)
	}
	if _, err := s.Session(context.Background(), "new"); !errors.Is(err, event.ErrNoSession) {
		t.Errorf("appending nothing made a session: %v", err)
	}
	if got := rowOf(t, s, "s").Updated; !got.Equal(updated) {
		t.Errorf("appending nothing changed the row: %v", got)
	}
	// A prefix is not a session: an append goes to the named session.
	if _, err := read(s, "oth", 0); !errors.Is(err, event.ErrNoSession) {
		t.Errorf("read by prefix: %v", err)
	}
}

func stale(t *testing.T, s event.Store) {
	ctx := context.Background()
	app(t, s, "s", 0, note("a"), note("b"))
	for _, after := range []int64{0, 1, 3, 100} {
		_, err := s.Append(ctx, "s", after, note("late"))
		wantErr(t, err, event.ErrStale)
	}
	if _, err := s.Append(ctx, "s", 1); !errors.Is(err, event.ErrStale) {
		t.Errorf("nothing after a stale seq: %v", err)
	}
	_, err := s.Append(ctx, "new", 1, note("x"))
	wantErr(t, err, event.ErrNoSession)
	_, err = s.Append(ctx, "s", -1, note("x"))
	wantErr(t, err, store.ErrRefused)
	if got := texts(all(t, s, "s", 0)); got != "a b" {
		t.Errorf("left: %q", got)
	}
}

// SPEC 4.8: a step's results are stored together or not at all.
func atomicBatch(t *testing.T, s event.Store) {
	ctx := context.Background()
	bad := event.Draft{Body: event.CallAsked{ID: "1", Tool: "x", Args: json.RawMessage(`{"broken`)}}
	if _, err := s.Append(ctx, "s", 0, note("a"), bad, note("b")); !errors.Is(err, store.ErrRefused) {
		t.Fatalf("a body that cannot be encoded: %v", err)
	}
	if _, err := s.Session(ctx, "s"); !errors.Is(err, event.ErrNoSession) {
		t.Fatalf("half a batch left a session: %v", err)
	}
	app(t, s, "s", 0, note("a"))
	if _, err := s.Append(ctx, "s", 1, note("b"), bad); err == nil {
		t.Fatal("stored what cannot be encoded")
	}
	if got := texts(all(t, s, "s", 0)); got != "a" {
		t.Errorf("left: %q", got)
	}
}

func oneWinner(t *testing.T, s event.Store) {
	const writers, seqs = 8, 40
	ctx := context.Background()
	var won [seqs][]int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range writers {
		wg.Go(func() {
			for seq := range int64(seqs) {
				for { // until this seq is somebody's
					_, err := s.Append(ctx, "s", seq, note(fmt.Sprint(w)), note("second"))
					if err == nil {
						mu.Lock()
						won[seq] = append(won[seq], w)
						mu.Unlock()
						break
					}
					if errors.Is(err, event.ErrNoSession) && seq > 0 {
						continue // not begun yet
					}
					if !errors.Is(err, event.ErrStale) {
						t.Error(err)
						return
					}
					row, err := s.Session(ctx, "s")
					if err != nil {
						t.Error(err)
						return
					}
					if row.Last > seq {
						break
					}
				}
			}
		})
	}
	wg.Wait()
	es := all(t, s, "s", 0)
	for i, e := range es {
		if e.Seq != int64(i+1) {
			t.Fatalf("seq %d at place %d", e.Seq, i)
		}
	}
	for seq, w := range won {
		if len(w) > 1 {
			t.Errorf("seq %d has winners %v", seq, w)
		}
		if len(w) == 1 && (es[seq].Body.(event.Noted).Text != fmt.Sprint(w[0]) || texts(es[seq+1:seq+2]) != "second") {
			t.Errorf("seq %d is not the winner's", seq)
		}
	}
}

func refused(t *testing.T, s event.Store) {
	ctx := context.Background()
	for _, b := range []event.Body{
		event.TextDelta{Text: "x"},
		event.ReasoningDelta{},
		event.CallDelta{},
		event.OutputDelta{},
		event.TaskCalled{},
		event.Waiting{},
		event.Unknown{Name: "text_delta", V: 9, Raw: json.RawMessage(`{}`)},
		event.Unknown{Name: "", V: 1, Raw: json.RawMessage(`{}`)},
		event.Unknown{Name: "noted", V: 1, Raw: json.RawMessage(`not JSON`)},
		nil,
	} {
		if _, err := s.Append(ctx, "s", 0, note("before"), event.Draft{Body: b}); !errors.Is(err, store.ErrRefused) {
			t.Errorf("%#v: %v", b, err)
		}
	}
	for _, id := range []string{"", "a\x00b", "a\nb", "\xff", strings.Repeat("x", 200)} {
		if _, err := s.Append(ctx, id, 0, note("x")); !errors.Is(err, store.ErrRefused) {
			t.Errorf("id %q: %v", id, err)
		}
	}
	if rows := must[[]event.Row](t)(s.Sessions(ctx, "")); len(rows) != 0 {
		t.Errorf("left: %+v", rows)
	}
}

func unknownKept(t *testing.T, s event.Store) {
	raws := []string{
		`{"b": 1,  "a":[ 1, 2 ], "n": 1e400, "html":"<&>"}`, `null`, `{}`, ``, "\xff\xfe not JSON \x00 at all",
		`{"long":"` + strings.Repeat("é ", 5000) + `"}`,
	}
	var ds []event.Draft
	for i, raw := range raws {
		name, v := "from_the_future", i
		if i == 0 {
			name, v = "noted", 7 // a newer version of a known kind
		}
		ds = append(ds, event.Draft{Body: event.Unknown{Name: name, V: v, Raw: json.RawMessage(raw)}})
	}
	app(t, s, "s", 0, ds...)
	for i, e := range all(t, s, "s", 0) {
		want := ds[i].Body.(event.Unknown)
		got, ok := e.Body.(event.Unknown)
		if !ok || got.Name != want.Name || got.V != want.V || string(got.Raw) != string(want.Raw) {
			t.Errorf("%d: got %#v, want %#v", i, e.Body, want)
		}
	}
}

// What Append returns is what Read returns later, times included, also for
// large bodies and odd bytes.
func returnedAsRead(t *testing.T, s event.Store) {
	exit, cost := 2, 0.25
	ds := []event.Draft{
		{Body: event.Opened{Dir: "/w", Pawl: "1", Mode: "ask"}},
		prompt(strings.Repeat("large \u2028 <&> ✓ \x00 ", 100_000)),
		{Cause: 2, Body: event.CallAsked{ID: "c", Tool: "run", Args: json.RawMessage(`{"command":"a && b <c>"}`), Does: tool.Exec, Title: "run a && b <c>"}},
		{Cause: 3, Body: event.CallDone{
			ID: "c", Tool: "run", Outcome: event.Failed, Exit: &exit, Does: tool.Exec,
			Result: llm.Result{ID: "c", Name: "run", Images: []llm.Media{{Type: "image/png", Data: []byte{0, 255}}}},
		}},
		{Body: event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("hi")}}}, Cost: &cost}},
		{Body: event.Ticked{}},
	}
	want := app(t, s, "s", 0, ds...)
	if diff := cmp.Diff(want, all(t, s, "s", 0)); diff != "" {
		t.Error(diff)
	}
}

func readSnapshot(t *testing.T, s event.Store) {
	app(t, s, "s", 0, note("a"), note("b"))
	n := 0
	for e, err := range s.Read(context.Background(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
		app(t, s, "s", e.Seq+1, note("more")) // a store that followed would never end
	}
	if n != 2 {
		t.Errorf("read %d events", n)
	}
}

func readGone(t *testing.T, s event.Store) {
	var ds []event.Draft
	for range 2000 {
		ds = append(ds, note("x"))
	}
	app(t, s, "s", 0, ds...)
	var last error
	for e, err := range s.Read(context.Background(), "s", 0) {
		last = err
		if e.Seq == 1 {
			if err := s.Delete(context.Background(), "s"); err != nil {
				t.Fatal(err)
			}
		}
	}
	wantErr(t, last, event.ErrNoSession)
}

func contexts(t *testing.T, s event.Store) {
	app(t, s, "s", 0, note("a"), note("b"))
	hash := must[string](t)(s.Put(context.Background(), []byte("x")))
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	_, e1 := s.Append(ctx, "s", 2, note("c"))
	_, e2 := s.Put(ctx, []byte("y"))
	_, e3 := s.Get(ctx, hash)
	_, e4 := s.Sessions(ctx, "")
	_, e5 := s.Session(ctx, "s")
	e6 := s.Fork(ctx, event.Origin{Session: "s", At: 1}, "f")
	e7 := s.Delete(ctx, "s")
	var e8 error
	for _, err := range s.Read(ctx, "s", 0) {
		e8 = err
	}
	for i, err := range []error{e1, e2, e3, e4, e5, e6, e7, e8} {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("call %d with a cancelled context: %v", i+1, err)
		}
	}
	if got := texts(all(t, s, "s", 0)); got != "a b" {
		t.Errorf("left: %q", got)
	}
	// Cancelled in the middle of a long read.
	var ds []event.Draft
	for range 3000 {
		ds = append(ds, note("x"))
	}
	app(t, s, "s", 2, ds...)
	ctx, cancel = context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var last error
	for _, err := range s.Read(ctx, "s", 0) {
		last = err
		n++
		cancel()
	}
	if !errors.Is(last, context.Canceled) || n > 1000 {
		t.Errorf("read %d events after the cancellation, then %v", n, last)
	}
}

// SPEC 10.4, DESIGN "Performance by construction": a long session is read as a
// stream.
func manyEvents(t *testing.T, s event.Store) {
	const events, batch = manyCount, 1000
	text := strings.Repeat("a line of some output\n", 12)
	ds := make([]event.Draft, batch)
	for i := range ds {
		ds[i] = note(text)
	}
	for n := 0; n < events; n += batch {
		app(t, s, "s", int64(n), ds...)
	}
	alloc := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.TotalAlloc
	}
	before := alloc()
	for range s.Read(context.Background(), "s", 0) {
		break
	}
	if used := alloc() - before; used > 8<<20 {
		t.Errorf("the first of %d events took %d bytes of memory", events, used)
	}
	seq := int64(0)
	for e, err := range s.Read(context.Background(), "s", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if seq++; e.Seq != seq {
			t.Fatalf("seq %d at place %d", e.Seq, seq)
		}
	}
	if seq != events {
		t.Errorf("read %d events", seq)
	}
}

func closed(t *testing.T, s event.Store) {
	ctx := context.Background()
	app(t, s, "s", 0, note("a"))
	for range 2 {
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	_, e1 := s.Append(ctx, "s", 1, note("b"))
	_, e2 := s.Sessions(ctx, "")
	_, e3 := read(s, "s", 0)
	for i, err := range []error{e1, e2, e3} {
		if !errors.Is(err, os.ErrClosed) {
			t.Errorf("call %d on a closed store: %v", i+1, err)
		}
	}
}
