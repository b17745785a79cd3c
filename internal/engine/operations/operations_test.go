package operations

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/store/memory"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// house is operations on a log. Its turns note what they are, wait for gate and
// end.
type house struct {
	*Operations
	t    *testing.T
	log  *eventlog.Log
	gate chan struct{}
	// elsewhere is what another process does; refuses is the kind of event that the disk does
	// not take.
	elsewhere error
	refuses   string

	mu  sync.Mutex
	ran []string // how each turn ended
}

func newHouse(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, gate: make(chan struct{})}
	fold := &Fold{}
	h.log = must.Get(eventlog.Open(t.Context(), eventlog.Config{Store: disk{memory.New(time.Now), h}, Session: "s", Now: time.Now}, fold))(t)
	h.Operations = New(Config{Session: "s", Log: h.log, Fold: fold, CatchUp: func(context.Context) error { return h.elsewhere }})
	return h
}

// disk is what a house's log is on.
type disk struct {
	event.Store
	*house
}

func (d disk) Append(ctx context.Context, id string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if ds[0].Body.Kind() == d.refuses {
		return nil, errors.New("disk full")
	}
	return d.Store.Append(ctx, id, after, ds...)
}

func (h *house) turn(r *Run) {
	end := "done"
	select {
	case <-h.gate:
	case <-r.Context().Done():
		end = context.Cause(r.Context()).Error()
	}
	for _, p := range h.TakePrompts() { // what joins
		end += "+" + p.ID
		_ = h.log.Append(context.Background(), p.Drafts...)
	}
	h.mu.Lock()
	h.ran = append(h.ran, end)
	h.mu.Unlock()
	_ = h.log.Append(context.Background(), event.Draft{Body: event.Ended{End: event.EndDone}})
}

func (h *house) prompt(id string) *Run {
	h.t.Helper()
	ctx, cancel := context.WithCancel(h.t.Context())
	defer cancel() // who submitted it may go
	r, err := h.Start(ctx, Prompt{ID: id, Drafts: []event.Draft{{Body: event.Prompted{ID: id}}}, Turn: h.turn}, "", h.turn)
	must.Do(h.t, err)
	return r
}

// events are what the log has, with their causes.
func (h *house) events() string {
	h.t.Helper()
	h.log.EndReaders(true)
	var out []string
	for e, err := range h.log.Events(h.t.Context(), 0) {
		must.Do(h.t, err)
		out = append(out, fmt.Sprintf("%d %s<%d", e.Seq, e.Body.Kind(), e.Cause))
	}
	return strings.Join(out, ", ")
}

// SPEC 10.1: while something runs a prompt waits, and all else is refused with what
// cannot be done and why; what happens has what runs as its cause.
func TestOneAtATime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		if h.Busy() || h.prompt("a") == nil || !h.Busy() {
			t.Error("the first prompt does not run")
		}
		if h.prompt("b") != nil || !h.HasPrompt() || len(h.Queued()) != 1 {
			t.Error("the second does not wait")
		}
		_, err := h.Operate(t.Context(), event.OpStarted{Op: "x"}, "it cannot be done", "x runs", nil)
		if !errors.Is(err, fault.ErrBusy) || !strings.Contains(err.Error(), "it cannot be done while a turn runs") {
			t.Error(err)
		}
		if _, _, err := h.Exclusive(t.Context(), "it cannot be read"); !errors.Is(err, fault.ErrBusy) {
			t.Error(err)
		}
		if _, err := h.RecordAnytime(t.Context(), event.Draft{Body: event.ModeSet{Mode: "plan"}}); err != nil {
			t.Error("what holds from now on is refused:", err)
		}
		close(h.gate)
		synctest.Wait()
		if h.Busy() || fmt.Sprint(h.ran) != "[done+b]" {
			t.Error(h.ran)
		}
		h.Close()
		if got, want := h.events(), "1 prompted<0, 2 mode_set<1, 3 prompted<1, 4 ended<1"; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	})
}

// SPEC 10.1: a prompt that came when the turn took no more runs next, as a turn of
// its own.
func TestAPromptThatWaitsIsRun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		started := must.Get(h.Operate(t.Context(), event.OpStarted{Op: "x"}, "", "x runs", func(context.Context) error { <-h.gate; return nil }))(t)
		if h.prompt("a") != nil || h.prompt("b") != nil {
			t.Error("a prompt runs beside an operation")
		}
		close(h.gate)
		synctest.Wait()
		h.Close()
		if got := h.events(); started != 1 || got != "1 op_started<0, 2 op_done<1, 3 prompted<0, 4 prompted<3, 5 ended<3" {
			t.Error(started, got)
		}
	})
}

// SPEC 10.1, 10.3: an interrupt forgets the prompts that wait, but for those whose
// sender takes them back itself; what is taken back does not run, and what runs can
// not be taken back.
func TestInterruptAndWithdraw(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		r := h.prompt("a")
		for _, id := range []string{"", "b", "c"} {
			h.prompt(id)
		}
		if err := h.Withdraw("b"); err != nil {
			t.Error(err)
		}
		for _, id := range []string{"b", "a", ""} {
			if h.Withdraw(id) == nil {
				t.Errorf("%q was taken back", id)
			}
		}
		h.InterruptRun(r.Cause()+1, "nobody") // of another run
		if r.Context().Err() != nil || len(h.queue) != 2 {
			t.Error("another run was interrupted")
		}
		h.Interrupt("person")
		synctest.Wait()
		if fmt.Sprint(h.ran) != "[interrupted (person)+c]" {
			t.Error(h.ran)
		}
		if why := (*Interruption)(nil); !errors.As(context.Cause(r.Context()), &why) || why.By != "person" || !errors.Is(why, fault.ErrInterrupted) {
			t.Error(context.Cause(r.Context()))
		}
		<-r.Done()
		h.Interrupt("person") // nothing runs: nothing happens
		h.Close()
	})
}

