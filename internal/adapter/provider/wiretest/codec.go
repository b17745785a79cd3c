package wiretest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// TestCodec checks the promises of every codec (llm.Codec) for random messages: step by
// step results in the same as all at once, the result is JSON, and the mark only adds the
// marker. marker is the API's cache marker, "" if it has none.
func TestCodec(t *testing.T, c llm.Codec, wire, marker string) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		ms := rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Message { return drawMessage(t, wire) }), 0, 6).Draw(t, "messages")
		whole, err := c.Step(ms, false)
		if err != nil {
			t.Fatal(err)
		}
		var steps [][]byte
		for rest := ms; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "step")
			step, err := c.Step(rest[:n], false)
			if err != nil {
				t.Fatal(err)
			}
			if rest = rest[n:]; len(step) > 0 {
				steps = append(steps, step)
			}
		}
		if joined := bytes.Join(steps, []byte(",")); !bytes.Equal(whole, joined) {
			t.Fatalf("all at once:\n%s\nstep by step:\n%s", whole, joined)
		}
		if again, _ := c.Step(ms, false); !bytes.Equal(whole, again) {
			t.Fatalf("not the same twice:\n%s\n%s", whole, again)
		}
		marked, err := c.Step(ms, true)
		if err != nil {
			t.Fatal(err)
		}
		if err := onlyMarked(whole, marked, marker); err != nil {
			t.Fatal(err)
		}
		head, err := c.Head(llm.Head{Model: "m", System: rapid.String().Draw(t, "system")})
		if err != nil {
			t.Fatal(err)
		}
		for _, step := range [][]byte{whole, marked} {
			body := bytes.Join([][]byte{head, step, c.Tail(llm.Tail{MaxTokens: rapid.IntRange(0, 9).Draw(t, "limit")})}, nil)
			if !json.Valid(body) {
				t.Fatalf("not JSON: %s", body)
			}
		}
	})
}

// onlyMarked returns an error if anything except one marker was added.
func onlyMarked(plain, marked []byte, marker string) error {
	if bytes.Equal(plain, marked) {
		return nil
	}
	i := bytes.LastIndex(marked, []byte(marker))
	if marker == "" || i < 0 {
		return fmt.Errorf("a mark changed %s to %s", plain, marked)
	}
	without := append(bytes.Clone(marked[:i]), marked[i+len(marker):]...)
	if !bytes.Equal(plain, without) {
		return fmt.Errorf("a mark changed more than it added: %s to %s", plain, marked)
	}
	return nil
}

// drawMessage returns a random message as a session may contain it: also of another wire
// API, empty, or strange.
func drawMessage(t *rapid.T, wire string) llm.Message {
	role := rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant, llm.Tool}).Draw(t, "role")
	return llm.Message{Role: role, Parts: rapid.SliceOfN(rapid.Custom(func(t *rapid.T) llm.Part { return drawPart(t, wire) }), 0, 5).Draw(t, "parts")}
}

func drawPart(t *rapid.T, wire string) llm.Part {
	text := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", " \n", "a\u2028b", "<b>&\"", "\xff"})).Draw(t, "text")
	id := rapid.SampledFrom([]string{"", "toolu_1", "functions.bash:0", "pawl_x_1", "call é"}).Draw(t, "id")
	p := llm.Part{Kind: rapid.SampledFrom([]llm.Kind{llm.Text, llm.Image, llm.Reasoning, llm.CallPart, llm.Output, llm.Opaque}).Draw(t, "kind")}
	p.Wire = rapid.SampledFrom([]string{"", wire, "another"}).Draw(t, "wire")
	switch p.Kind {
	case llm.Text, llm.Reasoning:
		p.Text = text
		if p.Parsed = p.Kind == llm.Reasoning && p.Wire == ""; p.Kind == llm.Reasoning && p.Wire != "" {
			p.Raw = json.RawMessage(`{"type":"thinking","thinking":"x","signature":"abc="}`)
		}
	case llm.Image:
		p.Media = rapid.SampledFrom([]string{"image/png", "image/tiff", "application/pdf", "audio/wav", "x"}).Draw(t, "media")
		p.Data = rapid.SliceOfN(rapid.Byte(), 0, 8).Draw(t, "data")
	case llm.CallPart:
		c := llm.NewCall(id, "run", rapid.SampledFrom([]string{"", "{}", `{"a":[1,"]"]}`, "{'a':1}", "oops"}).Draw(t, "args"))
		p.Call = &c
	case llm.Output:
		p.Result = &llm.Result{ID: id, Name: "run", Text: text, Error: rapid.Bool().Draw(t, "error")}
		if rapid.Bool().Draw(t, "image") {
			p.Result.Images = []llm.Media{{Type: "image/png", Data: []byte{1, 2}}, {Type: "application/pdf", Data: []byte{3}}, {Type: "audio/mp3", Data: []byte{4}}, {Type: "what"}}
		}
	case llm.Opaque:
		p.Raw = json.RawMessage(rapid.SampledFrom([]string{`{"type":"redacted_thinking","data":"x"}`, `{"type":"server_tool_use","id":"s"}`}).Draw(t, "raw"))
	}
	return p
}

// CheckDecoder passes random lines to a decoder as events. It checks that the decoder
// does not panic, that its deltas add up to the reply, that the reply's raw parts are
// JSON, and that the reply can be sent back.
func CheckDecoder(t *testing.T, api interface {
	llm.Codec
	Decoder() provider.Decoder
}, data []byte,
) {
	t.Helper()
	d := api.Decoder()
	o := Outcome{Args: map[int]string{}}
	for line := range bytes.Lines(data) {
		ds, err := d.Event("", line)
		if err != nil {
			return
		}
		for _, x := range ds {
			switch x.Kind {
			case llm.DeltaText:
				o.Text += x.Text
			case llm.DeltaReasoning:
				o.Reasoning += x.Text
			case llm.DeltaCall:
				o.Args[x.Index] += x.Text
			}
		}
	}
	r, err := d.End()
	if err != nil {
		return
	}
	o.Reply = &r
	var k checker
	k.deltas(o)
	for _, p := range r.Message.Parts {
		if len(p.Raw) > 0 && !json.Valid(p.Raw) {
			k.say("raw part is not JSON: %q", p.Raw)
		}
	}
	if len(r.UsageRaw) > 0 && !json.Valid(r.UsageRaw) {
		k.say("usage is not JSON: %q", r.UsageRaw)
	}
	step, err := api.Step([]llm.Message{r.Message}, true)
	if err != nil || !json.Valid(append(append([]byte{'['}, step...), ']')) {
		k.say("cannot be sent back: %v %s", err, step)
	}
	for _, found := range k.found {
		t.Error(found)
	}
}
