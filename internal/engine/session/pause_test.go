package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// poke is a tool that does something in the middle of a step: what a reader of
// events does may come too late.
func poke(do func()) tool.Tool {
	return tool.New("poke", "poke", func(tool.Env, struct{}) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(context.Context, tool.Env, struct{}) (tool.Result, error) {
			do()
			return tool.Text("the same"), nil
		})
}

// SPEC 1.5: /pause stops a running turn before its next request, and the agent
// is paused from the question to its answer and at no other time.
func TestPause(t *testing.T) {
	step := llmtest.Use("poke", `{}`, "bash", `{"command":"echo y"}`)
	calm := llmtest.Use("bash", `{"command":"echo x"}`)
	for name, c := range map[string]struct {
		script []llmtest.Turn
		early  bool // while the first request is on its way
		answer string
		end    event.End
		told   bool
	}{
		"in a step, and on":      {[]llmtest.Turn{step, llmtest.Say("ok")}, false, "go on", event.EndDone, false},
		"in a step, and stop":    {[]llmtest.Turn{step, llmtest.Say("ok")}, false, "stop", event.EndInterrupted, false},
		"in a step, with words":  {[]llmtest.Turn{step, llmtest.Say("ok")}, false, "use z instead", event.EndDone, true},
		"in a request":           {[]llmtest.Turn{calm, llmtest.Say("ok")}, true, "go on", event.EndDone, false},
		"while a request failed": {[]llmtest.Turn{{Err: fault.NewProvider("p", 503, "busy", nil)}, llmtest.Say("ok")}, false, "go on", event.EndDone, false},
	} {
		t.Run(name, func(t *testing.T) {
			var r *rig
			pause := func() {
				if _, err := r.Submit(t.Context(), session.Pause{}); err != nil {
					t.Error(err)
				}
			}
			if c.early {
				c.script[0].Before = func(*llm.Request) { pause() }
			}
			m := llmtest.New(c.script...)
			r = newRig(t, "yolo", m, func(cfg *session.Config) {
				cfg.Person = true
				cfg.Tools = append(cfg.Tools, poke(pause))
				cfg.Sleep = func(ctx context.Context, _ time.Duration) error {
					pause()
					return ctx.Err()
				}
			})
			es := r.Run("go", onEvent(func(b event.Asked) {
				if b.Why != "pause" || r.View().State() != lifecycle.Paused || r.View().Activity() != lifecycle.AwaitingPermission {
					t.Errorf("%+v: the agent is %s, its activity %s", b, r.View().State(), r.View().Activity())
				}
				if _, err := r.Submit(t.Context(), session.Answer{ID: b.ID, Text: c.answer}); err != nil {
					t.Error(err)
				}
			}))
			if asked := len(find[event.Asked](es)); asked != 1 {
				t.Fatalf("asked %d times", asked)
			}
			for _, d := range find[event.CallDone](es) {
				if d.Outcome != event.OK {
					t.Errorf("the step was not finished: %+v", d)
				}
			}
			if end := find[event.Ended](es)[0].End; end != c.end {
				t.Errorf("ended %s, want %s", end, c.end)
			}
			if told := strings.Contains(fmt.Sprint(m.Requests()[len(m.Requests())-1].Messages), "The user says: use z instead"); told != c.told {
				t.Errorf("the model was told: %v", told)
			}
			follow(t, r.Log())
			if bad := r.View().States().Violations; len(bad) > 0 {
				t.Errorf("%+v", bad)
			}
			if r.View().State() == lifecycle.Paused {
				t.Error("it is paused still")
			}
		})
	}
}

// SPEC 10.3: an interrupt ends a paused turn.
func TestInterruptWhilePaused(t *testing.T) {
	var r *rig
	r = newRig(t, "yolo", llmtest.New(llmtest.Use("poke", `{}`)), func(c *session.Config) {
		c.Person = true
		c.Tools = append(c.Tools, poke(func() { _, _ = r.Submit(t.Context(), session.Pause{}) }))
	})
	es := r.Run("go", func(e event.Event) {
		if _, ok := e.Body.(event.Asked); ok {
			_, _ = r.Submit(t.Context(), session.Interrupt{By: "person"})
		}
	})
	if end := find[event.Ended](es)[0].End; end != event.EndInterrupted {
		t.Error(end)
	}
	follow(t, r.Log())
}

// A pause that nobody could end is refused, as is one of nothing.
func TestPauseRefused(t *testing.T) {
	r := newRig(t, "yolo", llmtest.New(), func(c *session.Config) { c.Person = true })
	if _, err := r.Submit(t.Context(), session.Pause{}); err == nil {
		t.Error("nothing runs, and it is paused")
	}
	var err error
	r = newRig(t, "yolo", llmtest.New(llmtest.Use("poke", `{}`)), func(c *session.Config) {
		c.Tools = append(c.Tools, poke(func() { _, err = r.Submit(t.Context(), session.Pause{}) }))
	})
	es := r.Run("go", nil)
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
			return llmtest.Use("poke", `{}`)
		}
		var r *rig
		r = newRig(t, "yolo", m, judged, func(c *session.Config) {
			c.Person = true
			c.Tools = append(c.Tools, poke(func() { _, _ = r.Submit(t.Context(), session.Pause{}) }))
		})
		es := r.Run("go", onEvent(func(b event.Asked) {
			text := answer
			if b.Why == "stuck" {
				text = "stop"
			}
			_, _ = r.Submit(t.Context(), session.Answer{ID: b.ID, Text: text})
		}))
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

func (b *broken) Append(ctx context.Context, session string, after int64, ds ...event.Draft) ([]event.Event, error) {
	if b.now.Load() {
		return nil, errors.New("the disk is full")
	}
	return b.Store.Append(ctx, session, after, ds...)
}

// SPEC 2.4: where the log cannot be written the session is not saved, and says
// so.
func TestStatesOfABrokenLog(t *testing.T) {
	st := &broken{}
	r := newRig(t, "yolo", llmtest.New(), func(c *session.Config) { st.Store = c.Store; c.Store = st })
	r.Run("go", nil)
	if got := r.View().States(); got.Storage != lifecycle.Saved || got.Application != lifecycle.UserInput || got.Window != lifecycle.Normal {
		t.Errorf("%+v", got)
	}
	st.now.Store(true)
	if _, err := r.Submit(t.Context(), session.SetMode{Mode: "plan"}); err == nil {
		t.Fatal("it was recorded")
	}
	if got := r.View().States(); got.Storage != lifecycle.Active {
		t.Errorf("%+v", got)
	}
}

// SPEC 2.4, 9.2: the window's machine follows how full it is.
func TestStatesOfTheWindow(t *testing.T) {
	var r *rig
	seen := map[string]bool{}
	m := llmtest.New()
	m.InfoValue.Window, m.InfoValue.MaxOutput = 4000, 400
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		seen[string(r.View().States().Window)] = true
		if n == 12 {
			return llmtest.Say("ok")
		}
		return llmtest.Use("write", args(map[string]string{"path": fmt.Sprint("f", n), "content": strings.Repeat(fmt.Sprintf("word%d ", n), 150)}))
	}
	r = newRig(t, "yolo", m)
	r.Run("go", nil)
	if !seen["normal"] || !seen["moderate"] {
		t.Errorf("seen %v", seen)
	}
	if s := r.View().States(); len(s.Violations) > 0 {
		t.Errorf("%+v", s.Violations)
	}
}
