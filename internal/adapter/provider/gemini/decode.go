package gemini

import (
	"bytes"
	"cmp"
	"encoding/json"
	"net/http"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// decoder reads one reply.
type decoder struct {
	searches  int // queries that the provider itself searched for
	ids       func() string
	model, id string
	usage     json.RawMessage
	finish    string
	message   string // the explanation of the finish
	blocked   bool   // the prompt was blocked
	done      bool
	parts     []*part
	calls     int
	open      *part // a call whose arguments are still coming
	think     provider.ThinkSplitter
}

// part is a part of the reply that is streaming.
type part struct {
	kind      llm.Kind
	text      strings.Builder
	signature string
	raw       json.RawMessage // opaque
	call      llm.Call
	sent      json.RawMessage // its arguments, if they came whole
	partial   *tree           // its arguments, if they came in pieces
	index     int
}

type chunk struct {
	Candidates lax.List[candidate] `json:"candidates"`
	Usage      json.RawMessage     `json:"usageMetadata"`
	Model      lax.Text            `json:"modelVersion"`
	ID         lax.Text            `json:"responseId"`
	Feedback   lax.Obj[struct {
		Reason  lax.Text `json:"blockReason"`
		Message lax.Text `json:"blockReasonMessage"`
	}] `json:"promptFeedback"`
	Error json.RawMessage `json:"error"`
}

type candidate struct {
	Content lax.Obj[struct {
		Parts lax.List[json.RawMessage] `json:"parts"`
	}] `json:"content"`
	FinishReason  lax.Text `json:"finishReason"`
	FinishMessage lax.Text `json:"finishMessage"`
	Grounding     lax.Obj[struct {
		Queries lax.List[lax.Text] `json:"webSearchQueries"`
	}] `json:"groundingMetadata"`
	Index lax.Int `json:"index"`
}

type wirePart struct {
	Text      *lax.Text              `json:"text"`
	Thought   bool                   `json:"thought"`
	Signature lax.Text               `json:"thoughtSignature"`
	Call      *lax.Obj[functionCall] `json:"functionCall"`
}

type functionCall struct {
	ID      lax.Text             `json:"id"`
	Name    lax.Text             `json:"name"`
	Args    json.RawMessage      `json:"args"`
	Partial lax.List[partialArg] `json:"partialArgs"`
	More    bool                 `json:"willContinue"`
}

type partialArg struct {
	Path   lax.Text        `json:"jsonPath"`
	String *string         `json:"stringValue"`
	Number json.Number     `json:"numberValue"`
	Bool   *bool           `json:"boolValue"`
	Null   json.RawMessage `json:"nullValue"`
	More   bool            `json:"willContinue"`
}

// Event reads one chunk.
func (d *decoder) Event(_ string, data []byte) ([]llm.Delta, error) {
	var c chunk
	if err := json.Unmarshal(data, &c); err != nil {
		return nil, err
	}
	if lax.Present(c.Error) {
		return nil, api{}.Error("", http.StatusOK, nil, data)
	}
	if c.Model != "" {
		d.model = string(c.Model)
	}
	if c.ID != "" {
		d.id = string(c.ID)
	}
	if lax.Present(c.Usage) {
		d.usage = lax.Overlay(d.usage, compact(c.Usage))
	}
	if f := c.Feedback.V; f.Reason != "" {
		d.blocked, d.done, d.message = true, true, string(f.Message)
		if d.message == "" {
			d.message = string(f.Reason)
		}
	}
	var out []llm.Delta
	for _, cand := range c.Candidates {
		if cand.Index != 0 { // pawl requests only one candidate
			continue
		}
		for _, raw := range cand.Content.V.Parts {
			out = append(out, d.part(raw)...)
		}
		d.searches = max(d.searches, len(cand.Grounding.V.Queries)) // each chunk repeats the earlier queries
		if cand.FinishMessage != "" {
			d.message = string(cand.FinishMessage)
		}
		if cand.FinishReason != "" {
			d.finish, d.done = string(cand.FinishReason), true
			out = append(out, d.shut()...)
			out = append(out, d.flush()...)
		}
	}
	return out, nil
}

// Whole decodes a reply that came as one chunk.
func (d *decoder) Whole(body []byte) ([]llm.Delta, error) { return d.Event("", body) }

func (d *decoder) part(raw json.RawMessage) []llm.Delta {
	var w wirePart
	if json.Unmarshal(raw, &w) != nil {
		return nil
	}
	signature := string(w.Signature)
	switch {
	case w.Call != nil:
		return append(d.flush(), d.call(w.Call.V, signature)...)
	case w.Text != nil && w.Thought:
		return d.thought(string(*w.Text), signature)
	case w.Text != nil && signature == "":
		return d.text(string(*w.Text))
	case w.Text != nil:
		return d.signed(string(*w.Text), signature)
	}
	if w := compact(raw); len(w) > len("{}") {
		p := d.add(llm.Opaque)
		p.raw = w
		return nil
	}
	return nil
}

func (d *decoder) add(kind llm.Kind) *part {
	p := &part{kind: kind}
	d.parts = append(d.parts, p)
	return p
}

// last returns the last part if text of this kind can be added to it, else nil.
func (d *decoder) last(kind llm.Kind) *part {
	if n := len(d.parts); n > 0 && d.parts[n-1].kind == kind && d.parts[n-1].signature == "" {
		return d.parts[n-1]
	}
	return d.add(kind)
}

// text adds unsigned text. Signed text stays separate: its signature covers only that
// part.
func (d *decoder) text(s string) []llm.Delta {
	return d.show(d.think.Push(s))
}

func (d *decoder) show(thinking, text string) (out []llm.Delta) {
	if thinking != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: thinking})
	}
	if text != "" {
		d.last(llm.Text).text.WriteString(text)
		out = append(out, llm.Delta{Kind: llm.DeltaText, Text: text})
	}
	return out
}

