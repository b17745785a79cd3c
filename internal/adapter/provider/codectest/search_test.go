package codectest_test

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 17.7: the makers' documented searches: how each is asked for, alone or beside
// tools, and how many were charged.
func TestServerSearch(t *testing.T) {
	search := llm.ToolSpec{Name: "web_search", Server: llm.ServerSearch}
	read := llm.ToolSpec{Name: "read", Doc: "d", Schema: []byte(`{"type":"object"}`)}
	for _, c := range []struct {
		api         provider.API
		alone, both string
		reply, text string
		searches    int64
	}{
		{
			anthropic.New(provider.Tuning{}),
			`"tools":[{"type":"web_search_20250305","name":"web_search","max_uses":5}]`,
			`{"type":"web_search_20250305","name":"web_search","max_uses":5},{"name":"read"`,
			`{"type":"message","id":"m","model":"m","stop_reason":"end_turn","content":[
{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"go"}},
{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[{"type":"web_search_result","url":"https://go.dev","title":"Go","encrypted_content":"x"}]},
{"type":"text","text":"It is 1.26."}],"usage":{"input_tokens":9,"output_tokens":5,"server_tool_use":{"web_search_requests":2}}}`,
			"It is 1.26.", 2,
		},
		{
			responses.New(responses.DialectFor("openai"), nil),
			`"tools":[{"type":"web_search"}]`, `{"type":"web_search"},{"type":"function","name":"read"`,
			`{"id":"r","model":"m","status":"completed","output":[
{"id":"ws_1","type":"web_search_call","status":"completed","action":{"type":"search","query":"go"}},
{"id":"ws_2","type":"web_search_call","status":"completed","action":{"type":"open_page","url":"https://go.dev"}},
{"id":"ws_3","type":"web_search_call","status":"completed"},
{"id":"msg_1","type":"message","role":"assistant","content":[{"type":"output_text","text":"It is 1.26.","annotations":[{"type":"url_citation","url":"https://go.dev","title":"Go"}]}]}],
"usage":{"input_tokens":9,"output_tokens":5}}`,
			"It is 1.26.", 2,
		},
		{
			gemini.New(provider.Tuning{}),
			`"tools":[{"googleSearch":{}}],`, `]},{"googleSearch":{}}],`,
			`{"candidates":[{"content":{"role":"model","parts":[{"text":"It is 1.26."}]},"finishReason":"STOP","groundingMetadata":{"webSearchQueries":["go","go 1.26"],"groundingChunks":[{"web":{"uri":"https://x","title":"go.dev"}}]}}],"usageMetadata":{"promptTokenCount":9,"candidatesTokenCount":5},"modelVersion":"m"}`,
			"It is 1.26.", 2,
		},
	} {
		alone, err := c.api.Head(llm.Head{Model: "m", Tools: []llm.ToolSpec{search}})
		if err != nil || !strings.Contains(string(alone), c.alone) {
			t.Errorf("%s: %s %v", c.api.Name(), alone, err)
		}
		both, err := c.api.Head(llm.Head{Model: "m", Tools: []llm.ToolSpec{search, read}})
		if err != nil || !strings.Contains(string(both), c.both) {
			t.Errorf("%s: %s %v", c.api.Name(), both, err)
		}
		d := c.api.Decoder()
		if _, err := d.Whole([]byte(c.reply)); err != nil {
			t.Errorf("%s: %v", c.api.Name(), err)
			continue
		}
		r, err := d.End()
		if err != nil || r.Message.Text() != c.text || r.Usage.Searches != c.searches {
			t.Errorf("%s: %+v %v", c.api.Name(), r, err)
		}
		price := &llm.Price{Input: 1, Output: 1, Search: 0.01}
		if cost := llm.Cost(price, r.Usage); cost == nil || *cost < 0.02 || *cost > 0.0201 {
			t.Errorf("%s: costs %v", c.api.Name(), cost)
		}
	}
	// An API that cannot search reports that, rather than offering a tool that nobody runs.
	for name, api := range apis() {
		if strings.HasPrefix(name, "chat") || name == "ollama" {
			if _, err := api.Head(llm.Head{Model: "m", Tools: []llm.ToolSpec{search}}); err == nil {
				t.Errorf("%s takes it", name)
			}
		}
	}
}
