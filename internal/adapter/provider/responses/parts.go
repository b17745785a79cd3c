package responses

import (
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// builder builds the parts of a reply from its items.
type builder struct {
	d       Dialect
	newID   func() string
	used    map[string]bool // ids of calls
	parts   []llm.Part
	refusal string
	native  bool // there was a reasoning item, so a tag in the text is text
}

func (b *builder) item(raw json.RawMessage) {
	var it item
	if json.Unmarshal(raw, &it) != nil {
		return
	}
	switch it.Type {
	case "message":
		b.message(it)
	case "reasoning":
		b.native = true
		b.parts = append(b.parts, llm.Part{Kind: llm.Reasoning, Text: shown(it), Wire: Name, Raw: sendable(raw)})
	case "function_call":
		b.call(it, llm.NewCall("", string(it.Name), string(it.Args)))
	case "custom_tool_call":
		b.call(it, llm.Call{Name: string(it.Name), Args: []byte(b.d.opening(it) + escaped(it.Input) + closing)})
	default:
		b.parts = append(b.parts, llm.Part{Kind: llm.Opaque, Wire: Name, Raw: sendable(raw)})
	}
}

func (b *builder) call(it item, c llm.Call) {
	c.ID = string(it.CallID)
	for c.ID == "" || b.used[c.ID] {
		c.ID = b.newID()
	}
	b.used[c.ID] = true
	b.parts = append(b.parts, llm.Part{Kind: llm.CallPart, Call: &c})
}

func (b *builder) message(it item) {
	text := ""
	for _, p := range it.Content {
		if p.Type == "refusal" {
			b.refusal += string(p.Refusal)
		} else {
			text += string(p.Text)
		}
	}
	if !b.native {
		b.native = true
		var think provider.ThinkSplitter
		_, said := think.Push(text)
		_, rest := think.Close()
		text = said + rest
		if p, ok := think.Part(); ok {
			b.parts = append(b.parts, p)
		}
	}
	if text == "" {
		return
	}
	p := llm.TextPart(text)
	if it.Phase != "" { // a message's phase is sent back with it
		p.Wire = Name
		p.Raw = append(lax.AppendString([]byte(`{"phase":`), string(it.Phase)), '}')
	}
	b.parts = append(b.parts, p)
}

// shown returns the reasoning for people: the summaries, or else the text.
func shown(it item) string {
	var texts []string
	for _, p := range it.Summary {
		if p.Text != "" {
			texts = append(texts, string(p.Text))
		}
	}
	if len(texts) == 0 {
		for _, p := range it.Content {
			texts = append(texts, string(p.Text))
		}
		return strings.Join(texts, "")
	}
	return strings.Join(texts, partBreak)
}

// sendable returns an item without the members that hosts add to their output and refuse
// in their input: null ones, and internal notes. An item without these is unchanged.
func sendable(raw json.RawMessage) json.RawMessage {
	dec := json.NewDecoder(strings.NewReader(string(raw)))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return raw
	}
	out := []byte{'{'}
	dropped := false
	for dec.More() {
		t, err := dec.Token()
		name, ok := t.(string)
		var value json.RawMessage
		if err != nil || !ok || dec.Decode(&value) != nil {
			return raw
		}
		if string(value) == "null" || name == "metadata" || name == "internal_chat_message_metadata_passthrough" {
			dropped = true
			continue
		}
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(lax.AppendString(out, name), ':'), value...)
	}
	if !dropped {
		return raw
	}
	return append(out, '}')
}

// tokens is the usage that hosts report. Input includes cached tokens, output includes
// reasoning.
type tokens struct {
	Input  lax.Int `json:"input_tokens"`
	Output lax.Int `json:"output_tokens"`
	In     lax.Obj[struct {
		Cached  lax.Int `json:"cached_tokens"`
		Written lax.Int `json:"cache_write_tokens"`
	}] `json:"input_tokens_details"`
	Out lax.Obj[struct {
		Reasoning lax.Int `json:"reasoning_tokens"`
	}] `json:"output_tokens_details"`
	lax.Charge
}

// usage returns the token counts that a host reported.
func (d Dialect) usage(raw json.RawMessage) llm.Usage {
	var t tokens
	if json.Unmarshal(raw, &t) != nil {
		return llm.Usage{}
	}
	u := llm.Usage{
		Known:     t.Input > 0 || t.Output > 0,
		CacheRead: min(int64(t.In.V.Cached), int64(t.Input)),
		Output:    int64(t.Output),
		Reasoning: int64(t.Out.V.Reasoning),
	}
	u.CacheWrite = min(int64(t.In.V.Written), int64(t.Input)-u.CacheRead)
	u.Input = int64(t.Input) - u.CacheRead - u.CacheWrite
	u.CostUSD = t.USD(d.CostUSD)
	return u
}