// flush returns the text that was delayed because a tag might have begun in it.
func (d *decoder) flush() []llm.Delta { return d.show(d.think.Close()) }

func (d *decoder) signed(s, signature string) []llm.Delta {
	out := d.flush()
	p := d.add(llm.Text)
	p.signature = signature
	p.text.WriteString(s)
	if s != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaText, Text: s})
	}
	return out
}

func (d *decoder) thought(s, signature string) []llm.Delta {
	out := d.show("", d.think.Native())
	if s == "" && signature == "" {
		return out
	}
	p := d.last(llm.Reasoning)
	if signature != "" && p.text.Len() > 0 { // the signature covers only this piece
		p = d.add(llm.Reasoning)
	}
	p.text.WriteString(s)
	p.signature = signature
	if s != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: s})
	}
	return out
}

// call starts a call, or continues the one whose arguments come in pieces.
func (d *decoder) call(f functionCall, signature string) []llm.Delta {
	var out []llm.Delta
	p := d.open
	if p == nil && f.Name == "" {
		return nil
	}
	if f.Name != "" {
		out = d.shut()
		p = d.add(llm.CallPart)
		p.index = d.calls
		d.calls++
		p.call = llm.Call{ID: string(f.ID), Name: string(f.Name)}
		if p.call.ID == "" {
			p.call.ID = d.made(p.index)
		}
		d.open = p
		out = append(out, llm.Delta{Kind: llm.DeltaCall, Index: p.index, ID: p.call.ID, Name: p.call.Name})
	}
	if signature != "" {
		p.signature = signature
	}
	if lax.Present(f.Args) {
		p.sent = compact(f.Args)
	}
	for _, a := range f.Partial {
		if p.partial == nil {
			p.partial = new(tree)
		}
		p.partial.set(a)
	}
	if !f.More {
		out = append(out, d.shut()...)
	}
	return out
}

// made returns an id for a call: unique in the session, and the same each time the reply
// is decoded.
func (d *decoder) made(n int) string {
	base := d.id
	if base == "" {
		base = d.ids()
	}
	return madeID + base + "_" + strconv.Itoa(n)
}

