package anthropic

import (
	"bytes"
	"encoding/json"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// decoder reads one reply.
type decoder struct {
	model, id   string
	usage       map[string]json.RawMessage
	stop        string
	explanation string
	blocks      []*block
	calls       int
	think       provider.ThinkSplitter
	finished    bool
}

// block is a content block that is being streamed.
type block struct {
	index     int
	kind      string
	start     json.RawMessage // as the stream opened it
	text      strings.Builder // text or thinking
	input     strings.Builder // JSON of a tool's input
	signature string
	citations []json.RawMessage
	call      int     // number of the call
	first     bool    // the reply's first text: may start with <think>
	extra     []field // unknown fields that deltas added
	closed    bool
}

// field is a member of an opaque block, as received so far.
type field struct{ name, text string }

type wireEvent struct {
	Type    lax.Text        `json:"type"`
	Message json.RawMessage `json:"message"`
	Index   lax.Int         `json:"index"`
	Block   json.RawMessage `json:"content_block"`
	Delta   json.RawMessage `json:"delta"`
	Usage   json.RawMessage `json:"usage"`
}

type wireMessage struct {
	ID      lax.Text                  `json:"id"`
	Model   lax.Text                  `json:"model"`
	Content lax.List[json.RawMessage] `json:"content"`
	Usage   json.RawMessage           `json:"usage"`
	ending
}

type ending struct {
	StopReason  lax.Text `json:"stop_reason"`
	StopDetails lax.Obj[struct {
		Category    lax.Text `json:"category"`
		Explanation lax.Text `json:"explanation"`
	}] `json:"stop_details"`
}

type wireBlock struct {
	Type      lax.Text        `json:"type"`
	Text      lax.Text        `json:"text"`
	Thinking  lax.Text        `json:"thinking"`
	Signature lax.Text        `json:"signature"`
	ID        lax.Text        `json:"id"`
	Name      lax.Text        `json:"name"`
	Input     json.RawMessage `json:"input"`
	Citations json.RawMessage `json:"citations"`
}

type wireDelta struct {
	Type        lax.Text        `json:"type"`
	Text        lax.Text        `json:"text"`
	Thinking    lax.Text        `json:"thinking"`
	Signature   lax.Text        `json:"signature"`
	PartialJSON lax.Text        `json:"partial_json"`
	Citation    json.RawMessage `json:"citation"`
	ending
}

// Finished reports whether message_stop was seen.
func (d *decoder) Finished() bool { return d.finished }

// Event decodes one event of a stream. It ignores unknown types, as the API requires of
// its clients.
func (d *decoder) Event(name string, data []byte) ([]llm.Delta, error) {
	if d.finished {
		return nil, nil
	}
	var ev wireEvent
	if err := json.Unmarshal(data, &ev); err != nil {
		return nil, err
	}
	if ev.Type == "" {
		ev.Type = lax.Text(name)
	}
	switch ev.Type {
	case "error":
		return nil, api{}.Error("", http.StatusOK, nil, data)
	case "message":
		return d.Whole(data)
	case "message_start":
		var m wireMessage
		if err := json.Unmarshal(ev.Message, &m); err != nil {
			return nil, err
		}
		d.begin(m)
	case "content_block_start":
		return d.open(int(ev.Index), ev.Block)
	case "content_block_delta":
		return d.more(int(ev.Index), ev.Delta)
	case "content_block_stop":
		if b := d.at(int(ev.Index)); b != nil {
			return d.shut(b), nil
		}
	case "message_delta":
		var end wireDelta
		if len(ev.Delta) > 0 {
			if err := json.Unmarshal(ev.Delta, &end); err != nil {
				return nil, err
			}
		}
		d.end(end.ending)
		d.count(ev.Usage)
	case "message_stop":
		return d.finish(), nil
	}
	return nil, nil
}

// Whole decodes a reply that came as one message.
func (d *decoder) Whole(body []byte) ([]llm.Delta, error) {
	var m struct {
		Type lax.Text `json:"type"`
		wireMessage
	}
	if err := json.Unmarshal(body, &m); err != nil {
		return nil, err
	}
	if m.Type != "message" {
		return nil, api{}.Error("", http.StatusOK, nil, body)
	}
	d.begin(m.wireMessage)
	var out []llm.Delta
	for i, raw := range m.Content {
		ds, err := d.open(i, raw)
		if err != nil {
			return out, err
		}
		out = append(append(out, ds...), d.shut(d.at(i))...)
	}
	d.end(m.ending)
	return append(out, d.finish()...), nil
}

func (d *decoder) begin(m wireMessage) {
	d.model, d.id = string(m.Model), string(m.ID)
	d.count(m.Usage)
}

func (d *decoder) end(e ending) {
	if e.StopReason != "" {
		d.stop = string(e.StopReason)
	}
	if s := e.StopDetails.V; s.Explanation != "" {
		d.explanation = string(s.Explanation)
	} else if s.Category != "" {
		d.explanation = string(s.Category)
	}
}

// count merges usage key by key: later counts are totals, not additions.
func (d *decoder) count(usage json.RawMessage) {
	var u map[string]json.RawMessage
	if json.Unmarshal(usage, &u) != nil || u == nil {
		return
	}
	if d.usage == nil {
		d.usage = make(map[string]json.RawMessage, len(u))
	}
	for k, v := range u {
		d.usage[k] = lax.Overlay(d.usage[k], v)
	}
}

func (d *decoder) finish() (out []llm.Delta) {
	for _, b := range d.blocks {
		out = append(out, d.shut(b)...)
	}
	d.finished = true
	return out
}

func (d *decoder) at(index int) *block {
	for i := len(d.blocks) - 1; i >= 0; i-- {
		if d.blocks[i].index == index {
			return d.blocks[i]
		}
	}
	return nil
}

// open starts a block; its initial content is its first delta.
func (d *decoder) open(index int, raw json.RawMessage) ([]llm.Delta, error) {
	var w wireBlock
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	b := &block{index: index, kind: string(w.Type), start: compact(raw), signature: string(w.Signature)}
	b.first = b.kind == "text" && !d.has("text")
	d.blocks = append(d.blocks, b)
	switch b.kind {
	case "text":
		var cites []json.RawMessage
		if json.Unmarshal(w.Citations, &cites) == nil {
			b.citations = cites
		}
		return d.text(b, string(w.Text)), nil
	case "thinking":
		return d.reason(b, string(w.Thinking)), nil
	case "redacted_thinking":
		return d.native(), nil
	case "tool_use":
		b.call = d.calls
		d.calls++
		return []llm.Delta{{Kind: llm.DeltaCall, Index: b.call, ID: string(w.ID), Name: string(w.Name)}}, nil
	}
	return nil, nil
}

func (d *decoder) has(kind string) bool {
	return slices.ContainsFunc(d.blocks, func(b *block) bool { return b.kind == kind })
}

// more adds a delta to its block. If the block was not opened but its kind is known, it
// is opened here.
func (d *decoder) more(index int, raw json.RawMessage) ([]llm.Delta, error) {
	var w wireDelta
	if err := json.Unmarshal(raw, &w); err != nil {
		return nil, err
	}
	b := d.at(index)
	if b == nil || b.closed {
		kind, ok := map[lax.Text]string{"text_delta": "text", "thinking_delta": "thinking"}[w.Type]
		if !ok {
			return nil, nil
		}
		b = &block{index: index, kind: kind, start: json.RawMessage(`{"type":"` + kind + `"}`)}
		d.blocks = append(d.blocks, b)
	}
	switch w.Type {
	case "text_delta":
		if b.kind == "text" {
			return d.text(b, string(w.Text)), nil
		}
	case "thinking_delta":
		if b.kind == "thinking" {
			return d.reason(b, string(w.Thinking)), nil
		}
	case "signature_delta":
		b.signature = string(w.Signature)
	case "citations_delta":
		if lax.Present(w.Citation) {
			b.citations = append(b.citations, compact(w.Citation))
		}
	case "input_json_delta":
		if b.input.WriteString(string(w.PartialJSON)); b.kind == "tool_use" && w.PartialJSON != "" {
			return []llm.Delta{{Kind: llm.DeltaCall, Index: b.call, Text: string(w.PartialJSON)}}, nil
		}
	default:
		b.grow(raw)
	}
	return nil, nil
}

// grow adds a delta of an unknown kind to a block of an unknown kind: strings are joined,
// any other value replaces the earlier one. Such a block must be sent back complete,
// whatever it means.
func (b *block) grow(raw json.RawMessage) {
	var members map[string]json.RawMessage
	if b.kind == "text" || b.kind == "thinking" || b.kind == "tool_use" || json.Unmarshal(raw, &members) != nil {
		return
	}
	for name, value := range members {
		var text string
		switch {
		case name == "type":
		case json.Unmarshal(value, &text) != nil || !bytes.HasPrefix(value, []byte(`"`)):
			b.start = with(b.start, name, compact(value))
		default:
			i := slices.IndexFunc(b.extra, func(f field) bool { return f.name == name })
			if i < 0 {
				i = len(b.extra)
				b.extra = append(b.extra, field{name: name})
			}
			b.extra[i].text += text
		}
	}
}

func (d *decoder) text(b *block, piece string) []llm.Delta {
	if !b.first {
		b.text.WriteString(piece)
		return deltas("", piece)
	}
	thinking, text := d.think.Push(piece)
	b.text.WriteString(text)
	return deltas(thinking, text)
}

func (d *decoder) reason(b *block, piece string) []llm.Delta {
	b.text.WriteString(piece)
	return append(d.native(), deltas(piece, "")...)
}

// native records that the reply has native thinking.
func (d *decoder) native() []llm.Delta {
	text := d.think.Native()
	for _, b := range d.blocks {
		if b.first {
			b.text.WriteString(text)
			return deltas("", text)
		}
	}
	return nil
}

func deltas(thinking, text string) (out []llm.Delta) {
	if thinking != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: thinking})
	}
	if text != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaText, Text: text})
	}
	return out
}

