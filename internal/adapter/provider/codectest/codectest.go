// Package codectest tests the promises of every wire API about its encoding and its
// decoder: policy/window can use any llm.Codec that passes, and any decoder that passes
// can handle a hostile server.
package codectest

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Encoding tests the encoding of an API. marker is its cache marker, "" if it has none.
func Encoding(t *testing.T, api provider.API, marker string) {
	t.Helper()
	rapid.Check(t, func(t *rapid.T) {
		head := anyHead().Draw(t, "head")
		ms := anyMessages(api.Name()).Draw(t, "messages")
		whole, err := api.Step(ms, false)
		if err != nil {
			t.Fatal(err)
		}
		again, _ := api.Step(ms, false)
		if !bytes.Equal(whole, again) {
			t.Fatal("the same messages are encoded in two ways")
		}
		var pieces [][]byte
		for _, m := range ms {
			b, err := api.Step([]llm.Message{m}, false)
			if err != nil {
				t.Fatal(err)
			}
			if len(b) > 0 {
				pieces = append(pieces, b)
			}
		}
		if joined := bytes.Join(pieces, []byte{','}); !bytes.Equal(joined, whole) {
			t.Fatalf("message by message:\n%s\nat once:\n%s", joined, whole)
		}
		marked, err := api.Step(ms, true)
		if err != nil {
			t.Fatal(err)
		}
		if marker == "" && !bytes.Equal(marked, whole) {
			t.Fatal("a mark changed the bytes, and there is no marker")
		}
		if n := strings.Count(string(marked), marker); marker != "" && n > strings.Count(string(whole), marker)+1 {
			t.Fatalf("%d markers", n)
		}
		if marker != "" && len(marked) != len(whole) {
			at := len(commonPrefix(marked, whole))
			at = max(0, at-len(marker)) // the marker may begin as what it precedes does
			i := bytes.Index(marked[at:], []byte(marker))
			if i < 0 || !bytes.Equal(append(bytes.Clone(marked[:at+i]), marked[at+i+len(marker):]...), whole) {
				t.Fatalf("a mark changed more than it added:\n%s\n%s", whole, marked)
			}
		}
		if len(whole) == 0 {
			return
		}
		valid(t, api, head, whole)
		valid(t, api, head, marked)
		keepsTexts(t, ms, whole)
	})
}

func commonPrefix(a, b []byte) []byte {
	n := 0
	for n < len(a) && n < len(b) && a[n] == b[n] {
		n++
	}
	return a[:n]
}

func valid(t *rapid.T, api provider.API, head llm.Head, steps []byte) {
	h, err := api.Head(head)
	if err != nil {
		t.Fatal(err)
	}
	tail := api.Tail(llm.Tail{MaxTokens: 100})
	if e, ok := api.(provider.Ender); ok {
		tail = e.End(head, llm.Tail{MaxTokens: 100})
	}
	body := bytes.Join([][]byte{h, steps, tail}, nil)
	if !json.Valid(body) || !utf8.Valid(body) {
		t.Fatalf("not JSON:\n%s", body)
	}
}

// keepsTexts checks that the texts of people and tools reach the model unchanged.
func keepsTexts(t *rapid.T, ms []llm.Message, encoded []byte) {
	var all []any
	if err := json.Unmarshal(append(append([]byte{'['}, encoded...), ']'), &all); err != nil {
		t.Fatal(err)
	}
	var said []string
	var walk func(any)
	walk = func(v any) {
		switch v := v.(type) {
		case string:
			said = append(said, v)
		case []any:
			for _, e := range v {
				walk(e)
			}
		case map[string]any:
			for _, e := range v {
				walk(e)
			}
		}
	}
	walk(all)
	everything := strings.Join(said, "\x00")
	lost := func(text string) bool {
		return strings.TrimSpace(text) != "" && !strings.Contains(everything, string([]rune(text))) // JSON is UTF-8
	}
	for _, m := range ms {
		for _, p := range m.Parts {
			switch {
			case p.Kind == llm.Output && lost(p.Result.Text), p.Kind == llm.Text && m.Role == llm.User && lost(p.Text):
				t.Fatalf("%q is not in %s", p.Text, encoded)
			}
		}
	}
}

func anyHead() *rapid.Generator[llm.Head] {
	return rapid.Custom(func(t *rapid.T) llm.Head {
		h := llm.Head{
			Model:  rapid.SampledFrom([]string{"gpt-5", "anthropic/claude-sonnet-4.5", "gpt-oss:20b", "m"}).Draw(t, "model"),
			System: anyText().Draw(t, "system"),
			Effort: rapid.SampledFrom([]string{"", "low", "high"}).Draw(t, "effort"),
		}
		for range rapid.IntRange(0, 2).Draw(t, "tools") {
			h.Tools = append(h.Tools, llm.ToolSpec{Name: "look", Doc: anyText().Draw(t, "doc"), Schema: json.RawMessage(`{"type":"object"}`)})
		}
		return h
	})
}

func anyText() *rapid.Generator[string] {
	return rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\nb", "“é”", `"quoted" \ `, "<think>x</think>", "\u2028", "data: [DONE]", " \n", "\xff"}))
}

func anyMessages(wire string) *rapid.Generator[[]llm.Message] {
	return rapid.Custom(func(t *rapid.T) []llm.Message {
		var out []llm.Message
		for range rapid.IntRange(0, 5).Draw(t, "messages") {
			role := rapid.SampledFrom([]llm.Role{llm.User, llm.Assistant, llm.Tool}).Draw(t, "role")
			m := llm.Message{Role: role}
			for i := range rapid.IntRange(0, 4).Draw(t, "parts") {
				m.Parts = append(m.Parts, anyPart(t, role, wire, i))
			}
			out = append(out, m)
		}
		return out
	})
}

