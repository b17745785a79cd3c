package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// errUnfinished means that a stream ended before its last event.
var errUnfinished = errors.New("the stream ended before the reply was complete")

// customInput is the argument that contains the text of a call of a freeform tool that was
// not offered. No tool has a parameter with this name, so nothing runs by mistake.
const customInput = "__custom_input__"

// A call of a freeform tool becomes one with JSON arguments: what is before the text and
// after it.
const closing = `"}`

func (d Dialect) opening(it item) string {
	if f := d.freeform(string(it.Name)); f != nil {
		return `{"` + f.Arg + `":"`
	}
	return `{"` + customInput + `":"`
}

// escaped returns a piece of a text as it stands in a JSON string.
func escaped(s lax.Text) string {
	b := lax.AppendString(nil, string(s))
	return string(b[1 : len(b)-1])
}

// Decoder decodes one reply. Items are identified by their output_index, since some hosts
// change ids from event to event.
type Decoder struct {
	d     Dialect
	newID func() string

	id, model string
	items     map[int]json.RawMessage // from output_item.done
	calls     map[int]int             // output_index → index of the call among the deltas
	argued    map[int]bool            // calls whose arguments came in pieces
	open      map[int]bool            // calls of freeform tools whose text is streamed
	summary   [2]int                  // the summary being streamed: output_index, summary_index
	thought   bool                    // any reasoning was streamed
	think     provider.ThinkSplitter
	usage     json.RawMessage
	final     *response
	reply     *llm.Reply // made once, since missing ids are made with it
}

// event is an event of any type; the type determines which fields it has.
type event struct {
	Type     lax.Text           `json:"type"`
	Output   lax.Index          `json:"output_index"`
	Summary  lax.Index          `json:"summary_index"`
	Delta    lax.Text           `json:"delta"`
	Item     json.RawMessage    `json:"item"`
	Response lax.Obj[*response] `json:"response"`
	Error    json.RawMessage    `json:"error"`
}

type response struct {
	ID         lax.Text                  `json:"id"`
	Model      lax.Text                  `json:"model"`
	Status     lax.Text                  `json:"status"`
	Output     lax.List[json.RawMessage] `json:"output"`
	Usage      json.RawMessage           `json:"usage"`
	Error      json.RawMessage           `json:"error"`
	Incomplete lax.Obj[struct {
		Reason lax.Text `json:"reason"`
	}] `json:"incomplete_details"`
}

// item is an element of the output.
type item struct {
	Type    lax.Text       `json:"type"`
	CallID  lax.Text       `json:"call_id"`
	Name    lax.Text       `json:"name"`
	Args    lax.Text       `json:"arguments"`
	Input   lax.Text       `json:"input"`
	Phase   lax.Text       `json:"phase"`
	Content lax.List[part] `json:"content"`
	Summary lax.List[part] `json:"summary"`
	Sealed  lax.Text       `json:"encrypted_content"`
	Action  lax.Obj[struct {
		Type lax.Text `json:"type"`
	}] `json:"action"`
}

type part struct {
	Type    lax.Text `json:"type"`
	Text    lax.Text `json:"text"`
	Refusal lax.Text `json:"refusal"`
}

func (d *Decoder) Event(name string, data []byte) ([]llm.Delta, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || string(data) == "[DONE]" {
		return nil, nil
	}
	if name == "error" {
		return nil, d.fail(data)
	}
	var e event
	if err := json.Unmarshal(data, &e); err != nil {
		return nil, fmt.Errorf("an event is not JSON: %w", err)
	}
	if e.Type == "" {
		e.Type = lax.Text(name)
	}
	if r := e.Response.V; r != nil {
		d.meet(r)
	}
	switch e.Type {
	case "error":
		return nil, d.fail(data)
	case "":
		if lax.Present(e.Error) {
			return nil, d.fail(data)
		}
	case "response.output_text.delta":
		thought, said := d.think.Push(string(e.Delta))
		return say(say(nil, llm.DeltaReasoning, thought), llm.DeltaText, said), nil
	case "response.reasoning_summary_text.delta", "response.reasoning_text.delta":
		return d.reasoning(e), nil
	case "response.output_item.added":
		return d.begin(e), nil
	case "response.function_call_arguments.delta", "response.custom_tool_call_input.delta":
		if n, ok := d.calls[e.Output.N]; ok && e.Delta != "" {
			d.argued[e.Output.N] = true
			text := string(e.Delta)
			if d.open[e.Output.N] {
				text = escaped(e.Delta)
			}
			return []llm.Delta{{Kind: llm.DeltaCall, Index: n, Text: text}}, nil
		}
	case "response.output_item.done":
		return d.done(e), nil
	case "response.completed", "response.incomplete", "response.failed", "response.cancelled", "response.done":
		if e.Response.V == nil {
			return nil, errors.New("the last event has no response")
		}
		return d.closeText(nil), d.end(e.Response.V, strings.TrimPrefix(string(e.Type), "response."))
	}
	return nil, nil
}