func (d *decoder) shut(b *block) []llm.Delta {
	if b.closed {
		return nil
	}
	b.closed = true
	if b.kind == "tool_use" && strings.TrimSpace(b.input.String()) == "" {
		var w wireBlock // arguments that came with the start, as some proxies send them
		if json.Unmarshal(b.start, &w) == nil && lax.Present(w.Input) && string(w.Input) != "{}" {
			return []llm.Delta{{Kind: llm.DeltaCall, Index: b.call, Text: string(w.Input)}}
		}
	}
	if !b.first {
		return nil
	}
	thinking, text := d.think.Close()
	b.text.WriteString(text)
	return deltas(thinking, text)
}

// End returns the reply, or an error if message_stop was not seen.
func (d *decoder) End() (llm.Reply, error) {
	if !d.finished {
		f := fault.NewProvider("", 0, "the reply broke off before its end", nil)
		return llm.Reply{}, f
	}
	r := llm.Reply{
		Message: llm.Message{Role: llm.Assistant},
		Stop:    stopOf(d.stop), Finish: d.stop, Model: d.model, Response: d.id,
	}
	for _, b := range d.blocks {
		r.Message.Parts = append(r.Message.Parts, d.parts(b)...)
	}
	if r.Stop == llm.StopRefusal {
		r.Refusal = d.explanation
	}
	if d.usage != nil {
		r.Usage = counted(d.usage)
		r.UsageRaw, _ = json.Marshal(d.usage) // values that were just read
	}
	return r, nil
}

