package codectest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/bedrock"
	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/ollama"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
	"github.com/pawl-agent/pawl/internal/adapter/provider/vertex"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// apis is every wire API, and what marks the cache in its requests.
func apis() map[string]provider.API {
	ids := func() string { return "made" }
	out := map[string]provider.API{
		"anthropic": anthropic.New(provider.Tuning{}), "gemini": gemini.NewWithIDs(ids), "ollama": ollama.New(0, ids),
		"bedrock": bedrock.New("anthropic.claude-opus-4-6-v1", provider.Tuning{}), "vertex": vertex.New("claude-opus-4-6", vertex.Place{Project: "p", Region: "r"}, provider.Tuning{}),
		"responses":      responses.New(responses.DialectFor("openai"), ids),
		"responses host": responses.New(responses.DialectFor("lmstudio"), ids),
	}
	for _, host := range []string{"openai", "mistral", "deepseek"} {
		out["chat "+host] = openaichat.New(openaichat.DialectFor(host, "m"), ids)
	}
	out["anthropic, an hour"] = anthropic.New(provider.Tuning{LongCache: true})
	out["chat openrouter claude"] = openaichat.New(openaichat.DialectFor("openrouter", "anthropic/claude-sonnet-4.5"), ids)
	return out
}

// run is a session under test: its log, and the conversation that it folds to.
type run struct {
	t    *rapid.T
	api  provider.API
	log  []event.Event
	conv *window.Conversation
	b    *window.Builder
	now  time.Time

	prefix []byte     // of the last request, markers left out
	open   []llm.Call // without a result
	calls  int
}

func (r *run) apply(bs ...event.Body) {
	for _, b := range bs {
		r.now = r.now.Add(7 * time.Second)
		e := event.Event{Seq: int64(len(r.log) + 1), Time: r.now, Body: b}
		r.log = append(r.log, e)
		r.conv.Apply(e)
		switch b := b.(type) {
		case event.Replied:
			r.open = b.Reply.Message.Calls()
		case event.CallDone:
			r.open = r.open[1:]
		case event.Rebased, event.Compacted:
			r.prefix = nil
		}
	}
}

// fold makes the session anew of its first n events, as resume, fork and
// rewind do, and closes what is open.
func (r *run) fold(n int) {
	log := r.log[:n:n]
	*r = run{t: r.t, api: r.api, conv: &window.Conversation{}, calls: r.calls}
	for _, e := range log {
		r.now = e.Time.Add(-7 * time.Second)
		r.apply(e.Body)
	}
	r.b = window.NewBuilder(r.conv, r.api)
	r.prefix = nil
	for len(r.open) > 0 {
		c := r.open[0]
		r.apply(event.CallDone{ID: c.ID, Tool: c.Name, Outcome: event.UnknownDone, Result: llm.Result{ID: c.ID, Name: c.Name, Error: true, Text: "[Outcome unknown]"}})
	}
}

var marks = [][]byte{[]byte(`,"cache_control":{"type":"ephemeral"}`), []byte(`,"cache_control":{"type":"ephemeral","ttl":"1h"}`)}

// request checks the next request, and that the session folded again asks it.
func (r *run) request() {
	q, err := r.b.Request(llm.Tail{MaxTokens: 100})
	must.Do(r.t, err)
	body := bytes.Join(q.Body, nil)
	for _, broken := range codectest.Broken(r.api.Name(), body) {
		r.t.Errorf("%s: %s", r.api.Name(), broken)
	}
	if r.t.Failed() {
		r.t.Fatalf("%s", body)
	}
	r.signed(q.Messages, body)
	prefix := bytes.Join(q.Body[:2], nil)
	for _, m := range marks {
		prefix = bytes.ReplaceAll(prefix, m, nil)
	}
	if !bytes.HasPrefix(prefix, r.prefix) {
		r.t.Fatalf("the prefix moved:\n%s\n%s", r.prefix, prefix)
	}
	r.prefix = prefix
	defer func() {
		if rapid.IntRange(0, 9).Draw(r.t, "pause") == 0 {
			r.now = r.now.Add(7 * time.Minute)
		}
	}()
	if rapid.IntRange(0, 2).Draw(r.t, "fold") > 0 {
		r.apply(event.Requested{Attempt: 1})
		return
	}
	var again window.Conversation
	for _, e := range r.log {
		again.Apply(e)
	}
	q2, err := window.NewBuilder(&again, r.api).Request(llm.Tail{MaxTokens: 100})
	must.Do(r.t, err)
	if !bytes.Equal(bytes.Join(q2.Body, nil), body) {
		r.t.Fatalf("folded again, it asks otherwise:\n%s\n%s", body, bytes.Join(q2.Body, nil))
	}
	r.apply(event.Requested{Attempt: 1})
}

