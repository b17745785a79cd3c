package responses

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Head returns the fixed start of a request: model, tools, system message.
func (a *API) Head(h llm.Head) ([]byte, error) {
	b, err := a.options(h)
	if err != nil {
		return nil, err
	}
	b = append(b, `,"input":[`...)
	if h.System != "" {
		b = append(b, `{"role":"system","content":`...)
		b = append(lax.AppendString(b, h.System), "},"...)
	}
	return b, nil
}

func (a *API) Continue(h llm.Head, id string) ([]byte, bool) {
	if !a.d.Store {
		return nil, false
	}
	b, err := a.options(h)
	if err != nil {
		return nil, false
	}
	b = append(b, `,"previous_response_id":`...)
	return append(lax.AppendString(b, id), `,"input":[`...), true
}

// options returns the start of every request in a conversation.
func (a *API) options(h llm.Head) ([]byte, error) {
	b := append([]byte(nil), `{"model":`...)
	b = lax.AppendString(b, h.Model)
	b = append(b, `,"store":`...)
	b = strconv.AppendBool(b, a.d.Store)
	if !a.d.OpenAI || a.d.Tuning.Reasons {
		b = append(b, `,"include":["reasoning.encrypted_content"]`...)
	}
	if len(h.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i, t := range h.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = a.tool(b, t); err != nil {
				return nil, err
			}
		}
		b = append(b, ']')
	}
	if a.d.CacheKey {
		sum := sha256.Sum256(append(b, h.System...))
		b = append(b, `,"prompt_cache_key":"pawl-`...)
		b = append(b, hex.EncodeToString(sum[:12])...)
		b = append(b, '"')
	}
	return b, nil
}

func (a *API) tool(b []byte, t llm.ToolSpec) ([]byte, error) {
	if t.Server == llm.ServerSearch {
		return append(b, `{"type":"web_search"}`...), nil
	}
	if f := a.d.freeform(t.Name); f != nil {
		b = lax.AppendString(append(b, `{"type":"custom","name":`...), t.Name)
		b = lax.AppendString(append(b, `,"description":`...), f.Doc)
		b = lax.AppendString(append(b, `,"format":{"type":"grammar","syntax":"lark","definition":`...), f.Grammar)
		return append(b, "}}"...), nil
	}
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !json.Valid(schema) {
		return nil, fmt.Errorf("the schema of tool %s is not JSON", t.Name)
	}
	b = append(b, `{"type":"function","name":`...)
	b = lax.AppendString(b, t.Name)
	b = append(b, `,"description":`...)
	b = lax.AppendString(b, t.Doc)
	b = append(b, `,"parameters":`...)
	b = append(b, schema...)
	return append(b, `,"strict":false}`...), nil // strict would require every parameter
}

// Tail returns the end of a request if the model is not known; the client uses End.
func (a *API) Tail(t llm.Tail) []byte { return a.End(llm.Head{}, t) }

func (a *API) End(h llm.Head, t llm.Tail) []byte {
	b := append([]byte(nil), `],"stream":true`...)
	if t.MaxTokens > 0 {
		b = append(b, `,"max_output_tokens":`...)
		b = strconv.AppendInt(b, int64(max(t.MaxTokens, 16)), 10) // the smallest value that the API accepts
	}
	if h.Effort != "" {
		b = append(b, `,"reasoning":{"effort":`...)
		b = lax.AppendString(b, h.Effort)
		if c := a.d.Tuning.Context; c != "" {
			b = append(b, `,"context":"`+c+`"`...)
		}
		b = append(b, '}')
	}
	if v := a.d.Tuning.Verbosity; v != "" {
		b = append(b, `,"text":{"verbosity":"`+v+`"}`...)
	}
	b = append(b, a.d.Tuning.Members...)
	return append(b, '}')
}

// Step returns the encoded messages; see llm.Codec. The API caches without markers.
func (a *API) Step(ms []llm.Message, _ bool) ([]byte, error) {
	var items [][]byte
	for _, m := range ms {
		switch m.Role {
		case llm.User:
			items = appendUser(items, m.Parts)
		case llm.Assistant:
			items = a.assistant(items, m.Parts)
		case llm.Tool:
			items = a.results(items, m.Parts)
		default:
			return nil, fmt.Errorf("a message with role %q", m.Role)
		}
	}
	return bytes.Join(items, []byte{','}), nil
}

func appendUser(items [][]byte, parts []llm.Part) [][]byte {
	content := contentOf(parts)
	if content == nil {
		return items
	}
	b := append([]byte(nil), `{"role":"user","content":`...)
	return append(items, append(append(b, content...), '}'))
}

// contentOf returns text and media: as a string if there is only one text, nil if there
// is nothing.
func contentOf(parts []llm.Part) []byte {
	var said []llm.Part
	for _, p := range parts {
		if p.Kind == llm.Text && p.Text != "" || p.Kind == llm.Image {
			said = append(said, p)
		}
	}
	switch {
	case len(said) == 0:
		return nil
	case len(said) == 1 && said[0].Kind == llm.Text:
		return lax.AppendString(nil, said[0].Text)
	}
	b := []byte{'['}
	for i, p := range said {
		if i > 0 {
			b = append(b, ',')
		}
		data := base64.StdEncoding.EncodeToString(p.Data)
		kind := p.Attached().Kind()
		switch {
		case p.Kind == llm.Text:
			b = append(b, `{"type":"input_text","text":`...)
			b = append(lax.AppendString(b, p.Text), '}')
		case kind == llm.Audio:
			b = append(b, `{"type":"input_audio","input_audio":{"data":"`+data+`","format":"`+strings.TrimPrefix(p.Media, "audio/")+`"}}`...)
		case kind == llm.PDF: // the API wants a name
			b = append(b, `{"type":"input_file","filename":"document.pdf","file_data":"data:application/pdf;base64,`+data+`"}`...)
		default:
			b = append(b, `{"type":"input_image","image_url":`...)
			b = append(lax.AppendString(b, "data:"+p.Media+";base64,"+data), '}')
		}
	}
	return append(b, ']')
}

