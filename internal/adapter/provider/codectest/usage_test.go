package codectest_test

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 5.1, 5.5: a null in a later report of usage, a report that is null
// itself, or a field that it leaves out, replaces nothing that is known. That
// holds of every API, for each of its fields.
func TestNullsReplaceNothing(t *testing.T) {
	// How each API reports: events with $ where a usage may stand, and what of
	// it may come first and later.
	stream := map[string]struct {
		first, last string // events with a report
		known       string
		want        llm.Usage
	}{
		"anthropic-messages": {
			`message_start|{"type":"message_start","message":{"id":"m","model":"m","usage":$}}`,
			`message_delta|{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":$}`,
			`{"input_tokens":50,"cache_read_input_tokens":20,"cache_creation_input_tokens":10,"output_tokens":7}`,
			llm.Usage{Known: true, Input: 50, CacheRead: 20, CacheWrite: 10, Output: 7},
		},
		"openai-chat-completions": {
			`|{"choices":[{"delta":{"content":"a"}}],"usage":$}`,
			`|{"choices":[],"usage":$}`,
			`{"prompt_tokens":80,"completion_tokens":7,"prompt_tokens_details":{"cached_tokens":20},"completion_tokens_details":{"reasoning_tokens":3}}`,
			llm.Usage{Known: true, Input: 60, CacheRead: 20, Output: 7, Reasoning: 3},
		},
		"openai-responses": {
			`response.in_progress|{"type":"response.in_progress","response":{"id":"r","model":"m","status":"in_progress","usage":$}}`,
			`response.completed|{"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[],"usage":$}}`,
			`{"input_tokens":80,"output_tokens":7,"input_tokens_details":{"cached_tokens":20},"output_tokens_details":{"reasoning_tokens":3}}`,
			llm.Usage{Known: true, Input: 60, CacheRead: 20, Output: 7, Reasoning: 3},
		},
		"google-generate-content": {
			`|{"candidates":[{"content":{"role":"model","parts":[{"text":"a"}]}}],"usageMetadata":$}`,
			`|{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}],"usageMetadata":$}`,
			`{"promptTokenCount":80,"cachedContentTokenCount":20,"candidatesTokenCount":4,"thoughtsTokenCount":3}`,
			llm.Usage{Known: true, Input: 60, CacheRead: 20, Output: 7, Reasoning: 3},
		},
		"ollama-native": {
			`|{"message":{"role":"assistant","content":"a"},"done":false,$}`,
			`|{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop",$}`,
			`{"prompt_eval_count":80,"eval_count":7}`,
			llm.Usage{Known: true, Input: 80, Output: 7},
		},
	}
	for name, api := range apis() {
		s, ok := stream[api.Name()]
		if !ok {
			t.Errorf("%s: no case for %s", name, api.Name())
			continue
		}
		ended := streamed(api.Name(), []string{"b"})
		for what, later := range map[string]string{
			"null": "null", "empty": "{}", "nulls": nulled(s.known), "the same": s.known,
		} {
			t.Run(name+", "+what, func(t *testing.T) {
				put := func(e, usage string) string {
					if api.Name() == "ollama-native" { // its counts are fields of the line
						usage = strings.Trim(strings.Replace(usage, "null", `"x":null`, min(1, strings.Count("null", usage))), "{}")
						if usage == "" {
							usage = `"x":1`
						}
					}
					return strings.Replace(e, "$", usage, 1)
				}
				events := []string{put(s.first, s.known)}
				switch api.Name() {
				case "anthropic-messages":
					events = append(events, put(s.last, s.known))
					events = append(events, ended[1:len(ended)-2]...)
					events = append(events, put(s.last, later), ended[len(ended)-1])
				case "openai-chat-completions":
					events = append(events, ended[:len(ended)-1]...)
					events = append(events, put(s.last, later), ended[len(ended)-1])
				default:
					events = append(events, ended[:len(ended)-1]...)
					events = append(events, put(s.last, later))
				}
				r, _, _ := decoded(t, api, events, "")
				if r.Usage != s.want {
					t.Errorf("%+v, want %+v\nraw: %s\n%s", r.Usage, s.want, r.UsageRaw, strings.Join(events, "\n"))
				}
			})
		}
	}
}

// nulled is a flat report with null in place of each value.
func nulled(usage string) string {
	var b strings.Builder
	for i, field := range strings.Split(strings.Trim(usage, "{}"), ",\"") {
		key, _, _ := strings.Cut(strings.TrimPrefix(field, `"`), `"`)
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(`"` + key + `":null`)
	}
	return "{" + b.String() + "}"
}
