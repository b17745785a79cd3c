package storetest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func rowOf(t *testing.T, s event.Store, id string) event.Row {
	t.Helper()
	return must[event.Row](t)(s.Session(context.Background(), id))
}

func rebased(model string) event.Draft {
	return event.Draft{Body: event.Rebased{Why: event.RebasedStart, Info: llm.Info{Provider: "p", Model: model}}}
}

func row(t *testing.T, s event.Store) {
	first := app(t, s, "s", 0, event.Draft{Body: event.Opened{Dir: "/w"}}, rebased("m1"))
	app(t, s, "s", 2, event.Draft{Body: event.Prompted{Source: event.Hook, Text: "not a person"}},
		prompt("  fix\tthe \x1b[31m\nbug "+strings.Repeat("ä", 200)), prompt("second"))
	last := app(t, s, "s", 5, rebased("m2"), event.Draft{Body: event.Opened{Dir: "/elsewhere"}})
	r := rowOf(t, s, "s")
	title := r.Title
	r.Title = ""
	want := event.Row{ID: "s", Dir: "/w", Model: "p/m2", Created: first[0].Time, Updated: last[0].Time, Events: 7, Last: 7}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if !strings.HasPrefix(title, "fix the [31m bug ää") || !strings.HasSuffix(title, "…") || utf8.RuneCountInString(title) > 80 {
		t.Errorf("title %q", title)
	}
}

// newest lists what Newest yields, and checks it against Count.
func newest(t *testing.T, s event.Store, dir string) (ids []string) {
	t.Helper()
	for r, err := range s.Newest(context.Background(), dir) {
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, r.ID)
	}
	if n := must[int](t)(s.Count(context.Background(), dir)); n != len(ids) {
		t.Errorf("%q has %d sessions, counted are %d", dir, len(ids), n)
	}
	return ids
}

// SPEC 19.3: the newest are found one page after the other, in the order of all.
func manySessions(t *testing.T, s event.Store) {
	const n = 150
	for i := range n {
		app(t, s, fmt.Sprintf("s%03d", i), 0, event.Draft{Body: event.Opened{Dir: fmt.Sprintf("/w%d", i%2)}})
	}
	for i := range 40 { // some go on, out of order
		app(t, s, fmt.Sprintf("s%03d", i*37%n), 1+int64(i/n), note("x"))
	}
	for _, dir := range []string{"", "/w0", "/w1"} {
		var want []string
		for _, r := range must[[]event.Row](t)(s.Sessions(context.Background(), dir)) {
			want = append(want, r.ID)
		}
		if got := newest(t, s, dir); !slices.Equal(got, want) {
			t.Errorf("the newest of %q are\n%v\nlisted are\n%v", dir, got, want)
		}
	}
	for r, err := range s.Newest(context.Background(), "/w0") {
		if err != nil || r.Dir != "/w0" {
			t.Error(r, err)
		}
		break // who needs one reads no more
	}
}

func newestFirst(t *testing.T, s event.Store) {
	ctx := context.Background()
	list := func(dir string) string {
		t.Helper()
		var ids []string
		for _, r := range must[[]event.Row](t)(s.Sessions(ctx, dir)) {
			ids = append(ids, r.ID)
		}
		if got := newest(t, s, dir); !slices.Equal(got, ids) {
			t.Errorf("the newest of %q are %v, listed are %v", dir, got, ids)
		}
		return strings.Join(ids, " ")
	}
	if got := list(""); got != "" {
		t.Errorf("an empty store lists %q", got)
	}
	for i, id := range []string{"a", "b", "c", "d"} {
		app(t, s, id, 0, event.Draft{Body: event.Opened{Dir: fmt.Sprintf("/w%d", i%2)}})
	}
	app(t, s, "a", 1, note("again"))
	if got := list(""); got != "a d c b" {
		t.Errorf("all: %q", got)
	}
	if got := list("/w1"); got != "d b" {
		t.Errorf("of one folder: %q", got)
	}
	if got := list("/w"); got != "" {
		t.Errorf("of a folder without sessions: %q", got)
	}
}

