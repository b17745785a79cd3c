package gemini

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Step returns messages, each as one element; text that pawl appended to results becomes
// its own element. The API caches without markers, so mark changes nothing.
func (api) Step(ms []llm.Message, _ bool) ([]byte, error) {
	var e encoder
	for _, m := range ms {
		switch m.Role {
		case llm.Assistant:
			e.content("model", func() { e.model(m.Parts) })
		case llm.Tool:
			e.content("user", func() { e.results(m.Parts) })
			e.content("user", func() { e.said(m.Parts) })
		default:
			e.content("user", func() { e.said(m.Parts) })
		}
	}
	return e.out, nil
}

type encoder struct {
	out   []byte
	parts int // of the content being written
}

// content writes one element, or nothing if it has no parts.
func (e *encoder) content(role string, parts func()) {
	before := len(e.out)
	if before > 0 {
		e.out = append(e.out, ',')
	}
	e.out = append(e.out, `{"role":"`+role+`","parts":[`...)
	e.parts = 0
	if parts(); e.parts == 0 {
		e.out = e.out[:before]
		return
	}
	e.out = append(e.out, "]}"...)
}

func (e *encoder) open(s string) {
	if e.parts > 0 {
		e.out = append(e.out, ',')
	}
	e.parts++
	e.out = append(e.out, s...)
}

func (e *encoder) said(parts []llm.Part) {
	for _, p := range parts {
		switch p.Kind {
		case llm.Text:
			e.text(p.Text)
		case llm.Image:
			e.media(p.Attached())
		}
	}
}

func (e *encoder) text(s string) {
	if s == "" {
		return
	}
	e.open(`{"text":`)
	e.out = append(lax.AppendString(e.out, s), '}')
}

func (e *encoder) media(m llm.Media) {
	if len(m.Data) == 0 || m.Kind() == "" {
		return
	}
	e.open(`{"inlineData":{"mimeType":`)
	e.out = lax.AppendString(e.out, m.Type)
	e.out = append(e.out, `,"data":"`...)
	e.out = base64.StdEncoding.AppendEncode(e.out, m.Data)
	e.out = append(e.out, `"}}`...)
}

// results writes one answer for each call, in order. Media become separate parts, which
// all generations of models accept.
func (e *encoder) results(parts []llm.Part) {
	for _, p := range parts {
		if p.Kind == llm.Output && p.Result != nil {
			e.result(*p.Result)
		}
	}
	for _, p := range parts {
		if p.Kind == llm.Output && p.Result != nil {
			for _, m := range p.Result.Images {
				e.media(m)
			}
		}
	}
}

func (e *encoder) result(r llm.Result) {
	e.open(`{"functionResponse":{`)
	e.id(r.ID)
	e.out = append(e.out, `"name":`...)
	e.out = lax.AppendString(e.out, r.Name)
	key := "output"
	if r.Error {
		key = "error"
	}
	e.out = append(e.out, `,"response":{"`+key+`":`...)
	e.out = append(lax.AppendString(e.out, r.Text), "}}}"...)
}

// id writes the id of a call, unless it has none or pawl made it.
func (e *encoder) id(id string) {
	if id == "" || strings.HasPrefix(id, madeID) {
		return
	}
	e.out = append(e.out, `"id":`...)
	e.out = append(lax.AppendString(e.out, id), ',')
}

// unsigned is the signature that Google documents for a call that its models did not
// make: models since 3 refuse a call without any.
const unsigned = "skip_thought_signature_validator"

// model writes the model's message. It includes thoughts only if they are signed.
func (e *encoder) model(parts []llm.Part) {
	foreign := !slices.ContainsFunc(parts, func(p llm.Part) bool { return p.Kind == llm.CallPart && p.Wire == Name })
	for _, p := range parts {
		switch {
		case p.Parsed:
		case p.Kind == llm.CallPart && p.Call != nil:
			signature := signatureOf(p)
			if foreign {
				signature, foreign = unsigned, false
			}
			e.call(*p.Call, signature)
		case p.Wire == Name && len(p.Raw) > 0:
			e.open(string(p.Raw))
		case p.Kind == llm.Text:
			e.text(p.Text)
		}
	}
}

func (e *encoder) call(c llm.Call, signature string) {
	e.open(`{"functionCall":{`)
	e.id(c.ID)
	e.out = append(e.out, `"name":`...)
	e.out = lax.AppendString(e.out, c.Name)
	e.out = append(e.out, `,"args":`...)
	if len(c.Args) > 0 {
		e.out = append(e.out, c.Args...)
	} else {
		e.out = append(e.out, "{}"...)
	}
	e.out = append(e.out, '}')
	if signature != "" {
		e.out = append(e.out, `,"thoughtSignature":`...)
		e.out = lax.AppendString(e.out, signature)
	}
	e.out = append(e.out, '}')
}

func signatureOf(p llm.Part) string {
	var raw struct {
		Signature lax.Text `json:"thoughtSignature"`
	}
	if p.Wire != Name || len(p.Raw) == 0 || json.Unmarshal(p.Raw, &raw) != nil {
		return ""
	}
	return string(raw.Signature)
}
