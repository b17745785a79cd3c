package openaichat

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

var schema = json.RawMessage(`{"type":"object"}`)

// talk is a conversation with everything in it.
func talk() []llm.Message {
	return []llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.TextPart("Look"), {Kind: llm.Image, Media: "image/png", Data: []byte{1}}}},
		{Role: llm.Assistant, Parts: []llm.Part{
			{Kind: llm.Reasoning, Text: "cut out", Parsed: true},
			{Kind: llm.Reasoning, Text: "another's", Wire: "anthropic-messages", Raw: json.RawMessage(`{"signature":"s"}`)},
			{Kind: llm.Reasoning, Text: "Hmm", Wire: Name, Raw: json.RawMessage(`[{"type":"reasoning.text","text":"Hmm","signature":"s"}]`)},
			llm.TextPart("Reading."),
			{Kind: llm.CallPart, Call: &llm.Call{ID: "functions.read:0", Name: "read", Args: json.RawMessage(`{"path": "a"}`)}},
		}},
		{Role: llm.Tool, Parts: []llm.Part{
			{Kind: llm.Output, Result: &llm.Result{ID: "functions.read:0", Name: "read", Text: "no such file", Error: true, Images: []llm.Media{{Type: "image/png", Data: []byte{2}}}}},
			llm.TextPart("Half is used."),
		}},
	}
}

func body(t *testing.T, d Dialect, h llm.Head, ms []llm.Message, mark bool, tail llm.Tail) string {
	t.Helper()
	a := New(d, nil)
	head := must.Get(a.Head(h))(t)
	step := must.Get(a.Step(ms, mark))(t)
	return string(bytes.Join([][]byte{head, step, a.End(h, tail)}, nil))
}

// SPEC 5.1, 5.3, 4.8: the exact words, on the common ground.
func TestEncode(t *testing.T) {
	head := llm.Head{Model: "m", System: "Be brief.", Tools: []llm.ToolSpec{{Name: "read", Doc: "Reads.", Schema: schema}}}
	got := body(t, Dialect{}, head, talk(), true, llm.Tail{MaxTokens: 9})
	want := `{"model":"m","tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object"}}}],` +
		`"messages":[{"role":"system","content":"Be brief."},` +
		`{"role":"user","content":[{"type":"text","text":"Look"},{"type":"image_url","image_url":{"url":"data:image/png;base64,AQ=="}}]},` +
		`{"role":"assistant","content":"Reading.","tool_calls":[{"id":"functions.read:0","type":"function","function":{"name":"read","arguments":"{\"path\": \"a\"}"}}]},` +
		`{"role":"tool","tool_call_id":"functions.read:0","content":"[error] no such file"},` +
		`{"role":"user","content":[{"type":"text","text":"Images from read (functions.read:0):"},{"type":"image_url","image_url":{"url":"data:image/png;base64,Ag=="}},{"type":"text","text":"Half is used."}]}` +
		`],"stream":true,"stream_options":{"include_usage":true},"max_tokens":9}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// SPEC 5.1, 5.3: what each host wants otherwise.
func TestDialects(t *testing.T) {
	head := llm.Head{Model: "m", System: "S", Effort: "high"}
	for _, c := range []struct {
		name, model string
		has, lacks  []string
	}{
		{"openai", "gpt-5", []string{`"max_completion_tokens":9`, `"reasoning_effort":"high"`, `"prompt_cache_key":"pawl-`}, []string{`"max_tokens"`, "Hmm", "functions.read:0"}},
		{"deepseek", "m", []string{`"max_tokens":9`, `"reasoning_content":"Hmm"`, `"reasoning_effort":"high"`}, []string{"reasoning_details"}},
		{"qwen", "m", []string{`{"role":"system","content":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}]}`, `"Half is used.","cache_control":{"type":"ephemeral"}}`}, []string{"effort"}},
		{"xai", "m", []string{`"reasoning_content":"Hmm"`}, []string{"prompt_cache_key"}},
		{"openrouter", "m", []string{`"reasoning_details":[{"type":"reasoning.text","text":"Hmm","signature":"s"}]`, `"usage":{"include":true}`, `"reasoning":{"effort":"high"}`, "functions.read:0"}, []string{"cache_control"}},
		{"openrouter", "anthropic/claude-sonnet-4.5", []string{`{"role":"system","content":[{"type":"text","text":"S","cache_control":{"type":"ephemeral"}}]}`, `"Half is used.","cache_control":{"type":"ephemeral"}}`}, []string{"functions.read:0"}},
		{"mistral", "m", []string{`"content":[{"type":"thinking","thinking":[{"type":"text","text":"Hmm"}]},{"type":"text","text":"Reading."}]`, `"name":"read","content":"[error]`}, []string{"functions.read:0"}},
		{"groq", "m", []string{`"max_completion_tokens":9`}, []string{"Hmm"}},
		{"nobody knows it", "gpt-5", []string{`"max_completion_tokens":9`, `"reasoning_content":"Hmm"`}, []string{`"max_tokens"`}},
		{"nobody knows it", "qwen3", []string{`"max_tokens":9`}, nil},
	} {
		head.Model = c.model
		d := DialectFor(c.name, c.model)
		d.Tuning.Reasons = c.model == "gpt-5"
		got := body(t, d, head, talk(), true, llm.Tail{MaxTokens: 9})
		if !json.Valid([]byte(got)) {
			t.Errorf("%s: not JSON: %s", c.name, got)
		}
		for _, s := range c.has {
			if !strings.Contains(got, s) {
				t.Errorf("%s %s lacks %s: %s", c.name, c.model, s, got)
			}
		}
		for _, s := range append(c.lacks, "cut out", "another's") {
			if strings.Contains(got, s) {
				t.Errorf("%s %s has %s: %s", c.name, c.model, s, got)
			}
		}
	}
}

