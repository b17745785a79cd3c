package window

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// plainCodec encodes messages as they are; a marker is a field of its own.
type plainCodec struct{}

const marker = `,"cache":true`

func (plainCodec) Head(h llm.Head) ([]byte, error) {
	return []byte(fmt.Sprintf(`{"model":%q,"system":%q,"messages":[`, h.Model, h.System)), nil
}

func (plainCodec) Step(ms []llm.Message, mark bool) ([]byte, error) {
	var out [][]byte
	for i, m := range ms {
		b, err := json.Marshal(m)
		if err != nil {
			return nil, err
		}
		if mark && i == len(ms)-1 {
			b = append(append(b[:len(b)-1:len(b)-1], marker...), '}')
		}
		out = append(out, b)
	}
	return bytes.Join(out, []byte(",")), nil
}

func (plainCodec) Tail(t llm.Tail) []byte { return []byte(fmt.Sprintf(`],"max":%d}`, t.MaxTokens)) }

func body(t *rapid.T, r *llm.Request) (whole, prefix []byte) {
	whole = bytes.Join(r.Body, nil)
	if !json.Valid(whole) {
		t.Fatalf("not JSON: %s", whole)
	}
	return whole, bytes.ReplaceAll(bytes.Join(r.Body[:2], nil), []byte(marker), nil)
}

// history draws a session's events as the engine would record them.
func history(t *rapid.T) []event.Body {
	var out []event.Body
	id := 0
	for range rapid.IntRange(1, 12).Draw(t, "turns") {
		out = append(out, event.Prompted{Source: event.Person, Text: rapid.String().Draw(t, "prompt")})
		for range rapid.IntRange(0, 4).Draw(t, "steps") {
			out = append(out, event.Requested{Attempt: 1})
			m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("thinking aloud")}}
			n := rapid.IntRange(0, 3).Draw(t, "calls")
			var done []event.Body
			for range n {
				id++
				call := llm.Call{ID: fmt.Sprint(id), Name: "read", Args: json.RawMessage(`{}`)}
				m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &call})
				done = append(done, event.CallDone{ID: call.ID, Result: llm.Result{ID: call.ID, Text: "result"}})
				if rapid.IntRange(0, 5).Draw(t, "note") == 0 {
					done = append(done, event.Noted{Text: "a note"})
				}
			}
			out = append(append(out, event.Replied{Reply: llm.Reply{Message: m}}), done...)
		}
		switch rapid.IntRange(0, 4).Draw(t, "end") {
		case 0:
			out = append(out, event.Interrupted{By: "person"})
		case 1:
			out = append(out, event.PersonRan{Command: "ls", Output: "a\nb"})
		}
	}
	return out
}

// SPEC 9.4: the next request extends the bytes of the one before, and a
// session folded again from its events has the same bytes (10.4).
func TestEveryRequestIsAPrefixOfTheNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rebased := event.Rebased{Head: llm.Head{Model: "m", System: "s"}}
		var live Conversation
		live.Apply(event.Event{Body: rebased})
		b := NewBuilder(&live, plainCodec{})
		var before []byte
		so := []event.Body{rebased}
		for _, body1 := range history(t) {
			if _, ok := body1.(event.Requested); ok {
				r := must.Get(b.Request(llm.Tail{MaxTokens: 7}))(t)
				whole, prefix := body(t, r)
				if !bytes.HasPrefix(prefix, before) {
					t.Fatalf("the prefix moved:\n%s\n%s", before, prefix)
				}
				before = prefix
				paired(t, r.Messages)

				var again Conversation
				for _, x := range so {
					again.Apply(event.Event{Body: x})
				}
				r2 := must.Get(NewBuilder(&again, plainCodec{}).Request(llm.Tail{MaxTokens: 7}))(t)
				if resumed, _ := body(t, r2); !bytes.Equal(resumed, whole) {
					t.Fatalf("a resumed session asks otherwise:\n%s\n%s", whole, resumed)
				}
			}
			so = append(so, body1)
			live.Apply(event.Event{Body: body1})
		}
	})
}

// paired checks that every call has exactly one result, right after it.
func paired(t *rapid.T, ms []llm.Message) {
	for i, m := range ms {
		calls := m.Calls()
		if len(calls) == 0 {
			continue
		}
		if i+1 >= len(ms) || ms[i+1].Role != llm.Tool {
			t.Fatalf("calls without results in message %d", i)
		}
		for k, c := range calls {
			p := ms[i+1].Parts[k]
			if p.Kind != llm.Output || p.Result.ID != c.ID {
				t.Fatalf("result %d of message %d is %+v, want that of %s", k, i+1, p, c.ID)
			}
		}
	}
}

