package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// SPEC 1.5: /pause stops a running turn before its next request, and the agent
// is paused from the question to its answer and at no other time.
func TestPause(t *testing.T) {
	step := llmtest.Use("bash", `{"command":"echo x"}`, "bash", `{"command":"echo y"}`)
	for name, c := range map[string]struct {
		at     string // the kind of event at which the person asks for it
		script []llmtest.Turn
		answer string
		end    event.End
		told   bool
	}{
		"in a step, and on":      {"call_started", []llmtest.Turn{step, llmtest.Say("ok")}, "go on", event.EndDone, false},
		"in a step, and stop":    {"call_started", []llmtest.Turn{step, llmtest.Say("ok")}, "stop", event.EndInterrupted, false},
		"in a step, with words":  {"call_started", []llmtest.Turn{step, llmtest.Say("ok")}, "use z instead", event.EndDone, true},
		"while words stream":     {"text_delta", []llmtest.Turn{{Text: "I look", Calls: step.Calls}, llmtest.Say("ok")}, "go on", event.EndDone, false},
		"while a request failed": {"retried", []llmtest.Turn{{Err: fault.NewProvider("p", 503, "busy", nil)}, llmtest.Say("ok")}, "go on", event.EndDone, false},
		"before the first one":   {"prompted", []llmtest.Turn{llmtest.Say("ok")}, "go on", event.EndDone, false},
	} {
		t.Run(name, func(t *testing.T) {
			m := llmtest.New(c.script...)
			sent := false
			r := newRig(t, "yolo", m, func(cfg *session.Config) { cfg.Person = true })
			requests := 0
			es := r.run("go", func(e event.Event) {
				if e.Body.Kind() == c.at && !sent {
					sent = true
					if _, err := r.Submit(t.Context(), session.Pause{}); err != nil {
						t.Error(err)
					}
				}
				switch b := e.Body.(type) {
				case event.Requested:
					requests++
				case event.Asked:
					if b.Why != "pause" || r.State() != lifecycle.Paused || r.Activity() != lifecycle.AwaitingPermission {
						t.Errorf("%+v: the agent is %s, its activity %s", b, r.State(), r.Activity())
					}
					if _, err := r.Submit(t.Context(), session.Answer{ID: b.ID, Text: c.answer}); err != nil {
						t.Error(err)
					}
				}
			})
			asked := len(find[event.Asked](es))
			// What is asked for while a turn begins may be too late for its first
			// request, and then there is none left.
			if asked != 1 && c.at != "prompted" {
				t.Fatalf("asked %d times", asked)
			}
			for _, w := range find[event.CallDone](es) {
				if w.Outcome != event.OK {
					t.Errorf("the step was not finished: %+v", w)
				}
			}
			if end := find[event.Ended](es)[0].End; end != c.end {
				t.Errorf("ended %s, want %s", end, c.end)
			}
			if told := strings.Contains(fmt.Sprint(m.Requests()[len(m.Requests())-1].Messages), "The user says: use z instead"); told != c.told {
				t.Errorf("the model was told: %v", told)
			}
			follow(t, r.log())
			if bad := r.States().Violations; len(bad) > 0 {
				t.Errorf("%+v", bad)
			}
			if r.State() == lifecycle.Paused {
				t.Error("it is paused still")
			}
		})
	}
}

// SPEC 10.3: an interrupt ends a paused turn.
func TestInterruptWhilePaused(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", `{"command":"echo x"}`)), func(c *session.Config) { c.Person = true })
	es := r.run("go", func(e event.Event) {
		switch e.Body.(type) {
		case event.CallStarted:
			_, _ = r.Submit(t.Context(), session.Pause{})
		case event.Asked:
			_, _ = r.Submit(t.Context(), session.Interrupt{By: "person"})
		}
	})
	if end := find[event.Ended](es)[0].End; end != event.EndInterrupted {
		t.Error(end)
	}
	follow(t, r.log())
}

