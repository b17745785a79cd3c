package openaichat

import (
	"cmp"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// marker is the member that requests caching of the request up to here.
const marker = `,"cache_control":{"type":"ephemeral"}`

// Head returns the fixed start of a request: model, tools, system message.
func (a *API) Head(h llm.Head) ([]byte, error) {
	b := append([]byte(nil), `{"model":`...)
	b = lax.AppendString(b, h.Model)
	if len(h.Tools) > 0 {
		b = append(b, `,"tools":[`...)
		for i, t := range h.Tools {
			if i > 0 {
				b = append(b, ',')
			}
			var err error
			if b, err = appendTool(b, t); err != nil {
				return nil, err
			}
		}
		if a.d.MarkTools {
			b = append(append(b[:len(b)-1], marker...), '}')
		}
		b = append(b, ']')
	}
	if a.d.CacheKey {
		sum := sha256.Sum256(append(b, h.System...))
		b = append(b, `,"prompt_cache_key":"pawl-`...)
		b = append(b, hex.EncodeToString(sum[:12])...)
		b = append(b, '"')
	}
	b = append(b, `,"messages":[`...)
	if h.System != "" {
		b = append(b, `{"role":"system","content":`...)
		if a.d.Markers {
			b = append(b, '[')
			b = appendText(b, h.System, true)
			b = append(b, ']')
		} else {
			b = lax.AppendString(b, h.System)
		}
		b = append(b, "},"...)
	}
	return b, nil
}

func appendTool(b []byte, t llm.ToolSpec) ([]byte, error) {
	if t.Server != "" {
		return nil, fmt.Errorf("the API runs no %s itself", t.Server)
	}
	schema := t.Schema
	if len(schema) == 0 {
		schema = json.RawMessage(`{"type":"object","properties":{}}`)
	}
	if !json.Valid(schema) {
		return nil, fmt.Errorf("the schema of tool %s is not JSON", t.Name)
	}
	b = append(b, `{"type":"function","function":{"name":`...)
	b = lax.AppendString(b, t.Name)
	b = append(b, `,"description":`...)
	b = lax.AppendString(b, t.Doc)
	b = append(b, `,"parameters":`...)
	b = append(b, schema...)
	return append(b, "}}"...), nil
}

// Tail returns the end of a request if the model is not known; the client uses End.
func (a *API) Tail(t llm.Tail) []byte { return a.End(llm.Head{}, t) }

func (a *API) End(h llm.Head, t llm.Tail) []byte {
	b := append([]byte(nil), `],"stream":true,"stream_options":{"include_usage":true}`...)
	if t.MaxTokens > 0 {
		name := "max_tokens"
		if a.d.CompletionTokens == Always || a.d.CompletionTokens == ReasoningModels && a.d.Tuning.Reasons {
			name = "max_completion_tokens"
		}
		b = append(b, `,"`+name+`":`...)
		b = strconv.AppendInt(b, int64(t.MaxTokens), 10)
	}
	if h.Effort != "" {
		switch a.d.Effort {
		case EffortField:
			b = append(b, `,"reasoning_effort":`...)
			b = lax.AppendString(b, h.Effort)
		case EffortObject:
			b = append(b, `,"reasoning":{"effort":`...)
			b = append(lax.AppendString(b, h.Effort), '}')
		}
	}
	b = append(append(b, a.d.Extra...), a.d.Tuning.Members...)
	return append(b, '}')
}

// Step returns the encoded messages; see llm.Codec.
func (a *API) Step(ms []llm.Message, mark bool) ([]byte, error) {
	var elements [][]byte
	for i, m := range ms {
		last := mark && a.d.Markers && i == len(ms)-1
		switch m.Role {
		case llm.User:
			elements = a.user(elements, m.Parts, last)
		case llm.Assistant:
			elements = a.assistant(elements, m.Parts, last)
		case llm.Tool:
			elements = a.results(elements, m.Parts, last)
		default:
			return nil, fmt.Errorf("a message with role %q", m.Role)
		}
	}
	var b []byte
	for i, e := range elements {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, e...)
	}
	return b, nil
}

