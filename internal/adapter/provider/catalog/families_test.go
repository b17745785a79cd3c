package catalog

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"path"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// keys is an environment with a key for every provider, whose servers are at an address.
func keys(url string) func(string) string {
	return func(name string) string {
		switch {
		case name == "OLLAMA_CONTEXT_LENGTH", name == "AZURE_OPENAI_API_VERSION", name == "OPENAI_API_VERSION", strings.HasPrefix(name, "ANTHROPIC_DEFAULT_"), strings.HasPrefix(name, "PAWL_MODEL"):
			return ""
		case name == "AWS_REGION":
			return "us-east-1"
		case name == "GOOGLE_CLOUD_PROJECT":
			return "p"
		case name == "CLAUDE_CODE_SKIP_VERTEX_AUTH":
			return "1"
		case strings.HasSuffix(name, "_API_KEY"), name == "HF_TOKEN", name == "AWS_BEARER_TOKEN_BEDROCK":
			return "k"
		case strings.HasSuffix(name, "_BASE_URL"), strings.HasSuffix(name, "_ENDPOINT"), name == ollamaHost:
			return url
		}
		return ""
	}
}

// sent returns what a request to a model carries besides the conversation, and the
// betas. Of messages only the cache markers are kept.
func sent(t *testing.T, ref, asked string, effort func(llm.Info) string) (llm.Info, string) {
	t.Helper()
	info, at, all := request(t, ref, asked, effort, "a")
	for _, name := range []string{"model", "stream", "stream_options", "store", "anthropic_version", "usage", "options"} {
		delete(all, name)
	}
	for _, name := range []string{"messages", "input", "contents", "system", "systemInstruction", "tools"} {
		if b, err := json.Marshal(all[name]); err == nil && all[name] != nil {
			delete(all, name)
			if n := strings.Count(string(b), "cache_control"); n > 0 {
				all["marks in "+name] = n
			}
		}
	}
	if all["prompt_cache_key"] != nil {
		all["prompt_cache_key"] = "KEY"
	}
	b, err := json.Marshal(all)
	if err != nil {
		t.Error(err)
	}
	return info, path.Base(at) + " " + string(b)
}

// request returns the address and the members of a request to a model, with the betas, for
// a conversation with one tool.
func request(t *testing.T, ref, asked string, effort func(llm.Info) string, tool string) (info llm.Info, at string, all map[string]any) {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &all); err != nil {
			t.Error(err)
		}
		for _, name := range []string{"Anthropic-Beta", "X-Dashscope-Cachecontrol"} {
			if v := r.Header.Get(name); v != "" {
				all[name] = v
			}
		}
		at = r.URL.Path
		w.WriteHeader(http.StatusBadRequest)
	}))
	defer s.Close()
	own := keys(s.URL)
	c, err := Resolve(Want{Flag: ref, Effort: asked, Env: own})
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	m, err := c.Open(nil, nil)
	if err != nil {
		t.Fatalf("%s: %v", ref, err)
	}
	head := llm.Head{Model: c.Info.Model, System: "S", Effort: effort(c.Info), Tools: []llm.ToolSpec{{Name: tool, Doc: "A", Schema: json.RawMessage(`{"type":"object"}`)}}}
	for range m.Stream(t.Context(), &llm.Request{Head: head, Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("hi")}}}}) {
	}
	return c.Info, at, all
}

// The efforts of a request of the conversation, of one beside it, and of one without.
func usual(i llm.Info) string  { return i.Effort }
func beside(i llm.Info) string { return i.SideEffort }
func none(llm.Info) string     { return "" }

// SPEC 20.1: what each family is asked with, by default and beside the conversation. The
// values are those that the makers' own agents were seen to send, or document.
func TestFamilies(t *testing.T) {
	var b strings.Builder
	for _, ref := range strings.Fields(`
		anthropic/claude-opus-5-5 anthropic/claude-sonnet-5-5 anthropic/claude-haiku-5-5 anthropic/claude-fable-5-1 anthropic/claude-opus-5
		anthropic/claude-opus-4-8 anthropic/claude-sonnet-4-6 anthropic/claude-opus-4-5 anthropic/claude-sonnet-4-5-20250929 anthropic/claude-haiku-4-5
		anthropic/claude-opus-4-20250514 anthropic/claude-3-7-sonnet-20250219 anthropic/claude-3-5-haiku-20241022 anthropic/claude-opus-9 anthropic/kimi-k2
		bedrock/claude-sonnet-5-5 bedrock/claude-sonnet-4-5 vertex/claude-opus-5-5 foundry/claude-sonnet-5-5
		azure/gpt-5.5 openai-responses/gpt-5.5 openai-responses/gpt-6.1-sol openai-responses/gpt-5.6-sol openai-responses/gpt-5.6-terra openai-responses/gpt-6-sol
		openai-responses/gpt-5.1 openai-responses/gpt-5.3-codex openai-responses/gpt-5-mini openai-responses/gpt-5-chat-latest openai-responses/gpt-4.1 openai-responses/o3
		openai/gpt-5.5 openai/gpt-4.1 openai-compatible/gpt-5.6-sol openai-compatible/gpt-4.1 openai-compatible/claude-sonnet-5-5 openai-compatible/qwen3 openai/claude-opus-4-8
		azure-chat/gpt-5.4 openai-chat/gpt-5.5 anthropic/gpt-5.5 vercel/openai/gpt-5.5 vercel/anthropic/claude-opus-4.8
		gemini/gemini-2.5-pro gemini/gemini-2.5-flash-lite gemini/gemini-2.0-flash gemini/gemini-3-pro-preview gemini/gemini-3.1-pro gemini/gemini-3-flash gemini/gemini-3.8-flash gemini/gemini-2.5-flash-image
		deepseek/deepseek-v4-pro deepseek/deepseek-chat zai/glm-5.2 zai/glm-4.7 moonshot/kimi-k2.6 qwen/qwen3-coder-plus xai/grok-4.5 xai/grok-4 minimax/minimax-m2 mistral/devstral-medium-latest mistral/mistral-medium-3.5
		openrouter/anthropic/claude-sonnet-5.5 openrouter/openai/gpt-5.5 openrouter/deepseek/deepseek-v4-pro openrouter/meta-llama/llama-4 groq/openai/gpt-oss-120b
		ollama/qwen3:8b ollama/gpt-oss:20b lmstudio/x`) {
		_, params := sent(t, ref, "", usual)
		fmt.Fprintf(&b, "%s\n    %s\n", ref, params)
		if _, side := sent(t, ref, "", beside); side != params {
			fmt.Fprintf(&b, "    beside: %s\n", side)
		}
	}
	golden.File(t, "testdata/families.txt", b.String())
}