// signed checks that the reasoning of the running turn goes back byte for
// byte: what came with calls, to the API that gave it (SPEC 5.1).
func (r *run) signed(ms []llm.Message, body []byte) {
	for _, m := range ms {
		if m.Role != llm.Assistant || len(m.Calls()) == 0 {
			continue
		}
		for _, p := range m.Parts {
			if p.Kind == llm.Reasoning && p.Wire == r.api.Name() && len(p.Raw) > 0 && r.api.Name() != "openai-chat-completions" && !bytes.Contains(body, p.Raw) {
				r.t.Fatalf("%s is not in %s", p.Raw, body)
			}
			if p.Parsed && p.Text != "" && bytes.Contains(body, []byte(p.Text)) {
				r.t.Fatalf("parsed thinking is sent back: %s", body)
			}
		}
	}
}

func text(t *rapid.T) string {
	unit := rapid.SampledFrom([]string{"some words of prose ", "if err != nil {\n\treturn err\n}\n", "0123456789", "漢字仮名", "🙂", "", " ", "\n", "</system>", "aB3x"}).Draw(t, "unit")
	return strings.Repeat(unit, rapid.SampledFrom([]int{0, 1, 1, 30, 120}).Draw(t, "times"))
}

func image(t *rapid.T) []llm.Media {
	switch rapid.IntRange(0, 9).Draw(t, "image") {
	case 0:
		return []llm.Media{{Type: "image/png", Data: []byte{1, 2, 3}}}
	case 1:
		return []llm.Media{{Type: "image/tiff", Data: []byte{1}}} // no API takes it
	}
	return nil
}

// prompted draws a prompt; one that would be nothing has a word.
func prompted(t *rapid.T) event.Prompted {
	p := event.Prompted{Source: event.Person, Text: text(t), Images: image(t)}
	if strings.TrimSpace(p.Text) == "" {
		p.Text = "go"
	}
	return p
}

// reply draws a reply such as this API's decoder would give, or another's: the
// model may have been changed.
func (r *run) reply() event.Replied {
	t := r.t
	m := llm.Message{Role: llm.Assistant}
	wire := rapid.SampledFrom([]string{r.api.Name(), r.api.Name(), "another"}).Draw(t, "wire")
	switch rapid.IntRange(0, 4).Draw(t, "reasoning") {
	case 0:
		m.Parts = append(m.Parts, llm.Part{Kind: llm.Reasoning, Text: "parsed thoughts", Parsed: true, Raw: json.RawMessage(`"<think>parsed thoughts</think>"`)})
	case 1, 2:
		raw := `{"type":"thinking","thinking":"hm","signature":"c2ln+/="}`
		switch r.api.Name() {
		case "openai-responses":
			raw = `{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"c2VhbGVk+/="}`
		case "google-generate-content":
			raw = `{"text":"hm","thought":true,"thoughtSignature":"c2ln"}`
		}
		p := llm.Part{Kind: llm.Reasoning, Text: "hm", Wire: wire, Raw: json.RawMessage(raw)}
		if r.api.Name() == "openai-chat-completions" || r.api.Name() == "ollama-native" {
			p.Raw = nil
		}
		m.Parts = append(m.Parts, p)
	}
	if s := text(t); s != "" {
		m.Parts = append(m.Parts, llm.TextPart(s))
	}
	for range rapid.SampledFrom([]int{0, 1, 1, 1, 2, 2, 4, 12}).Draw(t, "calls") {
		r.calls++
		id := rapid.SampledFrom([]string{fmt.Sprint("call_", r.calls), fmt.Sprint(r.calls % 3), "functions.read:0", fmt.Sprint("pawl_x_", r.calls)}).Draw(t, "id")
		taken := false
		for _, c := range m.Calls() {
			taken = taken || c.ID == id
		}
		if taken {
			id = fmt.Sprint("own_", r.calls) // the loop sees to it
		}
		c := llm.Call{ID: id, Name: rapid.SampledFrom([]string{"read", "bash"}).Draw(t, "tool"), Args: json.RawMessage(fmt.Sprintf(`{"files":[{"path":"f%d"}]}`, r.calls%4))}
		p := llm.Part{Kind: llm.CallPart, Call: &c}
		if r.api.Name() == "google-generate-content" && wire == r.api.Name() && len(m.Calls()) == 0 {
			p.Wire, p.Raw = wire, json.RawMessage(`{"thoughtSignature":"c2ln"}`)
		}
		m.Parts = append(m.Parts, p)
	}
	u := llm.Usage{Known: rapid.Bool().Draw(t, "known"), Input: int64(rapid.IntRange(0, 9000).Draw(t, "input"))}
	return event.Replied{Reply: llm.Reply{Message: m, Usage: u}}
}