// user appends a message with text and media. With mark, the last of these gets a cache
// marker.
func (a *API) user(out [][]byte, parts []llm.Part, mark bool) [][]byte {
	content := a.content(parts, mark)
	if content == nil {
		return out
	}
	b := append([]byte(nil), `{"role":"user","content":`...)
	return append(out, append(append(b, content...), '}'))
}

// content returns text and media: as a string if there is only text and the dialect has
// no markers. It returns nil if there is nothing.
func (a *API) content(parts []llm.Part, mark bool) []byte {
	said := make([]llm.Part, 0, len(parts))
	media := false
	for _, p := range parts {
		switch {
		case p.Kind == llm.Text && p.Text != "":
			said = append(said, p)
		case p.Kind == llm.Image:
			said = append(said, p)
			media = true
		}
	}
	if len(said) == 0 {
		return nil
	}
	if !media && !a.d.Markers {
		text := said[0].Text
		for _, p := range said[1:] {
			text += "\n\n" + p.Text
		}
		return lax.AppendString(nil, text)
	}
	b := []byte{'['}
	for i, p := range said {
		if i > 0 {
			b = append(b, ',')
		}
		last := mark && i == len(said)-1
		if p.Kind == llm.Text {
			b = appendText(b, p.Text, last)
		} else {
			b = appendMedia(b, p.Attached(), last)
		}
	}
	return append(b, ']')
}

func appendText(b []byte, text string, mark bool) []byte {
	b = append(b, `{"type":"text","text":`...)
	b = lax.AppendString(b, text)
	if mark && text != "" {
		b = append(b, marker...)
	}
	return append(b, '}')
}

func appendMedia(b []byte, m llm.Media, mark bool) []byte {
	data := base64.StdEncoding.EncodeToString(m.Data)
	switch m.Kind() {
	case llm.Audio:
		b = append(b, `{"type":"input_audio","input_audio":{"data":"`+data+`","format":"`+strings.TrimPrefix(m.Type, "audio/")+`"}`...)
	case llm.PDF: // the API wants a name
		b = append(b, `{"type":"file","file":{"filename":"document.pdf","file_data":"data:application/pdf;base64,`+data+`"}`...)
	default:
		b = append(b, `{"type":"image_url","image_url":{"url":`...)
		b = append(lax.AppendString(b, "data:"+m.Type+";base64,"+data), '}')
	}
	if mark {
		b = append(b, marker...)
	}
	return append(b, '}')
}

// assistant appends a reply. It omits reasoning that was parsed out of the text or sent
// by another API, and a reply without anything else.
func (a *API) assistant(out [][]byte, parts []llm.Part, mark bool) [][]byte {
	var reasoning, said []llm.Part
	var calls []llm.Part
	for _, p := range parts {
		switch {
		case p.Kind == llm.Reasoning && !p.Parsed && p.Wire == Name:
			reasoning = append(reasoning, p)
		case p.Kind == llm.Text && p.Text != "" && !(a.d.Markers && strings.TrimSpace(p.Text) == ""):
			said = append(said, p)
		case p.Kind == llm.CallPart && p.Call != nil:
			calls = append(calls, p)
		}
	}
	if len(said) == 0 && len(calls) == 0 && (len(reasoning) == 0 || a.d.Echo == EchoNone) {
		return out
	}
	b := append([]byte(nil), `{"role":"assistant"`...)
	b = a.appendSaid(b, reasoning, said, len(calls) > 0, mark)
	b = a.appendReasoning(b, reasoning)
	if len(calls) > 0 {
		b = append(b, `,"tool_calls":[`...)
		for i, c := range calls {
			if i > 0 {
				b = append(b, ',')
			}
			b = a.appendCall(b, c)
		}
		b = append(b, ']')
	}
	return append(out, append(b, '}'))
}

func (a *API) appendCall(b []byte, p llm.Part) []byte {
	b = append(b, `{"id":`...)
	b = lax.AppendString(b, a.d.CallID.Fit(p.Call.ID))
	b = append(b, `,"type":"function","function":{"name":`...)
	b = lax.AppendString(b, p.Call.Name)
	args := string(p.Call.Args)
	args = cmp.Or(args, "{}")
	b = append(b, `,"arguments":`...)
	b = append(lax.AppendString(b, args), '}')
	if p.Wire == Name && len(p.Raw) > 0 && a.d.CallExtra {
		b = append(b, `,"extra_content":`...)
		b = append(b, p.Raw...)
	}
	return append(b, '}')
}

