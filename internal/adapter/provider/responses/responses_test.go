package responses

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

const (
	sealed = `{"id":"rs_1","type":"reasoning","summary":[],"encrypted_content":"c2VhbGVk"}`
	open   = `{"id":"rs_2","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hmm"}]}`
	search = `{"id":"ws_1","type":"web_search_call","status":"completed"}`
	patch  = `{"id":"ap_1","type":"apply_patch_call","call_id":"c","status":"completed"}`
)

func reasoning(raw string) llm.Part {
	return llm.Part{Kind: llm.Reasoning, Text: "Hmm", Wire: Name, Raw: json.RawMessage(raw)}
}

func callPart() llm.Part {
	return llm.Part{Kind: llm.CallPart, Call: &llm.Call{ID: "call_1", Name: "read", Args: json.RawMessage(`{"path":"a"}`)}}
}

func encode(t *testing.T, a *API, parts ...llm.Part) string {
	t.Helper()
	b := must.Get(a.Step([]llm.Message{{Role: llm.Assistant, Parts: parts}}, true))(t)
	return string(b)
}

// SPEC 5.1, 5.3, 4.8: the exact words, for OpenAI.
func TestEncode(t *testing.T) {
	d := DialectFor("openai")
	d.Tuning = provider.Tuning{Reasons: true, Verbosity: "low", Context: "all_turns"}
	a := New(d, nil)
	head := llm.Head{Model: "gpt-5.5", System: "Be brief.", Effort: "low", Tools: []llm.ToolSpec{{Name: "read", Doc: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}}}
	h := must.Get(a.Head(head))(t)
	step := must.Get(a.Step([]llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.TextPart("Look")}},
		{Role: llm.Assistant, Parts: []llm.Part{
			reasoning(sealed),
			{Kind: llm.Text, Text: "Reading.", Wire: Name, Raw: json.RawMessage(`{"phase":"commentary"}`)},
			{Kind: llm.Opaque, Wire: Name, Raw: json.RawMessage(search)},
			{Kind: llm.Opaque, Wire: "another", Raw: json.RawMessage(`{}`)},
			callPart(),
		}},
		{Role: llm.Tool, Parts: []llm.Part{
			{Kind: llm.Output, Result: &llm.Result{ID: "call_1", Name: "read", Text: "a picture", Images: []llm.Media{{Type: "image/png", Data: []byte{2}}}}},
			llm.TextPart("Half is used."),
		}},
	}, true))(t)
	got := string(bytes.Join([][]byte{h, step, a.End(head, llm.Tail{MaxTokens: 100})}, nil))
	_, rest, _ := strings.Cut(got, `"prompt_cache_key":"pawl-`)
	got = strings.Replace(got, rest[:24], "KEY", 1)
	want := `{"model":"gpt-5.5","store":false,"include":["reasoning.encrypted_content"],` +
		`"tools":[{"type":"function","name":"read","description":"Reads.","parameters":{"type":"object"},"strict":false}],"prompt_cache_key":"pawl-KEY",` +
		`"input":[{"role":"system","content":"Be brief."},` +
		`{"role":"user","content":"Look"},` + sealed + `,{"role":"assistant","content":"Reading.","phase":"commentary"},` + search + `,` +
		`{"type":"function_call","call_id":"call_1","name":"read","arguments":"{\"path\":\"a\"}"},` +
		`{"type":"function_call_output","call_id":"call_1","output":[{"type":"input_text","text":"a picture"},{"type":"input_image","image_url":"data:image/png;base64,Ag=="}]},` +
		`{"role":"user","content":"Half is used."}` +
		`],"stream":true,"max_output_tokens":100,"reasoning":{"effort":"low","context":"all_turns"},"text":{"verbosity":"low"}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// Options of reasoning are refused for models that do not reason.
func TestNoReasoningOptions(t *testing.T) {
	a := New(DialectFor("openai"), nil)
	head := llm.Head{Model: "gpt-4o"}
	h := must.Get(a.Head(head))(t)
	if got := string(h) + string(a.End(head, llm.Tail{})); strings.Contains(got, "encrypted") || strings.Contains(got, "effort") {
		t.Error(got)
	}
}

// SPEC 5.1: reasoning goes back byte for byte where the host takes it: sealed
// everywhere, open only where it may, never without the item it belongs to
// (openai-responses/error-400-reasoning-without-item).
func TestReasoningBack(t *testing.T) {
	openai, other := New(DialectFor("openai"), nil), New(DialectFor("openrouter"), nil)
	text := llm.TextPart("x")
	for _, c := range []struct {
		name string
		a    *API
		ps   []llm.Part
		want string
	}{
		{"sealed", openai, []llm.Part{reasoning(sealed), text}, sealed + `,{"role":"assistant","content":"x"}`},
		{"open to openai", openai, []llm.Part{reasoning(open), text}, `{"role":"assistant","content":"x"}`},
		{"open to others", other, []llm.Part{reasoning(open), text}, open + `,{"role":"assistant","content":"x"}`},
		{"nothing after it", openai, []llm.Part{text, reasoning(sealed)}, `{"role":"assistant","content":"x"}`},
		{"alone", openai, []llm.Part{reasoning(sealed)}, ``},
		{"parsed", other, []llm.Part{{Kind: llm.Reasoning, Text: "Hmm", Parsed: true, Wire: Name, Raw: json.RawMessage(open)}, text}, `{"role":"assistant","content":"x"}`},
		{"an unanswered item", openai, []llm.Part{{Kind: llm.Opaque, Wire: Name, Raw: json.RawMessage(patch)}, text}, `{"role":"assistant","content":"x"}`},
	} {
		if got := encode(t, c.a, c.ps...); got != c.want {
			t.Errorf("%s: %s", c.name, got)
		}
	}
}

// SPEC 5.1: an item goes back as it came, without what its host would refuse.
func TestSendable(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{`{"id": "rs_1",  "summary":[ ]}`, `{"id": "rs_1",  "summary":[ ]}`},
		{`{"id":"rs_1","content":null,"encrypted_content":"a\/b","metadata":{},"internal_chat_message_metadata_passthrough":{"x":1}}`, `{"id":"rs_1","encrypted_content":"a\/b"}`},
		{`[1]`, `[1]`},
	} {
		if got := string(sendable(json.RawMessage(c.in))); got != c.want {
			t.Errorf("%s became %s", c.in, got)
		}
	}
}

// SPEC 9.4: encoding is pure; there are no markers.
func TestCodec(t *testing.T) {
	for _, name := range []string{"openai", "xai", "another"} {
		codectest.Encoding(t, New(DialectFor(name), nil), "")
	}
}

// SPEC 5.5: usage.
func TestUsage(t *testing.T) {
	d := DialectFor("xai")
	u := d.usage(json.RawMessage(`{"input_tokens":289,"input_tokens_details":{"cached_tokens":128},"output_tokens":171,"output_tokens_details":{"reasoning_tokens":163},"cost_in_usd_ticks":6543500}`))
	if u.CostUSD == nil || *u.CostUSD < 0.00065434 || *u.CostUSD > 0.00065436 {
		t.Errorf("cost %v", u.CostUSD)
	}
	u.CostUSD = nil
	if want := (llm.Usage{Known: true, Input: 161, CacheRead: 128, Output: 171, Reasoning: 163}); u != want {
		t.Errorf("%+v", u)
	}
	if u := d.usage(json.RawMessage(`{"input_tokens":0,"output_tokens":0}`)); u.Known {
		t.Error("zeros are taken for a report")
	}
}

// SPEC 3.3: what the loop must know of failures.
func TestFailures(t *testing.T) {
	for _, c := range []struct {
		event          string
		retry, tooLong bool
	}{
		{`{"type":"response.failed","response":{"status":"failed","error":{"code":"context_length_exceeded","message":"too long"}}}`, false, true},
		{`{"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"oops"}}}`, true, false},
		{`{"type":"response.failed","response":{"status":"failed","error":{"code":"rate_limit_exceeded","message":"slow down"}}}`, true, false},
		{`{"type":"response.cancelled","response":{"status":"cancelled"}}`, true, false},
		{`{"type":"error","error":{"type":"insufficient_quota","code":"insufficient_quota","message":"no money"}}`, false, false},
		{`{"type":"error","code":"server_error","message":"oops"}`, true, false},
	} {
		_, err := New(DialectFor("openai"), nil).Decoder().Event("", []byte(c.event))
		var f *fault.Error
		if !errors.As(err, &f) || f.Retryable != c.retry || errors.Is(err, fault.ErrContextLength) != c.tooLong {
			t.Errorf("%s: %v", c.event, err)
		}
	}
}

func FuzzDecoder(f *testing.F) {
	created := `{"type":"response.created","response":{"id":"r","model":"m","status":"in_progress"}}` + "\n"
	codectest.Decoding(f, New(DialectFor("another"), nil),
		created+`{"type":"response.output_text.delta","delta":"Hi"}`+"\n"+`{"type":"response.completed","response":{"status":"completed","output":[{"type":"message","content":[{"type":"output_text","text":"Hi"}]}],"usage":{"input_tokens":1}}}`,
		created+`{"type":"response.output_item.added","output_index":-1,"item":{"type":"function_call","name":"a"}}`+"\n"+`{"type":"response.output_item.done","output_index":-1,"item":{"type":"function_call","name":"a","arguments":"{'a':1}"}}`+"\n"+`{"type":"response.completed","response":{}}`,
		`{"type":"response.completed","response":{"output":[{"type":"reasoning","summary":[{"text":"a"}],"x":null},{"type":"custom_tool_call","input":"x"},{"type":"odd"}]}}`,
		`{"type":"response.reasoning_summary_text.delta","delta":"a","summary_index":1}`+"\n"+`{"type":"response.incomplete","response":{"incomplete_details":{"reason":"max_output_tokens"}}}`,
		`error|{"message":"x"}`)
}