// A host that refuses a conversation in which a reply lacks reasoning_content
// gets it in all, also those of another model
// (https://github.com/openclaw/openclaw/issues/73417).
func TestEchoAlways(t *testing.T) {
	got := body(t, DialectFor("deepseek", "m"), llm.Head{}, []llm.Message{{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("x")}}}, false, llm.Tail{})
	if !strings.Contains(got, `{"role":"assistant","content":"x","reasoning_content":""}`) {
		t.Error(got)
	}
}

// SPEC 5.1: an id that a host would refuse is replaced by one it accepts, the
// same in call and result, and another for another id.
func TestCallIDs(t *testing.T) {
	rules := []IDRule{{Max: 9, Exact: true, Plain: true}, {Max: 40}, {Max: 64}, {}}
	for _, r := range rules {
		seen := map[string]string{}
		for i := range 200 {
			id := fmt.Sprintf("functions.read:%d/%s", i, strings.Repeat("x", i))
			got := r.Fit(id)
			if r.Max > 0 && (!r.accepts(got) || r.Fit(got) != got) || r.Max == 0 && got != id || r.Fit(id) != got {
				t.Errorf("%+v: %q became %q", r, id, got)
			}
			if other, ok := seen[got]; ok {
				t.Errorf("%+v: %q and %q both became %q", r, id, other, got)
			}
			seen[got] = id
		}
	}
	if got := (IDRule{Max: 9, Exact: true, Plain: true}).Fit("D9WYdiHxV"); got != "D9WYdiHxV" {
		t.Errorf("an accepted id became %q", got)
	}
}

// SPEC 9.4: encoding is pure, and a mark only adds a marker.
func TestCodec(t *testing.T) {
	for _, name := range []string{"openai", "openrouter", "mistral", "deepseek", "another"} {
		codectest.Encoding(t, New(DialectFor(name, "m"), nil), "")
	}
	codectest.Encoding(t, New(DialectFor("openrouter", "anthropic/claude-opus-4.5"), nil), marker)
}

// SPEC 9.4: tools and system that are the same make the same bytes and cache
// key, others another key.
func TestCacheKey(t *testing.T) {
	a := New(DialectFor("openai", "gpt-5"), nil)
	key := func(system string) string {
		h := must.Get(a.Head(llm.Head{Model: "gpt-5", System: system}))(t)
		_, rest, ok := strings.Cut(string(h), `"prompt_cache_key":"`)
		if !ok {
			t.Fatalf("no key in %s", h)
		}
		return rest[:29]
	}
	if first, again := key("a"), key("a"); first != again || first == key("b") {
		t.Error("the cache key does not follow from the head")
	}
}

// A tool whose schema is not JSON is an error, not a broken request.
func TestBadSchema(t *testing.T) {
	if _, err := New(Dialect{}, nil).Head(llm.Head{Tools: []llm.ToolSpec{{Name: "x", Schema: json.RawMessage(`{`)}}}); err == nil {
		t.Error("no error")
	}
}