// SPEC 10.3: closing interrupts what runs and waits until its end is recorded;
// nothing begins after it.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		h.prompt("a")
		h.prompt("b")
		beside := false
		h.Go(func() { time.Sleep(time.Minute); beside = true })
		h.Close()
		if fmt.Sprint(h.ran) != "[interrupted (close)]" || !beside {
			t.Error(h.ran, beside)
		}
		if _, err := h.Start(t.Context(), Prompt{}, "", h.turn); err == nil || h.Busy() {
			t.Error("a turn began after the close")
		}
		if got := h.events(); got != "1 prompted<0, 2 ended<1" {
			t.Error(got)
		}
	})
}

// SPEC 10.4: each operation ends with an event that says how, whoever ended it.
func TestHowOperationsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		do   func(context.Context) error
		want event.Outcome
	}{
		"done":            {func(context.Context) error { return nil }, event.OK},
		"failed":          {func(context.Context) error { return errors.New("no") }, event.Failed},
		"nothing to do":   {func(context.Context) error { return turn.ErrNothingToCompact }, event.NothingDone},
		"was interrupted": {func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() }, event.Cancelled},
		"done even so":    {func(ctx context.Context) error { <-ctx.Done(); return nil }, event.OK},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			ctx, cancel := context.WithCancel(t.Context())
			started := must.Get(h.Operate(ctx, event.OpStarted{Op: "x"}, "", "x runs", c.do))(t)
			cancel() // whoever submitted it may go: it goes on
			synctest.Wait()
			h.Interrupt("person")
			h.Close()
			h.log.EndReaders(true)
			var done []event.OpDone
			for e, err := range h.log.Events(t.Context(), started) {
				if err != nil || e.Cause != started {
					t.Error(err, e.Cause)
				}
				done = append(done, e.Body.(event.OpDone))
			}
			if len(done) != 1 || done[0].Outcome != c.want || (done[0].Error != nil) != (c.want != event.OK) {
				t.Errorf("%s: %+v", name, done)
			}
		})
	}
}

// SPEC 10.1, 10.4: what cannot begin leaves nothing behind that looks as if it ran.
func TestWhatCannotBegin(t *testing.T) {
	prompt := func(h *house) error {
		_, err := h.Start(t.Context(), Prompt{Drafts: []event.Draft{{Body: event.Prompted{}}}}, "", h.turn)
		return err
	}
	operation := func(h *house) error {
		_, err := h.Operate(t.Context(), event.OpStarted{Op: "x"}, "", "x runs", func(context.Context) error { <-h.gate; return nil })
		return err
	}
	for name, c := range map[string]struct {
		elsewhere error
		refuses   string
		begin     func(*house) error
	}{
		"a prompt while another process runs a turn": {errors.New("in use"), "", prompt},
		"a prompt on a full disk":                    {nil, "prompted", prompt},
		"an operation on a full disk":                {nil, "op_started", operation},
		"a prompt that waited, on a full disk": {nil, "prompted", func(h *house) error {
			must.Do(t, operation(h))
			h.prompt("waits")
			close(h.gate)
			synctest.Wait()
			return h.log.Broken()
		}},
	} {
		synctest.Test(t, func(t *testing.T) {
			h := newHouse(t)
			h.elsewhere, h.refuses = c.elsewhere, c.refuses
			if err := c.begin(h); err == nil || h.Busy() {
				t.Fatalf("%s: %v, busy %v", name, err, h.Busy())
			}
			h.Close()
		})
	}
}

// What the model is to be told is kept while something runs that may come to a
// request, and taken once.
func TestTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		h := newHouse(t)
		note := event.Draft{Body: event.Noted{Why: "x"}}
		if h.QueueNote(note) || h.SetPause(true) {
			t.Error("nothing runs that could tell it, or pause")
		}
		h.prompt("a")
		if !h.QueueNote(note) || !h.HasNote("x") || h.HasNote("y") {
			t.Error("it is not kept")
		}
		if got := h.TakeNotes(); len(got) != 1 || h.HasNote("x") || len(h.TakeNotes()) != 0 {
			t.Error(got)
		}
		asked, again := h.SetPause(true), h.SetPause(true)
		if !asked || !again || !h.SetPause(false) || h.SetPause(false) {
			t.Error("a pause is asked for, and taken back once")
		}
		close(h.gate)
		h.Close()
	})
}

// Whatever comes at once, one thing runs at a time and no prompt is lost.
func TestManyAtOnce(t *testing.T) {
	h := newHouse(t)
	close(h.gate)
	var wg sync.WaitGroup
	for i := range 50 {
		wg.Go(func() { h.prompt(fmt.Sprint(i)) })
		wg.Go(func() {
			if _, done, err := h.Exclusive(t.Context(), ""); err == nil {
				done()
			}
		})
	}
	wg.Wait()
	for h.Busy() {
		if _, done, err := h.Exclusive(t.Context(), ""); err == nil {
			done()
		}
	}
	h.Close()
	h.log.EndReaders(true)
	var ids []string
	open := false
	for e, err := range h.log.Events(t.Context(), 0) {
		must.Do(t, err)
		switch b := e.Body.(type) {
		case event.Prompted:
			ids, open = append(ids, b.ID), true
		case event.Ended:
			if !open {
				t.Error("an end without a turn")
			}
			open = false
		}
	}
	slices.Sort(ids)
	if len(slices.Compact(ids)) != 50 || open {
		t.Errorf("%d prompts ran, %v", len(ids), open)
	}
}