func anyPart(t *rapid.T, role llm.Role, wire string, i int) llm.Part {
	text := anyText().Draw(t, "text")
	id := rapid.SampledFrom([]string{"", "call_1", "functions.read:0", "a b", "call é", strings.Repeat("x", 80)}).Draw(t, "id")
	image := llm.Part{
		Kind: llm.Image, Data: []byte{1, 2, byte(i)},
		Media: rapid.SampledFrom([]string{"image/png", "image/tiff", "application/pdf", "audio/wav", "x"}).Draw(t, "media"),
	}
	switch role {
	case llm.Tool:
		r := &llm.Result{ID: id, Name: "look", Text: text, Error: rapid.Bool().Draw(t, "error")}
		if rapid.Bool().Draw(t, "image") {
			r.Images = []llm.Media{{Type: "image/png", Data: []byte{3}}, {Type: "application/pdf", Data: []byte{4}}, {Type: "audio/mp3", Data: []byte{5}}, {Type: "what"}}
		}
		return rapid.SampledFrom([]llm.Part{{Kind: llm.Output, Result: r}, {Kind: llm.Output, Result: r}, llm.TextPart(text)}).Draw(t, "part")
	case llm.User:
		return rapid.SampledFrom([]llm.Part{llm.TextPart(text), image}).Draw(t, "part")
	}
	from := rapid.SampledFrom([]string{wire, "another"}).Draw(t, "wire")
	call := llm.NewCall(id, "look", rapid.SampledFrom([]string{"", `{"path": "a"}`, `{"a":[1,"]"]}`, "{'a':1}", "oops"}).Draw(t, "args"))
	return rapid.SampledFrom([]llm.Part{
		llm.TextPart(text),
		{Kind: llm.Reasoning, Text: text, Wire: from, Raw: json.RawMessage(`{"type":"thinking","thinking":"x","signature":"abc="}`)},
		{Kind: llm.Reasoning, Text: text, Wire: from},
		{Kind: llm.Reasoning, Text: text, Parsed: true, Raw: json.RawMessage(`"<think>"`)},
		{Kind: llm.Opaque, Wire: from, Raw: json.RawMessage(`{"type":"redacted_thinking","data":"x"}`)},
		{Kind: llm.Opaque, Wire: from, Raw: json.RawMessage(`{"type":"server_tool_use","id":"s"}`)},
		{Kind: llm.CallPart, Call: &call},
	}).Draw(t, "part")
}

// Decoding fuzzes an API's decoder: whatever a server sends, it does not panic,
// and a reply that it returns is valid for the rest of pawl and can be sent by
// the API itself.
func Decoding(f *testing.F, api provider.API, seeds ...string) {
	f.Helper()
	for _, s := range seeds {
		f.Add(s, false)
	}
	f.Add("{}", true)
	f.Fuzz(func(t *testing.T, stream string, whole bool) {
		d := api.Decoder()
		var deltas []llm.Delta
		if whole {
			ds, err := d.Whole([]byte(stream))
			if err != nil {
				return
			}
			deltas = ds
		} else {
			for line := range strings.SplitSeq(stream, "\n") {
				name, data, ok := strings.Cut(line, "|")
				if !ok {
					name, data = "", line
				}
				buf := []byte(data)
				ds, err := d.Event(name, buf)
				clear(buf) // the data is valid only during the call
				if err != nil {
					return
				}
				deltas = append(deltas, ds...)
			}
		}
		reply, err := d.End()
		if err != nil {
			return
		}
		sound(t, api, reply, deltas)
	})
}

func sound(t *testing.T, api provider.API, r llm.Reply, deltas []llm.Delta) {
	t.Helper()
	if r.Message.Role != llm.Assistant || r.Stop == "" {
		t.Fatalf("a reply of %q that ended by %q", r.Message.Role, r.Stop)
	}
	ids := map[string]bool{}
	calls := r.Message.Calls()
	for _, c := range calls {
		var args map[string]json.RawMessage
		if err := json.Unmarshal(c.Args, &args); err != nil || args == nil {
			t.Fatalf("arguments %q: %v", c.Args, err)
		}
		if (c.ID == "" || ids[c.ID]) && api.Name() != "anthropic-messages" { // whose servers make the ids
			t.Fatalf("the id %q of a call is no id of its own", c.ID)
		}
		ids[c.ID] = true
	}
	for _, p := range r.Message.Parts {
		if len(p.Raw) > 0 && !json.Valid(p.Raw) {
			t.Fatalf("raw %q", p.Raw)
		}
	}
	shown := ""
	for _, d := range deltas {
		switch {
		case d.Kind == llm.Done || d.Kind == llm.DeltaCall && d.Index < 0:
			t.Fatalf("delta %+v", d)
		case d.Kind == llm.DeltaText:
			shown += d.Text
		}
	}
	if text := r.Message.Text(); text != shown {
		t.Fatalf("the reply has %q, its deltas %q", text, shown)
	}
	for _, n := range []int64{r.Usage.Input, r.Usage.CacheRead, r.Usage.CacheWrite, r.Usage.Output, r.Usage.Reasoning} {
		if n < 0 {
			t.Fatalf("usage %+v", r.Usage)
		}
	}
	if len(r.UsageRaw) > 0 && !json.Valid(r.UsageRaw) {
		t.Fatalf("usage %q", r.UsageRaw)
	}
	back, err := api.Step([]llm.Message{r.Message}, true)
	if err != nil || !json.Valid(append(append([]byte{'['}, back...), ']')) {
		t.Fatalf("sent back as %s: %v", back, err)
	}
}