// appendSaid appends the content member of a reply. Replies with only calls have none.
func (a *API) appendSaid(b []byte, reasoning, said []llm.Part, calls, mark bool) []byte {
	if a.d.Echo == EchoChunks && len(reasoning) > 0 {
		b = append(b, `,"content":[`...)
		for i, r := range reasoning {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, `{"type":"thinking","thinking":[{"type":"text","text":`...)
			b = append(lax.AppendString(b, r.Text), "}]}"...)
		}
		for _, p := range said {
			b = append(b, ',')
			b = appendText(b, p.Text, false)
		}
		return append(b, ']')
	}
	if content := a.content(said, mark); content != nil {
		return append(append(b, `,"content":`...), content...)
	}
	if !calls {
		b = append(b, `,"content":""`...)
	}
	return b
}

// appendReasoning appends the members that send reasoning back.
func (a *API) appendReasoning(b []byte, reasoning []llm.Part) []byte {
	text := ""
	var details []json.RawMessage
	for _, r := range reasoning {
		text += r.Text
		if len(r.Raw) > 0 {
			details = append(details, r.Raw)
		}
	}
	switch a.d.Echo {
	case EchoContent:
		if text != "" || a.d.EchoAlways {
			b = append(b, `,"reasoning_content":`...)
			b = lax.AppendString(b, text)
		}
	case EchoDetails, EchoField:
		if a.d.Echo == EchoDetails && len(details) > 0 {
			b = append(b, `,"reasoning_details":`...)
			return append(b, details[0]...)
		}
		if text != "" {
			b = append(b, `,"reasoning":`...)
			b = lax.AppendString(b, text)
		}
	}
	return b
}

// results appends the results of a step, each as a message. Tool messages can contain
// only text, so media and text that follows the results go into a user message after
// them.
func (a *API) results(out [][]byte, parts []llm.Part, mark bool) [][]byte {
	var after []llm.Part
	last := -1
	for i, p := range parts {
		switch {
		case p.Kind == llm.Output && p.Result != nil:
			last = i
			after = append(after, p.Result.Apart(a.d.CallID.Fit(p.Result.ID))...)
		case p.Kind == llm.Text && p.Text != "", p.Kind == llm.Image:
			after = append(after, p)
		}
	}
	for i, p := range parts {
		if p.Kind == llm.Output && p.Result != nil {
			out = append(out, a.result(*p.Result, mark && i == last && len(after) == 0))
		}
	}
	return a.user(out, after, mark)
}

func (a *API) result(r llm.Result, mark bool) []byte {
	b := append([]byte(nil), `{"role":"tool","tool_call_id":`...)
	b = lax.AppendString(b, a.d.CallID.Fit(r.ID))
	if a.d.ResultName {
		b = append(b, `,"name":`...)
		b = lax.AppendString(b, r.Name)
	}
	b = append(b, `,"content":`...)
	text := r.Text
	if r.Error { // the API has no field for it
		text = "[error] " + text
	}
	if a.d.Markers && text != "" { // the host's models refuse an empty text
		b = append(b, '[')
		b = appendText(b, text, mark)
		b = append(b, ']')
	} else {
		b = lax.AppendString(b, text)
	}
	return append(b, '}')
}

// Fit returns the id itself if the host accepts it, else an acceptable one. The same id
// always becomes the same one.
func (r IDRule) Fit(id string) string {
	if r.Max == 0 || r.accepts(id) {
		return id
	}
	const letters = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	sum := sha256.Sum256([]byte(id))
	out := make([]byte, min(r.Max, 24))
	for i := range out {
		out[i] = letters[int(sum[i])%len(letters)]
	}
	return string(out)
}

func (r IDRule) accepts(id string) bool {
	if id == "" || len(id) > r.Max || r.Exact && len(id) != r.Max {
		return false
	}
	for i := range len(id) {
		c := id[i]
		switch {
		case c >= '0' && c <= '9', c|0x20 >= 'a' && c|0x20 <= 'z':
		case (c == '_' || c == '-') && !r.Plain:
		default:
			return false
		}
	}
	return true
}
