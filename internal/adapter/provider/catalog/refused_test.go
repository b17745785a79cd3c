package catalog

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 3.4, 20.1: what a gateway refuses of a maker's options is left out from then on, the
// person is told once, and the rest stays. Another refusal is an error at once.
func TestRefusedOptions(t *testing.T) {
	t.Parallel()
	const extra = ": Extra inputs are not permitted"
	has := func(word, refusal string) func(string) string {
		return func(all string) string {
			if strings.Contains(all, word) {
				return refusal
			}
			return ""
		}
	}
	for name, c := range map[string]struct {
		model   string
		refuses func(all string) string // of betas and body
		status  int
		kept    string // in the requests after that
		gone    string
		notice  string // "": the request fails
		tries   int
	}{
		"the header names a beta": {"claude-sonnet-5-5", has("thinking-binding", "Unexpected value(s) `thinking-binding-controls-2026-08-01` for the `anthropic-beta` header."), 400, "updates", "block_binding", "refuses thinking-binding-controls-2026-08-01: requests are sent without", 2},
		"the header":              {"claude-sonnet-5-5", has("-2026-", "anthropic-beta is not allowed"), 400, `"effort":"medium"`, "context_management", "refuses thinking-binding-controls-2026-08-01, thinking-display-updates-2026-08-18, context-management-2025-06-27: requests", 2},
		"a member":                {"claude-opus-4-8", has("context_management", "context_management"+extra), 422, "adaptive", "context-management", "refuses context-management-2025-06-27: requests", 2},
		"one after the other": {"claude-sonnet-5-5", func(all string) string {
			if r := has("block_binding", "thinking.adaptive.block_binding"+extra)(all); r != "" {
				return r
			}
			return has("display", "thinking.adaptive.display"+extra)(all)
		}, 400, "context_management", "display", "refuses thinking-binding-controls-2026-08-01, thinking-display-updates-2026-08-18: requests", 3},
		"the effort":     {"claude-opus-4-5", has("output_config", "output_config"+extra), 400, "budget_tokens", "effort", "refuses effort-2025-11-24: requests", 2},
		"interleaving":   {"claude-haiku-4-5", has("interleaved", "invalid beta flag: interleaved-thinking-2025-05-14"), 400, "budget_tokens", "interleaved", "refuses interleaved-thinking-2025-05-14: requests", 2},
		"the budget":     {"claude-opus-4-8", has("task_budget", "output_config.task_budget"+extra), 400, `"effort":"high"`, "task-budgets", "refuses task-budgets-2026-03-13: requests", 2},
		"something else": {"claude-sonnet-5-5", has("m", "messages: too many"), 400, "", "", "", 1},
		"another status": {"claude-sonnet-5-5", has("m", "anthropic-beta: no"), 403, "", "", "", 1},
		"everything":     {"claude-sonnet-5-5", has("m", "anthropic-beta: no"), 400, "", "", "", 2},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var seen []string
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				body, err := io.ReadAll(r.Body)
				if err != nil {
					t.Error(err)
				}
				all := r.Header.Get("Anthropic-Beta") + string(body)
				seen = append(seen, all)
				if why := c.refuses(all); why != "" {
					w.WriteHeader(c.status)
					_, _ = io.WriteString(w, `{"error":{"type":"invalid_request_error","message":"`+why+`"}}`)
					return
				}
				_, _ = io.WriteString(w, `{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":"hi"}],"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":1}}`)
			}))
			defer s.Close()
			want := Want{Flag: "anthropic/" + c.model, Env: keys(s.URL)}
			if name == "the budget" {
				want.TaskBudget = 30000
			}
			chosen := must.Get(Resolve(want))(t)
			m := must.Get(chosen.Open(nil, nil))(t)
			for round := range 2 {
				notice, failed := "", false
				r := &llm.Request{Head: llm.Head{Model: c.model, Effort: chosen.Info.Effort, Tools: []llm.ToolSpec{{Name: "a", Schema: []byte(`{}`)}}}, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("hi")}}}}
				for d, err := range m.Stream(t.Context(), r) {
					if failed = err != nil; !failed && d.Kind == llm.Done {
						notice = d.Reply.Notice
					}
				}
				if failed != (c.notice == "") || !strings.Contains(notice, c.notice) && round == 0 || round == 1 && notice != "" {
					t.Errorf("round %d: failed %t, told %q", round, failed, notice)
				}
				if round == 0 && len(seen) != c.tries {
					t.Errorf("%d requests, want %d", len(seen), c.tries)
				}
			}
			if last := seen[len(seen)-1]; c.notice != "" && (len(seen) != c.tries+1 || !strings.Contains(last, c.kept) || strings.Contains(last, c.gone)) {
				t.Errorf("%d requests, the last one: %s", len(seen), last)
			}
		})
	}
}
