package anthropic

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/sorting"
)

// parts returns the parts of a finished block.
func (d *decoder) parts(b *block) []llm.Part {
	switch b.kind {
	case "text":
		return d.textParts(b)
	case "thinking":
		raw := append([]byte(`{"type":"thinking","thinking":`), quote(b.text.String())...)
		raw = append(raw, `,"signature":`...)
		raw = append(append(raw, quote(b.signature)...), '}')
		return []llm.Part{{Kind: llm.Reasoning, Text: b.text.String(), Wire: Name, Raw: raw}}
	case "redacted_thinking":
		return []llm.Part{{Kind: llm.Reasoning, Wire: Name, Raw: b.start}}
	case "tool_use":
		var w wireBlock
		if json.Unmarshal(b.start, &w) != nil {
			return nil
		}
		c := llm.NewCall(string(w.ID), string(w.Name), args(b, w.Input))
		return []llm.Part{{Kind: llm.CallPart, Call: &c}}
	}
	raw := b.start
	if input := b.input.String(); strings.TrimSpace(input) != "" && json.Valid([]byte(input)) {
		raw = with(raw, "input", compact([]byte(input)))
	}
	sorting.By(b.extra, func(x, y field) int { return strings.Compare(x.name, y.name) })
	for _, f := range b.extra {
		raw = with(raw, f.name, quote(f.text))
	}
	return []llm.Part{{Kind: llm.Opaque, Wire: Name, Raw: raw}}
}

func (d *decoder) textParts(b *block) (out []llm.Part) {
	if b.first {
		if p, ok := d.think.Part(); ok {
			out = append(out, p)
		}
	}
	if b.text.Len() == 0 {
		return out
	}
	p := llm.TextPart(b.text.String())
	if len(b.citations) > 0 && len(out) == 0 {
		cites, err := json.Marshal(b.citations)
		if err == nil {
			p.Wire = Name
			p.Raw = with(with(b.start, "text", quote(p.Text)), "citations", compact(cites))
		}
	}
	return append(out, p)
}

// args returns a call's input as the model sent it.
func args(b *block, opened json.RawMessage) string {
	sent := b.input.String()
	if strings.TrimSpace(sent) == "" && lax.Present(opened) {
		sent = string(opened)
	}
	if json.Valid([]byte(sent)) {
		sent = string(compact([]byte(sent)))
	}
	return sent
}

// compact removes the whitespace from JSON, as the session log does: the bytes sent must
// be the same before and after a resume.
func compact(raw json.RawMessage) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return bytes.Clone(raw)
	}
	return b.Bytes()
}

// with returns an object with one field set; the other fields stay, in their order.
func with(object json.RawMessage, key string, value []byte) json.RawMessage {
	dec := json.NewDecoder(bytes.NewReader(object))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return object
	}
	out := []byte{'{'}
	put := func(k string, v []byte) {
		if len(out) > 1 {
			out = append(out, ',')
		}
		out = append(append(append(out, quote(k)...), ':'), v...)
	}
	set := false
	for dec.More() {
		t, err := dec.Token()
		k, ok := t.(string)
		var v json.RawMessage
		if err != nil || !ok || dec.Decode(&v) != nil {
			return object
		}
		if k == key {
			v, set = value, true
		}
		put(k, v)
	}
	if !set {
		put(key, value)
	}
	return append(out, '}')
}