func prefix(t *testing.T, s event.Store) {
	ctx := context.Background()
	for _, id := range []string{"abc1", "abc12", "abd", "Äpfel", "x%y", "x_y"} {
		app(t, s, id, 0, note("x"))
	}
	for p, want := range map[string]string{"abd": "abd", "abc12": "abc12", "abc1": "abc1", "Ä": "Äpfel", "x%": "x%y", "x_": "x_y"} {
		if got := rowOf(t, s, p).ID; got != want {
			t.Errorf("%q gives %q", p, got)
		}
	}
	for _, p := range []string{"ab", "abc", "x", "a"} {
		_, err := s.Session(ctx, p)
		wantErr(t, err, store.ErrAmbiguous, event.ErrNoSession)
	}
	for _, p := range []string{"", "abc123", "ABD", "%", "_", "x*"} {
		if _, err := s.Session(ctx, p); !errors.Is(err, event.ErrNoSession) || errors.Is(err, store.ErrAmbiguous) {
			t.Errorf("%q: %v", p, err)
		}
	}
	_, err := s.Session(ctx, "abc")
	if !strings.Contains(err.Error(), "abc1, abc12") {
		t.Errorf("says not which: %v", err)
	}
}

// SPEC 10.2: rewind is a fork, nothing is deleted.
func forksOfForks(t *testing.T, s event.Store) {
	ctx := context.Background()
	fork := func(from string, at int64, id string) {
		t.Helper()
		if err := s.Fork(ctx, event.Origin{Session: from, At: at}, id); err != nil {
			t.Fatal(err)
		}
	}
	app(t, s, "a", 0, note("1"), note("2"), note("3"), note("4"))
	fork("a", 3, "b")
	app(t, s, "b", 3, note("b4"), note("b5"))
	fork("b", 4, "c")
	app(t, s, "c", 4, note("c5"))
	fork("c", 2, "d") // at a point that c itself shares with a
	app(t, s, "d", 2, note("d3"))
	fork("d", 3, "e") // nothing of its own
	fork("a", 0, "f") // shares nothing
	app(t, s, "f", 0, note("f1"))
	app(t, s, "a", 4, note("5"))
	for id, want := range map[string]string{
		"a": "1 2 3 4 5", "b": "1 2 3 b4 b5", "c": "1 2 3 b4 c5", "d": "1 2 d3", "e": "1 2 d3", "f": "f1",
	} {
		es := all(t, s, id, 0)
		if got := texts(es); got != want {
			t.Errorf("%s reads %q, want %q", id, got, want)
		}
		for i, e := range es {
			if e.Session != id || e.Seq != int64(i+1) || i > 0 && e.Time.Before(es[i-1].Time) {
				t.Errorf("%s: event %+v at place %d", id, e, i)
			}
		}
		for after := range int64(len(es)) {
			if diff := cmp.Diff(es[after:], all(t, s, id, after)); diff != "" {
				t.Errorf("%s after %d: %s", id, after, diff)
			}
		}
	}
	_, err := s.Append(ctx, "e", 2, note("x"))
	wantErr(t, err, event.ErrStale)
}

func forkRefused(t *testing.T, s event.Store) {
	ctx := context.Background()
	app(t, s, "a", 0, note("1"), note("2"))
	app(t, s, "b", 0, note("1"))
	for _, c := range []struct {
		from event.Origin
		id   string
		want error
	}{
		{event.Origin{Session: "nobody", At: 1}, "n", event.ErrNoSession},
		{event.Origin{Session: "a", At: 3}, "n", store.ErrRefused},
		{event.Origin{Session: "a", At: -1}, "n", store.ErrRefused},
		{event.Origin{Session: "a", At: 1}, "b", store.ErrExists},
		{event.Origin{Session: "a", At: 1}, "a", store.ErrExists},
		{event.Origin{Session: "a", At: 1}, "", store.ErrRefused},
	} {
		wantErr(t, s.Fork(ctx, c.from, c.id), c.want)
	}
	if rows := must[[]event.Row](t)(s.Sessions(ctx, "")); len(rows) != 2 {
		t.Errorf("left: %+v", rows)
	}
}

