package ollama

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Decoder decodes one reply.
type Decoder struct {
	newID func() string

	model  string
	finish string
	seen   bool
	done   bool
	usage  json.RawMessage

	think     provider.ThinkSplitter
	text      strings.Builder
	reasoning strings.Builder
	calls     []llm.Call
	used      map[string]bool
}

type line struct {
	Model   lax.Text `json:"model"`
	Message lax.Obj[*struct {
		Content  lax.Text       `json:"content"`
		Thinking lax.Text       `json:"thinking"`
		Calls    lax.List[call] `json:"tool_calls"`
	}] `json:"message"`
	Done   lax.Text        `json:"done"`
	Reason lax.Text        `json:"done_reason"`
	Error  json.RawMessage `json:"error"`
	counts
}

// counts are totals. A missing or null value leaves the earlier one.
type counts struct {
	In  json.RawMessage `json:"prompt_eval_count,omitempty"`
	Out json.RawMessage `json:"eval_count,omitempty"`
}

type call struct {
	ID       lax.Text `json:"id"`
	Function struct {
		Name lax.Text `json:"name"`
		Args lax.Text `json:"arguments"` // an object; lax.Text holds its JSON
	} `json:"function"`
}

// Event decodes one line.
func (d *Decoder) Event(_ string, data []byte) ([]llm.Delta, error) {
	data = bytes.TrimSpace(data)
	if len(data) == 0 || d.done {
		return nil, nil
	}
	var l line
	if err := json.Unmarshal(data, &l); err != nil {
		return nil, fmt.Errorf("a line is not JSON: %w", err)
	}
	if lax.Present(l.Error) {
		return nil, lax.Fail("ollama", http.StatusOK, nil, data)
	}
	if d.model == "" {
		d.model = string(l.Model)
	}
	if said, err := json.Marshal(l.counts); err == nil {
		d.usage = lax.Overlay(d.usage, said)
	}
	var out []llm.Delta
	if m := l.Message.V; m != nil {
		d.seen = true
		if m.Thinking != "" {
			out = d.say(out, d.think.Native())
			d.reasoning.WriteString(string(m.Thinking))
			out = append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: string(m.Thinking)})
		}
		if m.Content != "" {
			thought, said := d.think.Push(string(m.Content))
			out = d.say(show(out, thought), said)
		}
		for _, c := range m.Calls {
			out = d.call(out, c)
		}
	}
	if l.Done == "true" {
		d.done, d.finish = true, string(l.Reason)
		thought, said := d.think.Close()
		out = d.say(show(out, thought), said)
	}
	return out, nil
}

// Whole decodes a reply that was not streamed: a single line.
func (d *Decoder) Whole(body []byte) ([]llm.Delta, error) {
	out, err := d.Event("", body)
	if err == nil && !d.seen {
		err = errors.New("the reply has no message")
	}
	return out, err
}

func (d *Decoder) call(out []llm.Delta, c call) []llm.Delta {
	id := string(c.ID)
	for id == "" || d.used[id] {
		id = d.newID()
	}
	if d.used == nil {
		d.used = map[string]bool{}
	}
	d.used[id] = true
	thought, said := d.think.Close()
	out = d.say(show(out, thought), said)
	made := llm.NewCall(id, string(c.Function.Name), string(c.Function.Args))
	d.calls = append(d.calls, made)
	return append(out, llm.Delta{Kind: llm.DeltaCall, Index: len(d.calls) - 1, ID: id, Name: made.Name, Text: string(c.Function.Args)})
}

func show(out []llm.Delta, thought string) []llm.Delta {
	if thought == "" {
		return out
	}
	return append(out, llm.Delta{Kind: llm.DeltaReasoning, Text: thought})
}

func (d *Decoder) say(out []llm.Delta, s string) []llm.Delta {
	if s == "" {
		return out
	}
	d.text.WriteString(s)
	return append(out, llm.Delta{Kind: llm.DeltaText, Text: s})
}

// Finished reports whether the last line was seen.
func (d *Decoder) Finished() bool { return d.done }

// End returns the reply, or an error if the last line was not seen.
func (d *Decoder) End() (llm.Reply, error) {
	if !d.done {
		return llm.Reply{}, fault.NewProvider("ollama", 0, "the stream ended before the reply was complete", nil)
	}
	r := llm.Reply{Message: llm.Message{Role: llm.Assistant}, Finish: d.finish, Model: d.model, Stop: d.stop()}
	var n struct {
		In  lax.Int `json:"prompt_eval_count"`
		Out lax.Int `json:"eval_count"`
	}
	if json.Unmarshal(d.usage, &n) == nil && n.In+n.Out > 0 {
		r.UsageRaw, r.Usage = d.usage, llm.Usage{Known: true, Input: int64(n.In), Output: int64(n.Out)}
	}
	parts := &r.Message.Parts
	if p, ok := d.think.Part(); ok {
		*parts = append(*parts, p)
	}
	if d.reasoning.Len() > 0 {
		*parts = append(*parts, llm.Part{Kind: llm.Reasoning, Text: d.reasoning.String(), Wire: Name})
	}
	if d.text.Len() > 0 {
		*parts = append(*parts, llm.TextPart(d.text.String()))
	}
	for i := range d.calls {
		*parts = append(*parts, llm.Part{Kind: llm.CallPart, Call: &d.calls[i]})
	}
	return r, nil
}

func (d *Decoder) stop() llm.Stop {
	switch {
	case d.finish == "length":
		return llm.StopLength
	case len(d.calls) > 0:
		return llm.StopCalls
	case d.finish == "stop" || d.finish == "":
		return llm.StopEnd
	}
	return llm.StopOther // load, unload
}
