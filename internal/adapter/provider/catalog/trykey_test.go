package catalog

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// Keys are tried where that is free, in each API's own way; what comes back is
// said as far as it is known, and never the key. SPEC 16.7, 3.3
func TestTryKey(t *testing.T) {
	const good, bad = "sk-good-0123456789abcdef", "sk-bad-0123456789abcdef"
	held := func(r *http.Request) string {
		for _, h := range []string{"X-Api-Key", "X-Goog-Api-Key", "Api-Key"} {
			if v := r.Header.Get(h); v != "" {
				return v
			}
		}
		return strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	}
	strict := func(w http.ResponseWriter, r *http.Request) {
		if held(r) != good {
			http.Error(w, "no such key: "+held(r), http.StatusUnauthorized)
		}
	}
	google := func(w http.ResponseWriter, r *http.Request) {
		if held(r) != good {
			http.Error(w, `{"error":{"message":"API key not valid"}}`, http.StatusBadRequest)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("a key went to another server") }))
	defer other.Close()
	for _, c := range []struct {
		name, provider, key, url, path string
		answer                         http.HandlerFunc
		ref, value, want               string
		known, right                   bool
	}{
		{name: "accepted", provider: "anthropic", key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL", path: "/v1/models", answer: strict, value: good, known: true, right: true, want: "accepted"},
		{name: "refused", provider: "anthropic", key: "ANTHROPIC_API_KEY", url: "ANTHROPIC_BASE_URL", path: "/v1/models", answer: strict, value: bad, known: true, want: "refused (HTTP 401)"},
		{name: "a token", provider: "anthropic", key: "ANTHROPIC_AUTH_TOKEN", url: "ANTHROPIC_BASE_URL", path: "/v1/models", answer: strict, value: good, known: true, right: true, want: "accepted"},
		{name: "openai", provider: "openai", key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL", path: "/v1/models", answer: strict, value: good, known: true, right: true, want: "accepted"},
		{name: "gemini", provider: "gemini", key: "GEMINI_API_KEY", url: "GEMINI_BASE_URL", path: "/v1beta/models", answer: google, value: good, known: true, right: true, want: "accepted"},
		{name: "gemini refuses", provider: "gemini", key: "GEMINI_API_KEY", url: "GEMINI_BASE_URL", path: "/v1beta/models", answer: google, value: bad, known: true, want: "refused (HTTP 400)"},
		{name: "public", provider: "openrouter", key: "OPENROUTER_API_KEY", url: "OPENROUTER_BASE_URL", path: "/v1/models", answer: func(http.ResponseWriter, *http.Request) {}, value: bad, want: "without a key too"},
		{name: "broken", provider: "groq", key: "GROQ_API_KEY", url: "GROQ_BASE_URL", path: "/v1/models", answer: func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(502) }, value: good, want: "HTTP 502"},
		{name: "moved", provider: "openai", key: "OPENAI_API_KEY", url: "OPENAI_BASE_URL", path: "/v1/models", answer: func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, other.URL, http.StatusFound) }, value: good, want: "HTTP 302"},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if r.Method != http.MethodGet || r.URL.Path != c.path {
					t.Errorf("asked %s %s", r.Method, r.URL.Path)
				}
				c.answer(w, r)
			}))
			defer s.Close()
			choice := must.Get(Resolve(Want{Flag: c.provider, Env: env(c.key+"="+c.value, c.url+"="+s.URL)}))(t)
			got, ok := choice.TryKey(t.Context(), nil)
			if !ok || got.Known != c.known || got.Right != c.right || !strings.Contains(got.Said, c.want) || !strings.HasPrefix(got.Where, "127.0.0.1") {
				t.Errorf("%+v, %v", got, ok)
			}
			if strings.Contains(got.Said+got.Where, c.value) {
				t.Errorf("the key is shown: %+v", got)
			}
		})
	}
	// Nobody there, or nobody who answers in time.
	choice := must.Get(Resolve(Want{Flag: "openai", Env: env("OPENAI_API_KEY="+good, "OPENAI_BASE_URL="+other.URL)}))(t)
	ctx, cancel := context.WithDeadline(t.Context(), time.Now())
	defer cancel()
	if got, ok := choice.TryKey(ctx, nil); !ok || got.Known || !strings.Contains(got.Said, "in time") {
		t.Errorf("%+v", got)
	}
	choice = must.Get(Resolve(Want{Flag: "ollama/x", Env: env()}))(t)
	if got, ok := choice.TryKey(t.Context(), nil); ok {
		t.Errorf("without a key: %+v", got)
	}
}
