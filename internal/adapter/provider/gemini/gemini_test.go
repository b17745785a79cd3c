package gemini_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

func api() provider.API {
	n := 0
	return gemini.NewWithIDs(func() string {
		n++
		return fmt.Sprint("made", n)
	})
}

// SPEC 9.4: what was sent is never sent otherwise.
func TestCodec(t *testing.T) {
	t.Parallel()
	codectest.Encoding(t, gemini.New(provider.Tuning{}), "")
}

func read(a provider.API, events ...string) (llm.Reply, string, error) {
	d := a.Decoder()
	text := ""
	for _, e := range events {
		ds, err := d.Event("", []byte(e))
		if err != nil {
			return llm.Reply{}, text, err
		}
		for _, x := range ds {
			if x.Kind == llm.DeltaText {
				text += x.Text
			}
		}
	}
	r, err := d.End()
	return r, text, err
}

func chunk(parts, finish string) string {
	if finish != "" {
		finish = `,"finishReason":"` + finish + `"`
	}
	return `{"candidates":[{"content":{"role":"model","parts":[` + parts + `]}` + finish + `}],"usageMetadata":{"promptTokenCount":9,"cachedContentTokenCount":4,"candidatesTokenCount":2,"thoughtsTokenCount":3}}`
}

// SPEC 5.1: signatures go back byte for byte, on the part they came with.
func TestThereAndBack(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		events []string
		want   string
	}{
		{
			"unsigned text is joined",
			[]string{chunk(`{"text":"a"},{"text":"b"}`, ""), chunk(`{"text":"c"}`, "STOP")},
			`{"role":"model","parts":[{"text":"abc"}]}`,
		},
		{
			"signed text is not",
			[]string{chunk(`{"text":"a"},{"text":"b","thoughtSignature":"s+/="}`, ""), chunk(`{"text":"c"}`, "STOP")},
			`{"role":"model","parts":[{"text":"a"},{"text":"b","thoughtSignature":"s+/="},{"text":"c"}]}`,
		},
		{
			"a signature on nothing",
			[]string{chunk(`{"text":"a"}`, ""), chunk(`{"text":"","thoughtSignature":"s"}`, "STOP")},
			`{"role":"model","parts":[{"text":"a"},{"text":"","thoughtSignature":"s"}]}`,
		},
		{
			"thoughts stay here",
			[]string{chunk(`{"text":"hm","thought":true},{"text":"a"}`, "STOP")},
			`{"role":"model","parts":[{"text":"a"}]}`,
		},
		{
			"signed thoughts do not",
			[]string{chunk(`{"text":"hm","thought":true},{"text":" so","thought":true,"thoughtSignature":"s"},{"text":"a"}`, "STOP")},
			`{"role":"model","parts":[{"text":" so","thought":true,"thoughtSignature":"s"},{"text":"a"}]}`,
		},
		{
			"calls",
			[]string{chunk(`{"functionCall":{"name":"f","args":{"n": 12345678901234567890}},"thoughtSignature":"s"},{"functionCall":{"id":"given","name":"g"}}`, "STOP")},
			`{"role":"model","parts":[{"functionCall":{"name":"f","args":{"n":12345678901234567890}},"thoughtSignature":"s"},{"functionCall":{"id":"given","name":"g","args":{}}}]}`,
		},
		{"arguments in pieces", []string{
			chunk(`{"functionCall":{"name":"f","willContinue":true},"thoughtSignature":"s"}`, ""),
			chunk(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a.b[1]['c d']","stringValue":"x","willContinue":true}],"willContinue":true}}`, ""),
			chunk(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a.b[1]['c d']","stringValue":"\"y"},{"jsonPath":"$.n","numberValue":1.5},{"jsonPath":"$.t","boolValue":true},{"jsonPath":"$.z","nullValue":"NULL_VALUE"},{"jsonPath":"$.a.b[9999999]","numberValue":1},{"jsonPath":"oops","numberValue":1}],"willContinue":true}}`, ""),
			chunk(`{"functionCall":{}}`, "STOP"),
		}, `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":{"b":[null,{"c d":"x\"y"}]},"n":1.5,"t":true,"z":null}},"thoughtSignature":"s"}]}`},
		{
			"what is not known comes back",
			[]string{chunk(`{"executableCode":{"code": "1"}},{},{"functionCall":{}}`, "STOP")},
			`{"role":"model","parts":[{"executableCode":{"code":"1"}}]}`,
		},
		{"nothing at all", []string{`{"candidates":[{"finishReason":"MALFORMED_FUNCTION_CALL"}]}`}, ``},
	} {
		r, text, err := read(api(), c.events...)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		if text != r.Message.Text() {
			t.Errorf("%s: deltas give %q, the reply has %q", c.name, text, r.Message.Text())
		}
		// As a log would keep it.
		raw, err := json.Marshal(r.Message)
		var m llm.Message
		if err != nil || json.Unmarshal(raw, &m) != nil {
			t.Fatal(err)
		}
		got, err := api().Step([]llm.Message{m}, true)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %s\nwant %s", c.name, err, got, c.want)
		}
	}
}

func TestDecoder(t *testing.T) {
	t.Parallel()
	r, _, err := read(api(), chunk(`{"functionCall":{"name":"f"}},{"functionCall":{"name":"f"}}`, "STOP"))
	if calls := r.Message.Calls(); err != nil || len(calls) != 2 || calls[0].ID == calls[1].ID || calls[0].ID == "" || r.Stop != llm.StopCalls {
		t.Errorf("calls without ids: %+v %v", r, err)
	}
	if u := r.Usage; u != (llm.Usage{Known: true, Input: 5, CacheRead: 4, Output: 5, Reasoning: 3}) {
		t.Errorf("usage %+v", u)
	}
	if _, _, err := read(api(), chunk(`{"text":"a"}`, "")); err == nil || !fault.Retryable(err) {
		t.Errorf("without an end: %v", err)
	}
	r, _, err = read(api(), `{"promptFeedback":{"blockReason":"SAFETY"}}`)
	if err != nil || r.Stop != llm.StopRefusal || r.Refusal != "SAFETY" || r.Usage.Known {
		t.Errorf("blocked: %+v %v", r, err)
	}
	r, text, err := read(api(), chunk(`{"text":"<think>a</th"}`, ""), chunk(`{"text":"ink>b"}`, "STOP"))
	if err != nil || len(r.Message.Parts) != 2 || !r.Message.Parts[0].Parsed || text != "b" {
		t.Errorf("thinking in the text: %+v %v", r, err)
	}
	if _, _, err := read(api(), `{"error":{"code":503,"message":"The model is overloaded.","status":"UNAVAILABLE"}}`); err == nil || !fault.Retryable(err) {
		t.Errorf("an error in the stream: %v", err)
	}
	for reason, want := range map[string]llm.Stop{"STOP": llm.StopEnd, "MAX_TOKENS": llm.StopLength, "SAFETY": llm.StopRefusal, "UNEXPECTED_TOOL_CALL": llm.StopOther} {
		if r, _, err := read(api(), chunk(`{"text":"a"}`, reason)); err != nil || r.Stop != want || r.Finish != reason {
			t.Errorf("%s: %+v %v", reason, r, err)
		}
	}
}

func TestError(t *testing.T) {
	t.Parallel()
	const body = `{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"48.5s"}]}}`
	for _, b := range []string{body, "[" + body + "]"} {
		if f := api().Error("gemini", 429, http.Header{}, []byte(b)); !f.Retryable || f.RetryAfter != 48500*time.Millisecond || !strings.Contains(f.Message, "quota") {
			t.Errorf("%s: %+v", b, f)
		}
	}
	f := api().Error("gemini", 400, nil, []byte(`{"error":{"code":400,"message":"The input token count (9) exceeds the maximum number of tokens allowed (8).","status":"INVALID_ARGUMENT"}}`))
	if !errors.Is(f, fault.ErrContextLength) || f.Retryable {
		t.Errorf("%+v", f)
	}
	if f := api().Error("gemini", 502, nil, []byte("<html>")); !f.Retryable {
		t.Errorf("%+v", f)
	}
}

func TestStep(t *testing.T) {
	t.Parallel()
	c1, c2 := llm.NewCall("toolu_1", "f", "{}"), llm.NewCall("toolu_2", "g", "{}")
	got, err := api().Step([]llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.TextPart("hi"), {Kind: llm.Image, Media: "image/png", Data: []byte{1}}}},
		{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &c1}, {Kind: llm.CallPart, Call: &c2}}},
		{Role: llm.Tool, Parts: []llm.Part{
			{Kind: llm.Output, Result: &llm.Result{ID: "toolu_1", Name: "f", Text: "<out>", Images: []llm.Media{{Type: "image/png", Data: []byte{2}}}}},
			{Kind: llm.Output, Result: &llm.Result{ID: "pawl_r_1", Name: "g", Text: "no", Error: true}},
			llm.TextPart("note"),
		}},
	}, false)
	const want = `{"role":"user","parts":[{"text":"hi"},{"inlineData":{"mimeType":"image/png","data":"AQ=="}}]},` +
		`{"role":"model","parts":[{"functionCall":{"id":"toolu_1","name":"f","args":{}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"id":"toolu_2","name":"g","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"id":"toolu_1","name":"f","response":{"output":"<out>"}}},{"functionResponse":{"name":"g","response":{"error":"no"}}},{"inlineData":{"mimeType":"image/png","data":"Ag=="}}]},` +
		`{"role":"user","parts":[{"text":"note"}]}`
	if err != nil || string(got) != want {
		t.Errorf("%v\n got %s\nwant %s", err, got, want)
	}
}

// SPEC 4.16: only what Gemini has words for.
func TestSchema(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		`{"type":"object","properties":{},"additionalProperties":false}`: ``,
		`{"type":"object","properties":{"b":{"type":"string","description":"d","minLength":1,"default":"x"},"a":{"type":["integer","null"],"exclusiveMinimum":0}},"required":["b","gone"],"additionalProperties":false,"$schema":"x"}`: `{"type":"object","properties":{"b":{"type":"string","description":"d","minLength":1},"a":{"type":"integer","nullable":true}},"required":["b"]}`,
		`{"type":"object","properties":{"l":{"type":"array"},"m":{"type":"array","items":{"const":"x"}},"e":{"enum":["a","b",1]},"n":{"type":"integer","enum":[1]}}}`:                                                                  `{"type":"object","properties":{"l":{"type":"array","items":{"type":"string"}},"m":{"type":"array","items":{"type":"string","enum":["x"]}},"e":{"type":"string","enum":["a","b"]},"n":{"type":"integer"}}}`,
		`{"type":"object","properties":{"o":{"oneOf":[{"type":"string"},{"type":"null"}]},"r":{"$ref":"#/$defs/x~1y"},"t":true},"$defs":{"x/y":{"type":"number"}}}`:                                                                    `{"type":"object","properties":{"o":{"anyOf":[{"type":"string"}]},"r":{"type":"number"},"t":{"type":"object"}}}`,
	} {
		head, err := api().Head(llm.Head{Tools: []llm.ToolSpec{{Name: "f", Doc: "d", Schema: json.RawMessage(in)}}})
		if want != "" {
			want = `,"parameters":` + want
		}
		want = `{"tools":[{"functionDeclarations":[{"name":"f","description":"d"` + want + `}]}],"contents":[`
		if err != nil || string(head) != want {
			t.Errorf("%v\n got %s\nwant %s", err, head, want)
		}
	}
	// A schema that contains itself ends.
	loop := `{"type":"object","properties":{"a":{"$ref":"#"},"b":{"$ref":"#"},"c":{"$ref":"#"}}}`
	head, err := api().Head(llm.Head{Tools: []llm.ToolSpec{{Name: "f", Schema: json.RawMessage(loop)}}})
	if err != nil || len(head) > 1<<20 || !json.Valid(append(head, "]}"...)) {
		t.Errorf("%d bytes, %v", len(head), err)
	}
}

func TestEnd(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		think  provider.Think
		effort string
		limit  int
		want   string
	}{
		{provider.ByEffort, "", 0, `]}`},
		{provider.Never, "high", 9, `],"generationConfig":{"maxOutputTokens":9}}`},
		{provider.ByBudget, "low", 9, `],"generationConfig":{"maxOutputTokens":9,"thinkingConfig":{"includeThoughts":true,"thinkingBudget":1024}}}`},
		{provider.ByBudget, "medium", 0, `],"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":8192}}}`},
		{provider.ByBudget, "high", 0, `],"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingBudget":24576}}}`},
		{provider.ByEffort, "medium", 0, `],"generationConfig":{"thinkingConfig":{"includeThoughts":true,"thinkingLevel":"medium"}}}`},
	} {
		if got := string(gemini.New(provider.Tuning{Think: c.think}).End(llm.Head{Effort: c.effort}, llm.Tail{MaxTokens: c.limit})); got != c.want {
			t.Errorf("%d %s: %s, want %s", c.think, c.effort, got, c.want)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	codectest.Decoding(f, api(),
		chunk(`{"functionCall":{"name":"f","willContinue":true}}`, "")+"\n"+chunk(`{"functionCall":{"partialArgs":[{"jsonPath":"$.a[0]['b']","stringValue":"x"}]}}`, "STOP"),
		chunk(`{"text":"<think>a"},{"text":"b","thoughtSignature":"s"},{"text":"c","thought":true}`, "STOP"))
}

// SPEC 3.2: a reply whose call is lost is no end of a turn, whatever was said before it: it is
// empty, and so asked for again. Its usage counts. A call that came whole is kept.
func TestLostCalls(t *testing.T) {
	t.Parallel()
	for finish, lost := range map[string]bool{"MALFORMED_FUNCTION_CALL": true, "UNEXPECTED_TOOL_CALL": true, "STOP": false, "MAX_TOKENS": false} {
		said := chunk(`{"text":"Hm","thought":true},{"text":"I will edit it."}`, finish)
		r, _, err := read(gemini.New(provider.Tuning{}), said)
		if err != nil || (len(r.Message.Parts) == 0) != lost || r.Usage.Output == 0 || r.Finish != finish {
			t.Errorf("%s: %v, %+v", finish, err, r)
		}
		if r, _, err = read(gemini.New(provider.Tuning{}), chunk(`{"functionCall":{"name":"f","args":{}}}`, finish)); err != nil || len(r.Message.Calls()) != 1 {
			t.Errorf("%s with a call: %v, %+v", finish, err, r)
		}
	}
}
