package turn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// failing is a model that always fails so.
func failing(err error) *llmtest.Model {
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn { return llmtest.Turn{Err: err} }
	return m
}

func after(err *fault.Error, d time.Duration) *fault.Error {
	e := *err
	e.RetryAfter = d
	return &e
}

func (b *bench) retries() (rs []event.Retried, waits []time.Duration) {
	for _, e := range b.events {
		if r, ok := e.(event.Retried); ok {
			rs = append(rs, r)
			waits = append(waits, r.Wait)
		}
	}
	return rs, waits
}

var (
	overloaded = fault.NewProvider("p", 529, "overloaded", nil)
	tooMany    = fault.NewProvider("p", 429, "too many", nil)
)

// SPEC 3.3, 3.4: the waits double up to 30 s, Retry-After is honoured, and all
// that was on the screen, words or reasoning, is withdrawn before another try
// shows something else.
func TestRetries(t *testing.T) {
	b := newBench(llmtest.New(
		llmtest.Turn{Text: "half a sen", Err: overloaded}, llmtest.Turn{Err: after(tooMany, 7*time.Second)},
		llmtest.Turn{Reasoning: "let me see", Err: overloaded}, llmtest.Turn{Reasoning: "hm"}, llmtest.Turn{}, llmtest.Say("done"),
	))
	if end, err := b.Run(t.Context()); end != event.EndDone || err != nil {
		t.Fatal(end, err)
	}
	rs, waits := b.retries()
	if want := []time.Duration{500 * time.Millisecond, 7 * time.Second, 2 * time.Second, 4 * time.Second}; !slices.Equal(waits[:4], want) {
		t.Errorf("waits %v, want %v", waits, want)
	}
	for i, want := range []bool{true, false, true, true, false} {
		if len(rs) != 5 || rs[i].Shown != want {
			t.Errorf("%+v: try %d withdraws %v", rs, i+1, !want)
		}
	}
}