// assistant appends a reply. A reasoning item belongs to the item after it and is refused
// without one, so reasoning at the end of a cut-off reply is omitted.
func (a *API) assistant(items [][]byte, parts []llm.Part) [][]byte {
	var waiting [][]byte
	for _, p := range parts {
		var item []byte
		switch {
		case p.Kind == llm.Reasoning:
			if p.Wire == Name && !p.Parsed && a.takes(p.Raw) {
				waiting = append(waiting, p.Raw)
			}
			continue
		case p.Kind == llm.Text && p.Text != "":
			item = append(item, `{"role":"assistant","content":`...)
			item = lax.AppendString(item, p.Text)
			if p.Wire == Name {
				item = appendPhase(item, p.Raw)
			}
			item = append(item, '}')
		case p.Kind == llm.CallPart && p.Call != nil:
			item = a.call(item, *p.Call)
		case p.Kind == llm.Opaque && p.Wire == Name && !unanswered(p.Raw):
			item = p.Raw
		default:
			continue
		}
		items = append(append(items, waiting...), item)
		waiting = nil
	}
	return items
}

// takes reports whether the host accepts a reasoning item back.
func (a *API) takes(raw json.RawMessage) bool {
	var item struct {
		Sealed  lax.Text                  `json:"encrypted_content"`
		Content lax.List[json.RawMessage] `json:"content"`
	}
	if json.Unmarshal(raw, &item) != nil {
		return false
	}
	return item.Sealed != "" || !a.d.SealedOnly && len(item.Content) > 0
}

// unanswered reports whether an item requests something from the client that pawl does
// not do: the host refuses such an item without its output.
func unanswered(raw json.RawMessage) bool {
	var item struct {
		CallID lax.Text `json:"call_id"`
	}
	return json.Unmarshal(raw, &item) != nil || item.CallID != ""
}

// appendPhase appends the phase of a message, if it has one.
func appendPhase(b []byte, raw json.RawMessage) []byte {
	var m struct {
		Phase lax.Text `json:"phase"`
	}
	if len(raw) == 0 || json.Unmarshal(raw, &m) != nil || m.Phase == "" {
		return b
	}
	b = append(b, `,"phase":`...)
	return lax.AppendString(b, string(m.Phase))
}

func (a *API) call(b []byte, c llm.Call) []byte {
	if f := a.d.freeform(c.Name); f != nil {
		b = lax.AppendString(append(b, `{"type":"custom_tool_call","call_id":`...), fit(c.ID))
		b = lax.AppendString(append(b, `,"name":`...), c.Name)
		b = lax.AppendString(append(b, `,"input":`...), textOf(f, c))
		return append(b, '}')
	}
	b = append(b, `{"type":"function_call","call_id":`...)
	b = lax.AppendString(b, fit(c.ID))
	b = append(b, `,"name":`...)
	b = lax.AppendString(b, c.Name)
	args := string(c.Args)
	args = cmp.Or(args, "{}")
	b = append(b, `,"arguments":`...)
	return append(lax.AppendString(b, args), '}')
}

// textOf returns the text of a call of a freeform tool, whichever API it was made in.
func textOf(f *provider.Freeform, c llm.Call) string {
	var args map[string]json.RawMessage
	var text string
	if json.Unmarshal(c.Args, &args) == nil && json.Unmarshal(args[f.Arg], &text) == nil {
		return text
	}
	return cmp.Or(c.Sent, string(c.Args))
}

// results appends the results of a step. Media go into the result itself if the host
// accepts that, else into a user message after all results, with the text that follows
// them.
func (a *API) results(items [][]byte, parts []llm.Part) [][]byte {
	var after []llm.Part
	for _, p := range parts {
		switch {
		case p.Kind == llm.Output && p.Result != nil:
			r := *p.Result
			text := r.Text
			if r.Error { // the API has no field for it
				text = "[error] " + text
			}
			media := r.Apart(fit(r.ID))
			output := lax.AppendString(nil, text)
			if len(media) > 0 && a.d.OpenAI {
				media[0] = llm.TextPart(text)
				output = contentOf(media)
			} else {
				after = append(after, media...)
			}
			b := append([]byte(nil), `{"type":"function_call_output","call_id":`...)
			if a.d.freeform(r.Name) != nil {
				b = append(b[:0], `{"type":"custom_tool_call_output","call_id":`...)
			}
			b = lax.AppendString(b, fit(r.ID))
			b = append(b, `,"output":`...)
			items = append(items, append(append(b, output...), '}'))
		case p.Kind == llm.Text && p.Text != "", p.Kind == llm.Image:
			after = append(after, p)
		}
	}
	return appendUser(items, after)
}
