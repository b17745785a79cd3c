package ollama_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider/codectest"
	"github.com/pawl-agent/pawl/internal/adapter/provider/ollama"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 5.1, 5.3, 4.8: the exact words of a conversation.
func TestEncode(t *testing.T) {
	a := ollama.New(8192, nil)
	head := llm.Head{Model: "qwen3", System: "Be brief.", Tools: []llm.ToolSpec{{Name: "read", Doc: "Reads.", Schema: json.RawMessage(`{"type":"object"}`)}}}
	h := must.Get(a.Head(head))(t)
	step := must.Get(a.Step([]llm.Message{
		{Role: llm.User, Parts: []llm.Part{llm.TextPart("Look"), {Kind: llm.Image, Media: "image/png", Data: []byte{1}}}},
		{Role: llm.Assistant, Parts: []llm.Part{
			{Kind: llm.Reasoning, Text: "Hmm", Wire: ollama.Name},
			{Kind: llm.Reasoning, Text: "not mine", Wire: "another"},
			{Kind: llm.Reasoning, Text: "cut out", Parsed: true},
			{Kind: llm.CallPart, Call: &llm.Call{ID: "c1", Name: "read", Args: json.RawMessage(`{"path": "a"}`)}},
		}},
		{Role: llm.Tool, Parts: []llm.Part{
			{Kind: llm.Output, Result: &llm.Result{ID: "c1", Name: "read", Text: "no such file", Error: true}},
			llm.TextPart("Half of the window is used."),
		}},
	}, true))(t)
	got := string(bytes.Join([][]byte{h, step, a.End(head, llm.Tail{MaxTokens: 100})}, nil))
	want := `{"model":"qwen3","tools":[{"type":"function","function":{"name":"read","description":"Reads.","parameters":{"type":"object"}}}],"messages":[{"role":"system","content":"Be brief."},` +
		`{"role":"user","content":"Look","images":["AQ=="]},` +
		`{"role":"assistant","content":"","thinking":"Hmm","tool_calls":[{"id":"c1","function":{"name":"read","arguments":{"path": "a"}}}]},` +
		`{"role":"tool","tool_name":"read","tool_call_id":"c1","content":"[error] no such file"},` +
		`{"role":"user","content":"Half of the window is used."}` +
		`],"stream":true,"options":{"num_ctx":8192,"num_predict":100}}`
	if got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// SPEC 5.1: thinking is asked for in the words the model has.
func TestEffort(t *testing.T) {
	a := ollama.New(0, nil)
	for effort, want := range map[string]string{"low": `"think":"low"`, ollama.Thinks: `"think":true`} {
		if got := string(a.End(llm.Head{Effort: effort}, llm.Tail{})); !strings.Contains(got, want) {
			t.Errorf("%s: %s", effort, got)
		}
	}
	if got := string(a.Tail(llm.Tail{})); got != `],"stream":true}` {
		t.Error(got)
	}
}

// SPEC 3.2: the error for a missing model tells how to get it.
func TestError(t *testing.T) {
	f := ollama.New(0, nil).Error("ollama", http.StatusNotFound, http.Header{}, []byte(`{"error":"model 'x' not found"}`))
	if f.Retryable || f.Status != 404 || !strings.Contains(f.Hint, "ollama pull") || !strings.Contains(f.Message, "model 'x' not found") {
		t.Errorf("%+v", f)
	}
}

// SPEC 9.4: encoding is pure.
func TestCodec(t *testing.T) { codectest.Encoding(t, ollama.New(4096, nil), "") }

func FuzzDecoder(f *testing.F) {
	codectest.Decoding(f, ollama.New(0, nil),
		`{"model":"m","message":{"role":"assistant","content":"Hi"},"done":false}`+"\n"+`{"message":{"content":""},"done":true,"done_reason":"stop","eval_count":3}`,
		`{"message":{"thinking":"x","tool_calls":[{"function":{"name":"a","arguments":{}}},{"id":"1","function":{"name":"b","arguments":"{'a':1}"}}]}}`+"\n"+`{"done":true}`,
		`{"error":"x"}`, `{"message":{"content":"<think>a"},"done":"true"}`, `{"message":[],"done":true}`)
}