func forkRow(t *testing.T, s event.Store) {
	ctx := context.Background()
	app(t, s, "a", 0, event.Draft{Body: event.Opened{Dir: "/w"}}, rebased("m1"), prompt("first"), rebased("m2"))
	for i, c := range []struct {
		at           int64
		title, model string
	}{{4, "first", "p/m2"}, {3, "first", "p/m1"}, {2, "", "p/m1"}, {1, "", ""}, {0, "", ""}} {
		id := fmt.Sprint("f", i)
		if err := s.Fork(ctx, event.Origin{Session: "a", At: c.at}, id); err != nil {
			t.Fatal(err)
		}
		r := rowOf(t, s, id)
		if r.Title != c.title || r.Model != c.model || r.Dir != "/w" || r.Last != c.at || r.Events != c.at ||
			r.Origin == nil || *r.Origin != (event.Origin{Session: "a", At: c.at}) {
			t.Errorf("fork at %d: %+v", c.at, r)
		}
	}
	app(t, s, "f2", 2, prompt("another way"))
	if got := rowOf(t, s, "f2").Title; got != "another way" {
		t.Errorf("title %q", got)
	}
}

func deleteOne(t *testing.T, s event.Store) {
	ctx := context.Background()
	app(t, s, "a", 0, note("1"), note("2"))
	app(t, s, "b", 0, note("b"))
	if err := s.Delete(ctx, "a"); err != nil {
		t.Fatal(err)
	}
	wantErr(t, s.Delete(ctx, "a"), event.ErrNoSession)
	wantErr(t, s.Delete(ctx, "nobody"), event.ErrNoSession)
	_, err := read(s, "a", 0)
	wantErr(t, err, event.ErrNoSession)
	_, err = s.Append(ctx, "a", 2, note("3"))
	wantErr(t, err, event.ErrNoSession)
	if got := texts(all(t, s, "b", 0)); got != "b" {
		t.Errorf("b reads %q", got)
	}
	app(t, s, "a", 0, note("new")) // the id is free again
	if got := texts(all(t, s, "a", 0)); got != "new" {
		t.Errorf("a reads %q", got)
	}
}

func deleteWithForks(t *testing.T, s event.Store) {
	ctx := context.Background()
	del := func(id string) {
		t.Helper()
		if err := s.Delete(ctx, id); err != nil {
			t.Fatal(err)
		}
	}
	app(t, s, "a", 0, note("1"), note("2"))
	must[struct{}](t)(struct{}{}, s.Fork(ctx, event.Origin{Session: "a", At: 2}, "b"))
	app(t, s, "b", 2, note("b3"))
	must[struct{}](t)(struct{}{}, s.Fork(ctx, event.Origin{Session: "b", At: 3}, "c"))
	del("a")
	del("b")
	for _, id := range []string{"a", "b"} {
		_, err := s.Session(ctx, id)
		wantErr(t, err, event.ErrNoSession)
		_, err = read(s, id, 0)
		wantErr(t, err, event.ErrNoSession)
		_, err = s.Append(ctx, id, 0, note("x"))
		wantErr(t, err, event.ErrNoSession)
		wantErr(t, s.Delete(ctx, id), event.ErrNoSession)
		wantErr(t, s.Fork(ctx, event.Origin{Session: id, At: 1}, "d"), event.ErrNoSession)
		wantErr(t, s.Fork(ctx, event.Origin{Session: "c", At: 1}, id), store.ErrExists)
	}
	if got := texts(all(t, s, "c", 0)); got != "1 2 b3" {
		t.Errorf("c reads %q", got)
	}
	if rows := must[[]event.Row](t)(s.Sessions(ctx, "")); len(rows) != 1 || rows[0].ID != "c" || rows[0].Origin.Session != "b" {
		t.Errorf("lists %+v", rows)
	}
	del("c") // and with it what only it kept
	for _, id := range []string{"a", "b", "c"} {
		app(t, s, id, 0, note("new"))
	}
}