// A pause that nobody could end is refused, as is one of nothing.
func TestPauseRefused(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(), func(c *session.Config) { c.Person = true })
	if _, err := r.Submit(t.Context(), session.Pause{}); err == nil {
		t.Error("nothing runs, and it is paused")
	}
	m := llmtest.New(llmtest.Use("bash", `{"command":"echo x"}`))
	r = newRig(t, "yolo", m)
	var err error
	es := r.run("go", func(e event.Event) {
		if _, ok := e.Body.(event.CallStarted); ok {
			_, err = r.Submit(t.Context(), session.Pause{})
		}
	})
	if err == nil || find[event.Ended](es)[0].End != event.EndDone {
		t.Errorf("without a person: %v", err)
	}
}

// SPEC 6.3: going on after a pause is no word of the person on what the run
// does: a loop is still seen. Words of their own clear it.
func TestPauseHidesNoLoop(t *testing.T) {
	for answer, stuck := range map[string]bool{"go on": true, "that is what I want": false} {
		m := llmtest.New()
		m.Next = func(n int, _ *llm.Request) llmtest.Turn {
			if n >= 12 {
				return llmtest.Say("done")
			}
			return llmtest.Use("bash", `{"command":"echo the same"}`)
		}
		r := newRig(t, "yolo", m, judged, func(c *session.Config) { c.Person = true })
		es := r.run("go", func(e event.Event) {
			switch b := e.Body.(type) {
			case event.CallDone:
				_, _ = r.Submit(t.Context(), session.Pause{})
			case event.Asked:
				text := answer
				if b.Why == "stuck" {
					text = "stop"
				}
				_, _ = r.Submit(t.Context(), session.Answer{ID: b.ID, Text: text})
			}
		})
		if got := find[event.Ended](es)[0].End == event.EndStuck; got != stuck {
			t.Errorf("%q: ended stuck: %v", answer, got)
		}
	}
}

// broken is a store that can stop writing.
type broken struct {
	event.Store
	now atomic.Bool
}

// Append is part of event.Log.
func (b *broken) Append(ctx context.Context, session string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if b.now.Load() {
		return nil, errors.New("the disk is full")
	}
	return b.Store.Append(ctx, session, after, ds...)
}

// SPEC 2.4: where the log can not be written the session is not saved, and says
// so.
func TestStatesOfABrokenLog(t *testing.T) {
	st := &broken{}
	r := newRig(t, "yolo", llmtest.New(), func(c *session.Config) { st.Store = c.Store; c.Store = st })
	r.run("go", nil)
	if got := r.States(); got.Storage != lifecycle.Saved || got.Application != lifecycle.UserInput || got.Window != lifecycle.Normal {
		t.Errorf("%+v", got)
	}
	st.now.Store(true)
	if _, err := r.Submit(t.Context(), session.SetMode{Mode: "plan"}); err == nil {
		t.Fatal("it was recorded")
	}
	if got := r.States(); got.Storage != lifecycle.Active {
		t.Errorf("%+v", got)
	}
}

// SPEC 2.4, 9.2: the window's machine follows how full it is.
func TestStatesOfTheWindow(t *testing.T) {
	m := llmtest.New()
	m.InfoValue.Window, m.InfoValue.MaxOutput = 4000, 400
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		if n == 12 {
			return llmtest.Say("ok")
		}
		return llmtest.Use("write", args(map[string]string{"path": fmt.Sprint("f", n), "content": strings.Repeat(fmt.Sprintf("word%d ", n), 150)}))
	}
	r := newRig(t, "yolo", m)
	seen := map[string]bool{}
	r.run("go", func(event.Event) { seen[string(r.States().Window)] = true })
	if !seen["normal"] || !seen["moderate"] {
		t.Errorf("seen %v", seen)
	}
	if s := r.States(); len(s.Violations) > 0 {
		t.Errorf("%+v", s.Violations)
	}
}
