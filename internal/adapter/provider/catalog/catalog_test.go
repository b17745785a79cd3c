package catalog

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// env makes an environment of name=value pairs.
func env(pairs ...string) func(string) string {
	m := map[string]string{}
	for _, p := range pairs {
		k, v, _ := strings.Cut(p, "=")
		m[k] = v
	}
	return func(k string) string { return m[k] }
}

// SPEC 5.1, 5.2: who chooses, in which order, and what the names mean.
func TestResolve(t *testing.T) {
	for _, c := range []struct {
		name string
		want Want
		ref  string // provider/model, or the error's beginning
		api  string
		from string
		why  string
	}{
		{"a flag", Want{Flag: "openai/gpt-5", Env: env("OPENAI_API_KEY=k", "PAWL_MODEL=gemini", "ANTHROPIC_API_KEY=k")}, "openai/gpt-5", "openai-responses", "api.openai.com", "flag"},
		{"PAWL_MODEL", Want{Env: env("OPENAI_API_KEY=k", "PAWL_MODEL=gpt-5"), Config: Config{Model: "offline"}}, "openai/gpt-5", "openai-responses", "api.openai.com", "PAWL_MODEL"},
		{"configuration", Want{Env: env("ANTHROPIC_API_KEY=k"), Config: Config{Model: "anthropic/claude-opus-4-5"}}, "anthropic/claude-opus-4-5", "anthropic-messages", "api.anthropic.com", "configuration"},
		{"the first key", Want{Env: env("GROQ_API_KEY=k", "GEMINI_API_KEY=k")}, "gemini/gemini-3.8-flash", "google-generate-content", "generativelanguage.googleapis.com", "GEMINI_API_KEY is set"},
		{"a token", Want{Env: env("ANTHROPIC_AUTH_TOKEN=k")}, "anthropic/claude-sonnet-5-5", "anthropic-messages", "api.anthropic.com", "ANTHROPIC_AUTH_TOKEN is set"},
		{"the second name of a key", Want{Env: env("GOOGLE_API_KEY=k")}, "gemini/gemini-3.8-flash", "google-generate-content", "generativelanguage.googleapis.com", "GOOGLE_API_KEY is set"},
		{"a key of blanks is none", Want{Env: env("ANTHROPIC_API_KEY= ", "GROQ_API_KEY=k")}, "groq/openai/gpt-oss-120b", "openai-chat-completions", "api.groq.com", "GROQ_API_KEY is set"},
		{"a key set for downloads", Want{Env: env("HF_TOKEN=k")}, "no model is configured", "", "", ""},
		{"nothing", Want{Env: env()}, "no model is configured", "", "", ""},
		{"no environment", Want{}, "no model is configured", "", "", ""},
		{"a router's key alone", Want{Env: env("TOGETHER_API_KEY=k")}, "TOGETHER_API_KEY is set, but no model of together is chosen", "", "", ""},
		{"offline", Want{Flag: "offline", Env: env()}, "offline", "offline", "this process", "flag"},
		{"offline with a model", Want{Flag: "offline/big", Env: env()}, "the offline model has no variants", "", "", ""},
		{"a provider alone", Want{Flag: "openrouter", Env: env("OPENROUTER_API_KEY=k")}, "openrouter/anthropic/claude-sonnet-5.5", "openai-chat-completions", "openrouter.ai", "flag"},
		{"another name for it", Want{Flag: "google", Env: env("GEMINI_API_KEY=k")}, "gemini/gemini-3.8-flash", "google-generate-content", "generativelanguage.googleapis.com", "flag"},
		{"a provider without a default", Want{Flag: "ollama/", Env: env()}, "no model of ollama is chosen", "", "", ""},
		{"no key", Want{Flag: "mistral/devstral-medium-latest", Env: env()}, "mistral/devstral-medium-latest needs a key", "", "", ""},
		{"an unknown model", Want{Flag: "qwen9", Env: env("OPENAI_API_KEY=k")}, `unknown model "qwen9": pawl does not know which provider has it`, "", "", ""},
		{"a router's name", Want{Flag: "meta-llama/llama-4", Env: env("OPENROUTER_API_KEY=k")}, "openrouter/meta-llama/llama-4", "openai-chat-completions", "openrouter.ai", "flag"},
		{"a new model of a known maker", Want{Flag: "claude-opus-9", Env: env("ANTHROPIC_API_KEY=k")}, "anthropic/claude-opus-9", "anthropic-messages", "api.anthropic.com", "flag"},
		{"a short name", Want{Flag: "sonnet", Env: env("ANTHROPIC_API_KEY=k")}, "anthropic/claude-sonnet-5-5", "anthropic-messages", "api.anthropic.com", "flag"},
		{"one in capitals, with a long window", Want{Flag: "Opus[1m]", Env: env("ANTHROPIC_API_KEY=k", "OPENROUTER_API_KEY=k")}, "anthropic/claude-opus-5-5", "anthropic-messages", "api.anthropic.com", "flag"},
		{"one behind its provider", Want{Flag: "anthropic/haiku", Env: env("ANTHROPIC_API_KEY=k")}, "anthropic/claude-haiku-5-5", "anthropic-messages", "api.anthropic.com", "flag"},
		{"one through a router", Want{Flag: "sonnet", Env: env("OPENROUTER_API_KEY=k")}, "openrouter/anthropic/claude-sonnet-5.5", "openai-chat-completions", "openrouter.ai", "flag"},
		{"one without a key", Want{Flag: "flash", Env: env("OPENAI_API_KEY=k")}, "gemini/gemini-3.8-flash needs a key", "", "", ""},
		{"one that another's server has", Want{Flag: "sonnet", Env: env("PAWL_BASE_URL=http://box:8000/v1", "ANTHROPIC_API_KEY=k")}, "openai-compatible/sonnet", "openai-chat-completions", "box:8000", "flag"},
		{"another maker's", Want{Flag: "openai/sonnet", Env: env("OPENAI_API_KEY=k")}, "openai/sonnet", "openai-responses", "api.openai.com", "flag"},
		{"a server of one's own", Want{Flag: "qwen9", Env: env("PAWL_BASE_URL=http://box:8000/v1/")}, "openai-compatible/qwen9", "openai-chat-completions", "box:8000", "flag"},
		{"its model not named", Want{Env: env("PAWL_BASE_URL=http://box:8000/v1", "OPENAI_API_KEY=k")}, "PAWL_BASE_URL is set, but no model", "", "", ""},
		{"its address not named", Want{Flag: "openai-compatible/x", Env: env()}, "the address of openai-compatible is not known", "", "", ""},
		{"a server in OpenAI's place", Want{Flag: "openai/gpt-5", Env: env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:9/v1")}, "openai/gpt-5", "openai-responses", "127.0.0.1:9", "flag"},
		{"an address of one API", Want{Flag: "openai-compatible/gpt-5", Env: env("PAWL_BASE_URL=http://127.0.0.1:9/chat/completions")}, "openai-compatible/gpt-5", "openai-chat-completions", "127.0.0.1:9", "flag"},
		{"an address of the other", Want{Flag: "openai-compatible/qwen9", Env: env("PAWL_BASE_URL=http://127.0.0.1:9/v2/responses")}, "openai-compatible/qwen9", "openai-responses", "127.0.0.1:9", "flag"},
		{"an older model there", Want{Flag: "openai/gpt-4.1", Env: env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:9/v1")}, "openai/gpt-4.1", "openai-chat-completions", "127.0.0.1:9", "flag"},
		{"the newer API by name", Want{Flag: "openai-responses/gpt-5", Env: env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:9/v1")}, "openai-responses/gpt-5", "openai-responses", "127.0.0.1:9", "flag"},
		{"azure", Want{Flag: "azure/gpt-5", Env: env("AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://r.openai.azure.com/")}, "azure/gpt-5", "openai-responses", "r.openai.azure.com", "flag"},
		{"azure without an address", Want{Flag: "azure/gpt-5", Env: env("AZURE_OPENAI_API_KEY=k")}, "the address of azure is not known", "", "", ""},
		{"a local server", Want{Flag: "ollama/qwen3:8b", Env: env()}, "ollama/qwen3:8b", "ollama-native", "127.0.0.1:11434", "flag"},
		{"a model with slashes", Want{Flag: "lmstudio/zai-org/glm-4.7-flash", Env: env()}, "lmstudio/zai-org/glm-4.7-flash", "openai-chat-completions", "127.0.0.1:1234", "flag"},
	} {
		got, err := Resolve(c.want)
		if err != nil {
			var f *fault.Error
			if !errors.As(err, &f) || f.Category != fault.Configuration || f.Hint == "" || !strings.HasPrefix(f.Message, c.ref) {
				t.Errorf("%s: %v", c.name, err)
			}
			if errors.Is(err, ErrNone) != (c.ref == "no model is configured") {
				t.Errorf("%s: ErrNone is %v", c.name, errors.Is(err, ErrNone))
			}
			continue
		}
		if got.Info.Ref() != c.ref || got.Info.API != c.api || got.Info.From != c.from || got.Why != c.why {
			t.Errorf("%s: %s by %s from %s (%s)", c.name, got.Info.Ref(), got.Info.API, got.Info.From, got.Why)
		}
	}
}

// SPEC 5.5: the price of a known model behind another address is its maker's
// list price, and is called so.
func TestListPrices(t *testing.T) {
	for _, c := range []struct {
		ref  string
		env  func(string) string
		cfg  Config
		list bool
	}{
		{"anthropic/claude-sonnet-4-5", env("ANTHROPIC_API_KEY=k"), Config{}, false},
		{"anthropic/claude-sonnet-4-5", env("ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=https://api.anthropic.com"), Config{}, false},
		{"anthropic/claude-sonnet-4-5", env("ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=http://proxy"), Config{}, true},
		{"anthropic/claude-sonnet-4-5", env("ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=http://proxy"), Config{Models: map[string]Override{"claude-sonnet-4-5": {Price: &llm.Price{Input: 1}}}}, false},
		{"openai-compatible/gpt-4o-mini", env("PAWL_BASE_URL=http://127.0.0.1:4000/v1"), Config{}, true},
		{"openai-compatible/unheard-of", env("PAWL_BASE_URL=https://gateway.test/v1"), Config{}, false},
		{"openrouter/anthropic/claude-sonnet-4.5", env("OPENROUTER_API_KEY=k"), Config{}, false},
		{"ollama/llama3", env(), Config{}, false},
		{"offline", env(), Config{}, false},
	} {
		got, err := Resolve(Want{Flag: c.ref, Env: c.env, Config: c.cfg})
		if err != nil || got.Info.ListPrice != c.list {
			t.Errorf("%s: %v, %v", c.ref, got.Info.ListPrice, err)
		}
	}
}

// SPEC 5.5: prices are known, unknown, or nothing; unknown is never nothing.
func TestPrices(t *testing.T) {
	keys := env("ANTHROPIC_API_KEY=k", "OPENAI_API_KEY=k", "OPENROUTER_API_KEY=k", "GROQ_API_KEY=k", "GEMINI_API_KEY=k")
	free, own := &llm.Price{}, &llm.Price{Input: 7}
	sonnet := &llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}
	mini := &llm.Price{Input: 0.15, Output: 0.6, CacheRead: 0.075, CacheWrite: 0.15}
	searching := func(p llm.Price, usd float64) *llm.Price { // at the maker's own address, which searches the web
		p.Search = usd
		return &p
	}
	lasting := func(p *llm.Price, usd float64) *llm.Price { // which also keeps its cache for an hour
		p.CacheLong = usd
		return p
	}
	cfg := Config{Models: map[string]Override{
		"groq/x": {Price: own, Window: 1000, MaxOutput: 10}, "y": {Window: 5}, "groq/y": {Window: 6},
	}}
	for _, c := range []struct {
		ref    string
		env    func(string) string
		price  *llm.Price
		window int
		family string
	}{
		{"anthropic/claude-sonnet-4-5-20250929", keys, lasting(searching(*sonnet, 0.01), 6), 200_000, "claude"},
		{"anthropic/claude-sonnet-4-5", env("ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=http://proxy"), sonnet, 200_000, "claude"},
		{"anthropic/claude-opus-4-9", env("ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL=http://proxy"), nil, 200_000, "claude"},
		{"openai/gpt-4o-mini", env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=https://gateway.test/v1"), mini, 128_000, "gpt"},
		{"openai/gpt-4o-mini", env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:4000/v1"), mini, 128_000, "gpt"},
		{"openai/claude-sonnet-4-5", env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=http://127.0.0.1:4000/v1"), nil, 200_000, "claude"},
		{"openai-chat/gpt-4o-mini", env("OPENAI_API_KEY=k", "OPENAI_BASE_URL=https://gateway.test/v1"), mini, 128_000, "gpt"},
		{"openrouter/anthropic/claude-sonnet-4.5", env("OPENROUTER_API_KEY=k", "OPENROUTER_BASE_URL=https://gateway.test/v1"), sonnet, 200_000, "claude"},
		{"azure/gpt-4o-mini", env("AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT=https://mine.openai.azure.com"), mini, 128_000, "gpt"},
		{"openai-compatible/anthropic/claude-sonnet-4-5", env("PAWL_BASE_URL=https://gateway.test/v1"), sonnet, 0, "claude"},
		{"openai-compatible/gpt-4o-mini", env("PAWL_BASE_URL=http://127.0.0.1:4000/v1"), mini, 0, "gpt"},
		{"openai-compatible/codestral", env("PAWL_BASE_URL=http://127.0.0.1:8000/v1"), nil, 0, "other"},
		{"openai-compatible/unheard-of", env("PAWL_BASE_URL=https://gateway.test/v1"), nil, 0, "other"},
		{"openrouter/anthropic/claude-sonnet-4.5", keys, sonnet, 200_000, "claude"},
		{"openai/gpt-4o-mini-2024-07-18", keys, searching(*mini, 0.01), 128_000, "gpt"},
		{"openai-chat/gpt-4o-mini", keys, mini, 128_000, "gpt"},
		{"openai/gpt-5-pro", keys, nil, 272_000, "gpt"},
		{"openai/gpt-77", keys, nil, 0, "gpt"},
		{"anthropic/claude-opus-4-9", keys, nil, 200_000, "claude"},
		{"gemini/gemini-9-pro", keys, nil, 1_048_576, "gemini"},
		{"groq/openai/gpt-oss-120b", keys, nil, 131_072, "gpt"},
		{"groq/unheard-of", keys, nil, 0, "other"},
		{"groq/x", keys, own, 1000, "other"},
		{"groq/y", keys, nil, 6, "other"},
		{"ollama/llama3", env(), free, 32768, "other"},
		{"ollama/llama3", env("OLLAMA_CONTEXT_LENGTH=8192"), free, 8192, "other"},
		{"ollama/gpt-oss:120b-cloud", env(), nil, 32768, "gpt"},
		{"ollama/llama3", env("OLLAMA_HOST=http://far:11434"), nil, 32768, "other"},
		{"lmstudio/x", env("LMSTUDIO_BASE_URL=http://localhost:9/v1"), free, 0, "other"},
		{"offline", env(), free, 0, "other"},
	} {
		got, err := Resolve(Want{Flag: c.ref, Env: c.env, Config: cfg})
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		if p := got.Info.Price; (p == nil) != (c.price == nil) || p != nil && *p != *c.price {
			t.Errorf("%s: price %v, want %v", c.ref, p, c.price)
		}
		if got.Info.Window != c.window || got.Info.Family != c.family {
			t.Errorf("%s: window %d, family %s", c.ref, got.Info.Window, got.Info.Family)
		}
	}
}

// SPEC 5.5: what the tables say is complete: a default model has a price or is
// known to have none, and no price is half a price.
func TestTables(t *testing.T) {
	names := map[string]bool{}
	for _, r := range providers {
		if names[r.name] || alias(r.name) != r.name {
			t.Errorf("%s is there twice, or another's alias", r.name)
		}
		names[r.name] = true
		if r.base != "" {
			if u, err := url.Parse(r.base); err != nil || u.Host == "" || r.kind != local && u.Scheme != "https" {
				t.Errorf("%s: base %q", r.name, r.base)
			}
		}
	}
	if !regexp.MustCompile(`^# Written by go run ./bench/models: charm.land/catwalk v\S+ of 20\d\d-\d\d-\d\d`).MatchString(table) {
		t.Error("the table has no date")
	}
	seen := map[string]bool{}
	for _, m := range models() {
		if seen[m.name] {
			t.Errorf("%s is there twice", m.name)
		}
		seen[m.name] = true
		if m.home != "" && !names[m.home] {
			t.Errorf("%s is at home nowhere", m.name)
		}
		if err := implausible(m); err != "" {
			t.Errorf("%s: %s: %+v", m.name, err, m)
		}
	}
	// A column that slips, a price for a thousand tokens or for one: what a catalogue gets wrong.
	fine := llm.Price{Input: 2, Output: 10, CacheRead: 0.2, CacheWrite: 2.5}
	for _, p := range []llm.Price{{}, {Input: 10, Output: 2, CacheRead: 0.2, CacheWrite: 2}, {Input: 2, Output: 10, CacheRead: 2.5, CacheWrite: 2}, {Input: 2, Output: 10, CacheWrite: 2}, {Input: 0.002, Output: 0.01, CacheRead: 0.0002, CacheWrite: 0.002}, {Input: 2, Output: 10, CacheRead: 0.2, CacheWrite: 0.2}} {
		if implausible(model{window: 1_000_000, priced: true, price: p}) == "" {
			t.Errorf("%+v is plausible", p)
		}
	}
	for _, m := range []model{{window: 2000, priced: true, price: fine}, {window: 200_000, output: 300_000}, {window: 200_000, price: fine}} {
		if implausible(m) == "" {
			t.Errorf("%+v is plausible", m)
		}
	}
}

// implausible says why a row of the table cannot be right, "" if it can.
func implausible(m model) string {
	p := m.price
	switch {
	case m.window != 0 && (m.window < 60_000 || m.window > 10_000_000) || m.window != 0 && m.output > m.window:
		return "the window"
	case m.priced && (p.Input < 0.02 || p.Input > 50 || p.Output < p.Input || p.Output > 10*p.Input):
		return "the price"
	case m.priced && (p.CacheRead <= 0 || p.CacheRead > p.Input || p.CacheWrite < p.Input || p.CacheWrite > 2*p.Input):
		return "the price of the cache"
	case !m.priced && p != (llm.Price{}):
		return "a price of what is not priced"
	}
	return ""
}

// SPEC 16.7: a key is in no text that a choice can become.
func TestKeyIsNotShown(t *testing.T) {
	const key = "sk-very-secret-0123456789"
	c := must.Get(Resolve(Want{Flag: "openai/gpt-5", Env: env("OPENAI_API_KEY=" + key)}))(t)
	encoded := must.Get(json.Marshal(c))(t)
	type holder struct {
		c Choice
		P *Choice
	}
	texts := []string{string(encoded), c.String()}
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
		texts = append(texts, fmt.Sprintf(verb, c), fmt.Sprintf(verb, &c), fmt.Sprintf(verb, holder{c, &c}), fmt.Sprintf(verb, []Choice{c}))
	}
	for _, s := range texts {
		if strings.Contains(s, key) || strings.Contains(s, fmt.Sprintf("%x", key)) {
			t.Errorf("the key is in %s", s)
		}
	}
}

// SPEC 5.1, 16.7: an opened model asks the right address with the key where
// that API wants it.
func TestOpen(t *testing.T) {
	type seen struct{ path, auth, key, body string }
	var last seen
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		last = seen{r.URL.Path, r.Header.Get("Authorization"), r.Header.Get("X-Api-Key") + r.Header.Get("X-Goog-Api-Key") + r.Header.Get("Api-Key"), string(body)}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":{"message":"enough"}}`)
	}))
	defer s.Close()
	for _, c := range []struct {
		ref  string
		env  func(string) string
		want seen
		has  string
	}{
		{"anthropic/m", env("ANTHROPIC_API_KEY=k", "ANTHROPIC_BASE_URL="+s.URL), seen{path: "/v1/messages", key: "k"}, `"model":"m"`},
		{"anthropic/m", env("ANTHROPIC_AUTH_TOKEN=k", "ANTHROPIC_BASE_URL="+s.URL), seen{path: "/v1/messages", auth: "Bearer k"}, `"model":"m"`},
		{"openai/gpt-5", env("OPENAI_API_KEY=k", "OPENAI_BASE_URL="+s.URL+"/v1"), seen{path: "/v1/responses", auth: "Bearer k"}, `"store":false`},
		{"openai-responses/gpt-5", env("OPENAI_API_KEY=k", "OPENAI_BASE_URL="+s.URL+"/v1"), seen{path: "/v1/responses", auth: "Bearer k"}, `"store":false`},
		{"azure/gpt-5", env("AZURE_OPENAI_API_KEY=k", "AZURE_OPENAI_ENDPOINT="+s.URL+"/"), seen{path: "/openai/v1/responses", key: "k"}, `"store":false`},
		{"zai/glm-5.2", env("ZAI_API_KEY=k", "ZAI_BASE_URL="+s.URL+"/api/paas/v4"), seen{path: "/api/paas/v4/chat/completions", auth: "Bearer k"}, `"model":"glm-5.2"`},
		{"gemini/g", env("GEMINI_API_KEY=k", "GEMINI_BASE_URL="+s.URL), seen{path: "/v1beta/models/g:streamGenerateContent", key: "k"}, `contents`},
		{"ollama/x", env("OLLAMA_HOST=" + s.URL), seen{path: "/api/chat"}, `"num_ctx":32768`},
		{"lmstudio/x", env("LMSTUDIO_BASE_URL=" + s.URL), seen{path: "/v1/chat/completions"}, `"model":"x"`},
		{"openai-compatible/x", env("PAWL_BASE_URL="+s.URL+"/v1", "PAWL_API_KEY=k"), seen{path: "/v1/chat/completions", auth: "Bearer k"}, `"model":"x"`},
	} {
		choice, err := Resolve(Want{Flag: c.ref, Env: c.env})
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		m, err := choice.Open(s.Client().Transport, nil)
		if err != nil {
			t.Errorf("%s: %v", c.ref, err)
			continue
		}
		var failed error
		for _, err := range m.Stream(t.Context(), &llm.Request{
			Head:     llm.Head{Model: choice.Info.Model},
			Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("hi")}}},
		}) {
			failed = err
		}
		if failed == nil || !strings.Contains(failed.Error(), "enough") {
			t.Errorf("%s: %v", c.ref, failed)
		}
		body := last.body
		if last.body = ""; last != c.want || !strings.Contains(body, c.has) {
			t.Errorf("%s asked %+v: %s", c.ref, last, body)
		}
	}
	offline := must.Get(Resolve(Want{Flag: "offline"}))(t)
	if _, err := offline.Open(nil, nil); err == nil {
		t.Error("the offline model was opened as a provider")
	}
	wrong, err := Resolve(Want{Flag: "openai-compatible/x", Env: env("PAWL_BASE_URL=no address")})
	if err == nil {
		_, err = wrong.Open(nil, nil)
	}
	if fault.CategoryOf(err) != fault.Configuration {
		t.Errorf("an address that is none: %v", err)
	}
}

// OLLAMA_HOST has the forms that Ollama itself takes.
func TestOllamaHost(t *testing.T) {
	for in, want := range map[string]string{
		"":                        "http://127.0.0.1:11434",
		"127.0.0.1":               "http://127.0.0.1:11434",
		"0.0.0.0:1234":            "http://127.0.0.1:1234",
		":1234":                   "http://127.0.0.1:1234",
		"1234":                    "http://127.0.0.1:1234",
		"box":                     "http://box:11434",
		"http://box:1/":           "http://box:1",
		"https://ollama.com":      "https://ollama.com:443",
		"[::1]":                   "http://[::1]:11434",
		"[::]:5":                  "http://127.0.0.1:5",
		"https://h.example/proxy": "https://h.example:443/proxy",
	} {
		r, _ := find("ollama")
		if got, name := address(r, env("OLLAMA_HOST="+in)); got != want || name != "OLLAMA_HOST" {
			t.Errorf("%q: %s", in, got)
		}
	}
}

// SPEC 5.2: `pawl models` shows for every provider whether it is usable, and if
// not, what to set.
func TestUsable(t *testing.T) {
	lines := map[string]Line{}
	for _, l := range Usable(Want{Env: env("ANTHROPIC_API_KEY=k", "TOGETHER_API_KEY=k", "AZURE_OPENAI_API_KEY=k")}) {
		lines[l.Provider] = l
	}
	for name, want := range map[string]Line{
		"anthropic":         {Usable: true, Model: "claude-sonnet-5-5", Why: "ANTHROPIC_API_KEY is set"},
		"groq":              {Model: "openai/gpt-oss-120b", Why: "set GROQ_API_KEY"},
		"gemini":            {Model: "gemini-3.8-flash", Why: "set GEMINI_API_KEY or GOOGLE_API_KEY"},
		"together":          {Usable: true, Why: "TOGETHER_API_KEY is set; name a model, -m together/MODEL"},
		"azure":             {Why: "set AZURE_OPENAI_BASE_URL or AZURE_OPENAI_ENDPOINT"},
		"openai-compatible": {Why: "set PAWL_BASE_URL to the server's address, and PAWL_API_KEY if it wants a key"},
	} {
		got := lines[name]
		if got.Usable != want.Usable || got.Model != want.Model || got.Why != want.Why {
			t.Errorf("%s: %+v", name, got)
		}
	}
	if p := lines["anthropic"].Price; p == nil || p.Input != 2 {
		t.Errorf("price %v", p)
	}
	if _, ok := lines["ollama"]; ok {
		t.Error("a local server is listed without being asked")
	}
}

// SPEC 16.7: every variable that may hold a key is known.
func TestKeyNames(t *testing.T) {
	names := strings.Join(KeyNames(), " ")
	for _, want := range []string{"ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY", "PAWL_API_KEY", "HF_TOKEN"} {
		if !strings.Contains(names, want) {
			t.Errorf("%s is missing in %s", want, names)
		}
	}
}

// SPEC 17.6: each short name is of a model in the table, and means one thing.
func TestShortNames(t *testing.T) {
	seen := map[string]bool{}
	for _, s := range shorts {
		r, ok := find(s.home)
		m, _ := lookup(s.model)
		if !ok || m.home != r.name || s.routed == "" {
			t.Errorf("%+v is not in the table", s)
		}
		for _, n := range strings.Fields(s.names) {
			if _, ok := find(n); ok || seen[n] {
				t.Errorf("%s means something else too", n)
			}
			seen[n] = true
		}
	}
}

// SPEC 17.7: a key that pawl login kept is as good as a variable, and a variable counts
// before it.
func TestKeptKeys(t *testing.T) {
	asked := map[string]int{}
	kept := func(name string) string {
		asked[name]++
		return map[string]string{"OPENROUTER_API_KEY": "kept-key-0123456789", "HOME": "/evil"}[name]
	}
	for _, c := range []struct {
		name, flag string
		env        []string
		ref, why   string
	}{
		{"alone", "", nil, "openrouter/anthropic/claude-sonnet-5.5", "pawl login kept its key"},
		{"by name", "openrouter/openai/gpt-6-sol", nil, "openrouter/openai/gpt-6-sol", "flag"},
		{"a router's short name", "sonnet", nil, "openrouter/anthropic/claude-sonnet-5.5", "flag"},
		{"a variable of another", "", []string{"GROQ_API_KEY=k"}, "openrouter/anthropic/claude-sonnet-5.5", "pawl login kept its key"},
		{"a variable of a better one", "", []string{"ANTHROPIC_API_KEY=k"}, "anthropic/claude-sonnet-5-5", "ANTHROPIC_API_KEY is set"},
		{"its own variable", "", []string{"OPENROUTER_API_KEY=k"}, "openrouter/anthropic/claude-sonnet-5.5", "OPENROUTER_API_KEY is set"},
	} {
		got, err := Resolve(Want{Flag: c.flag, Env: env(c.env...), Kept: kept})
		if err != nil || got.Info.Ref() != c.ref || got.Why != c.why {
			t.Errorf("%s: %s %v", c.name, got, err)
		}
		if strings.Contains(fmt.Sprintf("%v %+v %#v", got, got, got), "kept-key") {
			t.Errorf("%s: the key is shown", c.name)
		}
	}
	for name := range asked {
		if !slices.Contains(KeyNames(), name) {
			t.Errorf("%s was asked of the kept keys", name)
		}
	}
}

// SPEC 17.7: the cost that OpenRouter reports for a reply is used, in each of its APIs.
func TestOpenRouterCost(t *testing.T) {
	for name, c := range map[string]struct{ body, want string }{
		"its own":   {`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":0,"cost":0.42}}`, "0.42"},
		"free":      {`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":0,"cost":0}}`, "0"},
		"own key":   {`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":0,"cost":0.02,"is_byok":true,"cost_details":{"upstream_inference_cost":0.4}}}`, "0.42"},
		"not said":  {`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":0}}`, "2"},
		"something": {`{"choices":[{"message":{"content":"hi"},"finish_reason":"stop"}],"usage":{"prompt_tokens":1000000,"completion_tokens":0,"cost":"much"}}`, "2"},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, c.body) }))
		choice := must.Get(Resolve(Want{Flag: "openrouter", Env: env("OPENROUTER_API_KEY=k", "OPENROUTER_BASE_URL="+s.URL)}))(t)
		m := must.Get(choice.Open(nil, nil))(t)
		for d, err := range m.Stream(t.Context(), &llm.Request{Head: llm.Head{Model: choice.Info.Model}}) {
			if err != nil {
				t.Errorf("%s: %v", name, err)
			} else if d.Reply != nil {
				if cost := llm.Cost(choice.Info.Price, d.Reply.Usage); cost == nil || fmt.Sprintf("%.4g", *cost) != c.want {
					t.Errorf("%s: %+v", name, d.Reply.Usage)
				}
			}
		}
		s.Close()
	}
}