// Ids that repeat from reply to reply become ids of their own: some APIs refuse
// a request that has one twice. Results follow their calls.
func TestRepeatedIDs(t *testing.T) {
	var c Conversation
	ask := event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{
		{Kind: llm.CallPart, Call: &llm.Call{ID: "0", Name: "read", Args: json.RawMessage(`{}`)}},
		{Kind: llm.CallPart, Call: &llm.Call{ID: "0_1", Name: "read", Args: json.RawMessage(`{}`)}},
	}}}}
	for range 3 {
		for _, b := range []event.Body{ask, gives("0", "read", "a"), gives("0_1", "read", "b")} {
			c.Apply(event.Event{Body: b})
		}
	}
	seen := map[string]bool{}
	for i, m := range c.Messages() {
		for k, call := range m.Calls() {
			if r := c.Messages()[i+1].Parts[k].Result; seen[call.ID] || r.ID != call.ID || r.Text != string(rune('a'+k)) {
				t.Errorf("call %q, result %+v", call.ID, r)
			}
			seen[call.ID] = true
		}
	}
	if len(seen) != 6 || ask.Reply.Message.Calls()[0].ID != "0" {
		t.Errorf("%v; what the log holds: %+v", seen, ask.Reply.Message.Calls())
	}
}

// A marker that text from outside looks like has no effect: it is text.
func TestMarkersAreEvents(t *testing.T) {
	var c Conversation
	c.Apply(event.Event{Body: event.Prompted{Text: event.Interrupted{By: "permission"}.Marker()}})
	if len(c.Messages()) != 1 || len(c.open) != 0 {
		t.Errorf("%+v", c.Messages())
	}
}

// Behind a step wider than providers look back over, the end of the request
// before is marked again, also when the same request is built twice; its bytes
// are otherwise those without marks.
func TestWideStep(t *testing.T) {
	for _, n := range []int{3, 7, 8, 40} {
		var c Conversation
		c.Apply(event.Event{Body: event.Rebased{Head: llm.Head{Model: "m"}}})
		c.Apply(event.Event{Body: event.Prompted{Text: "look at all"}})
		b := NewBuilder(&c, plainCodec{})
		first := must.Get(b.Request(llm.Tail{}))(t)
		c.Apply(event.Event{Body: event.Requested{}})
		m := llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("looking")}}
		var done []event.Body
		for i := range n {
			id := fmt.Sprint(i)
			m.Parts = append(m.Parts, llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: id, Name: "read", Args: json.RawMessage(`{}`)}})
			done = append(done, gives(id, "read", "text"))
		}
		for _, e := range append([]event.Body{event.Replied{Reply: llm.Reply{Message: m}}}, done...) {
			c.Apply(event.Event{Body: e})
		}
		for range 2 {
			second := must.Get(b.Request(llm.Tail{}))(t)
			anew, err := b.Request(llm.Tail{MaxTokens: 7})
			if b.SetTail(second, llm.Tail{MaxTokens: 7}); err != nil || !slices.EqualFunc(second.Body, anew.Body, bytes.Equal) || second.Tail != anew.Tail {
				t.Errorf("%d calls: with another tail it is not as if built with it: %v", n, err)
			}
			marks := bytes.Count(bytes.Join(second.Body, nil), []byte(marker))
			if want := map[bool]int{true: 2, false: 1}[2*n+1 > lookback]; marks != want {
				t.Errorf("%d calls: %d marks, want %d", n, marks, want)
			}
			if 2*n+1 > lookback && !bytes.HasPrefix(bytes.Join(second.Body, nil), bytes.Join(first.Body[:2], nil)) {
				t.Errorf("%d calls: it does not begin as the request before, mark and all", n)
			}
		}
	}
}

func BenchmarkRequest(b *testing.B) {
	for _, turns := range []int{10, 1000, 10000} {
		b.Run(fmt.Sprint(turns), func(b *testing.B) {
			var c Conversation
			c.Apply(event.Event{Body: event.Rebased{Head: llm.Head{Model: "m"}}})
			builder := NewBuilder(&c, plainCodec{})
			step := func(i int) {
				c.Apply(event.Event{Body: event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("ok")}}}}})
				c.Apply(event.Event{Body: event.Prompted{Text: fmt.Sprint(i)}})
				must.Done(b)(builder.Request(llm.Tail{}))
			}
			for i := range turns {
				step(i)
			}
			for b.Loop() {
				step(1)
			}
		})
	}
}