// Whole decodes a reply that was not streamed.
func (d *Decoder) Whole(body []byte) ([]llm.Delta, error) {
	var r response
	if err := json.Unmarshal(body, &r); err != nil {
		return nil, fmt.Errorf("the reply is not JSON: %w", err)
	}
	if r.Status == "" && r.Output == nil {
		if said, _ := lax.Said(body); said.Message != "" {
			return nil, d.fail(body)
		}
		return nil, errors.New("the reply has neither status nor output")
	}
	d.meet(&r)
	if err := d.end(&r, "completed"); err != nil {
		return nil, err
	}
	reply, err := d.End()
	if err != nil {
		return nil, err
	}
	var out []llm.Delta
	n := 0
	for _, p := range reply.Message.Parts {
		switch p.Kind {
		case llm.Text:
			out = say(out, llm.DeltaText, p.Text)
		case llm.Reasoning:
			out = say(out, llm.DeltaReasoning, p.Text)
		case llm.CallPart:
			out = append(out, llm.Delta{Kind: llm.DeltaCall, Index: n, ID: p.Call.ID, Name: p.Call.Name, Text: string(p.Call.Args)})
			n++
		}
	}
	return out, nil
}

func (d *Decoder) fail(data []byte) *fault.Error {
	return lax.Fail(d.d.Name, http.StatusOK, nil, data)
}

func say(out []llm.Delta, kind llm.DeltaKind, s string) []llm.Delta {
	if s == "" {
		return out
	}
	return append(out, llm.Delta{Kind: kind, Text: s})
}

func (d *Decoder) meet(r *response) {
	if d.id == "" {
		d.id = string(r.ID)
	}
	if r.Model != "" && d.model == "" {
		d.model = string(r.Model)
	}
	d.usage = lax.Overlay(d.usage, r.Usage)
}

// reasoning returns the deltas of a piece of reasoning; a blank line separates two
// summaries.
func (d *Decoder) reasoning(e event) []llm.Delta {
	if e.Delta == "" {
		return nil
	}
	out := say(nil, llm.DeltaText, d.think.Native())
	at := [2]int{e.Output.N, e.Summary.N}
	text := string(e.Delta)
	if d.thought && at != d.summary {
		text = partBreak + text
	}
	d.summary, d.thought = at, true
	return say(out, llm.DeltaReasoning, text)
}

// partBreak separates two summaries of reasoning.
const partBreak = "\n\n"

// begin decodes the start of an item.
func (d *Decoder) begin(e event) []llm.Delta {
	var it item
	if json.Unmarshal(e.Item, &it) != nil {
		return nil
	}
	switch it.Type {
	case "reasoning":
		return say(nil, llm.DeltaText, d.think.Native())
	case "function_call", "custom_tool_call":
	default:
		return nil
	}
	if d.calls == nil {
		d.calls, d.argued, d.open = map[int]int{}, map[int]bool{}, map[int]bool{}
	}
	if _, ok := d.calls[e.Output.N]; ok {
		return nil
	}
	n := len(d.calls)
	d.calls[e.Output.N] = n
	out := d.closeText(nil)
	args := string(it.Args)
	d.argued[e.Output.N] = args+string(it.Input) != ""
	if it.Type == "custom_tool_call" {
		d.open[e.Output.N], args = true, d.d.opening(it)+escaped(it.Input)
	}
	return append(out, llm.Delta{Kind: llm.DeltaCall, Index: n, ID: string(it.CallID), Name: string(it.Name), Text: args})
}

