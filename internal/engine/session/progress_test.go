package session_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

func judged(c *session.Config) { c.Progress = progress.Default() }

// loops asks for the same thing over and over.
func loops(name, arguments string) *llmtest.Model {
	m := llmtest.New()
	m.Next = func(int, *llm.Request) llmtest.Turn { return llmtest.Use(name, arguments) }
	return m
}

// SPEC 6.5: recovery with the evidence, then a block, then the end; never
// silent, and never more than a few calls late.
func TestLadder(t *testing.T) {
	for name, m := range map[string]*llmtest.Model{
		"missing file":    loops("read", `{"files":[{"path":"nowhere.txt"}]}`),
		"failing command": loops("bash", `{"command":"echo no such thing >&2; exit 3"}`),
		"same result":     loops("bash", `{"command":"echo the same"}`),
		"edit mismatch":   loops("edit", `{"path":"a.txt","old":"not in it","new":"x"}`),
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, "yolo", m, judged)
			r.Put("a.txt", "one\n")
			es := r.Run("go", nil)
			levels := []string{}
			for _, s := range find[event.Stuck](es) {
				levels = append(levels, s.Level)
				if s.Rule == "" || s.Text == "" || len(s.Evidence) == 0 {
					t.Errorf("without evidence: %+v", s)
				}
			}
			if got := strings.Join(levels, " "); !strings.HasSuffix(got, "halt") || !strings.Contains(got, "block") {
				t.Errorf("the ladder went %q", got)
			}
			end := find[event.Ended](es)[0]
			if end.End != event.EndStuck || end.Error == nil {
				t.Errorf("%+v", end)
			}
			// The call that would be the fifth alike does not run any more, and
			// the second one that is held back ends it.
			ran := 0
			for _, d := range find[event.CallDone](es) {
				if d.Outcome != event.Denied {
					ran++
				}
			}
			if n, most := len(find[event.CallDone](es)), progress.Default().HaltIdentical; ran >= most || n > most+1 {
				t.Errorf("%d calls, %d of them ran", n, ran)
			}
			// What was said to the model is in its next request.
			if text := fmt.Sprint(m.Requests()[len(m.Requests())-1].Messages); !strings.Contains(text, find[event.Stuck](es)[0].Text) {
				t.Error("the recovery is not in the request")
			}
		})
	}
}

// SPEC 6.1, 6.4: what makes progress is never stopped.
func TestProductiveRunIsNotStopped(t *testing.T) {
	m := llmtest.New()
	m.Next = func(n int, _ *llm.Request) llmtest.Turn {
		switch {
		case n >= 300:
			return llmtest.Say("done")
		case n%3 == 0:
			return llmtest.Use("write", fmt.Sprintf(`{"path":"f%d.txt","content":"%d"}`, n, n))
		case n%3 == 1:
			return llmtest.Use("bash", fmt.Sprintf(`{"command":"cat f%d.txt"}`, n-1))
		}
		return llmtest.Use("bash", `{"command":"ls | wc -l"}`)
	}
	r := newRig(t, "yolo", m, judged)
	es := r.Run("go", nil)
	if end := find[event.Ended](es)[0]; end.End != event.EndDone {
		t.Errorf("%+v; %+v", end, find[event.Stuck](es))
	}
}

// SPEC 6.5: a person is asked before the end, and what they say goes on.
func TestStuckAsksThePerson(t *testing.T) {
	m := loops("bash", `{"command":"echo the same"}`)
	next := m.Next
	asked := 0
	m.Next = func(n int, r *llm.Request) llmtest.Turn {
		if asked > 0 && strings.Contains(fmt.Sprint(r.Messages), "look elsewhere") {
			return llmtest.Say("I did")
		}
		return next(n, r)
	}
	r := newRig(t, "yolo", m, judged, func(c *session.Config) { c.Person = true })
	es := r.Run("go", func(e event.Event) {
		if q, ok := e.Body.(event.Asked); ok {
			asked++
			if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Text: "look elsewhere"}); err != nil {
				t.Error(err)
			}
		}
	})
	if asked != 1 || find[event.Ended](es)[0].End != event.EndDone {
		t.Errorf("asked %d times: %+v", asked, es[len(es)-1])
	}
}
