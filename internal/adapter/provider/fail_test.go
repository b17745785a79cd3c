package provider

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// SPEC 3.2, 3.3
func TestFail(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		status int
		header map[string]string
		said   Said
		body   string
		retry  bool
		after  time.Duration
		long   bool
	}{
		{name: "rate limit", status: 429, header: map[string]string{"Retry-After": "7"}, said: Said{Type: "rate_limit_error"}, retry: true, after: 7 * time.Second},
		{name: "milliseconds", status: 429, header: map[string]string{"retry-after-ms": "1500", "Retry-After": "9"}, retry: true, after: 1500 * time.Millisecond},
		{name: "a date", status: 503, header: map[string]string{"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", "Date": "Fri, 31 Dec 1999 23:59:29 GMT"}, retry: true, after: 30 * time.Second},
		{name: "a date gone by", status: 503, header: map[string]string{"Retry-After": "Fri, 31 Dec 1999 23:59:59 GMT", "Date": "Sat, 01 Jan 2000 00:00:29 GMT"}, retry: true},
		{name: "nonsense", status: 503, header: map[string]string{"Retry-After": "NaN"}, retry: true},
		{name: "for ever", status: 503, header: map[string]string{"Retry-After": "1e300"}, retry: true, after: 24 * time.Hour},
		{name: "in the body", status: 429, said: Said{RetryAfter: 48 * time.Second}, header: map[string]string{"Retry-After": "1"}, retry: true, after: 48 * time.Second},
		{name: "told not to", status: 529, header: map[string]string{"x-should-retry": "false"}, retry: false},
		{name: "told to", status: 425, header: map[string]string{"x-should-retry": "true"}, retry: true},
		{name: "told to, a bad request", status: 400, header: map[string]string{"x-should-retry": "true"}, retry: false},
		{name: "told to, a key", status: 401, header: map[string]string{"x-should-retry": "true"}, retry: false},
		{name: "told to, no right", status: 403, header: map[string]string{"x-should-retry": "true"}, retry: false},
		{name: "out of money", status: 429, said: Said{Code: "insufficient_quota"}, retry: false},
		{name: "forbidden", status: 403, retry: false},
		{name: "overloaded in a stream", status: 200, said: Said{Type: "overloaded_error"}, retry: true},
		{name: "unknown in a stream", status: 200, said: Said{Type: "strange"}, retry: true},
		{name: "wrong in a stream", status: 200, said: Said{Type: "invalid_request_error"}, retry: false},
		{name: "a status in a stream", status: 200, said: Said{Code: "404"}, retry: false},
		{name: "anthropic", status: 400, said: Said{Message: "prompt is too long: 3333404 tokens > 200000 maximum"}, long: true},
		{name: "anthropic's sum", status: 400, said: Said{Message: "input length and `max_tokens` exceed context limit: 190000 + 32000 > 200000"}, long: true},
		{name: "openai", status: 400, said: Said{Code: "context_length_exceeded", Message: "x"}, long: true},
		{name: "openai in a stream", status: 200, said: Said{Code: "context_length_exceeded"}, long: true},
		{name: "gemini", status: 400, said: Said{Message: "The input token count (1250074) exceeds the maximum number of tokens allowed (1048576)."}, long: true},
		{name: "ollama", status: 400, said: Said{Message: "prompt too long; exceeded max context length by 1119046 tokens"}, long: true},
		{name: "llama.cpp", status: 400, said: Said{Message: "the request exceeds the available context size, try increasing it"}, long: true},
		{name: "perplexity", status: 400, said: Said{Type: "too_many_prompt_tokens", Message: "The total length of all messages is too long."}, long: true},
		{name: "perplexity's words", status: 400, said: Said{Message: "The total length of all messages is too long."}, long: true},
		{name: "perplexity's code", status: 400, said: Said{Code: "too_many_prompt_tokens", Message: "no"}, long: true},
		{name: "perplexity in a stream", status: 200, said: Said{Type: "too_many_prompt_tokens"}, long: true},
		{name: "llama.cpp's word", status: 400, said: Said{Type: "exceed_context_size_error"}, long: true},
		{name: "a word in capitals", status: 400, said: Said{Code: "CONTEXT_LENGTH_EXCEEDED"}, long: true},
		{name: "too many bytes", status: 413, said: Said{Type: "request_too_large"}, long: true},
		{name: "tokens per minute", status: 429, said: Said{Message: "Request too large for gpt-4o on tokens per min"}, retry: true},
	} {
		h := http.Header{}
		for k, v := range c.header {
			h.Set(k, v)
		}
		f := Fail("acme", c.status, h, []byte(c.body), c.said)
		if f.Category != fault.Provider || f.Status != c.status || f.Retryable != c.retry || f.RetryAfter != c.after ||
			errors.Is(f, fault.ErrContextLength) != c.long {
			t.Errorf("%s: %+v", c.name, f)
		}
	}
}