// SPEC 20.1: an effort reaches every provider, or the model's description says which one
// is asked for in its place, none included.
func TestEffortEverywhere(t *testing.T) {
	at := map[string]string{"azure": "gpt-5.5", "vercel": "anthropic/claude-opus-4.8", "qwen": "qwen3-coder-plus", "minimax": "minimax-m2", "azure-chat": "gpt-5.2", compatible: "gpt-5.2"}
	for _, r := range providers {
		if r.kind == builtin {
			continue
		}
		model := at[r.name]
		if model == "" {
			model = r.model
		}
		if model == "" {
			model = "some-model"
		}
		ref := r.name + "/" + model
		seen := map[string]string{}
		_, seen[""] = sent(t, ref, "", none)
		for _, asked := range Efforts() {
			info, params := sent(t, ref, asked, usual)
			if info.Effort != "" && params == seen[""] {
				t.Errorf("%s: the effort %s is dropped: %s", ref, info.Effort, params)
			}
			if was, ok := seen[info.Effort]; ok && was != params {
				t.Errorf("%s: %s is asked for in two ways: %s and %s", ref, info.Effort, was, params)
			}
			seen[info.Effort] = params
		}
	}
}

// SPEC 20.1: the highest level that is not above the one asked for, else the least.
// SPEC 17.6: these models are told what is left of a task's budget, at Anthropic itself.
func TestTaskBudget(t *testing.T) {
	for model, told := range map[string]bool{
		"anthropic/claude-opus-4-8": true, "anthropic/claude-opus-5-5": true, "anthropic/claude-sonnet-5-5": true, "anthropic/claude-fable-5-1": true,
		"anthropic/claude-opus-4-5": false, "anthropic/claude-sonnet-4-6": false, "anthropic/claude-haiku-4-5": false,
		"openrouter/anthropic/claude-opus-4-8": false, "openai/gpt-5.5": false, "offline": false,
	} {
		c := must.Get(Resolve(Want{Flag: model, TaskBudget: 30000, Env: func(name string) string { return map[bool]string{true: "k"}[strings.HasSuffix(name, "_API_KEY")] }}))(t)
		if c.Paced() != told {
			t.Errorf("%s: told %t, want %t", model, c.Paced(), told)
		}
	}
}

func TestNearest(t *testing.T) {
	for _, c := range []struct{ levels, asked, want string }{
		{threeLevels, "", ""},
		{"", "high", ""},
		{threeLevels, "medium", "medium"},
		{threeLevels, "xhigh", "high"},
		{threeLevels, "max", "high"},
		{threeLevels, "minimal", "low"},
		{"low medium high max", "xhigh", "high"},
		{fiveLevels, "max", "max"},
		{"low high max", "medium", "low"},
		{"high", "low", "high"},
		{"on", "max", "on"},
		{threeLevels, "a word of the configuration", "low"},
	} {
		if got := nearest(strings.Fields(c.levels), c.asked); got != c.want {
			t.Errorf("%s of %q: %q, want %q", c.asked, c.levels, got, c.want)
		}
	}
}

// Every pattern can be read, every row can be reached, and its levels are levels.
func TestFamilyRows(t *testing.T) {
	for i, f := range families {
		for _, p := range strings.Fields(f.models) {
			if _, err := path.Match(p, "x"); err != nil {
				t.Errorf("%q: %v", p, err)
			}
		}
		levels := strings.Fields(f.levels)
		for _, l := range levels {
			if nearest(Efforts(), l) != l {
				t.Errorf("%q: %s is no level", f.models, l)
			}
		}
		for _, l := range []string{f.effort, f.side} {
			if nearest(levels, l) != l {
				t.Errorf("%q: %q is not one of its levels", f.models, l)
			}
		}
		for _, before := range families[:i] {
			if before.models == f.models && (before.at == "" || before.at == f.at) {
				t.Errorf("%q is there twice", f.models)
			}
		}
	}
	if f := familyOf("anything", "anywhere"); f.levels != threeLevels || f.effort != "" {
		t.Errorf("%+v", f)
	}
}