// SPEC 14.1: an agent's session names the call that it was made for, and goes
// with the session that made it.
func agents(t *testing.T, s event.Store) {
	ctx := context.Background()
	agent := func(id, parent string, more ...event.Draft) {
		opened := event.Draft{Body: event.Opened{Dir: "/w", Parent: &event.ParentCall{Session: parent, Call: "call-of-" + id, Agent: "explore"}}}
		app(t, s, id, 0, append([]event.Draft{opened}, more...)...)
	}
	kept := must[string](t)(s.Put(ctx, []byte("both")))
	gone := must[string](t)(s.Put(ctx, []byte("the agent's own")))
	app(t, s, "a", 0, event.Draft{Body: event.Opened{Dir: "/w"}}, note("2"))
	agent("b", "a", event.Draft{Body: event.Prompted{Source: event.Parent, Text: "find it"}}, changed(kept, gone))
	agent("c", "b", note("deep"))
	agent("d", "elsewhere", note("d"))
	app(t, s, "a", 2, changed(kept, ""))
	must[struct{}](t)(struct{}{}, s.Fork(ctx, event.Origin{Session: "a", At: 3}, "f"))
	for id, want := range map[string]*event.ParentCall{
		"a": nil, "f": nil,
		"b": {Session: "a", Call: "call-of-b", Agent: "explore"}, "c": {Session: "b", Call: "call-of-c", Agent: "explore"},
		"d": {Session: "elsewhere", Call: "call-of-d", Agent: "explore"},
	} {
		r := must[event.Row](t)(s.Session(ctx, id))
		if (r.Parent == nil) != (want == nil) || want != nil && *r.Parent != *want {
			t.Errorf("%s has parent %+v, want %+v", id, r.Parent, want)
		}
		if id == "b" && (r.Title != "find it" || len(must[[]event.Row](t)(s.Agents(ctx, "b"))) != 1) {
			t.Errorf("title %q", r.Title)
		}
	}
	// An agent's session whose parent is not there is listed as a person's.
	if got := newest(t, s, ""); slices.Sorted(slices.Values(got))[0] != "a" || len(got) != 3 || slices.Contains(got, "b") || slices.Contains(got, "c") {
		t.Errorf("the newest are %v", got)
	}
	if got := must[[]event.Row](t)(s.Agents(ctx, "a")); len(got) != 1 || got[0].ID != "b" {
		t.Errorf("a has the agents %v", got)
	}
	must[struct{}](t)(struct{}{}, s.Delete(ctx, "a"))
	var left []string
	for _, r := range must[[]event.Row](t)(s.Sessions(ctx, "")) {
		left = append(left, r.ID)
	}
	if slices.Sort(left); !slices.Equal(left, []string{"d", "f"}) {
		t.Errorf("left are %v", left)
	}
	if _, err := s.Get(ctx, kept); err != nil { // the fork shares the event that names it
		t.Error(err)
	}
	_, err := s.Get(ctx, gone)
	wantErr(t, err, event.ErrNoBlob)
	agent("b", "f") // the id is free again
	must[struct{}](t)(struct{}{}, s.Delete(ctx, "b"))
	must[event.Row](t)(s.Session(ctx, "f"))
}