func TestClean(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		" a\r\n\tb\x00c\x1b[31m ": "a b c [31m",
		"\u202eevil\u200b":        "evil",
		"\xff":                    "?",
		strings.Repeat("é", 1000): strings.Repeat("é", 300) + "…",
	} {
		if got := Clean(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

func TestMaskKey(t *testing.T) {
	t.Parallel()
	const key = "0123456789abcdef0123"
	for in, want := range map[string]string{
		"nothing":                             "nothing",
		"the key 0123456789abcdef0123.":       "the key [key].",
		"half of it, 6789abcdef":              "half of it, [key]",
		"short 012345":                        "short 012345",
		"another's sk-proj-aaaaaaaaaaaaaaaaa": "another's [key]",
		"a word-sk-aaaaaaaaaaaaaaaaaaaaaaaaa": "a word-sk-aaaaaaaaaaaaaaaaaaaaaaaaa",
		"sk-short":                            "sk-short",
	} {
		if got := maskKey(in, key); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
	// SPEC 16.7: what local servers are given as a key is none.
	for _, word := range []string{"x", "abc", "none", "key", "error", "internal", "placeholder", "not-needed", "lm-studio", "Development"} {
		in := "internal error: max tokens; a key of none, a placeholder, not-needed in lm-studio or Development: " + word
		if got := maskKey(in, word); got != in {
			t.Errorf("%s: %q", word, got)
		}
	}
}

func TestJoin(t *testing.T) {
	t.Parallel()
	for _, c := range [][3]string{
		{"https://a", "/v1/x", "https://a/v1/x"},
		{"https://a/", "/v1/x", "https://a/v1/x"},
		{"https://a/v1", "/v1/x", "https://a/v1/x"},
		{"https://a/api/paas/v4", "/v1/x", "https://a/api/paas/v4/x"},
		{"https://v1.a", "/v1/x", "https://v1.a/v1/x"},
		{"https://a/v1beta1/projects/p/locations/l/publishers/google", "/v1beta/models/m:s?alt=sse", "https://a/v1beta1/projects/p/locations/l/publishers/google/models/m:s?alt=sse"},
		{"https://a/openai", "/api/chat", "https://a/openai/api/chat"},
		// SPEC 17.7: gateways whose addresses have no version.
		{"https://api.gateway.test/chat/completions", "/v1/chat/completions", "https://api.gateway.test/chat/completions"},
		{"https://gw/x/v2/chat/completions/", "/v1/chat/completions", "https://gw/x/v2/chat/completions"},
		{"https://chat/completions", "/v1/chat/completions", "https://chat/completions/v1/chat/completions"},
		{"https://messages", "/v1/messages", "https://messages/v1/messages"},
	} {
		if got := Join(c[0], c[1]); got != c[2] {
			t.Errorf("Join(%q, %q) = %q, want %q", c[0], c[1], got, c[2])
		}
	}
}
