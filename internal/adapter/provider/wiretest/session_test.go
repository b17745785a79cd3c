package wiretest

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 9.4, 10.4: a recorded session, driven step by step as a loop would,
// with the replies as they were stored: every request begins with the bytes of
// the one before, and all go over the same client.
func TestSessions(t *testing.T) {
	t.Parallel()
	cases := all(t)
	seen := map[string]bool{}
	driven := map[string]int{}
	for _, c := range cases {
		if c.Session == nil || seen[c.dir+c.Session.Name] {
			continue
		}
		seen[c.dir+c.Session.Name] = true
		chain := Chain(slices.DeleteFunc(slices.Clone(cases), func(o Case) bool { return o.dir != c.dir || o.API != c.API }), c.Session.Name)
		if len(chain) < 2 {
			continue // there is nothing that the second request could extend
		}
		driven[c.API]++
		t.Run(c.Session.Name, func(t *testing.T) {
			t.Parallel()
			drive(t, chain)
		})
	}
	// What was recorded is driven, and not passed over: a table that is read
	// wrongly would leave nothing to fail. The project's own recordings hold one
	// session of each kind; the others lie beside a checkout, not in it.
	recorded := must.Get(Dir())(t)
	for api, least := range map[string]int{
		"anthropic-messages": 11, "google-generate-content": 13, "ollama-native": 1, "openai-chat-completions": 34, "openai-responses": 10,
	} {
		if recorded == "" {
			least = 1
		}
		if driven[api] < least {
			t.Errorf("%d sessions of %s are driven, %d were recorded", driven[api], api, least)
		}
	}
}

func drive(t *testing.T, chain []Case) {
	server := Serve(t, chain...)
	model := server.Client(t, chain[0])
	codec := model.Codec()
	head := must.Get(codec.Head(llm.Head{Model: chain[0].Model, System: "You are a test."}))(t)
	body := head
	add := func(ms ...llm.Message) {
		step := must.Get(codec.Step(ms, false))(t)
		if len(step) > 0 && len(body) > len(head) {
			body = append(body, ',')
		}
		body = append(body, step...)
	}
	add(llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart("go")}})
	var before []byte
	for i, c := range chain {
		o := Collect(context.Background(), model, &llm.Request{Head: llm.Head{Model: c.Model}, Body: [][]byte{body, codec.Tail(llm.Tail{})}})
		asked := server.Asked()
		if len(asked) != i+1 {
			t.Fatalf("%d requests after %d steps", len(asked), i+1)
		}
		if sent := asked[i]; !json.Valid(sent) || !bytes.HasPrefix(sent, before) {
			t.Fatalf("step %d: the request is not JSON, or does not extend the one before:\n%s", i+1, sent)
		}
		before = bytes.Clone(body)
		if o.Reply == nil {
			if o.Err == nil {
				t.Errorf("step %d of %d has neither a reply nor an error", i+1, len(chain))
			}
			return // a recorded failure ends the session here
		}
		add(stored(t, o.Reply.Message))
		next := llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart("go on")}}
		if calls := o.Reply.Message.Calls(); len(calls) > 0 {
			next = llm.Message{Role: llm.Tool}
			for _, c := range calls {
				next.Parts = append(next.Parts, llm.Part{Kind: llm.Output, Result: &llm.Result{ID: c.ID, Name: c.Name, Text: "ok"}})
			}
		}
		add(next)
	}
}

// stored returns a message as it comes back from a log, and checks that it is
// sent in the same bytes as before.
func stored(t *testing.T, m llm.Message) llm.Message {
	t.Helper()
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	must.Do(t, e.Encode(m))
	var back llm.Message
	must.Do(t, json.Unmarshal(b.Bytes(), &back))
	return back
}

// SPEC 10.4: a reply that was stored and read again is sent in the same bytes.
func TestStored(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, c Case, rec *Recording) {
		api, _ := c.Wire()
		body := rec.Response.Body
		m := must.Get(client(c, api, rec, &cuts{body, func() int { return 4096 }, io.EOF}))(t)
		o := Ask(t.Context(), m)
		if o.Reply == nil {
			return
		}
		before := must.Get(api.Step([]llm.Message{o.Reply.Message}, false))(t)
		after, err := api.Step([]llm.Message{stored(t, o.Reply.Message)}, false)
		if err != nil || !bytes.Equal(before, after) {
			t.Errorf("%v\nbefore %s\nafter  %s", err, before, after)
		}
	})
}

// A check that finds nothing proves nothing: each thing that is changed in
// what is expected must be found.
func TestCheckFinds(t *testing.T) {
	t.Parallel()
	cases := must.Get(Index("testdata/anthropic-messages"))(t)
	c := cases[slices.IndexFunc(cases, func(c Case) bool { return c.File == "thinking-and-calls.1.json" })]
	o := Ask(t.Context(), Serve(t, c).Client(t, c))
	if found := Check(c, o); len(found) > 0 {
		t.Fatal(found)
	}
	other := "other"
	for name, change := range map[string]func(*Expected){
		"model":       func(e *Expected) { e.Model = other },
		"response":    func(e *Expected) { e.ResponseID = other },
		"finish":      func(e *Expected) { e.Finish = other },
		"text":        func(e *Expected) { e.Text = nil },
		"text's hash": func(e *Expected) { e.Text = &Digest{SHA256: other} },
		"reasoning":   func(e *Expected) { e.Reasoning = nil },
		"signature":   func(e *Expected) { e.Signatures = []Digest{{SHA256: other}} },
		"blocks":      func(e *Expected) { e.Blocks = e.Blocks[1:] },
		"redacted":    func(e *Expected) { e.Redacted = 1 },
		"a call":      func(e *Expected) { e.Calls = e.Calls[1:] },
		"an id":       func(e *Expected) { e.Calls = append([]ExpectedCall{{&other, "read", e.Calls[0].Args}}, e.Calls[1]) },
		"a name":      func(e *Expected) { e.Calls = append([]ExpectedCall{{nil, other, e.Calls[0].Args}}, e.Calls[1]) },
		"arguments": func(e *Expected) {
			e.Calls = append([]ExpectedCall{{nil, "read", json.RawMessage("{}")}}, e.Calls[1])
		},
		"usage":    func(e *Expected) { e.Usage = json.RawMessage(`{"input_tokens":1}`) },
		"refusal":  func(e *Expected) { e.Refusal = other },
		"an error": func(e *Expected) { e.Error = json.RawMessage(`{"message":"x"}`) },
		"complete": func(e *Expected) { e.Complete = new(bool); e.Finish = "" },
	} {
		changed := c
		change(&changed.Expected)
		if len(Check(changed, o)) == 0 {
			t.Errorf("%s: a difference was not found", name)
		}
	}
	cut := o
	cut.Text = "Let me"
	if len(Check(c, cut)) == 0 {
		t.Error("deltas that lack something were not found")
	}
	if missing(facts([]any{map[string]any{"signature": "abc"}}), nil, false, "") == nil {
		t.Error("a signature that was not sent back was not found")
	}
}
