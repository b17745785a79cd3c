package session_test

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 20.1: the effort in the model's description is what is asked for; one that the
// person wants and the model does not take is named once at each start and change of the
// model, and never dropped without a word.
func TestEffort(t *testing.T) {
	for name, c := range map[string]struct {
		wants, takes string // before and after a change of the model
		then         string
		says         []string
	}{
		"nothing wanted":   {"", "medium", "", nil},
		"taken":            {"high", "high", "high", nil},
		"none taken":       {"high", "", "", []string{"scripted/script has no reasoning effort: high is not used", "scripted/other has no reasoning effort: high is not used"}},
		"another one":      {"xhigh", "high", "xhigh", []string{"scripted/script has no reasoning effort xhigh: high is used"}},
		"only thinks":      {"low", "on", "low", []string{"scripted/script has no reasoning effort low: on is used"}},
		"by the other one": {"max", "max", "high", []string{"scripted/other has no reasoning effort max: high is used"}},
	} {
		t.Run(name, func(t *testing.T) {
			other := llmtest.New()
			other.InfoValue.Model, other.InfoValue.Effort = "other", c.then
			m := llmtest.New()
			m.InfoValue.Effort = c.takes
			r := newRig(t, "ask", m, func(cfg *session.Config) {
				cfg.Effort = c.wants
				cfg.OpenModel = func(string, string) (llm.Model, error) { return other, nil }
			})
			r.Run("hi", nil)
			if got := m.Requests()[0].Head.Effort; got != c.takes {
				t.Errorf("%q was asked for", got)
			}
			must.Done(t)(r.do(session.SetModel{Ref: "scripted/other"}))
			r.Run("hi", nil)
			if got := other.Requests()[0].Head.Effort; got != c.then {
				t.Errorf("the other model was asked for %q", got)
			}
			var said []string
			for _, w := range find[event.Warned](readLog(r.Cfg.Store, "s1")) {
				if w.What == "effort" {
					said = append(said, w.Text)
				}
			}
			if strings.Join(said, "|") != strings.Join(c.says, "|") {
				t.Errorf("said %q", said)
			}
		})
	}
}

// SPEC 20.1, 9.6: requests beside the conversation ask for the least effort, with room to
// think; thinking alone is said to be that.
func TestThinkingBesideTheConversation(t *testing.T) {
	m := llmtest.New()
	m.InfoValue.SideEffort, m.InfoValue.Effort = "low", "high"
	n := 0
	m.Next = func(_ int, r *llm.Request) llmtest.Turn {
		if isSummary(r) {
			if r.Head.Effort != "low" || r.Tail.MaxTokens < 2000+256 {
				t.Errorf("a summary asks for %q and %d tokens", r.Head.Effort, r.Tail.MaxTokens)
			}
			return llmtest.Turn{Reasoning: "hm", Stop: llm.StopLength, Usage: llm.Usage{Known: true, Input: 5, Output: 2304}}
		}
		if n++; n > 40 {
			return llmtest.Say("all read")
		}
		return llmtest.Use("look", `{"n":`+strings.Repeat("1", 1+n%3)+`}`)
	}
	r := windowed(t, 16384, m)
	cs := find[event.Compacted](r.Run("look", nil))
	if len(cs) == 0 || cs[0].Error == nil || !strings.Contains(cs[0].Error.Message, "scripted/script thought for 2304 tokens, and wrote no summary") {
		t.Errorf("%+v", cs)
	}
}