func blobs(t *testing.T, s event.Store) {
	ctx := context.Background()
	contents := [][]byte{nil, {}, []byte("x"), {0, 1, 2, 255}, []byte(strings.Repeat("line\n", 50_000)), noise(300_000)}
	var hashes []string
	for _, c := range contents {
		for range 2 { // twice is free
			h := must[string](t)(s.Put(ctx, c))
			if !store.IsHash(h) {
				t.Fatalf("hash %q", h)
			}
			hashes = append(hashes, h)
		}
	}
	if hashes[0] != "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" {
		t.Errorf("the empty content has hash %s", hashes[0])
	}
	for i, h := range hashes {
		got := must[[]byte](t)(s.Get(ctx, h))
		if string(got) != string(contents[i/2]) {
			t.Errorf("content %d: %d bytes came back as %d", i/2, len(contents[i/2]), len(got))
		}
	}
	for _, h := range []string{"", "x", strings.Repeat("0", 64), strings.ToUpper(hashes[2]), hashes[2] + "00", hashes[2][:62]} {
		_, err := s.Get(ctx, h)
		wantErr(t, err, event.ErrNoBlob)
	}
	// The store has its own copy of what was put.
	mine := []byte("mine")
	h := must[string](t)(s.Put(ctx, mine))
	mine[0] = 'M'
	got := must[[]byte](t)(s.Get(ctx, h))
	got[1] = 'X'
	if again := must[[]byte](t)(s.Get(ctx, h)); string(again) != "mine" {
		t.Errorf("the content is now %q", again)
	}
}

// noise does not compress.
func noise(n int) []byte {
	b := make([]byte, n)
	x := uint64(88172645463325252)
	for i := range b {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		b[i] = byte(x)
	}
	return b
}

// SPEC 11.1: only what a deleted session alone used goes with it.
func blobsGo(t *testing.T, s event.Store) {
	ctx := context.Background()
	put := func(c string) string { t.Helper(); return must[string](t)(s.Put(ctx, []byte(c))) }
	has := func(h string) bool {
		t.Helper()
		_, err := s.Get(ctx, h)
		if err != nil && !errors.Is(err, event.ErrNoBlob) {
			t.Fatal(err)
		}
		return err == nil
	}
	mine, both, theirs, future, nobodys, again := put("mine"), put("both"), put("theirs"), put("future"), put("nobody's"), put("again")
	big := put(strings.Repeat("large ", 100_000))
	app(t, s, "a", 0, changed(mine, both), changed(both, future), changed("", again), changed(big, ""))
	app(t, s, "b", 0, changed(theirs, both))
	// A newer pawl's event keeps what it names.
	app(t, s, "b", 1, event.Draft{Body: event.Unknown{Name: "kept", V: 1, Raw: []byte(`{"blob":"` + future + `"}`)}})
	// What was put again, and is about to be named, stays.
	put("again")
	must[struct{}](t)(struct{}{}, s.Fork(ctx, event.Origin{Session: "a", At: 4}, "f"))
	must[struct{}](t)(struct{}{}, s.Delete(ctx, "a"))
	for _, h := range []string{mine, both, theirs, future, nobodys, again, big} {
		if !has(h) {
			t.Errorf("%s is gone while a fork shares the events", h)
		}
	}
	must[struct{}](t)(struct{}{}, s.Delete(ctx, "f"))
	for h, want := range map[string]bool{mine: false, both: true, theirs: true, future: true, nobodys: true, again: true, big: false} {
		if has(h) != want {
			t.Errorf("content %s there: %v, want %v", h, !want, want)
		}
	}
	app(t, s, "b", 2, changed(again, ""))
	must[struct{}](t)(struct{}{}, s.Delete(ctx, "b"))
	for h, want := range map[string]bool{both: false, theirs: false, future: false, nobodys: true, again: false} {
		if has(h) != want {
			t.Errorf("in the end content %s there: %v, want %v", h, !want, want)
		}
	}
	put("mine")
	if !has(mine) {
		t.Error("what went cannot come back")
	}
}