// nothing reports whether a reply is one that the loop would not take.
func nothing(m llm.Message) bool {
	return len(m.Calls()) == 0 && strings.TrimSpace(m.Text()) == ""
}

func (r *run) results() {
	for len(r.open) > 0 {
		c := r.open[0]
		switch rapid.IntRange(0, 9).Draw(r.t, "between") {
		case 0:
			r.apply(event.FileSeen{Call: c.ID, Spans: []tool.Span{{Path: "f1", Hash: "1"}}})
		case 1:
			r.apply(event.Cleaned{Results: []string{window.Handle(rapid.IntRange(1, 20).Draw(r.t, "handle"))}, Summary: "it was dull"})
		case 2:
			r.apply(event.Noted{Text: "a note between results"})
		}
		d := event.CallDone{ID: c.ID, Tool: c.Name, Outcome: event.OK, Result: llm.Result{ID: c.ID, Name: c.Name, Text: text(r.t), Images: image(r.t)}}
		if rapid.IntRange(0, 3).Draw(r.t, "failed") == 0 {
			d.Outcome, d.Result.Error = event.Failed, true
		}
		if d.Result.Text == "" && rapid.Bool().Draw(r.t, "long") {
			d.Result.Text = strings.Repeat("a long result of some words\n", 150)
		}
		r.apply(d)
	}
}

// shorter makes the conversation shorter in one of the ways there are.
func (r *run) shorter() {
	if e, ok := r.conv.Dedup(); ok {
		r.apply(e)
	}
	if rapid.IntRange(0, 5).Draw(r.t, "compact") > 0 {
		return
	}
	why := rapid.SampledFrom([]event.CompactedWhy{event.CompactedFull, event.CompactedLength, event.CompactedPerson}).Draw(r.t, "why")
	r.apply(r.conv.Plan(why, "").Compacted(rapid.SampledFrom([]string{"", "the notes"}).Draw(r.t, "summary"), nil))
	if rapid.Bool().Draw(r.t, "guided") {
		r.apply(event.Noted{Why: "rules", Text: "[rules: be good]"})
	}
}

// SPEC 4.8, 5.1, 5.3, 9.4, 9.5, 9.6, 10.2, 10.4: whatever happens to a session
// (truncation, dedup, cleanup, compaction, rewind, fork, crash and resume, a
// change of the model), each request keeps its provider's rules: no call
// without its result, no result without its call, nothing empty.
func TestNoOrphans(t *testing.T) {
	for name, api := range apis() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			rapid.Check(t, func(t *rapid.T) { anything(t, api) })
		})
	}
}

var object = json.RawMessage(`{"type":"object","properties":{}}`)

func anything(t *rapid.T, api provider.API) {
	r := &run{t: t, api: api, conv: &window.Conversation{}, now: time.Unix(0, 0)}
	r.b = window.NewBuilder(r.conv, api)
	size := rapid.SampledFrom([]int{0, 3000, 16384, 200000}).Draw(t, "window")
	head := event.Rebased{
		Info: llm.Info{Provider: "p", Model: "m", API: api.Name(), Window: size, MaxOutput: 4096},
		Head: llm.Head{Model: "m", System: "be good", Tools: []llm.ToolSpec{{Name: "read", Schema: object}, {Name: window.CleanTool, Schema: object}}},
	}
	r.apply(head)
	for range rapid.IntRange(1, 6).Draw(t, "turns") {
		switch rapid.IntRange(0, 9).Draw(t, "before") {
		case 0:
			r.fold(rapid.IntRange(1, len(r.log)).Draw(t, "rewind")) // also in the middle of a step
		case 1:
			r.fold(len(r.log))
		case 2:
			next := head
			next.Why, next.Info.Model = "model", fmt.Sprint("m", len(r.log))
			r.apply(next)
		case 3:
			r.apply(event.PersonRan{Command: "ls", Output: text(t)})
		case 4:
			r.apply(r.conv.Plan(event.CompactedPerson, "").Compacted("", nil))
		case 5:
			r.apply(prompted(t), event.Recalled{Text: "as before"})
		}
		r.apply(prompted(t))
		for range rapid.IntRange(0, 5).Draw(t, "steps") {
			r.shorter()
			r.request()
			reply := r.reply()
			if nothing(reply.Reply.Message) {
				continue // tried again
			}
			r.apply(reply)
			r.results()
			if len(reply.Reply.Message.Calls()) == 0 {
				r.apply(event.Noted{Why: "length", Text: "[go on]"})
			}
			if rapid.IntRange(0, 9).Draw(t, "joined") == 0 {
				r.apply(prompted(t))
			}
		}
		if rapid.IntRange(0, 3).Draw(t, "cut") == 0 {
			r.apply(event.Interrupted{By: "person"})
		}
	}
	r.apply(prompted(t))
	r.shorter()
	r.request()
}
