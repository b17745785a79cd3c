package openaichat

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// errUnfinished means that a stream ended before its last event.
var errUnfinished = errors.New("the stream ended before the reply was complete")

// Decoder decodes one reply. It reads only the first of several choices: pawl never
// requests more.
type Decoder struct {
	d     Dialect
	newID func() string

	id, model string
	finish    string
	refusal   string
	usage     json.RawMessage
	seen      bool // some part of a reply was seen
	done      bool // [DONE], or a whole JSON text
	whole     bool // the reply was not streamed

	think     provider.ThinkSplitter
	text      strings.Builder
	reasoning strings.Builder
	details   details
	native    bool
	calls     calls
}

// chunk is an event, or a whole reply.
type chunk struct {
	ID      lax.Text          `json:"id"`
	Model   lax.Text          `json:"model"`
	Choices lax.List[choice]  `json:"choices"`
	Usage   json.RawMessage   `json:"usage"`
	Groq    lax.Obj[groqPart] `json:"x_groq"`
	Error   json.RawMessage   `json:"error"`
}

type groqPart struct {
	Usage json.RawMessage `json:"usage"`
	Error json.RawMessage `json:"error"`
}

type choice struct {
	Index   lax.Index       `json:"index"`
	Delta   *piece          `json:"delta"`
	Message *piece          `json:"message"`
	Finish  lax.Text        `json:"finish_reason"`
	Error   json.RawMessage `json:"error"`
}

// piece is a delta or a message.
type piece struct {
	Content   json.RawMessage           `json:"content"`
	Thinking  lax.Text                  `json:"reasoning_content"`
	Reasoning lax.Text                  `json:"reasoning"`
	Details   lax.List[json.RawMessage] `json:"reasoning_details"`
	Refusal   lax.Text                  `json:"refusal"`
	Calls     lax.List[callPiece]       `json:"tool_calls"`
	Function  lax.Obj[*functionPiece]   `json:"function_call"` // the older, single form
}

// block is an element of a content that is a list.
type block struct {
	Type     lax.Text        `json:"type"`
	Text     lax.Text        `json:"text"`
	Thinking json.RawMessage `json:"thinking"`
	Refusal  lax.Text        `json:"refusal"`
}

func (d *Decoder) Event(name string, data []byte) ([]llm.Delta, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 {
		return nil, nil
	}
	if string(data) == "[DONE]" {
		d.done = true
		return d.closeText(nil), nil
	}
	var c chunk
	if name == "error" {
		return nil, d.fail(data)
	}
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, fmt.Errorf("an event is not JSON: %w", err)
	}
	if c.failed(data) {
		return nil, d.fail(data)
	}
	return d.chunk(&c, func(c choice) *piece {
		if c.Delta != nil {
			return c.Delta
		}
		return c.Message
	})
}

// Whole decodes a reply that was not streamed.
func (d *Decoder) Whole(body []byte) ([]llm.Delta, error) {
	var c chunk
	if err := json.Unmarshal(body, &c); err != nil {
		return nil, fmt.Errorf("the reply is not JSON: %w", err)
	}
	if c.failed(body) {
		return nil, d.fail(body)
	}
	if len(c.Choices) == 0 {
		return nil, errors.New("the reply has no choices")
	}
	d.done, d.whole = true, true
	return d.chunk(&c, func(c choice) *piece {
		if c.Message != nil {
			return c.Message
		}
		return c.Delta
	})
}

// failed reports whether the chunk is an error, even if it is not marked as one.
func (c *chunk) failed(data []byte) bool {
	switch string(c.Error) {
	case "", "null", `""`, "{}", "false":
	default:
		return true
	}
	if len(c.Choices) > 0 || lax.Present(c.Usage) {
		return false
	}
	said, _ := lax.Said(data)
	return said.Message != ""
}

func (d *Decoder) fail(data []byte) *fault.Error {
	f := lax.Fail(d.d.Name, http.StatusOK, nil, data)
	if d.finish == "length" && f.Kind == fault.ErrContextLength {
		f.Kind = nil // the reply became too long, not the conversation
	}
	return f
}

func (d *Decoder) chunk(c *chunk, of func(choice) *piece) ([]llm.Delta, error) {
	if d.id == "" {
		d.id = string(c.ID)
	}
	if d.model == "" {
		d.model = string(c.Model)
	}
	for _, u := range []json.RawMessage{c.Groq.V.Usage, c.Usage} {
		if lax.Present(u) {
			d.usage = bytes.Clone(lax.Overlay(d.usage, u)) // the data is valid only during the call
		}
	}
	var out []llm.Delta
	for _, ch := range c.Choices {
		if ch.Index.N != 0 {
			continue
		}
		d.seen = true
		if p := of(ch); p != nil {
			out = d.piece(out, p)
		}
		if ch.Finish != "" {
			d.finish = string(ch.Finish)
			out = d.closeText(out)
		}
		if lax.Present(ch.Error) {
			return out, d.fail([]byte(`{"error":` + string(ch.Error) + `}`))
		}
	}
	if lax.Present(c.Groq.V.Error) {
		return out, d.fail([]byte(`{"error":` + string(c.Groq.V.Error) + `}`))
	}
	return out, nil
}

