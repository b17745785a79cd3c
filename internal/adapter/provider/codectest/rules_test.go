package codectest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Broken returns which of an API's own rules for a conversation a request's
// body violates: the order of speakers, which result belongs to which call,
// what must not be empty. Providers answer violations with 400; api is a wire
// API's name.
func Broken(api string, body []byte) []string {
	if !json.Valid(body) || !utf8.Valid(body) {
		return []string{"not JSON"}
	}
	var r rules
	switch api {
	case "anthropic-messages":
		r.anthropic(body)
	case "openai-chat-completions", "ollama-native":
		r.chat(body, api == "ollama-native")
	case "openai-responses":
		r.responses(body)
	case "google-generate-content":
		r.gemini(body)
	default:
		r.say("no rules are known of %s", api)
	}
	return r.found
}

type rules struct{ found []string }

func (r *rules) say(format string, args ...any) {
	r.found = append(r.found, fmt.Sprintf(format, args...))
}

func (r *rules) read(body []byte, into any) {
	if err := json.Unmarshal(body, into); err != nil {
		r.say("another shape: %v", err)
	}
}

// block is a content block of Anthropic's.
type block struct {
	Type, Text, ID, Name, Thinking, Signature string
	ToolUseID                                 string          `json:"tool_use_id"`
	Content                                   json.RawMessage // of a result
	Input                                     json.RawMessage
	Mark                                      *struct{} `json:"cache_control"`
}

// anthropic: the first message is a user's, none is empty; each tool_use has
// its tool_result in the message right after, before all else in it, and no
// other message has one; ids are unique in the whole request; a text is not
// blank, thinking is signed and does not end a message; at most 4 markers.
func (r *rules) anthropic(body []byte) {
	var b struct {
		System   json.RawMessage
		Messages []struct {
			Role    string
			Content []block
		}
	}
	r.read(body, &b)
	if len(b.Messages) == 0 || b.Messages[0].Role != "user" {
		r.say("the first message is not a user's")
	}
	if n := strings.Count(string(body), `"cache_control":{`); n > 4 {
		r.say("%d cache markers", n)
	}
	ids := map[string]bool{}
	var open []string
	for i, m := range b.Messages {
		if len(m.Content) == 0 || m.Role != "user" && m.Role != "assistant" {
			r.say("message %d is empty, or of %q", i, m.Role)
		}
		var calls, results []string
		for k, c := range m.Content {
			switch c.Type {
			case "text":
				if strings.TrimSpace(c.Text) == "" {
					r.say("message %d has a blank text", i)
				}
			case "thinking":
				if m.Role != "assistant" || c.Signature == "" {
					r.say("message %d has thinking that is not signed", i)
				}
			case "tool_use":
				if m.Role != "assistant" || ids[c.ID] || !plainID(c.ID, 0) || c.Name == "" || len(c.Input) == 0 || c.Input[0] != '{' {
					r.say("message %d: a call %q of %q, or its id is taken", i, c.ID, m.Role)
				}
				ids[c.ID] = true
				calls = append(calls, c.ID)
			case "tool_result":
				if m.Role != "user" || k != len(results) {
					r.say("message %d: a result is not at its start", i)
				}
				results = append(results, c.ToolUseID)
			}
			if k == len(m.Content)-1 && m.Role == "assistant" && (c.Type == "thinking" || c.Type == "redacted_thinking") {
				r.say("message %d ends in thinking", i)
			}
		}
		r.answered(i, open, results)
		open = calls
	}
	r.answered(len(b.Messages), open, nil)
	if len(b.Messages) > 0 && b.Messages[len(b.Messages)-1].Role == "assistant" && len(open) == 0 {
		r.say("it ends with the assistant: that is a prefill, which newer models refuse")
	}
}

// answered checks that a message answers exactly the calls before it.
func (r *rules) answered(i int, calls, results []string) {
	if !slices.Equal(slices.Sorted(slices.Values(calls)), slices.Sorted(slices.Values(results))) {
		r.say("message %d answers %q, and %q were asked for", i, results, calls)
	}
}

func plainID(s string, most int) bool {
	return s != "" && (most == 0 || len(s) <= most) && !strings.ContainsFunc(s, func(c rune) bool {
		return !(c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '_' || c == '-')
	})
}

