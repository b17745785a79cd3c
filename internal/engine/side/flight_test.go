package side

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// life is one process that has the session's log open.
type life struct {
	Requests
	log     *eventlog.Log
	fold    *Fold
	account *spending.Account
}

// begin opens the log as a session does: what was in flight is charged.
func begin(t *testing.T, store event.Store, session string, m llm.Model, parent spending.Parent) (*life, []string) {
	t.Helper()
	l := &life{fold: &Fold{}}
	meter := &budget.Meter{}
	log := must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: store, Session: session, Now: time.Now}, l.fold, meter))(t)
	l.log = log
	l.account = spending.New(spending.Config{Session: session, Now: time.Now, Log: log, Meter: meter, Parent: parent})
	lost := l.fold.Lost()
	must.Do(t, log.Append(t.Context(), lost...))
	l.Model, l.Spending, l.Log = func() llm.Model { return m }, l.account, log
	return l, names(lost)
}

// names are the sorted purposes of charges.
func names(ds []event.Draft) []string {
	var out []string
	for _, d := range ds {
		out = append(out, d.Body.(event.Charged).By)
	}
	slices.Sort(out)
	return out
}

func (l *life) inFlight() []string { return names(eventlog.Query(l.log, l.fold.Lost)) }

// held is a model whose answers wait until the test releases them, each by the text
// that it was asked.
type held struct {
	*llmtest.Model
	come chan string
	ends map[string]chan struct{}
}

func holding(texts ...string) *held {
	h := &held{Model: llmtest.New(), come: make(chan string, len(texts)), ends: map[string]chan struct{}{}}
	for _, text := range texts {
		h.ends[text] = make(chan struct{})
	}
	h.Next = func(_ int, r *llm.Request) llmtest.Turn {
		text := r.Messages[0].Text()
		turn := llmtest.Say("about " + text)
		turn.Wait, turn.Before = h.ends[text], func(*llm.Request) { h.come <- text }
		return turn
	}
	return h
}

// send sends requests at once and returns when all are with the model. The result ends
// the one that was asked a text.
func (h *held) send(t *testing.T, l *life, asks map[string]func(context.Context) error) (finish func(text string)) {
	t.Helper()
	ctx, stop := context.WithCancel(context.Background())
	done := map[string]chan error{}
	for text, ask := range asks {
		answered := make(chan error, 1)
		done[text] = answered
		go func() { answered <- ask(ctx) }()
	}
	for range asks {
		<-h.come
	}
	t.Cleanup(stop)
	return func(text string) {
		t.Helper()
		close(h.ends[text])
		if err := <-done[text]; err != nil {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func (l *life) about(by, text string) func(context.Context) error {
	return func(ctx context.Context) error {
		ask := llm.Request{Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart(text)}}}, Tail: llm.Tail{MaxTokens: 20}}
		_, err := l.Complete(ctx, Request{By: by, Body: ask, Input: 10})
		return err
	}
}

