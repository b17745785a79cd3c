package codectest_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func quoted(s string) string {
	b, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(b)
}

// streamed returns the events, each "name|data", of a reply that is one text in
// pieces, as the API streams it.
func streamed(api string, pieces []string) (events []string) {
	whole := strings.Join(pieces, "")
	each := func(event string) {
		for _, p := range pieces {
			events = append(events, strings.ReplaceAll(event, "$", quoted(p)))
		}
	}
	switch api {
	case "anthropic-messages":
		events = append(events, `message_start|{"type":"message_start","message":{"id":"m","model":"m","usage":{"input_tokens":1}}}`,
			`content_block_start|{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`)
		each(`content_block_delta|{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":$}}`)
		events = append(events, `content_block_stop|{"type":"content_block_stop","index":0}`,
			`message_delta|{"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":9}}`, `message_stop|{"type":"message_stop"}`)
	case "openai-chat-completions":
		each(`|{"choices":[{"delta":{"content":$}}]}`)
		events = append(events, `|{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "|[DONE]")
	case "ollama-native":
		each(`|{"message":{"role":"assistant","content":$},"done":false}`)
		events = append(events, `|{"message":{"role":"assistant","content":""},"done":true,"done_reason":"stop"}`)
	case "google-generate-content":
		each(`|{"candidates":[{"content":{"role":"model","parts":[{"text":$}]}}]}`)
		events = append(events, `|{"candidates":[{"content":{"role":"model","parts":[]},"finishReason":"STOP"}]}`)
	case "openai-responses":
		item := `{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + quoted(whole) + `}]}`
		events = append(events, `response.created|{"type":"response.created","response":{"id":"r","model":"m"}}`,
			`response.output_item.added|{"type":"response.output_item.added","output_index":0,"item":{"type":"message","role":"assistant","content":[]}}`)
		each(`response.output_text.delta|{"type":"response.output_text.delta","output_index":0,"content_index":0,"delta":$}`)
		events = append(events, `response.output_item.done|{"type":"response.output_item.done","output_index":0,"item":`+item+`}`,
			`response.completed|{"type":"response.completed","response":{"id":"r","model":"m","status":"completed","output":[`+item+`]}}`)
	}
	return events
}

// unstreamed is the same as a server sends it that does not stream; "" where
// the API always does.
func unstreamed(api, text string) string {
	switch api {
	case "anthropic-messages":
		return `{"type":"message","role":"assistant","model":"m","content":[{"type":"text","text":` + quoted(text) + `}],"stop_reason":"end_turn"}`
	case "openai-chat-completions":
		return `{"choices":[{"message":{"role":"assistant","content":` + quoted(text) + `},"finish_reason":"stop"}]}`
	case "ollama-native":
		return `{"message":{"role":"assistant","content":` + quoted(text) + `},"done":true,"done_reason":"stop"}`
	case "google-generate-content":
		return `{"candidates":[{"content":{"role":"model","parts":[{"text":` + quoted(text) + `}]},"finishReason":"STOP"}]}`
	case "openai-responses":
		return `{"id":"r","model":"m","status":"completed","output":[{"type":"message","role":"assistant","content":[{"type":"output_text","text":` + quoted(text) + `}]}]}`
	}
	return ""
}

// decoded is a reply, and what was shown of it as it came.
func decoded(t *testing.T, api provider.API, events []string, whole string) (r llm.Reply, text, thinking string) {
	t.Helper()
	d := api.Decoder()
	take := func(ds []llm.Delta, err error) {
		must.Do(t, err)
		for _, x := range ds {
			switch x.Kind {
			case llm.DeltaText:
				text += x.Text
			case llm.DeltaReasoning:
				thinking += x.Text
			}
		}
	}
	if whole != "" {
		take(d.Whole([]byte(whole)))
	}
	for _, e := range events {
		name, data, _ := strings.Cut(e, "|")
		take(d.Event(name, []byte(data)))
	}
	r = must.Get(d.End())(t)
	return r, text, thinking
}

// SPEC 5.3: thinking at the start of a reply is parsed out of the text, in
// every API, however the stream cuts it, also unclosed; what was shown is what
// the reply has, and none of it is sent back. A tag anywhere else is text.
func TestThinkingInText(t *testing.T) {
	for name, api := range apis() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, x := range []struct{ in, thinking, text string }{
				{"<think>why</think>so", "why", "so"},
				{"\n<thinking>\nwhy < not?</thin</think>\n</thinking>\n\nso <think>x</think>", "why < not?</thin</think>", "so <think>x</think>"},
				{"<think>why é漢", "why é漢", ""},
				{"<think>why</thinking", "why</thinking", ""},
				{"<think></think>so", "", "so"},
				{"so <think>why</think>", "", "so <think>why</think>"},
				{"<thin king>so", "", "<thin king>so"},
				{"<", "", "<"},
			} {
				cuts := [][]string{{x.in}, strings.Split(x.in, "")}
				for i := range x.in {
					if i > 0 {
						cuts = append(cuts, []string{x.in[:i], x.in[i:]})
					}
				}
				for _, pieces := range cuts {
					r, text, thinking := decoded(t, api, streamed(api.Name(), pieces), "")
					check(t, api, x.in, pieces, r, text, thinking, x.thinking, x.text)
				}
				r, text, thinking := decoded(t, api, nil, unstreamed(api.Name(), x.in))
				check(t, api, x.in, nil, r, text, thinking, x.thinking, x.text)
			}
		})
	}
}

func check(t *testing.T, api provider.API, in string, pieces []string, r llm.Reply, text, thinking, wantThinking, wantText string) {
	t.Helper()
	parsed, raw := "", ""
	for _, p := range r.Message.Parts {
		if p.Kind == llm.Reasoning && p.Parsed {
			parsed += p.Text
			_ = json.Unmarshal(p.Raw, &raw)
		}
	}
	if parsed != wantThinking || r.Message.Text() != wantText || text != wantText || thinking != wantThinking || raw+wantText != in && raw != in {
		t.Errorf("%q in %q: thought %q, shown %q; said %q, shown %q; raw %q", in, pieces, parsed, thinking, r.Message.Text(), text, raw)
	}
	back, err := api.Step([]llm.Message{r.Message}, true)
	if err != nil || wantThinking != "" && strings.Contains(string(back), "why") {
		t.Errorf("%q goes back as %s, %v", in, back, err)
	}
}