// shut ends the call whose arguments are still incomplete.
func (d *decoder) shut() []llm.Delta {
	p := d.open
	if p == nil {
		return nil
	}
	d.open = nil
	sent := string(p.sent)
	if p.partial != nil {
		sent = string(p.partial.json())
	}
	sent = cmp.Or(sent, "{}")
	p.call = llm.NewCall(p.call.ID, p.call.Name, sent)
	return []llm.Delta{{Kind: llm.DeltaCall, Index: p.index, Text: sent}}
}

// Finished reports whether the reply has ended; usage may still follow.
func (d *decoder) Finished() bool { return d.done }

// End returns the reply, or an error if it has not ended.
func (d *decoder) End() (llm.Reply, error) {
	if !d.done {
		return llm.Reply{}, fault.NewProvider("", 0, "the reply broke off before its end", nil)
	}
	r := llm.Reply{
		Message: llm.Message{Role: llm.Assistant},
		Finish:  d.finish, Model: d.model, Response: d.id, UsageRaw: d.usage, Usage: counted(d.usage),
	}
	r.Usage.Searches = int64(d.searches)
	if p, ok := d.think.Part(); ok {
		r.Message.Parts = append(r.Message.Parts, p)
	}
	for _, p := range d.parts {
		r.Message.Parts = append(r.Message.Parts, p.part())
	}
	r.Stop = d.stopped()
	if d.calls == 0 && (d.finish == "MALFORMED_FUNCTION_CALL" || d.finish == "UNEXPECTED_TOOL_CALL") {
		r.Message.Parts = nil // what it wanted to call is lost, and its text is not all: an empty reply is asked for again
	}
	if r.Stop == llm.StopRefusal {
		if r.Refusal = d.message; r.Refusal == "" {
			r.Refusal = d.finish
		}
	}
	return r, nil
}

func (d *decoder) stopped() llm.Stop {
	if d.blocked {
		return llm.StopRefusal
	}
	switch d.finish {
	case "STOP":
		if d.calls > 0 {
			return llm.StopCalls
		}
		return llm.StopEnd
	case "MAX_TOKENS":
		return llm.StopLength
	case "SAFETY", "RECITATION", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII", "MODEL_ARMOR",
		"IMAGE_SAFETY", "IMAGE_PROHIBITED_CONTENT", "IMAGE_RECITATION":
		return llm.StopRefusal
	}
	return llm.StopOther
}

func (p *part) part() llm.Part {
	out := llm.Part{Kind: p.kind, Wire: Name}
	signature := ""
	if p.signature != "" {
		signature = `"thoughtSignature":` + string(quoted(p.signature)) + "}"
	}
	switch p.kind {
	case llm.CallPart:
		c := p.call
		out.Call = &c
		if signature != "" {
			out.Raw = json.RawMessage("{" + signature)
		}
		return out
	case llm.Opaque:
		out.Raw = p.raw
		return out
	}
	out.Text = p.text.String()
	if signature == "" {
		out.Wire = ""
		return out
	}
	thought := ""
	if p.kind == llm.Reasoning {
		thought = `,"thought":true`
	} else if out.Text == "" {
		out.Kind = llm.Opaque // nothing to show, but it must be sent back
	}
	out.Raw = json.RawMessage(`{"text":` + string(quoted(out.Text)) + thought + "," + signature)
	return out
}

func counted(raw json.RawMessage) llm.Usage {
	var u struct {
		Prompt  *lax.Int `json:"promptTokenCount"`
		Tools   lax.Int  `json:"toolUsePromptTokenCount"`
		Cached  lax.Int  `json:"cachedContentTokenCount"`
		Output  lax.Int  `json:"candidatesTokenCount"`
		Thought lax.Int  `json:"thoughtsTokenCount"`
	}
	if json.Unmarshal(raw, &u) != nil || u.Prompt == nil {
		return llm.Usage{}
	}
	return llm.Usage{
		Known: true, Input: max(int64(*u.Prompt)-int64(u.Cached), 0) + int64(u.Tools), CacheRead: int64(u.Cached),
		Output: int64(u.Output + u.Thought), Reasoning: int64(u.Thought),
	}
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
