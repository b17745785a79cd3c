package eventlog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

type seen struct{ kinds []string }

func (s *seen) Apply(e event.Event) { s.kinds = append(s.kinds, e.Body.Kind()) }

// slow is a store whose appends wait, or fail.
type slow struct {
	event.Store
	gate chan struct{}
	err  error
}

func (s *slow) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if s.gate != nil {
		<-s.gate
	}
	if s.err != nil {
		return nil, s.err
	}
	return s.Store.Append(ctx, id, after, ds...)
}

func opened(t *testing.T, st event.Log, folds ...event.Fold) *Log {
	t.Helper()
	l := must.Get(Open(t.Context(), Config{Store: st, Session: "s", Mask: secrets.New(held), Now: time.Now}, folds...))(t)
	return l
}

func note(text string) event.Draft { return event.Draft{Body: event.Noted{Why: "x", Text: text}} }

// dependent is a fold that reads others.
type dependent struct {
	seen
	of []event.Fold
}

func (r *dependent) Reads() []event.Fold { return r.of }

// SPEC 10.4: a fold reads only folds that have applied the same event.
func TestFoldsReadThoseBeforeThem(t *testing.T) {
	a, b := &seen{}, &seen{}
	for name, c := range map[string]struct {
		folds []event.Fold
		opens bool
	}{
		"after both":     {[]event.Fold{a, b, &dependent{of: []event.Fold{a, b}}}, true},
		"before one":     {[]event.Fold{a, &dependent{of: []event.Fold{a, b}}, b}, false},
		"one is missing": {[]event.Fold{b, &dependent{of: []event.Fold{a}}}, false},
	} {
		if _, err := Open(t.Context(), Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}, c.folds...); (err == nil) != c.opens {
			t.Errorf("%s: %v", name, err)
		}
	}
	self := &dependent{}
	self.of = []event.Fold{self}
	if _, err := Open(t.Context(), Config{Store: memory.New(time.Now), Session: "s", Now: time.Now}, self); err == nil {
		t.Error("a fold reads itself")
	}
}

// SPEC 10.4: what is stored, folded and shown is the same, masked, and the next
// process folds it again.
func TestAppendStoresFoldsAndShows(t *testing.T) {
	st, f := memory.New(time.Now), &seen{}
	l := opened(t, st, f)
	events := l.Events(t.Context(), 0)
	must.Do(t, l.Append(t.Context(), note("a "+held), note("b")))
	l.EndReaders(true)
	var got []string
	for e, err := range events {
		must.Do(t, err)
		got = append(got, e.Body.(event.Noted).Text)
	}
	if fmt.Sprint(got) != "[a [masked:held] b]" || len(f.kinds) != 2 || l.Last() == 0 || l.Began() != 0 {
		t.Error(got, f.kinds)
	}
	for range l.Events(t.Context(), l.Last()) {
		t.Error("a reader of a closed log waits")
	}
	again := &seen{}
	if l := opened(t, st, again); len(again.kinds) != 2 || l.Began() != l.Last() || l.Last() == 0 {
		t.Error(again.kinds)
	}
}

// A view does not wait for the disk: what is asked of the folds while an event
// is stored is answered at once.
func TestViewsDoNotWaitForTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		st := &slow{Store: memory.New(time.Now), gate: make(chan struct{})}
		f := &seen{}
		l := opened(t, st, f)
		done := make(chan error, 1)
		go func() { done <- l.Append(context.Background(), note("a")) }()
		synctest.Wait()
		if n := Query(l, func() int { return len(f.kinds) }); n != 0 {
			t.Error("folded before it was stored")
		}
		close(st.gate)
		if err := <-done; err != nil || len(f.kinds) != 1 {
			t.Error(err, f.kinds)
		}
	})
}

// A log that could not be written takes nothing more, and shows nothing of what
// was not stored.
func TestBrokenStorage(t *testing.T) {
	lost := 0
	st := &slow{Store: memory.New(time.Now), err: errors.New("disk full")}
	l := must.Get(Open(t.Context(), Config{Store: st, Session: "s", Now: time.Now, Lost: func() { lost++ }}))(t)
	events := l.Events(t.Context(), 0)
	if err := l.Append(t.Context(), note("a")); err == nil {
		t.Fatal("no error")
	}
	st.err = nil
	if err := l.Append(t.Context(), note("b")); err == nil || !strings.Contains(err.Error(), "disk full") || l.Broken() == nil || lost != 1 {
		t.Error(err, lost)
	}
	l.EndReaders(false)
	for e := range events {
		t.Errorf("%+v", e)
	}
	for range l.Events(t.Context(), l.Last()) { // one that comes after the failure does not wait for what never comes
		t.Error("an event after the end")
	}
}

