package anthropic_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 9.4: what was sent is never sent otherwise.
func TestCodec(t *testing.T) {
	t.Parallel()
	codectest.Encoding(t, anthropic.New(provider.Tuning{}), `,"cache_control":{"type":"ephemeral"}`)
}

func step(t *testing.T, mark bool, ms ...llm.Message) string {
	t.Helper()
	b := must.Get(anthropic.New(provider.Tuning{}).Step(ms, mark))(t)
	return string(b)
}

func raw(s string) llm.Part {
	return llm.Part{Kind: llm.Reasoning, Text: "x", Wire: anthropic.Name, Raw: json.RawMessage(s)}
}

// SPEC 5.1, 5.3
func TestStep(t *testing.T) {
	t.Parallel()
	call := llm.NewCall("toolu_1", "read", `{"path": "a"}`)
	odd := llm.NewCall("functions.read:0", "read", "")
	thinking := `{"type":"thinking","thinking":"<b>","signature":"a+/="}`
	for _, c := range []struct {
		name string
		mark bool
		m    llm.Message
		want string
	}{
		{
			"text", false,
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart("a"), llm.TextPart(" \n")}},
			`{"role":"user","content":[{"type":"text","text":"a"}]}`,
		},
		{"nothing to say", true, llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart("")}}, ``},
		{
			"marked", true,
			llm.Message{Role: llm.User, Parts: []llm.Part{llm.TextPart("a"), llm.TextPart("b")}},
			`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b","cache_control":{"type":"ephemeral"}}]}`,
		},
		{
			"image", false,
			llm.Message{Role: llm.User, Parts: []llm.Part{{Kind: llm.Image, Media: "image/png", Data: []byte{1, 2, 3}}, {Kind: llm.Image, Media: "image/tiff", Data: []byte{1}}}},
			`{"role":"user","content":[{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AQID"}}]}`,
		},
		{
			"thinking as it came, and a call", false,
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{raw(thinking), llm.TextPart("t"), {Kind: llm.CallPart, Call: &call}}},
			`{"role":"assistant","content":[` + thinking + `,{"type":"text","text":"t"},{"type":"tool_use","id":"toolu_1","name":"read","input":{"path": "a"}}]}`,
		},
		{
			"a mark is not on thinking", true,
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{raw(thinking), {Kind: llm.Opaque, Wire: anthropic.Name, Raw: json.RawMessage(`{"type":"x"}`)}}},
			`{"role":"assistant","content":[` + thinking + `,{"type":"x"}]}`,
		},
		{
			"thinking at the end is left out", false,
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart("t"), raw(thinking), llm.TextPart("\n")}},
			`{"role":"assistant","content":[{"type":"text","text":"t"}]}`,
		},
		{"thinking alone", false, llm.Message{Role: llm.Assistant, Parts: []llm.Part{raw(thinking)}}, ``},
		{
			"thinking of others, and parsed", false,
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.Reasoning, Text: "x", Wire: "other", Raw: json.RawMessage("{}")}, {Kind: llm.Reasoning, Text: "x", Parsed: true, Raw: json.RawMessage(`"x"`)}, llm.TextPart("t")}},
			`{"role":"assistant","content":[{"type":"text","text":"t"}]}`,
		},
		{
			"an id of another provider", false,
			llm.Message{Role: llm.Assistant, Parts: []llm.Part{{Kind: llm.CallPart, Call: &odd}}},
			`{"role":"assistant","content":[{"type":"tool_use","id":"functions_read_0_2cd90cee","name":"read","input":{}}]}`,
		},
		{
			"results stand first", false,
			llm.Message{Role: llm.Tool, Parts: []llm.Part{
				llm.TextPart("note"),
				{Kind: llm.Output, Result: &llm.Result{ID: "functions.read:0", Text: "no", Error: true}},
				{Kind: llm.Output, Result: &llm.Result{ID: "b", Text: "yes", Images: []llm.Media{{Type: "image/gif", Data: []byte{1}}}}},
				{Kind: llm.Output, Result: &llm.Result{ID: "c"}},
			}},
			`{"role":"user","content":[{"type":"tool_result","tool_use_id":"functions_read_0_2cd90cee","content":"no","is_error":true},` +
				`{"type":"tool_result","tool_use_id":"b","content":[{"type":"text","text":"yes"},{"type":"image","source":{"type":"base64","media_type":"image/gif","data":"AQ=="}}]},` +
				`{"type":"tool_result","tool_use_id":"c"},{"type":"text","text":"note"}]}`,
		},
	} {
		if got := step(t, c.mark, c.m); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// SPEC 4.16, 9.4
func TestHeadAndEnd(t *testing.T) {
	t.Parallel()
	api := anthropic.New(provider.Tuning{})
	head, err := api.Head(llm.Head{Model: "claude-x", System: "s", Tools: []llm.ToolSpec{
		{Name: "a", Doc: "A", Schema: json.RawMessage(`{"type":"object"}`)}, {Name: "b", Doc: "B", Schema: json.RawMessage(`{}`)},
	}})
	const want = `{"model":"claude-x","system":[{"type":"text","text":"s","cache_control":{"type":"ephemeral"}}],"tools":[` +
		`{"name":"a","description":"A","input_schema":{"type":"object"}},{"name":"b","description":"B","input_schema":{},"cache_control":{"type":"ephemeral"}}],` +
		`"stream":true,"messages":[`
	if err != nil || string(head) != want {
		t.Errorf("%v\n got %s\nwant %s", err, head, want)
	}
	if _, err := api.Head(llm.Head{Tools: []llm.ToolSpec{{Name: "a", Schema: json.RawMessage(`{`)}}}); err == nil {
		t.Error("a schema that is not JSON was sent")
	}
	both := provider.Tuning{Think: provider.ByBoth, KeepThinking: true}
	for _, c := range []struct {
		tuning provider.Tuning
		effort string
		limit  int
		want   string
	}{
		{provider.Tuning{}, "", 0, `],"max_tokens":32000}`},
		{provider.Tuning{}, "max", 100, `],"max_tokens":100,"thinking":{"type":"adaptive"},"output_config":{"effort":"max"}}`},
		{provider.Tuning{Binds: true, Display: "updates"}, "low", 9, `],"max_tokens":9,"thinking":{"type":"adaptive","display":"updates","block_binding":{"prefix_mismatch_behavior":"drop_block"}},"output_config":{"effort":"low"}}`},
		{provider.Tuning{Binds: true}, "", 9, `],"max_tokens":9}`},
		{provider.Tuning{Think: provider.ByBudget}, "medium", 64000, `],"max_tokens":64000,"thinking":{"type":"enabled","budget_tokens":8192}}`},
		{provider.Tuning{Think: provider.ByBudget}, "high", 64000, `],"max_tokens":64000,"thinking":{"type":"enabled","budget_tokens":31999}}`},
		{provider.Tuning{Think: provider.ByBudget}, "high", 10000, `],"max_tokens":10000,"thinking":{"type":"enabled","budget_tokens":5000}}`},
		{provider.Tuning{Think: provider.ByBudget}, "high", 2000, `],"max_tokens":2000}`},
		{both, "low", 9000, `],"max_tokens":9000,"thinking":{"type":"enabled","budget_tokens":2048},"output_config":{"effort":"low"},"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}}`},
		{provider.Tuning{Think: provider.Never}, "high", 9000, `],"max_tokens":9000}`},
	} {
		end, ok := anthropic.New(c.tuning).(provider.Ender)
		if !ok {
			t.Fatal("no end")
		}
		if got := string(end.End(llm.Head{Effort: c.effort}, llm.Tail{MaxTokens: c.limit})); got != c.want {
			t.Errorf("%+v %s: %s, want %s", c.tuning, c.effort, got, c.want)
		}
	}
	// SPEC 17.6: a task's budget goes with the requests of the conversation, with or without an effort.
	paced := anthropic.New(provider.Tuning{TaskBudget: 30000}).(provider.Ender)
	for head, want := range map[string]string{
		"low": `],"max_tokens":9,"thinking":{"type":"adaptive"},"output_config":{"effort":"low","task_budget":{"type":"tokens","total":30000}}}`,
		"":    `],"max_tokens":9,"output_config":{"task_budget":{"type":"tokens","total":30000}}}`,
	} {
		tools := []llm.ToolSpec{{Name: "a"}}
		if got := string(paced.End(llm.Head{Effort: head, Tools: tools}, llm.Tail{MaxTokens: 9})); got != want {
			t.Errorf("%q: %s, want %s", head, got, want)
		}
		if got := string(paced.End(llm.Head{Effort: head}, llm.Tail{MaxTokens: 9})); strings.Contains(got, "task_budget") {
			t.Errorf("beside the conversation: %s", got)
		}
	}
	budgeted := anthropic.New(provider.Tuning{Think: provider.ByBudget}).(provider.Ender)
	for tail, want := range map[llm.Tail]string{
		{MaxTokens: 20_000, Thinking: 2400}:    `],"max_tokens":20000,"thinking":{"type":"enabled","budget_tokens":2400}}`, // the same however much still fits
		{MaxTokens: 4000, Thinking: 2400}:      `],"max_tokens":4000,"thinking":{"type":"enabled","budget_tokens":2400}}`,
		{MaxTokens: 64_000, Thinking: 100_000}: `],"max_tokens":64000,"thinking":{"type":"enabled","budget_tokens":31999}}`,
		{MaxTokens: 2400, Thinking: 2400}:      `],"max_tokens":2400,"thinking":{"type":"enabled","budget_tokens":1200}}`, // it must be less
	} {
		if got := string(budgeted.End(llm.Head{Effort: "high"}, tail)); got != want {
			t.Errorf("%+v: %s, want %s", tail, got, want)
		}
	}
}

func TestHeader(t *testing.T) {
	t.Parallel()
	for key, want := range map[string]string{"sk-ant-api03-x": "x-api-key", "sk-ant-oat01-x": "Authorization", "": ""} {
		h := http.Header{}
		anthropic.New(provider.Tuning{}).Header(h, key)
		for _, name := range []string{"x-api-key", "Authorization"} {
			if (h.Get(name) != "") != (name == want) {
				t.Errorf("%q: %v", key, h)
			}
		}
		anthropic.New(provider.Tuning{Betas: []string{"a", "b"}}).Header(h, key)
		if got := h.Get("anthropic-beta"); !strings.HasSuffix(got, "a,b") || strings.HasPrefix(got, "oauth") != (want == "Authorization") {
			t.Errorf("%q: betas %s", key, got)
		}
	}
}

// What the API's own stream may do beyond the recordings.
func TestDecoder(t *testing.T) {
	t.Parallel()
	const start = `{"type":"message_start","message":{"id":"m","model":"c","usage":{"input_tokens":5,"output_tokens":1}}}`
	const stop = `{"type":"message_stop"}`
	read := func(events ...string) (llm.Reply, string, error) {
		d := anthropic.New(provider.Tuning{}).Decoder()
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
	if _, _, err := read(start, `{"type":"message_delta","delta":{"stop_reason":"end_turn"}}`); err == nil || !fault.Retryable(err) {
		t.Errorf("without its stop: %v", err)
	}
	r, text, err := read(start, `{"type":"new_thing","x":1}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"no start"}}`,
		`{"type":"content_block_delta","index":7,"delta":{"type":"input_json_delta","partial_json":"{"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"new_delta"}}`, stop, start, `{"type":"error","error":{}}`)
	if err != nil || r.Message.Text() != "no start" || text != "no start" {
		t.Errorf("events out of place: %+v %q %v", r, text, err)
	}
	r, _, err = read(start, `{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"t","name":"edit","input":{}}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"input_json_delta","partial_json":"{\"a\": \"cut of"}}`,
		`{"type":"content_block_stop","index":0}`, `{"type":"message_delta","delta":{"stop_reason":"max_tokens"},"usage":{"output_tokens":9}}`, stop)
	if calls := r.Message.Calls(); err != nil || r.Stop != llm.StopLength || len(calls) != 1 || calls[0].Bad == "" || string(calls[0].Args) != "{}" ||
		calls[0].Sent != `{"a": "cut of` || r.Usage.Output != 9 || r.Usage.Input != 5 {
		t.Errorf("cut arguments: %+v %v", r, err)
	}
	r, text, err = read(start, `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":"<thin"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"king>why</thinking> so"}}`, stop)
	if p := r.Message.Parts; err != nil || len(p) != 2 || !p[0].Parsed || p[0].Text != "why" || p[1].Text != "so" || text != "so" {
		t.Errorf("thinking in the text: %+v %q %v", r, text, err)
	}
	r, _, err = read(start, `{"type":"content_block_start","index":0,"content_block":{"type":"compaction","content":null}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":"a \"b"}}`,
		`{"type":"content_block_delta","index":0,"delta":{"type":"compaction_delta","content":" c","n": 1}}`, stop)
	if p := r.Message.Parts; err != nil || len(p) != 1 || string(p[0].Raw) != `{"type":"compaction","content":"a \"b c","n":1}` {
		t.Errorf("a block of a new kind: %+v %v", r, err)
	}
	for reason, want := range map[string]llm.Stop{"pause_turn": llm.StopPaused, "refusal": llm.StopRefusal, "model_context_window_exceeded": llm.StopLength, "stop_sequence": llm.StopEnd, "new": llm.StopOther} {
		r, _, err := read(start, `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"}}`, stop)
		if err != nil || r.Stop != want || r.Finish != reason {
			t.Errorf("%s: %+v %v", reason, r, err)
		}
	}
	f := anthropic.New(provider.Tuning{}).Error("anthropic", 400, nil, []byte(`{"type":"error","error":{"type":"invalid_request_error","message":"prompt is too long: 9 tokens > 8 maximum"}}`))
	if !errors.Is(f, fault.ErrContextLength) || f.Retryable || !strings.Contains(f.Message, "prompt is too long") {
		t.Errorf("%+v", f)
	}
}

func FuzzDecoder(f *testing.F) {
	codectest.Decoding(f, anthropic.New(provider.Tuning{}),
		`{"type":"message_start","message":{"content":[]}}`+"\n"+`{"type":"content_block_start","index":0,"content_block":{"type":"text"}}`+"\n"+
			`{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"<think>a"}}`+"\n"+`{"type":"message_stop"}`,
		`{"type":"message","content":[{"type":"tool_use","input":{"a":1}},{"type":"thinking","thinking":"x","signature":"y"}],"usage":{}}`)
}

// SPEC 20.1: the cache lasts an hour only where that is asked for and known to be taken; all
// marks of a request are of one kind.
func TestLongCache(t *testing.T) {
	t.Parallel()
	head := llm.Head{Model: "m", System: "S", Tools: []llm.ToolSpec{{Name: "a", Schema: json.RawMessage(`{}`)}}}
	said := []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("hi")}}}
	for _, known := range []bool{true, false} {
		short := anthropic.New(provider.Tuning{LongCache: known})
		long, ok := short.(llm.Lasting).Long()
		if ok != known {
			t.Errorf("%t, want %t", ok, known)
		}
		for _, c := range []struct {
			codec llm.Codec
			want  int
		}{{short, 0}, {long, map[bool]int{true: 3}[known]}} {
			h, err := c.codec.Head(head)
			m, err2 := c.codec.Step(said, true)
			if all := string(h) + string(m); err != nil || err2 != nil || strings.Count(all, "cache_control") != 3 || strings.Count(all, `{"type":"ephemeral","ttl":"1h"}`) != c.want {
				t.Errorf("%v, %v: %s", err, err2, all)
			}
		}
	}
}
