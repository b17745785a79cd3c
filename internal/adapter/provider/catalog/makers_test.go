package catalog

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider/wiretest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// without are members of a maker's request that pawl leaves out, since they say what holds
// anyway.
var without = map[string]any{"tool_choice": "auto", "parallel_tool_calls": true}

// SPEC 20.1: what the makers' own agents were seen to send, by family, is what pawl sends:
// thinking, effort, verbosity, cache marks, betas. Their limits of a reply are not here: pawl
// has its own.
func TestAsTheMakersAgents(t *testing.T) {
	const (
		bound    = `{"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}}`
		keep     = `"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`
		budgeted = `"thinking":{"type":"enabled","budget_tokens":31999},` + keep + `,"max_tokens":64000`
		codex    = `"store":false,"include":["reasoning.encrypted_content"],"max_output_tokens":null`
	)
	for agent, models := range map[string]map[string]string{
		"Claude Code": {
			"anthropic/claude-opus-5-5":            `{"thinking":` + bound + `,"output_config":{"effort":"medium"},` + keep + `}`,
			"anthropic/claude-sonnet-5-5":          `{"thinking":` + bound + `,"output_config":{"effort":"medium"},` + keep + `}`,
			"anthropic/claude-haiku-5-5":           `{"thinking":` + bound + `,"output_config":{"effort":"medium"},` + keep + `}`,
			"anthropic/claude-opus-4-8":            `{"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},` + keep + `,"max_tokens":64000}`,
			"anthropic/claude-sonnet-4-6":          `{"thinking":{"type":"adaptive"},"output_config":{"effort":"high"},` + keep + `}`,
			"anthropic/claude-opus-4-5":            `{"output_config":{"effort":"high"},` + budgeted + `,"Anthropic-Beta":"interleaved-thinking-2025-05-14,effort-2025-11-24,context-management-2025-06-27"}`,
			"anthropic/claude-sonnet-4-5-20250929": `{"output_config":null,` + budgeted + `,"Anthropic-Beta":"interleaved-thinking-2025-05-14,context-management-2025-06-27","temperature":null,"tool_choice":null}`,
			"anthropic/claude-haiku-4-5":           `{"output_config":null,` + budgeted + `,"Anthropic-Beta":"interleaved-thinking-2025-05-14,context-management-2025-06-27"}`,
		},
		"Codex": {
			"openai-responses/gpt-5.5":     `{` + codex + `,"reasoning":{"effort":"medium"},"text":{"verbosity":"low"}}`,
			"openai-responses/gpt-5.6-sol": `{` + codex + `,"reasoning":{"effort":"low","context":"all_turns"},"text":{"verbosity":"low"}}`,
			"openai-responses/gpt-6.1-sol": `{` + codex + `,"reasoning":{"effort":"low","context":"all_turns"},"text":{"verbosity":"low"}}`,
			"openai-responses/gpt-6-sol":   `{` + codex + `,"reasoning":{"effort":"medium","context":"all_turns"},"text":{"verbosity":"low"}}`,
		},
		"Gemini CLI": {
			"gemini/gemini-2.5-pro": `{"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}`,
			"gemini/gemini-3.1-pro": `{"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"high"}}}`,
		},
		"pi and opencode": {
			"deepseek/deepseek-v4-pro":   `{"thinking":{"type":"enabled"},"reasoning_effort":"high","max_tokens":32000}`,
			"zai/glm-4.7":                `{"thinking":{"type":"enabled","clear_thinking":false},"tool_stream":true}`,
			"openrouter/openai/gpt-5.5":  `{"reasoning":{"effort":"medium"},"max_tokens":32000}`,
			"xai/grok-4.5":               `{"store":false,"include":["reasoning.encrypted_content"]}`,
			"openai-responses/gpt-5.1":   `{"reasoning":{"effort":"medium"},"store":false}`,
			"moonshot/kimi-k2.6":         `{"thinking":null,"reasoning_effort":null}`,
			"qwen/qwen3-coder-plus":      `{"X-Dashscope-Cachecontrol":"enable"}`,
			"anthropic/claude-opus-4-20": `{"thinking":{"type":"enabled","budget_tokens":16000}}`,
		},
	} {
		for ref, text := range models {
			var want map[string]any
			if err := json.Unmarshal([]byte(text), &want); err != nil {
				t.Fatalf("%s: %v", ref, err)
			}
			_, _, got := request(t, ref, "", usual, "a")
			for name, w := range want {
				if !reflect.DeepEqual(got[name], w) {
					t.Errorf("%s: %s is %v, %s sends %v", ref, name, got[name], agent, w)
				}
			}
		}
	}
}

// SPEC 20.1: beside a recorded request of Codex, pawl's own for the same model has the same
// options, and offers the same tool for patches.
func TestAsRecordedCodex(t *testing.T) {
	dir := must.Get(wiretest.Dir())(t)
	raw, err := os.ReadFile(filepath.Join(dir, "openai-responses", "codex-agent-gpt53codex.1.json"))
	if dir == "" || os.IsNotExist(err) {
		return // TestAsTheMakersAgents has what needs no recordings
	}
	must.Do(t, err)
	var rec struct{ Request struct{ Body map[string]any } }
	must.Do(t, json.Unmarshal(raw, &rec))
	codex := rec.Request.Body
	_, _, pawl := request(t, "openai-responses/"+codex["model"].(string), codex["reasoning"].(map[string]any)["effort"].(string), usual, patches.Tool)
	for name, want := range codex {
		got, ok := pawl[name]
		switch name {
		case "client_metadata", "input", "instructions": // its own
			continue
		case "prompt_cache_key":
			want, got = want != "", got != ""
		case "tools":
			for _, one := range want.([]any) {
				if tool := one.(map[string]any); tool["name"] == patches.Tool {
					want, got = tool, got.([]any)[0]
					delete(tool, "description")
					delete(got.(map[string]any), "description")
				}
			}
		}
		if !ok {
			got = without[name]
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s is %v, Codex sends %v", name, got, want)
		}
	}
}

// SPEC 20.1: a tool is offered in freeform where that is known to be taken: by OpenAI's own
// server, to models that were trained for it.
func TestFreeformPlaces(t *testing.T) {
	for ref, want := range map[string]bool{
		"openai-responses/gpt-5.5": true, "openai-responses/gpt-5-mini": true, "openai-responses/gpt-5.3-codex": true, "openai-responses/gpt-7": true,
		"openai-responses/gpt-4.1": false, "openai-responses/gpt-5-chat-latest": false, "openai-responses/o3": false, "openai/gpt-5.5": false,
		"openai-compatible/gpt-5.5": false, "azure/gpt-5.5": false, "openrouter/openai/gpt-5.5": false, "xai/grok-4.5": false, "anthropic/claude-sonnet-5-5": false,
	} {
		_, _, all := request(t, ref, "", usual, patches.Tool)
		b, err := json.Marshal(all["tools"])
		if got := strings.Contains(string(b), `"type":"custom"`); err != nil || got != want {
			t.Errorf("%s: freeform %t: %s", ref, got, b)
		}
		if _, _, all = request(t, ref, "", usual, "write"); strings.Contains(jsonOf(all["tools"]), `"type":"custom"`) {
			t.Errorf("%s: write is in freeform", ref)
		}
	}
}

func jsonOf(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}
