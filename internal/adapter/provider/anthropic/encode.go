package anthropic

import (
	"encoding/base64"
	"encoding/json"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Step returns messages, each as one element. With mark, the last block that can have a
// cache marker gets one.
func (a api) Step(ms []llm.Message, mark bool) ([]byte, error) {
	var e encoder
	for _, m := range ms {
		e.message(m)
	}
	if mark && e.markAt > 0 {
		e.out = slices.Insert(e.out, e.markAt, []byte(a.mark())...)
	}
	return e.out, nil
}

type encoder struct {
	out    []byte
	blocks int // of the message being written
	markAt int // index of the closing brace of the last block that can be marked
}

func (e *encoder) message(m llm.Message) {
	before, markBefore := len(e.out), e.markAt
	if before > 0 {
		e.out = append(e.out, ',')
	}
	role := "user"
	if m.Role == llm.Assistant {
		role = "assistant"
	}
	e.out = append(e.out, `{"role":"`+role+`","content":[`...)
	e.blocks = 0
	switch m.Role {
	case llm.Assistant:
		e.assistant(m.Parts)
	case llm.Tool:
		// Results come first: the API requires that.
		for _, p := range m.Parts {
			if p.Kind == llm.Output && p.Result != nil {
				e.result(*p.Result)
			}
		}
		e.said(m.Parts)
	default:
		e.said(m.Parts)
	}
	if e.blocks == 0 {
		e.out, e.markAt = e.out[:before], markBefore
		return
	}
	e.out = append(e.out, "]}"...)
}

// open starts a block.
func (e *encoder) open(s string) {
	if e.blocks > 0 {
		e.out = append(e.out, ',')
	}
	e.blocks++
	e.out = append(e.out, s...)
}

// shut ends a block that can have a cache marker.
func (e *encoder) shut() {
	e.markAt = len(e.out)
	e.out = append(e.out, '}')
}

// said writes the messages of a person or of pawl: text and media.
func (e *encoder) said(parts []llm.Part) {
	for _, p := range parts {
		switch p.Kind {
		case llm.Text:
			e.text(p.Text)
		case llm.Image:
			e.media(p.Media, p.Data)
		}
	}
}

// text writes a text block, unless it is blank: the API refuses blank ones.
func (e *encoder) text(s string) {
	if strings.TrimSpace(s) == "" {
		return
	}
	e.open(`{"type":"text","text":`)
	e.out = lax.AppendString(e.out, s)
	e.shut()
}

func (e *encoder) media(media string, data []byte) {
	if !shows(media) || len(data) == 0 {
		return
	}
	e.open("")
	e.source(media, data)
	e.shut()
}

// source writes the block of an image or a document without its closing brace.
func (e *encoder) source(media string, data []byte) {
	typ := "image"
	if media == "application/pdf" {
		typ = "document"
	}
	e.out = append(e.out, `{"type":"`+typ+`","source":{"type":"base64","media_type":`...)
	e.out = lax.AppendString(e.out, media)
	e.out = append(e.out, `,"data":"`...)
	e.out = base64.StdEncoding.AppendEncode(e.out, data)
	e.out = append(e.out, `"}`...)
}

// shows reports whether the API accepts media of this type.
func shows(media string) bool {
	switch media {
	case "image/png", "image/jpeg", "image/gif", "image/webp", "application/pdf":
		return true
	}
	return false
}

func (e *encoder) result(r llm.Result) {
	e.open(`{"type":"tool_result","tool_use_id":`)
	e.out = lax.AppendString(e.out, wireID(r.ID))
	text := strings.TrimSpace(r.Text) != ""
	shown := slices.DeleteFunc(slices.Clone(r.Images), func(m llm.Media) bool { return !shows(m.Type) || len(m.Data) == 0 })
	switch {
	case len(shown) > 0:
		e.out = append(e.out, `,"content":[`...)
		if text {
			e.out = append(e.out, `{"type":"text","text":`...)
			e.out = append(lax.AppendString(e.out, r.Text), '}')
		}
		for i, m := range shown {
			if i > 0 || text {
				e.out = append(e.out, ',')
			}
			e.source(m.Type, m.Data)
			e.out = append(e.out, '}')
		}
		e.out = append(e.out, ']')
	case text:
		e.out = append(e.out, `,"content":`...)
		e.out = lax.AppendString(e.out, r.Text)
	}
	if r.Error {
		e.out = append(e.out, `,"is_error":true`...)
	}
	e.shut()
}

// assistant writes the model's message. Thinking at its end is omitted: the API refuses a
// message that ends in thinking.
func (e *encoder) assistant(parts []llm.Part) {
	last := len(parts)
	for last > 0 && skipped(parts[last-1]) {
		last--
	}
	for _, p := range parts[:last] {
		switch {
		case p.Parsed:
		case p.Wire == Name && len(p.Raw) > 0 && p.Kind != llm.CallPart:
			e.open(string(p.Raw))
		case p.Kind == llm.Text:
			e.text(p.Text)
		case p.Kind == llm.CallPart && p.Call != nil:
			e.call(*p.Call)
		}
	}
}

// skipped reports whether a part at the end of a message is not sent: thinking,
// or a part that the API cannot express.
func skipped(p llm.Part) bool {
	switch p.Kind {
	case llm.Reasoning:
		return true
	case llm.Text:
		return len(p.Raw) == 0 && strings.TrimSpace(p.Text) == ""
	case llm.Opaque:
		if p.Wire != Name {
			return true
		}
		var block struct{ Type string }
		return json.Unmarshal(p.Raw, &block) != nil || block.Type == "redacted_thinking"
	}
	return false
}

func (e *encoder) call(c llm.Call) {
	e.open(`{"type":"tool_use","id":`)
	e.out = lax.AppendString(e.out, wireID(c.ID))
	e.out = append(e.out, `,"name":`...)
	e.out = lax.AppendString(e.out, c.Name)
	e.out = append(e.out, `,"input":`...)
	if len(c.Args) > 0 {
		e.out = append(e.out, c.Args...)
	} else {
		e.out = append(e.out, "{}"...)
	}
	e.shut()
}