// SPEC 5.5: usage as each host reports it. The figures of x.ai and Vercel are
// from recordings, where the cost that they report proves the reading.
func TestUsage(t *testing.T) {
	usd := func(f float64) *float64 { return &f }
	for _, c := range []struct {
		name, host, raw string
		want            llm.Usage
	}{
		{"nothing", "openai", `null`, llm.Usage{}},
		{"zeros", "openai", `{"prompt_tokens":0,"completion_tokens":0}`, llm.Usage{}},
		{"openai", "openai", `{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":64},"completion_tokens_details":{"reasoning_tokens":20}}`, llm.Usage{Known: true, Input: 36, CacheRead: 64, Output: 50, Reasoning: 20}},
		{"deepseek", "deepseek", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"prompt_cache_hit_tokens":60,"prompt_cache_miss_tokens":40}`, llm.Usage{Known: true, Input: 40, CacheRead: 60, Output: 5}},
		{"xai", "xai", `{"prompt_tokens":390,"completion_tokens":26,"total_tokens":493,"prompt_tokens_details":{"cached_tokens":384},"completion_tokens_details":{"reasoning_tokens":77},"cost_in_usd_ticks":1633800}`, llm.Usage{Known: true, Input: 6, CacheRead: 384, Output: 103, Reasoning: 77, CostUSD: usd(0.00016338)}},
		{"vercel", "vercel", `{"prompt_tokens":63,"completion_tokens":116,"total_tokens":179,"cost":0.00187875,"completion_tokens_details":{"reasoning_tokens":64}}`, llm.Usage{Known: true, Input: 63, Output: 180, Reasoning: 64, CostUSD: usd(0.00187875)}},
		{"openrouter", "openrouter", `{"prompt_tokens":100,"completion_tokens":5,"total_tokens":105,"cost":0.5,"is_byok":false,"prompt_tokens_details":{"cached_tokens":10,"cache_write_tokens":20}}`, llm.Usage{Known: true, Input: 70, CacheRead: 10, CacheWrite: 20, Output: 5, CostUSD: usd(0.5)}},
		{"own key behind openrouter", "openrouter", `{"prompt_tokens":1,"completion_tokens":1,"cost":0.25,"is_byok":true,"cost_details":{"upstream_inference_cost":0.5}}`, llm.Usage{Known: true, Input: 1, Output: 1, CostUSD: usd(0.75)}},
		{"a cost of unknown unit", "another", `{"prompt_tokens":1,"completion_tokens":1,"cost":3}`, llm.Usage{Known: true, Input: 1, Output: 1}},
		{"nonsense", "openai", `{"prompt_tokens":-5,"completion_tokens":"7","prompt_tokens_details":{"cached_tokens":99},"cost":{"x":1}}`, llm.Usage{Known: true, Output: 7}},
		{"not an object", "openai", `[1]`, llm.Usage{}},
	} {
		got := DialectFor(c.host, "m").usage(json.RawMessage(c.raw))
		cost, want := got.CostUSD, c.want.CostUSD
		got.CostUSD, c.want.CostUSD = nil, nil
		if got != c.want || (cost == nil) != (want == nil) || cost != nil && (*cost-*want > 1e-12 || *want-*cost > 1e-12) {
			t.Errorf("%s: %+v, cost %v", c.name, got, cost)
		}
	}
}

// SPEC 5.1: reasoning_details go back joined, signed, and otherwise as they
// came; what is encrypted is never joined.
func TestDetails(t *testing.T) {
	var d details
	shown := ""
	for _, raw := range []string{
		`{"type":"reasoning.text","text":"Be","signature":"","format":"f","index":0}`,
		`{"type":"reasoning.text","text":"cause \"é\"","format":"f","index":0}`,
		`{"type":"reasoning.text","signature":"c2ln+/=","index":0}`,
		`{"type":"reasoning.text","text":"Again","index":0}`,
		`{"type":"reasoning.summary","summary":"S","index":1}`,
		`{"type":"reasoning.encrypted","data":"x","id":null,"index":2,"odd": {"k": 1}}`,
		`{"type":"reasoning.encrypted","data":"y","index":2}`,
		`[]`,
	} {
		shown += d.add([]json.RawMessage{json.RawMessage(raw)})
	}
	if shown != `Because "é"AgainS` {
		t.Errorf("shown %q", shown)
	}
	want := `[{"type":"reasoning.text","text":"Because \"é\"","signature":"c2ln+/=","format":"f","index":0},` +
		`{"type":"reasoning.text","text":"Again","index":0},{"type":"reasoning.summary","summary":"S","index":1},` +
		`{"type":"reasoning.encrypted","data":"x","id":null,"index":2,"odd":{"k": 1}},{"type":"reasoning.encrypted","data":"y","index":2}]`
	if got := string(d.raw()); got != want && got != strings.ReplaceAll(want, `"odd":{`, `"odd": {`) {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// SPEC 3.2: which errors in a stream are worth another try.
func TestStreamErrors(t *testing.T) {
	for _, c := range []struct {
		before, event, name string
		retry, tooLong      bool
	}{
		{"", `{"error":{"message":"Overloaded","code":502}}`, "", true, false},
		{"", `{"error":{"message":"no","type":"invalid_request_error"}}`, "", false, false},
		{"", `{"error":{"message":"no","code":"insufficient_quota"}}`, "", false, false},
		{"", `{"error":{"message":"bad call","type":"invalid_request_error","code":"tool_use_failed","status_code":400}}`, "error", true, false},
		{"", `{"error":"it broke"}`, "", true, false},
		{"", `out of memory`, "error", true, false},
		{"", `{"object":"error","message":"maximum context length is 10","code":400}`, "", false, true},
		{`{"choices":[{"delta":{},"finish_reason":"length"}]}`, `{"error":{"message":"Token limit reached","code":400}}`, "", false, false},
	} {
		d := New(Dialect{Name: "h"}, nil).Decoder()
		if c.before != "" {
			must.Done(t)(d.Event("", []byte(c.before)))
		}
		_, err := d.Event(c.name, []byte(c.event))
		var f *fault.Error
		if !errors.As(err, &f) || f.Category != fault.Provider {
			t.Errorf("%s: %v", c.event, err)
			continue
		}
		if f.Retryable != c.retry || errors.Is(err, fault.ErrContextLength) != c.tooLong {
			t.Errorf("%s: retryable %v, too long %v: %v", c.event, f.Retryable, !c.tooLong, err)
		}
	}
}

// SPEC 3.2: a host that says itself that the reply was broken off, or its call lost, is asked
// again; half a reply ends no turn.
func TestBrokenOff(t *testing.T) {
	for _, finish := range []string{"error", "insufficient_system_resource", "network_error", "malformed_function_call", "MALFORMED_FUNCTION_CALL"} {
		d := New(Dialect{Name: "h"}, nil).Decoder()
		must.Done(t)(d.Event("", []byte(`{"choices":[{"delta":{"content":"I will edit it."},"finish_reason":"`+finish+`"}]}`)))
		_, err := d.End()
		if f := (*fault.Error)(nil); !errors.As(err, &f) || !f.Retryable {
			t.Errorf("%s: %v", finish, err)
		}
	}
}

// SPEC 5.1: finish reasons in pawl's words.
func TestStop(t *testing.T) {
	for _, c := range []struct {
		finish         string
		refused, calls bool
		want           llm.Stop
	}{
		{"stop", false, false, llm.StopEnd},
		{"stop", false, true, llm.StopCalls},
		{"", false, true, llm.StopCalls},
		{"tool_calls", false, false, llm.StopEnd},
		{"length", false, true, llm.StopLength},
		{"stop", true, false, llm.StopRefusal},
		{"content_filter", false, false, llm.StopRefusal},
		{"something new", false, false, llm.StopOther},
	} {
		if got := stop(c.finish, c.refused, c.calls); got != c.want {
			t.Errorf("%+v: %s", c, got)
		}
	}
}

// SPEC 4.4: ids that a host left out or used twice are made, once.
func TestMadeIDs(t *testing.T) {
	n := 0
	d := New(Dialect{}, func() string { n++; return fmt.Sprint("made", n) }).Decoder()
	must.Done(t)(d.Whole([]byte(`{"choices":[{"message":{"tool_calls":[{"id":"a","function":{"name":"x","arguments":"{}"}},{"function":{"name":"y","arguments":""}},{"id":"","function":{"name":"z"}}]}}]}`)))
	r := must.Get(d.End())(t)
	var got []string
	for _, c := range r.Message.Calls() {
		got = append(got, c.ID+" "+c.Name+" "+string(c.Args))
	}
	if want := "a x {};made1 y {};made2 z {}"; strings.Join(got, ";") != want {
		t.Errorf("%v", got)
	}
}

// SPEC 5.1: what Google's compatible API signs a call with goes back to it,
// and to no host that would refuse it.
func TestCallExtra(t *testing.T) {
	a := New(DialectFor("openai-compatible", "gemini-3-pro"), nil)
	d := a.Decoder()
	must.Done(t)(d.Event("", []byte(`{"choices":[{"delta":{"tool_calls":[{"id":"a","index":0,"function":{"name":"x","arguments":"{}"},"extra_content":{"google":{"thought_signature":"c2ln"}}}]},"finish_reason":"tool_calls"}]}`)))
	r := must.Get(d.End())(t)
	for host, want := range map[string]bool{"openai-compatible": true, "groq": false} {
		b, err := New(DialectFor(host, "m"), nil).Step([]llm.Message{r.Message}, false)
		if err != nil || strings.Contains(string(b), `"extra_content":{"google":{"thought_signature":"c2ln"}}`) != want {
			t.Errorf("%s: %s, %v", host, b, err)
		}
	}
}

// What was streamed is what the reply has, also where a possible tag was held
// back to the end.
func TestHeldText(t *testing.T) {
	for _, text := range []string{"<", " ", "<thin", "<think", "a<"} {
		d := New(Dialect{}, nil).Decoder()
		shown := ""
		for _, e := range []string{`{"choices":[{"delta":{"content":` + string(mustJSON(t, text)) + `}}]}`, `{"choices":[{"delta":{},"finish_reason":"stop"}]}`, "[DONE]"} {
			ds := must.Get(d.Event("", []byte(e)))(t)
			for _, x := range ds {
				shown += x.Text
			}
		}
		r, err := d.End()
		if err != nil || r.Message.Text() != text || shown != text {
			t.Errorf("%q: shown %q, replied %q, %v", text, shown, r.Message.Text(), err)
		}
	}
}

func mustJSON(t *testing.T, v any) []byte {
	t.Helper()
	b := must.Get(json.Marshal(v))(t)
	return b
}

// The key goes where the host looks for it, and nowhere without one.
func TestHeader(t *testing.T) {
	for name, want := range map[string]string{"openai": "Bearer k", "azure": ""} {
		h := http.Header{}
		New(DialectFor(name, "m"), nil).Header(h, "k")
		if h.Get("Authorization") != want || (h.Get("api-key") == "k") != (want == "") {
			t.Errorf("%s: %v", name, h)
		}
	}
	h := http.Header{}
	New(Dialect{}, nil).Header(h, "")
	if len(h) != 0 {
		t.Errorf("%v", h)
	}
}

func FuzzDecoder(f *testing.F) {
	codectest.Decoding(f, New(DialectFor("openrouter", "anthropic/x"), nil),
		`{"id":"1","model":"m","choices":[{"index":0,"delta":{"role":"assistant","content":"Hi"}}]}`+"\n"+`{"choices":[{"delta":{},"finish_reason":"stop"}],"usage":{"prompt_tokens":1}}`+"\n[DONE]",
		`{"choices":[{"delta":{"tool_calls":[{"index":1,"id":"a","function":{"name":"x","arguments":"{\"a\":"}}]}}]}`+"\n"+`{"choices":[{"delta":{"tool_calls":[{"index":1,"function":{"arguments":"1}"}}]},"finish_reason":"tool_calls"}]}`,
		`{"choices":[{"delta":{"reasoning":"a","reasoning_details":[{"type":"reasoning.text","text":"a","index":0},{"type":"reasoning.encrypted","data":"x"}]}}]}`+"\n[DONE]",
		`{"choices":[{"delta":{"content":[{"type":"thinking","thinking":[{"type":"text","text":"a"}]},{"type":"text","text":"b"},"c"]}}]}`+"\n[DONE]",
		`{"choices":[{"delta":{"content":"<think>a"},"finish_reason":"length"}],"x_groq":{"usage":{"prompt_tokens":1}}}`,
		`error|{"error":{"message":"x"}}`, `{"choices":[{"delta":{"function_call":{"name":"a","arguments":"{}"}},"finish_reason":"function_call"}]}`,
		`{"choices":[{"message":{"content":"x"},"finish_reason":"stop"}]}`)
}
