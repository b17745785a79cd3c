package session_test

import (
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 17.4, 9.4: the model and the effort of a command are those of its turn, are told in
// one line, and the session has its own again after it, however the turn ended. What cannot
// be used is refused before anything is recorded.
func TestModelOfACommand(t *testing.T) {
	own := llmtest.New(llmtest.Say("one"), llmtest.Say("three"), llmtest.Say("five"))
	var opened []string
	other := llmtest.New(llmtest.Say("two"), llmtest.Turn{Err: fault.NewProvider("scripted", 400, "bad request", nil)})
	other.InfoValue.Model = "other"
	r := newRig(t, "ask", own, func(c *session.Config) {
		c.OpenModel = func(ref, effort string) (llm.Model, error) {
			opened = append(opened, ref+" "+effort)
			if ref == "none" {
				return nil, errors.New("no key for none")
			}
			other.InfoValue.Effort = effort
			return other, nil
		}
	})
	run := func(p session.Prompt) []event.Event {
		t.Helper()
		from := r.View().Last()
		must.Done(t)(r.RunPrompt(t.Context(), p, session.Observer{}))
		var out []event.Event
		for _, e := range readLog(r.Store, "s1") {
			if e.Seq > from {
				out = append(out, e)
			}
		}
		return out
	}
	run(session.Prompt{Text: "a"})
	es := run(session.Prompt{Text: "b", Model: "scripted/other", Effort: "low"})
	if got := other.Requests(); len(got) != 1 || got[0].Head.Model != "other" || got[0].Head.Effort != "low" || len(got[0].Messages) != 3 {
		t.Fatalf("%+v", got)
	}
	if rs := find[event.Rebased](es); len(rs) != 2 || rs[0].Info.Model != "other" || rs[1].Info.Model != "script" || rs[1].Head.Effort != "" {
		t.Errorf("%+v", rs)
	}
	if ws := find[event.Warned](es); len(ws) != 1 || ws[0].Text != "the command's turn runs with scripted/other, effort low; then the session has scripted/script again" {
		t.Errorf("%+v", ws)
	}
	if _, last := es[len(es)-1].Body.(event.Ended); !last {
		t.Errorf("the turn ended before its model: %+v", es)
	}
	run(session.Prompt{Text: "c"})
	es = run(session.Prompt{Text: "d", Effort: "high"}) // of the session's model
	if end := find[event.Ended](es); len(end) != 1 || end[0].End == event.EndDone {
		t.Errorf("%+v", end)
	}
	run(session.Prompt{Text: "e"})
	if got := own.Requests(); len(got) != 3 || got[2].Head.Effort != "" {
		t.Errorf("%d requests", len(got))
	}
	before := r.View().Last()
	_, err := r.Submit(t.Context(), session.Prompt{Text: "f", Model: "none"})
	if err == nil || r.View().Last() != before || !strings.Contains(err.Error(), "no key for none") || !strings.Contains(err.Error(), "pawl models") {
		t.Errorf("%v", err)
	}
	if got := strings.Join(opened, ", "); got != "scripted/other low, scripted/script high, none " {
		t.Errorf("opened %s", got)
	}
}