// piece decodes a delta or a message, and appends its deltas to out.
func (d *Decoder) piece(out []llm.Delta, p *piece) []llm.Delta {
	shown := d.details.add(p.Details)
	reasoning := string(p.Thinking)
	if reasoning == "" {
		reasoning = string(p.Reasoning)
	}
	reasoning = cmp.Or(reasoning, shown)
	out = d.think1(out, reasoning)
	out = d.content(out, p.Content)
	d.refusal += string(p.Refusal)
	calls := p.Calls
	if f := p.Function.V; f != nil {
		calls = append(calls, callPiece{Index: lax.Index{OK: true}, Function: *f})
	}
	for _, c := range calls {
		delta, ok := d.calls.add(c, d.whole)
		if !ok {
			continue
		}
		out = d.closeText(out)
		out = append(out, delta)
	}
	return out
}

// think1 appends a piece of native reasoning to out.
func (d *Decoder) think1(out []llm.Delta, s string) []llm.Delta {
	if s == "" {
		return out
	}
	if !d.native {
		d.native = true
		out = d.say(out, d.think.Native())
	}
	d.reasoning.WriteString(s)
	return append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: s})
}

// content decodes a content: a string or a list of blocks.
func (d *Decoder) content(out []llm.Delta, raw json.RawMessage) []llm.Delta {
	if !lax.Present(raw) {
		return out
	}
	if raw[0] != '[' && raw[0] != '{' {
		var s lax.Text
		_ = s.UnmarshalJSON(raw)
		return d.pushText(out, string(s))
	}
	var blocks lax.List[json.RawMessage]
	if blocks.UnmarshalJSON(raw) != nil {
		return out
	}
	for _, raw := range blocks {
		var b block
		if raw[0] != '{' { // a bare string
			b.Type = "text"
			_ = b.Text.UnmarshalJSON(raw)
		} else if json.Unmarshal(raw, &b) != nil {
			continue
		}
		switch b.Type {
		case "thinking":
			out = d.think1(out, thinking(b.Thinking))
		case "refusal":
			d.refusal += string(b.Refusal)
		default:
			out = d.pushText(out, string(b.Text))
		}
	}
	return out
}

// thinking returns the text of a thinking block: a string, or a list of blocks, joined.
func thinking(raw json.RawMessage) string {
	if len(raw) > 0 && raw[0] == '"' {
		var s lax.Text
		_ = s.UnmarshalJSON(raw)
		return string(s)
	}
	var blocks lax.List[block]
	if blocks.UnmarshalJSON(raw) != nil {
		return ""
	}
	s := ""
	for _, b := range blocks {
		s += string(b.Text)
	}
	return s
}

func (d *Decoder) pushText(out []llm.Delta, s string) []llm.Delta {
	if s == "" {
		return out
	}
	thought, said := d.think.Push(s)
	if thought != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: thought})
	}
	return d.say(out, said)
}

// closeText appends the text that was delayed because it might be a tag.
func (d *Decoder) closeText(out []llm.Delta) []llm.Delta {
	thought, said := d.think.Close()
	if thought != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: thought})
	}
	return d.say(out, said)
}

func (d *Decoder) say(out []llm.Delta, s string) []llm.Delta {
	if s == "" {
		return out
	}
	d.text.WriteString(s)
	return append(out, llm.Delta{Kind: llm.DeltaText, Text: s})
}

// Finished reports whether [DONE] was seen.
func (d *Decoder) Finished() bool { return d.done }

// End returns the reply. It is complete after a finish reason or [DONE]; else End returns
// an error.
func (d *Decoder) End() (llm.Reply, error) {
	if !d.seen || !d.done && d.finish == "" {
		return llm.Reply{}, fault.NewProvider(d.d.Name, 0, "", errUnfinished)
	}
	switch d.finish {
	case "error", "insufficient_system_resource", "network_error", "malformed_function_call", "MALFORMED_FUNCTION_CALL": // the host stopped without an explanation
		f := fault.NewProvider(d.d.Name, 0, "the reply was broken off: "+d.finish, nil)
		return llm.Reply{}, f
	}
	d.closeText(nil)
	r := llm.Reply{
		Message: llm.Message{Role: llm.Assistant}, Finish: d.finish, Refusal: d.refusal,
		Model: d.model, Response: d.id, UsageRaw: d.usage, Usage: d.d.usage(d.usage),
	}
	parts := &r.Message.Parts
	if p, ok := d.think.Part(); ok {
		*parts = append(*parts, p)
	}
	if raw := d.details.raw(); d.reasoning.Len() > 0 || raw != nil {
		*parts = append(*parts, llm.Part{Kind: llm.Reasoning, Text: d.reasoning.String(), Wire: Name, Raw: raw})
	}
	if d.text.Len() > 0 {
		*parts = append(*parts, llm.TextPart(d.text.String()))
	}
	calls := d.calls.all(d.newID)
	*parts = append(*parts, calls...)
	r.Stop = stop(d.finish, d.refusal != "", len(calls) > 0)
	return r, nil
}

// stop returns the meaning of a finish reason. Hosts have many names for the end of a
// reply with calls.
func stop(finish string, refused, calls bool) llm.Stop {
	switch finish {
	case "length", "model_length", "max_tokens", "MAX_TOKENS":
		return llm.StopLength
	case "content_filter", "content-filter", "sensitive", "SAFETY", "refusal":
		return llm.StopRefusal
	}
	switch {
	case calls:
		return llm.StopCalls
	case refused:
		return llm.StopRefusal
	}
	switch finish {
	case "", "stop", "end_turn", "eos", "eos_token", "stop_sequence", "tool_calls", "function_call", "STOP", "end", "done", "complete", "completed":
		return llm.StopEnd
	}
	return llm.StopOther
}