func stopOf(reason string) llm.Stop {
	switch reason {
	case "end_turn", "stop_sequence":
		return llm.StopEnd
	case "tool_use":
		return llm.StopCalls
	case "max_tokens", "model_context_window_exceeded":
		return llm.StopLength
	case "refusal":
		return llm.StopRefusal
	case "pause_turn":
		return llm.StopPaused
	}
	return llm.StopOther
}

func counted(usage map[string]json.RawMessage) llm.Usage {
	n := func(key string) int64 {
		var v lax.Int
		if raw, ok := usage[key]; !ok || json.Unmarshal(raw, &v) != nil {
			return 0
		}
		return int64(v)
	}
	u := llm.Usage{
		Known: true, Input: n("input_tokens"), Output: n("output_tokens"),
		CacheRead: n("cache_read_input_tokens"), CacheWrite: n("cache_creation_input_tokens"),
	}
	var tools struct {
		Searches lax.Int `json:"web_search_requests"`
	}
	if json.Unmarshal(usage["server_tool_use"], &tools) == nil {
		u.Searches = int64(tools.Searches)
	}
	var details struct {
		Thinking lax.Int `json:"thinking_tokens"`
	}
	if json.Unmarshal(usage["output_tokens_details"], &details) == nil {
		u.Reasoning = int64(details.Thinking)
	}
	return u
}
