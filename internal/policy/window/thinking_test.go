package window

import (
	"encoding/json"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 20.1, 9.4, 9.5: no thinking is carried over what changes the beginning of a
// conversation, where the model binds it to that, nor to another model; else it stays.
func TestThinkingOverARebase(t *testing.T) {
	signed := llm.Part{Kind: llm.Reasoning, Text: "why", Wire: "w", Raw: json.RawMessage(`{"signature":"s"}`)}
	sealed := llm.Part{Kind: llm.Reasoning, Wire: "w", Raw: json.RawMessage(`{"type":"redacted_thinking"}`)}
	parsed := llm.Part{Kind: llm.Reasoning, Text: "read out of the text", Parsed: true}
	head := func(model string, bound bool, tools ...llm.ToolSpec) event.Rebased {
		return event.Rebased{Info: llm.Info{Provider: "p", Model: model, Bound: bound}, Head: llm.Head{Model: model, Tools: tools}}
	}
	call := llm.NewCall("c", "read", "{}")
	for name, c := range map[string]struct {
		first, then event.Body
		keeps       bool
	}{
		"other tools":             {head("m", true), head("m", true, llm.ToolSpec{Name: "t"}), false},
		"another model":           {head("m", true), head("n", false), false},
		"neither binds it":        {head("m", false), head("n", false), false},
		"a compaction":            {head("m", true), event.Compacted{Why: event.CompactedFull, Older: 1, Start: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("notes")}}}}, false},
		"a dedup":                 {head("m", true), event.Compacted{Why: event.CompactedDedup}, false},
		"released results":        {head("m", true), event.Compacted{Why: event.CompactedCleanup}, false},
		"not bound, a compaction": {head("m", false), event.Compacted{Why: event.CompactedFull, Older: 1}, true},
		"not bound, other tools":  {head("m", false), head("m", false, llm.ToolSpec{Name: "t"}), true},
	} {
		var k Conversation
		for _, b := range []event.Body{
			c.first, event.Prompted{Text: "hi"},
			event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{signed, sealed, parsed, llm.TextPart("so"), {Kind: llm.CallPart, Call: &call}}}}},
			event.CallDone{ID: "c", Result: llm.Result{ID: "c", Text: "x"}},
			event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{signed}}}},
			c.then,
		} {
			k.Apply(event.Event{Body: b})
		}
		thinking, other, calls := 0, 0, 0
		for _, m := range k.Messages() {
			for _, p := range m.Parts {
				switch {
				case p.Kind == llm.Reasoning && !p.Parsed:
					thinking++
				case p.Kind == llm.CallPart, p.Kind == llm.Output:
					calls++
				default:
					other++
				}
			}
		}
		if thinking != map[bool]int{true: 3, false: 0}[c.keeps] || other < 2 || calls != 2 {
			t.Errorf("%s: %d of thinking, %d of calls, %d others", name, thinking, calls, other)
		}
		if n := recount(&k); n != k.headN+k.bodyN {
			t.Errorf("%s: %d tokens are counted as %d", name, n, k.headN+k.bodyN)
		}
	}
}