// SPEC 8.1, 10.4: of several requests in flight, whatever their purposes, each is
// charged once: those that ended as they end, the others when the session is resumed
// after a crash.
func TestSeveralInFlight(t *testing.T) {
	compacted := event.Draft{Body: event.Compacted{Why: "full", By: "model"}}
	for name, c := range map[string]struct {
		asks map[string]string // what is asked, and why
		ends []string          // these are answered
		then []event.Draft     // and this is recorded
		lost []string
	}{
		"two of a kind, one ended":           {map[string]string{"a": "btw", "b": "btw"}, []string{"a"}, nil, []string{"btw"}},
		"two of a kind, the other ended":     {map[string]string{"a": "btw", "b": "btw"}, []string{"b"}, nil, []string{"btw"}},
		"three of a kind, none":              {map[string]string{"a": "btw", "b": "btw", "c": "btw"}, nil, nil, []string{"btw", "btw", "btw"}},
		"the turn compacts":                  {map[string]string{"a": "btw"}, nil, []event.Draft{compacted}, []string{"btw"}},
		"the turn compacts by a summary":     {map[string]string{"a": "btw", "b": event.ChargedCompaction}, []string{"b"}, []event.Draft{compacted}, []string{"btw"}},
		"it compacts while one is asked for": {map[string]string{"a": event.ChargedCompaction}, nil, []event.Draft{compacted}, []string{event.ChargedCompaction}},
		"a title, a summary and a search":    {map[string]string{"a": "title", "b": event.ChargedCompaction, "c": bySearch}, []string{"b"}, []event.Draft{compacted}, []string{"title", bySearch}},
		"all of them end":                    {map[string]string{"a": "title", "b": event.ChargedCompaction, "c": bySearch}, []string{"c", "a", "b"}, []event.Draft{compacted}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			store := memory.New(time.Now)
			h := holding("a", "b", "c")
			l, _ := begin(t, store, "s", h, nil)
			asks := map[string]func(context.Context) error{}
			for text, by := range c.asks {
				asks[text] = l.about(by, text)
				if by == bySearch {
					asks[text] = func(ctx context.Context) error { _, err := l.Search().Search(ctx, text); return err }
				}
			}
			finish := h.send(t, l, asks)
			for _, text := range c.ends {
				finish(text)
			}
			must.Do(t, l.log.Append(t.Context(), c.then...))
			if got := l.inFlight(); !slices.Equal(got, c.lost) {
				t.Errorf("in flight: %q, want %q", got, c.lost)
			}
			// The process dies, is resumed, and its first request has the number that
			// the first of the dead one had.
			h2 := holding("d")
			l2, charged := begin(t, dead(t, store), "s", h2, nil)
			if !slices.Equal(charged, c.lost) {
				t.Errorf("charged when resumed: %q, want %q", charged, c.lost)
			}
			finish = h2.send(t, l2, map[string]func(context.Context) error{"d": l2.about("btw", "d")})
			if got := l2.inFlight(); !slices.Equal(got, []string{"btw"}) {
				t.Errorf("in flight after: %q", got)
			}
			finish("d")
			if got := l2.inFlight(); len(got) > 0 {
				t.Errorf("in flight at the end: %q", got)
			}
			if spent, _ := l2.account.Spent(); spent.Requests != len(c.asks)+1 {
				t.Errorf("%d requests are counted", spent.Requests)
			}
		})
	}
}

// dead returns the log as a process leaves it that dies now.
func dead(t *testing.T, from event.Store) event.Store {
	t.Helper()
	to := memory.New(time.Now)
	for e, err := range from.Read(t.Context(), "s", 0) {
		must.Do(t, err)
		must.Done(t)(to.Append(t.Context(), "s", e.Seq-1, event.Draft{Cause: e.Cause, Body: e.Body}))
	}
	return to
}

// SPEC 8.1: what a child's request cost closes none of its parent's, though both count
// their requests from one.
func TestParentsRequestStaysOpen(t *testing.T) {
	h := holding("parent", "child")
	parent, _ := begin(t, memory.New(time.Now), "p", h, nil)
	child, _ := begin(t, memory.New(time.Now), "c", h, parent.account)
	finish := h.send(t, parent, map[string]func(context.Context) error{"parent": parent.about("btw", "parent"), "child": child.about("btw", "child")})
	finish("child")
	if got := fmt.Sprint(parent.inFlight(), child.inFlight()); got != "[btw] []" {
		t.Errorf("in flight: %s", got)
	}
	finish("parent")
	if got := parent.inFlight(); len(got) > 0 {
		t.Errorf("in flight: %q", got)
	}
}

// SPEC 10.4: in the logs of an older pawl requests have no ids: each charge closes one of
// its purpose, and a compaction that of a summary only.
func TestInFlightInOldLogs(t *testing.T) {
	sent := func(by string) event.Body { return event.SideRequest{By: by} }
	for name, c := range map[string]struct {
		events []event.Body
		lost   []string
	}{
		"two, one charged":         {[]event.Body{sent("btw"), sent("btw"), event.Charged{By: "btw"}}, []string{"btw"}},
		"a question, a compaction": {[]event.Body{sent("btw"), event.Compacted{}}, []string{"btw"}},
		"a summary's":              {[]event.Body{sent("btw"), sent("compaction"), event.Compacted{}}, []string{"btw"}},
		"of another, with an id":   {[]event.Body{sent("btw"), event.SideRequest{ID: "1", By: "btw"}, event.Charged{By: "btw", Request: "1"}}, []string{"btw"}},
		"none for one with an id":  {[]event.Body{event.SideRequest{ID: "1", By: "btw"}, event.Charged{By: "btw"}, event.Compacted{}}, []string{"btw"}},
		"all":                      {[]event.Body{sent("btw"), sent("route"), event.Charged{By: "route"}, event.Charged{By: "btw"}}, nil},
	} {
		var f Fold
		for _, b := range c.events {
			f.Apply(event.Event{Body: b})
		}
		if got := names(f.Lost()); !slices.Equal(got, c.lost) {
			t.Errorf("%s: %q, want %q", name, got, c.lost)
		}
	}
}