// done decodes a finished item. Hosts that do not stream pieces send the whole item here.
func (d *Decoder) done(e event) []llm.Delta {
	if !lax.Present(e.Item) {
		return nil
	}
	out := d.begin(e)
	if d.items == nil {
		d.items = map[int]json.RawMessage{}
	}
	d.items[e.Output.N] = e.Item
	n, ok := d.calls[e.Output.N]
	var it item
	if !ok || json.Unmarshal(e.Item, &it) != nil {
		return out
	}
	args := ""
	if !d.argued[e.Output.N] {
		d.argued[e.Output.N], args = true, string(it.Args)+escaped(it.Input)
	}
	if d.open[e.Output.N] {
		d.open[e.Output.N], args = false, args+closing
	}
	if args != "" {
		out = append(out, llm.Delta{Kind: llm.DeltaCall, Index: n, Text: args})
	}
	return out
}

func (d *Decoder) closeText(out []llm.Delta) []llm.Delta {
	thought, said := d.think.Close()
	return say(say(out, llm.DeltaReasoning, thought), llm.DeltaText, said)
}

// end decodes the last event.
func (d *Decoder) end(r *response, status string) error {
	if r.Status == "" || r.Status == "in_progress" {
		r.Status = lax.Text(status)
	}
	switch r.Status {
	case "failed", "cancelled":
		if lax.Present(r.Error) {
			return d.fail([]byte(`{"error":` + string(r.Error) + `}`))
		}
		return fault.NewProvider(d.d.Name, 0, "the reply "+string(r.Status), nil)
	}
	d.final = r
	return nil
}

// Finished reports whether the last event was seen.
func (d *Decoder) Finished() bool { return d.final != nil }

// End returns the reply, or an error if the last event was not seen.
func (d *Decoder) End() (llm.Reply, error) {
	if d.reply != nil {
		return *d.reply, nil
	}
	if d.final == nil {
		return llm.Reply{}, fault.NewProvider(d.d.Name, 0, "", errUnfinished)
	}
	r := llm.Reply{
		Message: llm.Message{Role: llm.Assistant}, Finish: string(d.final.Status),
		Model: d.model, Response: d.id,
	}
	if lax.Present(d.usage) {
		r.UsageRaw, r.Usage = d.usage, d.d.usage(d.usage)
	}
	b := builder{d: d.d, newID: d.newID, used: map[string]bool{}}
	for _, raw := range d.output() {
		b.item(raw)
		var it item
		if json.Unmarshal(raw, &it) == nil && it.Type == "web_search_call" && (it.Action.V.Type == "" || it.Action.V.Type == "search") {
			r.Usage.Searches++ // opening a page is not a search
		}
	}
	r.Message.Parts, r.Refusal = b.parts, b.refusal
	switch {
	case r.Finish == "incomplete" && d.final.Incomplete.V.Reason == "content_filter":
		r.Stop = llm.StopRefusal
	case r.Finish == "incomplete" && d.final.Incomplete.V.Reason == "max_output_tokens":
		r.Stop = llm.StopLength
	case r.Finish == "incomplete":
		r.Stop = llm.StopOther
	case len(b.used) > 0:
		r.Stop = llm.StopCalls
	case r.Refusal != "":
		r.Stop = llm.StopRefusal
	default:
		r.Stop = llm.StopEnd
	}
	d.reply = &r
	return r, nil
}

// output returns the items of the reply: those of the last event, or the finished items
// if the last event does not repeat them. Encrypted content that only a finished item had
// is added.
func (d *Decoder) output() []json.RawMessage {
	if len(d.final.Output) == 0 {
		out := make([]json.RawMessage, 0, len(d.items))
		for _, at := range slices.Sorted(maps.Keys(d.items)) {
			out = append(out, d.items[at])
		}
		return out
	}
	out := append([]json.RawMessage(nil), d.final.Output...)
	for i, raw := range out {
		var last, done item
		if json.Unmarshal(raw, &last) != nil || last.Type != "reasoning" || last.Sealed != "" {
			continue
		}
		if json.Unmarshal(d.items[i], &done) == nil && done.Type == "reasoning" && done.Sealed != "" {
			out[i] = d.items[i]
		}
	}
	return out
}
