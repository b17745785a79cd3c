// Package ollama implements Ollama's own chat API: one JSON object per line, calls with
// arguments as objects and mostly without ids, usage on the last line. It promises that
// every call has an id, and that a given context size is requested: by default Ollama
// silently truncates the start of a conversation. It does no I/O.
package ollama

import (
	"bytes"
	"cmp"
	"crypto/rand"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Name is the API's name.
const Name = "ollama-native"

// API is Ollama's chat API.
type API struct {
	numCtx int
	newID  func() string
}

var (
	_ provider.API      = (*API)(nil)
	_ provider.Ender    = (*API)(nil)
	_ provider.Finisher = (*Decoder)(nil)
)

// New returns the API. numCtx is the context to request, in tokens; 0 means the server's
// default. newID returns ids for calls; nil means random ids.
func New(numCtx int, newID func() string) *API {
	if newID == nil {
		newID = func() string { return "call_" + strings.ToLower(rand.Text())[:20] }
	}
	return &API{numCtx: numCtx, newID: newID}
}

// Name returns the API's name.
func (a *API) Name() string { return Name }

// Path returns the same path for every model.
func (a *API) Path(string) string { return "/api/chat" }

// Header sets the key, which only Ollama's cloud requires.
func (a *API) Header(h http.Header, key string) {
	if key != "" {
		h.Set("Authorization", "Bearer "+key)
	}
}

func (a *API) Framing() provider.Framing { return provider.NDJSON }

func (a *API) Decoder() provider.Decoder { return &Decoder{newID: a.newID} }

// Error returns the error for an answer that is not 2xx.
func (a *API) Error(name string, status int, h http.Header, body []byte) *fault.Error {
	name = cmp.Or(name, "ollama")
	f := lax.Fail(name, status, h, body)
	if status == http.StatusNotFound && strings.Contains(f.Message, "model") {
		f.Hint = "`ollama pull` it, or choose one that `ollama list` shows with -m ollama/NAME"
	}
	return f
}

// Head returns the fixed start of a request: model, tools, system message.
func (a *API) Head(h llm.Head) ([]byte, error) {
	b := append([]byte(nil), `{"model":`...)
	b = lax.AppendString(b, h.Model)
	for i, t := range h.Tools {
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
		if i == 0 {
			b = append(b, `,"tools":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"type":"function","function":{"name":`...)
		b = lax.AppendString(b, t.Name)
		b = append(b, `,"description":`...)
		b = lax.AppendString(b, t.Doc)
		b = append(b, `,"parameters":`...)
		b = append(append(b, schema...), "}}"...)
	}
	if len(h.Tools) > 0 {
		b = append(b, ']')
	}
	b = append(b, `,"messages":[`...)
	if h.System != "" {
		b = append(b, `{"role":"system","content":`...)
		b = append(lax.AppendString(b, h.System), "},"...)
	}
	return b, nil
}

// Tail returns the end of a request if the model is not known; the client uses End.
func (a *API) Tail(t llm.Tail) []byte { return a.End(llm.Head{}, t) }

// Thinks is the effort of a model that has no levels of thinking.
const Thinks = "on"

func (a *API) End(h llm.Head, t llm.Tail) []byte {
	b := append([]byte(nil), `],"stream":true`...)
	if h.Effort != "" {
		b = append(b, `,"think":`...)
		if h.Effort == Thinks {
			b = append(b, "true"...)
		} else {
			b = lax.AppendString(b, h.Effort)
		}
	}
	var options []string
	if a.numCtx > 0 {
		options = append(options, `"num_ctx":`+strconv.Itoa(a.numCtx))
	}
	if t.MaxTokens > 0 {
		options = append(options, `"num_predict":`+strconv.Itoa(t.MaxTokens))
	}
	if len(options) > 0 {
		b = append(b, `,"options":{`+strings.Join(options, ",")+`}`...)
	}
	return append(b, '}')
}

// Step returns the encoded messages; see llm.Codec. There are no cache markers.
func (a *API) Step(ms []llm.Message, _ bool) ([]byte, error) {
	var out [][]byte
	for _, m := range ms {
		switch m.Role {
		case llm.User:
			out = user(out, m.Parts)
		case llm.Assistant:
			out = assistant(out, m.Parts)
		case llm.Tool:
			out = results(out, m.Parts)
		default:
			return nil, fmt.Errorf("a message with role %q", m.Role)
		}
	}
	return bytes.Join(out, []byte{','}), nil
}

// user appends a message with text and images: the API has separate fields for them.
func user(out [][]byte, parts []llm.Part) [][]byte {
	var texts, images []string
	for _, p := range parts {
		switch {
		case p.Kind == llm.Text && p.Text != "":
			texts = append(texts, p.Text)
		case p.Kind == llm.Image && p.Attached().Kind() == llm.Images: // it has no field for others
			images = append(images, base64.StdEncoding.EncodeToString(p.Data))
		}
	}
	if len(texts)+len(images) == 0 {
		return out
	}
	b := append([]byte(nil), `{"role":"user","content":`...)
	b = lax.AppendString(b, strings.Join(texts, "\n\n"))
	for i, img := range images {
		if i == 0 {
			b = append(b, `,"images":[`...)
		} else {
			b = append(b, ',')
		}
		b = lax.AppendString(b, img)
	}
	if len(images) > 0 {
		b = append(b, ']')
	}
	return append(out, append(b, '}'))
}

func assistant(out [][]byte, parts []llm.Part) [][]byte {
	text, thinking := "", ""
	var calls []llm.Call
	for _, p := range parts {
		switch {
		case p.Kind == llm.Text:
			text += p.Text
		case p.Kind == llm.Reasoning && !p.Parsed && p.Wire == Name:
			thinking += p.Text
		case p.Kind == llm.CallPart && p.Call != nil:
			calls = append(calls, *p.Call)
		}
	}
	if text == "" && thinking == "" && len(calls) == 0 {
		return out
	}
	b := append([]byte(nil), `{"role":"assistant","content":`...)
	b = lax.AppendString(b, text)
	if thinking != "" {
		b = append(b, `,"thinking":`...)
		b = lax.AppendString(b, thinking)
	}
	for i, c := range calls {
		if i == 0 {
			b = append(b, `,"tool_calls":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"id":`...)
		b = lax.AppendString(b, c.ID)
		b = append(b, `,"function":{"name":`...)
		b = lax.AppendString(b, c.Name)
		b = append(b, `,"arguments":`...)
		args := c.Args
		if !json.Valid(args) {
			args = json.RawMessage("{}")
		}
		b = append(append(b, args...), "}}"...)
	}
	if len(calls) > 0 {
		b = append(b, ']')
	}
	return append(out, append(b, '}'))
}

// results appends the results of a step; images and text after them go into a user
// message.
func results(out [][]byte, parts []llm.Part) [][]byte {
	var after []llm.Part
	for _, p := range parts {
		switch {
		case p.Kind == llm.Output && p.Result != nil:
			r := p.Result
			text := r.Text
			if r.Error { // the API has no field for it
				text = "[error] " + text
			}
			b := append([]byte(nil), `{"role":"tool","tool_name":`...)
			b = lax.AppendString(b, r.Name)
			b = append(b, `,"tool_call_id":`...)
			b = lax.AppendString(b, r.ID)
			b = append(b, `,"content":`...)
			out = append(out, append(lax.AppendString(b, text), '}'))
			after = append(after, r.Apart(r.ID)...)
		case p.Kind == llm.Text && p.Text != "", p.Kind == llm.Image:
			after = append(after, p)
		}
	}
	return user(out, after)
}