// SPEC 16.7: wherever a key is cut in two, no piece of it reaches the screen,
// and every other letter does.
func TestDeltasAreMaskedAcrossPieces(t *testing.T) {
	key := "ghp_" + "aB3dE5fG7hI9jK1lM3nO5pQ7rS9tU1vW3xY5"
	for name, tc := range map[string]struct{ text, want string }{
		"held":   {"the key is " + held + ", keep it", "the key is [masked:held], keep it"},
		"shape":  {"use " + key + "\nnow", "use [masked:github]\nnow"},
		"bearer": {"Authorization: Bearer aB3dE5fG7hI9jK1lM3nO5pQ7 ok", ""},
		"last":   {"it is " + key, "it is [masked:github]"},
		"url":    {"postgres://app:s3cr3tPw@db/x and", "postgres://app:[masked:password]@db/x and"},
		"colour": {"a \x1b[31m" + key + "\x1b[0m b", "a \x1b[31m[masked:github]\x1b[0m b"},
	} {
		for cut := range len(tc.text) {
			l := opened(t, memory.New(time.Now))
			events := l.Events(t.Context(), 0)
			l.Publish(event.TextDelta{Text: tc.text[:cut]})
			l.Publish(event.TextDelta{Text: tc.text[cut:]})
			must.Do(t, l.Append(t.Context(), event.Draft{Body: event.Replied{Reply: llm.Reply{Message: llm.Message{Parts: []llm.Part{llm.TextPart(tc.text)}}}}}))
			l.EndReaders(true)
			shown := ""
			for e := range events {
				if d, ok := e.Body.(event.TextDelta); ok {
					shown += d.Text
				}
			}
			if strings.Contains(shown, "dE5fG7") || strings.Contains(shown, "horse") || tc.want != "" && shown != tc.want {
				t.Fatalf("%s, cut at %d: %q", name, cut, shown)
			}
		}
	}
}

// SPEC 3.4, 16.7: of a reply that broke off, what could be half a key is never
// shown, and does not turn up in the next try.
func TestHalfAKeyIsNotShown(t *testing.T) {
	l := opened(t, memory.New(time.Now))
	events := l.Events(t.Context(), 0)
	l.Publish(event.TextDelta{Text: "it is " + held[:15]})
	must.Do(t, l.Append(t.Context(), event.Draft{Body: event.Retried{Attempt: 1, Shown: true}}))
	l.Publish(event.TextDelta{Text: "it is well"})
	l.EndReaders(true)
	shown := ""
	for e := range events {
		if d, ok := e.Body.(event.TextDelta); ok {
			shown += d.Text
		}
	}
	if shown != "it is it is well" {
		t.Errorf("%q", shown)
	}
}

// SPEC 16.7: arguments and output as they come, each call's for itself.
func TestCallsAndOutputAreMaskedAsTheyCome(t *testing.T) {
	l := opened(t, memory.New(time.Now))
	events := l.Events(t.Context(), 0)
	l.Publish(event.CallDelta{Index: 0, Name: "bash", Text: `{"a":"` + held[:9]})
	l.Publish(event.CallDelta{Index: 1, Name: "bash", Text: `{"b":"x"`})
	l.Publish(event.CallDelta{Index: 0, Text: held[9:] + `"}`})
	l.Publish(event.OutputDelta{Call: "1", Text: "is " + held[:9]})
	l.Publish(event.OutputDelta{Call: "2", Text: "is " + held[:3]})
	l.Publish(event.OutputDelta{Call: "1", Text: held[9:]})
	for _, b := range []event.Body{event.Replied{}, event.CallDone{ID: "1"}, event.CallDone{ID: "2"}} {
		must.Do(t, l.Append(t.Context(), event.Draft{Body: b}))
	}
	l.EndReaders(true)
	got := map[string]string{}
	for e := range events {
		switch d := e.Body.(type) {
		case event.CallDelta:
			got[fmt.Sprint("call ", d.Index)] += d.Text
		case event.OutputDelta:
			got["out "+d.Call] += d.Text
		}
	}
	want := map[string]string{"call 0": `{"a":"[masked:held]"}`, "call 1": `{"b":"x"`, "out 1": "is [masked:held]", "out 2": "is " + held[:3]}
	for k, w := range want {
		if got[k] != w {
			t.Errorf("%s: %q, want %q", k, got[k], w)
		}
	}
}

// Ordinary text is not held back.
func TestOrdinaryDeltasPassAtOnce(t *testing.T) {
	l := opened(t, memory.New(time.Now))
	events := l.Events(t.Context(), 0)
	for _, s := range []string{"Hel", "lo, wor", "ld", " 1", "23.", "4 ", "fun", "c main(", "){"} {
		l.Publish(event.TextDelta{Text: s})
	}
	l.EndReaders(true)
	var got []string
	for e := range events {
		got = append(got, e.Body.(event.TextDelta).Text)
	}
	if len(got) != 9 {
		t.Errorf("%q", got)
	}
}

// cancels is a store whose caller gives up while it stores.
type cancels struct {
	event.Log
	give func()
}

func (c cancels) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	c.give()
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	return c.Log.Append(ctx, id, after, ds...)
}

// SPEC 10.4: an append that is cancelled half-way is stored and known, and the log goes on.
func TestCancelledAppend(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	l := opened(t, cancels{memory.New(time.Now), cancel})
	if err := l.Append(ctx, note("x")); err != nil || l.Last() != 1 || l.Broken() != nil {
		t.Errorf("%v, last %d, broken %v", err, l.Last(), l.Broken())
	}
}
