package catalog

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync"
	"testing"
)

// server answers paths with bodies, and notes what it was asked.
func server(t *testing.T, answers map[string]string) (url string, asked func() []string) {
	t.Helper()
	var mu sync.Mutex
	var log []string
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		mu.Lock()
		log = append(log, r.Method+" "+r.URL.Path+string(body)+strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
		mu.Unlock()
		if a, ok := answers[r.URL.Path]; ok {
			_, _ = io.WriteString(w, a)
			return
		}
		w.WriteHeader(http.StatusNotFound)
	}))
	t.Cleanup(s.Close)
	return s.URL, func() []string { mu.Lock(); defer mu.Unlock(); return log }
}

// Issue 2, point 7: local servers are recognised by their answer, by GETs
// without content, and an open port with another answer is not listed.
func TestProbe(t *testing.T) {
	ollama := map[string]string{"/api/version": `{"version":"0.12.3"}`, "/api/tags": `{"models":[{"name":"qwen3:8b"},{"name":"bad name\u001b"},{"name":""}]}`}
	studio := map[string]string{"/api/v0/models": `{"object":"list","data":[{"id":"glm-4.7-flash","type":"llm","object":"model"},{"id":"nomic","type":"embeddings"}]}`}
	oldStudio := map[string]string{"/v1/models": `{"object":"list","data":[{"id":"qwen","object":"model","owned_by":"organization_owner"}]}`}
	llama := map[string]string{"/props": `{"default_generation_settings":{"n_ctx":4096}}`, "/v1/models": `{"object":"list","data":[{"id":"gpt-oss.gguf","owned_by":"llamacpp"}]}`}
	vllm := map[string]string{"/v1/models": `{"object":"list","data":[{"id":"Qwen/Qwen3","owned_by":"vllm"}]}`}
	website := map[string]string{"/api/version": `{"version":""}`, "/": "<html>", "/v1/models": `{"object":"list","data":[{"id":"x","owned_by":"me"}]}`, "/props": `{"a":1}`, "/api/v0/models": `{"object":"list","data":[{"id":"x"}]}`}
	for _, c := range []struct {
		name string
		at   map[string]map[string]string
		want map[string][]string
	}{
		{"all", map[string]map[string]string{"ollama": ollama, "lmstudio": studio, "llamacpp": llama, "vllm": vllm}, map[string][]string{"ollama": {"qwen3:8b"}, "lmstudio": {"glm-4.7-flash"}, "llamacpp": {"gpt-oss.gguf"}, "vllm": {"Qwen/Qwen3"}}},
		{"an older one", map[string]map[string]string{"lmstudio": oldStudio}, map[string][]string{"lmstudio": {"qwen"}}},
		{"another server on each port", map[string]map[string]string{"ollama": website, "lmstudio": website, "llamacpp": website, "vllm": website}, nil},
		{"each other's servers", map[string]map[string]string{"ollama": vllm, "lmstudio": vllm, "llamacpp": vllm, "vllm": llama}, nil},
		{"a loading one", map[string]map[string]string{"llamacpp": {"/props": llama["/props"]}}, map[string][]string{"llamacpp": nil}},
	} {
		at := map[string]string{}
		var logs []func() []string
		for name, answers := range c.at {
			u, asked := server(t, answers)
			at[name] = u
			logs = append(logs, asked)
		}
		var got map[string][]string
		for _, l := range probe(t.Context(), nil, nil, at) {
			if got == nil {
				got = map[string][]string{}
			}
			got[l.Provider] = l.Models
			if l.URL != at[l.Provider] {
				t.Errorf("%s: %s is at %s", c.name, l.Provider, l.URL)
			}
		}
		if !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %v", c.name, got)
		}
		for _, asked := range logs {
			for _, line := range asked() {
				if !strings.HasPrefix(line, "GET /") || strings.Contains(line, "chat") || strings.ContainsAny(line, "{}") {
					t.Errorf("%s: sent %q", c.name, line)
				}
			}
		}
	}
}

// A closed port, a redirect, a huge answer and an ended context are not a server.
func TestProbeNobody(t *testing.T) {
	closed := httptest.NewServer(nil)
	closed.Close()
	elsewhere, asked := server(t, map[string]string{"/api/version": `{"version":"1"}`, "/api/tags": `{"models":[]}`})
	redirect := httptest.NewServer(http.RedirectHandler(elsewhere, http.StatusFound))
	defer redirect.Close()
	huge := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"object":"`+strings.Repeat("x", 2<<20)+`"}`)
	}))
	defer huge.Close()
	at := map[string]string{"ollama": closed.URL, "lmstudio": redirect.URL, "llamacpp": huge.URL, "vllm": huge.URL}
	if got := probe(t.Context(), nil, nil, at); got != nil {
		t.Errorf("%v", got)
	}
	if got := asked(); got != nil {
		t.Errorf("a redirect was followed: %v", got)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if got := probe(ctx, nil, nil, map[string]string{"ollama": elsewhere}); got != nil {
		t.Errorf("%v", got)
	}
}

// SPEC 17.7: servers are asked for their models where variables say that they are; a key goes
// only to an address that the person named.
func TestProbeWhereTheyAre(t *testing.T) {
	list := map[string]string{
		"/api/version": `{"version":"1"}`, "/api/tags": `{"models":[{"name":"qwen3:8b"}]}`,
		"/api/v0/models": `{"object":"list","data":[{"id":"glm","type":"llm"}]}`, "/props": `{"default_generation_settings":{}}`,
	}
	own, ownAsked := server(t, map[string]string{"/v1/models": `{"object":"list","data":[{"id":"gpt-5.4-mini"},{"id":"bad\u001bname"},{"id":"claude-opus-4-8"}]}`})
	ollama, _ := server(t, list)
	studio, studioAsked := server(t, list)
	closed := httptest.NewServer(nil)
	closed.Close()
	got := map[string][]string{}
	for _, l := range Probe(t.Context(), nil, env("OLLAMA_HOST="+ollama, "LMSTUDIO_BASE_URL="+studio+"/v1", "LMSTUDIO_API_KEY=studio-key",
		"LLAMACPP_BASE_URL="+closed.URL, "VLLM_BASE_URL="+closed.URL+"/v1", "PAWL_BASE_URL="+own+"/v1/", "PAWL_API_KEY=own-key", "OPENAI_API_KEY=not-for-them")) {
		got[l.Provider] = l.Models
	}
	if want := map[string][]string{"ollama": {"qwen3:8b"}, "lmstudio": {"glm"}, compatible: {"gpt-5.4-mini", "claude-opus-4-8"}}; !reflect.DeepEqual(got, want) {
		t.Errorf("%v", got)
	}
	if a := ownAsked(); len(a) != 1 || a[0] != "GET /v1/modelsown-key" {
		t.Errorf("%q", a)
	}
	if a := studioAsked(); len(a) != 1 || a[0] != "GET /api/v0/modelsstudio-key" {
		t.Errorf("%q", a)
	}
}