// SPEC 3.4: what a server can get over is tried again for five minutes in all,
// or as long as is configured; a clock that stands still makes it no longer,
// and a server that says "at once" no more often.
func TestRetriesEnd(t *testing.T) {
	for name, c := range map[string]struct {
		err    error
		limit  time.Duration
		tries  int
		waited time.Duration
	}{
		"overloaded":         {overloaded, 0, 16, 5 * time.Minute},
		"no answer":          {fault.NewProvider("p", 0, "connection refused", nil), 0, 16, 5 * time.Minute},
		"longer":             {overloaded, 20 * time.Minute, 46, 20 * time.Minute},
		"shorter":            {overloaded, 3 * time.Second, 4, 3 * time.Second},
		"not at all":         {overloaded, -1, 1, 0},
		"at once":            {after(tooMany, time.Millisecond), 0, 16, 5 * time.Minute},
		"asks for a minute":  {after(tooMany, time.Minute), 0, 6, 5 * time.Minute},
		"a key":              {fault.NewProvider("p", 401, "no", nil), 0, 1, 0},
		"a bad request":      {fault.NewProvider("p", 400, "no", nil), 0, 1, 0},
		"a reply of nothing": {fault.NewLLM("empty"), 0, maxRetries + 1, 7500 * time.Millisecond},
	} {
		m := failing(c.err)
		b := newBench(m)
		b.Retry.For = c.limit
		still := time.Now()
		b.Clock.Now = func() time.Time { return still }
		end, err := b.Run(t.Context())
		if err == nil || end == event.EndDone || len(m.Requests()) != c.tries || b.slept != c.waited {
			t.Errorf("%s: %v %v after %d requests and %s, want %d and %s", name, end, err, len(m.Requests()), b.slept, c.tries, c.waited)
		}
		if rs, _ := b.retries(); c.tries > 1 && (rs[0].Left != cmp.Or(c.limit, RetryFor)-rs[0].Wait || (rs[0].Most == c.tries) != (fault.CategoryOf(c.err) != fault.Provider)) {
			t.Errorf("%s: the first says %+v", name, rs[0])
		}
		if c.tries > 1 && !strings.Contains(err.Error(), fmt.Sprintf("after %d tries: ", c.tries)) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// SPEC 3.4: time that the tries themselves take counts as well.
func TestSlowFailures(t *testing.T) {
	now := time.Now()
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn {
		now = now.Add(2 * time.Minute)
		return llmtest.Turn{Err: overloaded}
	}
	b := newBench(m)
	b.Clock.Now = func() time.Time { return now }
	if _, err := b.Run(t.Context()); err == nil || len(m.Requests()) != 4 {
		t.Errorf("%v after %d requests, want 4", err, len(m.Requests()))
	}
}

// SPEC 3.4: what cannot be tried again before the turn's own end, with a second left for
// the answer, ends it, and says why: the server gave no answer.
func TestRetriesWithinATimeLimit(t *testing.T) {
	for limit, want := range map[time.Duration]struct {
		requests int
		slept    time.Duration
	}{4500 * time.Millisecond: {4, 3500 * time.Millisecond}, 4499 * time.Millisecond: {3, 1500 * time.Millisecond}} {
		m := failing(overloaded)
		b := newBench(m)
		b.Retry.TimeLeft = func() (time.Duration, bool) { return limit - b.slept, true }
		if end, err := b.Run(t.Context()); end != event.EndProvider || err == nil || len(m.Requests()) != want.requests || b.slept != want.slept {
			t.Errorf("%s: %v %v after %d requests and %s", limit, end, err, len(m.Requests()), b.slept)
		}
	}
}

// SPEC 3.4: a wait is counted down: at most once a second, in whole seconds,
// and nothing of it is stored.
func TestCountDown(t *testing.T) {
	for _, c := range []struct {
		wait  time.Duration
		ticks string
	}{
		{900 * time.Millisecond, "[]"},
		{1300 * time.Millisecond, "[]"},
		{4300 * time.Millisecond, "[3s 2s 1s]"},
		{3 * time.Second, "[2s 1s]"},
	} {
		b := newBench(llmtest.New(llmtest.Turn{Err: after(tooMany, c.wait)}, llmtest.Say("done")))
		if _, err := b.Run(t.Context()); err != nil || b.slept != c.wait {
			t.Fatal(err, b.slept)
		}
		ticks := []time.Duration{}
		for _, e := range b.live {
			if w, ok := e.(event.Waiting); ok {
				ticks = append(ticks, w.Left)
			}
		}
		if fmt.Sprint(ticks) != c.ticks {
			t.Errorf("%s: %v, want %s", c.wait, ticks, c.ticks)
		}
	}
	b := newBench(llmtest.New(llmtest.Turn{Err: after(tooMany, 4*time.Minute)}, llmtest.Say("done")))
	if _, err := b.Run(t.Context()); err != nil || b.slept != 4*time.Minute {
		t.Fatal(err, b.slept)
	}
	n, last := 0, 5*time.Minute
	for _, e := range b.live {
		if w, ok := e.(event.Waiting); ok {
			if n++; last-w.Left < time.Second || w.Left%time.Second != 0 {
				t.Errorf("%s after %s", w.Left, last)
			}
			last = w.Left
		}
	}
	if n > 90 {
		t.Errorf("%d ticks", n)
	}
}

// SPEC 3.4: an interrupt ends the wait at once.
func TestInterruptedWait(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	why := &fault.Error{Category: fault.Cancellation, Kind: fault.ErrInterrupted, Message: "stop"}
	m := failing(overloaded)
	b := newBench(m)
	b.Clock.Sleep = func(ctx context.Context, _ time.Duration) error {
		cancel(why)
		<-ctx.Done()
		return ctx.Err()
	}
	if end, err := b.Run(ctx); end != event.EndInterrupted || !errors.Is(err, fault.ErrInterrupted) || len(m.Requests()) != 1 {
		t.Errorf("%v %v after %d requests", end, err, len(m.Requests()))
	}
}

// SPEC 3.4: a rate limit that names a longer time is waited for only where that
// is agreed to, as often as it is; the retries begin anew after it.
func TestLongerWaits(t *testing.T) {
	hour := after(tooMany, time.Hour)
	for name, c := range map[string]struct {
		longer func(n int) (bool, error)
		tries  int
		end    event.End
	}{
		"nobody":         {nil, 1, event.EndProvider},
		"no":             {func(int) (bool, error) { return false, nil }, 1, event.EndProvider},
		"yes, then no":   {func(n int) (bool, error) { return n < 3, nil }, 3, event.EndProvider},
		"yes":            {func(int) (bool, error) { return true, nil }, 5, event.EndDone},
		"an interrupt":   {func(int) (bool, error) { return false, fault.NewCancellation(nil) }, 1, event.EndInterrupted},
		"a short budget": {func(int) (bool, error) { return false, nil }, 1, event.EndProvider},
	} {
		m := llmtest.New()
		m.Next = func(n int, _ *llm.Request) llmtest.Turn {
			if n == 4 {
				return llmtest.Say("done")
			}
			return llmtest.Turn{Err: hour}
		}
		b := newBench(m)
		asked := 0
		if c.longer != nil {
			b.Retry.Longer = func(_ context.Context, why event.Retried) (bool, error) {
				if asked++; why.Wait != time.Hour {
					t.Errorf("%s: asked to wait %s", name, why.Wait)
				}
				return c.longer(asked)
			}
		}
		end, err := b.Run(t.Context())
		if end != c.end || len(m.Requests()) != c.tries {
			t.Errorf("%s: %v %v after %d requests, want %v after %d", name, end, err, len(m.Requests()), c.end, c.tries)
		}
		if c.end == event.EndProvider && !strings.Contains(err.Error(), "--retry-for") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// SPEC 3.3, 3.4: where another model can take over it does after a few tries,
// and what was shown is withdrawn; the last one of the chain is tried for as
// long as one alone.
func TestRetriesBeforeFallback(t *testing.T) {
	for name, c := range map[string]struct {
		err   *fault.Error
		tries int
	}{
		"overloaded":   {overloaded, maxRetries + 1},
		"asks an hour": {after(tooMany, time.Hour), 1},
	} {
		first := llmtest.New()
		first.Next = func(int, *llm.Request) llmtest.Turn { return llmtest.Turn{Text: "half", Err: c.err} }
		second := failing(overloaded)
		b := newBench(first)
		var took []event.Retried
		b.Retry.Fallback = func(_ context.Context, why event.Retried) (llm.Model, error) {
			if took = append(took, why); len(took) == 1 {
				return second, nil
			}
			return nil, nil
		}
		end, err := b.Run(t.Context())
		if end != event.EndProvider || err == nil || len(first.Requests()) != c.tries || len(second.Requests()) != 16 || !took[0].Shown {
			t.Errorf("%s: %v %v after %d and %d requests, %+v", name, end, err, len(first.Requests()), len(second.Requests()), took[0])
		}
	}
}

// SPEC 19.3: a reply has a bound: one that goes on for ever is cut off, and not
// asked for again.
func TestEndlessReply(t *testing.T) {
	m := endless{llmtest.New()}
	b := newBench(m)
	end, err := b.Run(t.Context())
	if end != event.EndProvider || err == nil || !strings.Contains(err.Error(), "32 MB") {
		t.Errorf("%v %v", end, err)
	}
	if rs, _ := b.retries(); len(rs) != 0 {
		t.Errorf("%+v", rs)
	}
}

// endless is a model that does not stop.
type endless struct{ *llmtest.Model }

func (endless) Stream(context.Context, *llm.Request) iter.Seq2[llm.Delta, error] {
	text := strings.Repeat("x", 1<<20)
	return func(yield func(llm.Delta, error) bool) {
		for yield(llm.Delta{Kind: llm.DeltaText, Text: text}, nil) {
		}
	}
}
