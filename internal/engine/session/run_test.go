package session_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 12.1: a run has one end, and the outcome tells it.
func TestRunPrompt(t *testing.T) {
	r := newRig(t, "accept-edits", llmtest.New(
		llmtest.Use("write", args(j{"path": "a.txt", "content": "one\n"})), llmtest.Say("written"), llmtest.Say("and again"),
	))
	seen := 0
	out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "write it"}, session.Observer{After: r.View().Last(), See: func(e event.Event) error {
		seen++
		if p, ok := e.Body.(event.Prompted); ok && e.Seq != 0 && p.Text != "write it" {
			t.Errorf("another prompt is shown: %+v", p)
		}
		return nil
	}})
	if err != nil || out.Ended.End != event.EndDone || out.Reply != "written" || out.By != "" || seen == 0 || r.Busy() {
		t.Errorf("%+v, %v, %d events, busy %v", out, err, seen, r.Busy())
	}
	next, err := r.RunPrompt(t.Context(), session.Prompt{Text: "once more"}, session.Observer{})
	if err != nil || next.Reply != "and again" || next.Began <= out.Began {
		t.Errorf("%+v, %v", next, err)
	}
}

// SPEC 12.1, 18.3: a prompt that comes while the turn ends, from whoever steers the session,
// is not lost: the outcome is that of the turn that it begins.
func TestRunPromptLate(t *testing.T) {
	for name, last := range map[string]event.Body{"while it ends": event.Replied{}, "after it": event.Ended{}} {
		r := newRig(t, "accept-edits", llmtest.New(llmtest.Say("one"), llmtest.Say("two"), llmtest.Say("three")))
		var sent int
		out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "go"}, session.Observer{See: func(e event.Event) error {
			if e.Seq == 0 || reflect.TypeOf(e.Body) != reflect.TypeOf(last) || sent == 2 {
				return nil
			}
			sent++
			_, err := r.Submit(t.Context(), session.Prompt{ID: fmt.Sprint(sent), Text: "more"})
			return err
		}})
		if err != nil || out.Reply != "three" || out.Ended.End != event.EndDone || r.Busy() {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// SPEC 10.4: a call that nobody was there to allow is a fact of the outcome, unless
// another call did the work after it.
func TestRunPromptUnanswered(t *testing.T) {
	denied := llmtest.Use("bash", `{"command":"curl https://example.com -o x"}`)
	for name, c := range map[string]struct {
		turns []llmtest.Turn
		want  bool
	}{
		"at the end":        {[]llmtest.Turn{denied, llmtest.Say("I could not")}, true},
		"and another way":   {[]llmtest.Turn{denied, llmtest.Use("write", args(j{"path": "x", "content": "y"})), llmtest.Say("done")}, false},
		"and a failed call": {[]llmtest.Turn{denied, llmtest.Use("read", `{"files":[{"path":"none"}]}`), llmtest.Say("I could not")}, true},
		"nothing is denied": {[]llmtest.Turn{llmtest.Say("done")}, false},
	} {
		r := newRig(t, "accept-edits", llmtest.New(c.turns...))
		out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "go"}, session.Observer{})
		if err != nil || out.Unanswered != c.want {
			t.Errorf("%s: %+v, %v", name, out, err)
		}
	}
}

// SPEC 1.5, 10.3: whatever ends it, a run is over when RunPrompt returns: its end
// is in the log, and nothing of it runs.
func TestRunPromptLeavesNothing(t *testing.T) {
	broken := errors.New("the screen is gone")
	for name, c := range map[string]struct {
		why  error // why ctx ends; nil: it does not
		see  func(event.Event) error
		by   string
		want error
	}{
		"an interrupt":   {why: session.Interrupt{By: "timeout"}, by: "timeout"},
		"a cancellation": {why: errors.New("enough"), by: "caller"},
		"a broken screen": {by: "caller", want: broken, see: func(e event.Event) error {
			if _, ok := e.Body.(event.Requested); ok {
				return broken
			}
			return nil
		}},
	} {
		t.Run(name, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			defer cancel(nil)
			m := llmtest.New(llmtest.Turn{Text: "half", Wait: make(chan struct{}), Before: func(*llm.Request) {
				if c.why != nil {
					cancel(c.why)
				}
			}})
			r := newRig(t, "accept-edits", m)
			out, err := r.RunPrompt(ctx, session.Prompt{Text: "go"}, session.Observer{See: c.see})
			if !errors.Is(err, c.want) || r.Busy() {
				t.Errorf("%+v, %v, busy %v", out, err, r.Busy())
			}
			es := stored(t, r.Cfg.Store, r.Cfg.ID)
			if last, ok := es[len(es)-1].Body.(event.Ended); !ok || last.Error == nil || c.want == nil && out.Ended.End != last.End {
				t.Errorf("the log ends with %+v", es[len(es)-1].Body)
			}
			if by := find[event.Interrupted](es); len(by) != 1 || by[0].By != c.by {
				t.Errorf("interrupted by %+v", by)
			}
		})
	}
	t.Run("a panic", func(t *testing.T) {
		r := newRig(t, "accept-edits", llmtest.New(llmtest.Turn{Wait: make(chan struct{})}))
		func() {
			defer func() { _ = recover() }()
			_, _ = r.RunPrompt(t.Context(), session.Prompt{Text: "go"}, session.Observer{See: func(event.Event) error { panic("screen") }})
		}()
		if es := stored(t, r.Cfg.Store, r.Cfg.ID); r.Busy() || len(find[event.Ended](es)) != 1 {
			t.Errorf("busy %v", r.Busy())
		}
	})
}

// SPEC 10.3: a prompt that is to be run to its end does not join another turn.
func TestRunPromptAlone(t *testing.T) {
	arrived, open := make(chan struct{}), make(chan struct{})
	r := newRig(t, "accept-edits", llmtest.New(llmtest.Turn{Text: "first", Wait: open, Before: func(*llm.Request) { close(arrived) }}))
	done := make(chan session.Outcome)
	go func() {
		out, _ := r.RunPrompt(context.Background(), session.Prompt{Text: "one"}, session.Observer{})
		done <- out
	}()
	<-arrived
	if out, err := r.RunPrompt(t.Context(), session.Prompt{Text: "two"}, session.Observer{}); !errors.Is(err, fault.ErrBusy) || out.Began != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	close(open)
	if out := <-done; out.Ended.End != event.EndDone || out.Reply != "first" {
		t.Errorf("%+v", out)
	}
}