// chat: a system message only at the start; each tool_calls is answered by a
// tool message for each call before any other message, and there is no
// other tool message; a user message is not empty; an assistant writes or
// calls something. Ollama matches results by their order.
func (r *rules) chat(body []byte, ordered bool) {
	var b struct {
		Messages []struct {
			Role      string
			Content   json.RawMessage
			Images    []string
			ID        string `json:"tool_call_id"`
			Reasoning string `json:"reasoning_content"`
			Thinking  string
			Calls     []struct {
				ID       string
				Function struct {
					Name      string
					Arguments json.RawMessage
				}
			} `json:"tool_calls"`
		}
	}
	r.read(body, &b)
	var open []string
	for i, m := range b.Messages {
		if m.Role != "tool" && len(open) > 0 {
			r.say("message %d comes before the results of %q", i, open)
			open = nil
		}
		said := len(m.Content) > 0 && string(m.Content) != `""` && string(m.Content) != "[]" && string(m.Content) != "null"
		switch m.Role {
		case "system":
			if i > 0 {
				r.say("message %d is the system's", i)
			}
		case "user":
			if !said && len(m.Images) == 0 {
				r.say("message %d is empty", i)
			}
		case "assistant":
			if !said && len(m.Calls) == 0 && m.Reasoning == "" && m.Thinking == "" {
				r.say("message %d says nothing", i)
			}
			for _, c := range m.Calls {
				if c.ID == "" || slices.Contains(open, c.ID) || c.Function.Name == "" || len(c.Function.Arguments) == 0 {
					r.say("message %d: a call %q that is not whole, or its id is taken", i, c.ID)
				}
				open = append(open, c.ID)
			}
		case "tool":
			k := slices.Index(open, m.ID)
			if k < 0 || ordered && k > 0 {
				r.say("message %d answers %q, and %q are open", i, m.ID, open)
				continue
			}
			open = slices.Delete(open, k, k+1)
		default:
			r.say("message %d is of %q", i, m.Role)
		}
	}
	if len(open) > 0 {
		r.say("no results of %q", open)
	}
}

// responses: each function_call has one output after it, and each output its
// call before it; reasoning comes before the item it belongs to, and not
// before a user message; no message is empty.
func (r *rules) responses(body []byte) {
	var b struct {
		Input []struct {
			Type, Role string
			ID         string `json:"call_id"`
			Content    json.RawMessage
			Output     json.RawMessage
		}
	}
	r.read(body, &b)
	var open []string
	ids := map[string]bool{}
	reasoning := false
	for i, it := range b.Input {
		if reasoning && (it.Role == "user" || it.Type == "function_call_output") {
			r.say("item %d: reasoning before it belongs to nothing", i)
		}
		reasoning = it.Type == "reasoning"
		switch {
		case it.Type == "function_call":
			if it.ID == "" || ids[it.ID] {
				r.say("item %d: the id %q is taken", i, it.ID)
			}
			ids[it.ID] = true
			open = append(open, it.ID)
		case it.Type == "function_call_output":
			k := slices.Index(open, it.ID)
			if k < 0 || len(it.Output) == 0 {
				r.say("item %d answers %q, and %q are open", i, it.ID, open)
				continue
			}
			open = slices.Delete(open, k, k+1)
		case it.Role == "user":
			if len(open) > 0 {
				r.say("item %d comes before the results of %q", i, open)
				open = nil
			}
			fallthrough
		case it.Role != "":
			if s := string(it.Content); s == "" || s == `""` || s == "[]" {
				r.say("item %d is empty", i)
			}
		}
	}
	if reasoning {
		r.say("reasoning ends it")
	}
	if len(open) > 0 {
		r.say("no results of %q", open)
	}
}

// gemini: the first content is the user's, none is empty; calls come right
// after a user's message or a function's answer, and as many answers, by the
// same names in the same order, come right after them and nowhere else; the
// first call of a content is signed.
func (r *rules) gemini(body []byte) {
	type function struct{ ID, Name string }
	var b struct {
		Contents []struct {
			Role  string
			Parts []struct {
				Text      *string
				Signature string    `json:"thoughtSignature"`
				Call      *function `json:"functionCall"`
				Response  *function `json:"functionResponse"`
			}
		}
	}
	r.read(body, &b)
	if len(b.Contents) == 0 || b.Contents[0].Role != "user" {
		r.say("the first content is not a user's")
	}
	var open []string
	before := ""
	for i, c := range b.Contents {
		if len(c.Parts) == 0 || c.Role != "user" && c.Role != "model" {
			r.say("content %d is empty, or of %q", i, c.Role)
		}
		var calls, answers []string
		for _, p := range c.Parts {
			switch {
			case p.Call != nil:
				if c.Role != "model" || p.Call.Name == "" || len(calls) == 0 && p.Signature == "" {
					r.say("content %d: a call of %q, not named or not signed", i, c.Role)
				}
				calls = append(calls, p.Call.ID+" "+p.Call.Name)
			case p.Response != nil:
				answers = append(answers, p.Response.ID+" "+p.Response.Name)
			}
		}
		if !slices.Equal(open, answers) {
			r.say("content %d answers %q, and %q were asked for", i, answers, open)
		}
		if len(calls) > 0 && before != "user" {
			r.say("content %d: calls behind %q", i, before)
		}
		open, before = calls, c.Role
	}
	if len(open) > 0 {
		r.say("no answers to %q", open)
	}
}
