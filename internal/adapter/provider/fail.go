package provider

import (
	"cmp"
	"fmt"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Said is the parsed content of an error body; the wire API parses its format. Any field
// may be empty.
type Said struct {
	Type, Code string // the provider's names: overloaded_error, context_length_exceeded, 429, …
	Message    string
	RetryAfter time.Duration // how long to wait, if the body states it
}

// Fail returns the error for an answer whose status is not 2xx, or for an error inside a
// stream (status 200). It decides what is the same for all hosts: whether a retry makes
// sense, how long to wait, and whether the conversation was too long (Kind is
// fault.ErrContextLength, not retryable). An API calls it from its Error. If s has no
// message, the text shows the start of body.
func Fail(provider string, status int, h http.Header, body []byte, s Said) *fault.Error {
	f := fault.NewProvider(provider, status, "", nil)
	said := Clean(s.Message)
	if said == "" {
		said = describe(body)
	}
	what := "answered " + strconv.Itoa(status)
	if status == http.StatusOK {
		what = "broke off the reply"
	}
	provider = cmp.Or(provider, "the provider")
	f.Message = fmt.Sprintf("%s %s: %s", provider, what, said)
	if word := firstOf(s.Type, s.Code); word != "" && !strings.Contains(said, word) {
		f.Message += " [" + Clean(word) + "]"
	}
	means := meaning(status, s)
	f.Retryable = fault.RetryableStatus(means)
	switch h.Get("x-should-retry") {
	case "true": // after a wrong key or request never, whatever a host claims
		f.Retryable = means != http.StatusBadRequest && means != http.StatusUnauthorized && means != http.StatusForbidden
	case "false":
		f.Retryable = false
	}
	switch {
	case tooLong(means, s, body):
		f.Kind, f.Retryable = fault.ErrContextLength, false
	case outOfMoney(s):
		f.Retryable, f.Hint = false, "add credit to the account, or choose another model with -m"
	}
	if f.RetryAfter = s.RetryAfter; f.RetryAfter == 0 {
		f.RetryAfter = retryAfter(h)
	}
	return f
}

// meaning returns the effective status of an answer: errors inside a stream come with
// 200, and some hosts wrap another host's status.
func meaning(status int, s Said) int {
	if status != http.StatusOK {
		return status
	}
	for _, word := range []string{s.Code, s.Type} {
		if n, err := strconv.Atoi(word); err == nil && n >= 400 && n < 600 {
			return n
		}
		switch strings.ToLower(word) {
		case "authentication_error", "unauthenticated", "invalid_api_key":
			return http.StatusUnauthorized
		case "permission_error", "permission_denied":
			return http.StatusForbidden
		case "not_found_error", "not_found", "model_not_found":
			return http.StatusNotFound
		case "request_too_large":
			return http.StatusRequestEntityTooLarge
		case "invalid_request_error", "invalid_argument", "failed_precondition", "invalid_prompt", "billing_error", "content_filter":
			return http.StatusBadRequest
		case "rate_limit_error", "rate_limit_exceeded", "resource_exhausted":
			return http.StatusTooManyRequests
		}
	}
	// Overloaded, timed out, broken, or an unknown word: the host accepted the
	// request and failed later, so a retry makes sense.
	return http.StatusServiceUnavailable
}

// tooLong reports whether an error means that the conversation does not fit; hosts use
// many messages for this.
func tooLong(status int, s Said, body []byte) bool {
	for _, word := range []string{s.Code, s.Type} {
		switch strings.ToLower(word) {
		case "context_length_exceeded", "context_window_exceeded", "string_above_max_length",
			"too_many_prompt_tokens", "exceed_context_size_error", "model_context_window_exceeded":
			return true
		}
	}
	if status == http.StatusRequestEntityTooLarge || s.Type == "request_too_large" {
		return true
	}
	if status == http.StatusTooManyRequests || status == http.StatusUnauthorized || status == http.StatusForbidden {
		return false
	}
	text := strings.ToLower(s.Message)
	if text == "" {
		text = strings.ToLower(string(body[:min(len(body), 4096)]))
	}
	for _, phrase := range []string{
		"prompt is too long",                               // anthropic, bedrock
		"input is too long",                                // bedrock
		"prompt too long",                                  // ollama
		"exceed context limit",                             // anthropic: input length and max_tokens exceed context limit
		"maximum context length",                           // openai, vllm, openrouter, deepseek, mistral
		"max context length",                               // ollama
		"context length exceeded",                          // vercel, fireworks
		"exceeds the context window",                       // openai responses
		"exceeds the context length",                       // azure
		"exceeded model token limit",                       // moonshot
		"context window exceeds limit",                     // minimax
		"exceed_context_size",                              // llama.cpp
		"available context size",                           // llama.cpp: exceeds the available context size
		"greater than the context length",                  // lm studio
		"context length of only",                           // lm studio
		"token count exceeds",                              // gemini, copilot
		"exceeds the maximum number of tokens",             // gemini
		"token limit reached",                              // snowflake
		"maximum prompt length",                            // x.ai
		"too large for model with",                         // mistral
		"reduce the length of the messages",                // groq, openai
		"input length exceeds",                             // together
		"inputs tokens + max_new_tokens",                   // hugging face
		"`inputs` must have less than",                     // hugging face
		"range of input length should be",                  // qwen
		"prompt exceeds max length",                        // z.ai
		"request too large",                                // proxies
		"input token count",                                // gemini: the input token count (N) exceeds …
		"exceeds the maximum allowed input",                // cohere
		"tokens in request more than max tokens allowed",   // nexa, others
		"the input (prompt) exceeds",                       // ai21
		"too many tokens in prompt", "prompt has too many", // cohere, others
		"total length of all messages is too long",           // perplexity
		"model's context", "exceeds context", "context full", // compatible servers
	} {
		if strings.Contains(text, phrase) {
			return true
		}
	}
	return false
}

func outOfMoney(s Said) bool {
	switch s.Code {
	case "insufficient_quota", "billing_hard_limit_reached", "billing_not_active":
		return true
	}
	switch s.Type {
	case "insufficient_quota", "billing_error":
		return true
	}
	text := strings.ToLower(s.Message)
	return strings.Contains(text, "credit balance is too low") || strings.Contains(text, "insufficient balance") ||
		strings.Contains(text, "insufficient credits")
}

// retryAfter returns how long a host asks to wait: retry-after-ms, or Retry-After in
// seconds (also fractions), as a Go duration, or as a date, which is compared with the
// answer's own Date. It returns 0 without a usable value, and at most a day.
func retryAfter(h http.Header) time.Duration {
	if ms, err := strconv.ParseFloat(strings.TrimSpace(h.Get("retry-after-ms")), 64); err == nil {
		return wait(ms / 1000)
	}
	v := strings.TrimSpace(h.Get("Retry-After"))
	if v == "" {
		return 0
	}
	if s, err := strconv.ParseFloat(v, 64); err == nil {
		return wait(s)
	}
	if d, err := time.ParseDuration(v); err == nil {
		return wait(d.Seconds())
	}
	at, err := http.ParseTime(v)
	if err != nil {
		return 0
	}
	now, err := http.ParseTime(h.Get("Date"))
	if err != nil {
		return 0
	}
	return wait(at.Sub(now).Seconds())
}

func wait(seconds float64) time.Duration {
	const day = 24 * 60 * 60
	if !(seconds > 0) { // also NaN
		return 0
	}
	return time.Duration(min(seconds, day) * float64(time.Second))
}

// Clean returns a server's text as part of a one-line message: control characters become
// blanks, blanks are collapsed, and it is cut at 600 bytes.
func Clean(s string) string {
	const most = 600
	var b strings.Builder
	blank := false
	for _, r := range s {
		if r == utf8.RuneError {
			r = '?'
		}
		if unicode.IsSpace(r) || unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Co, r) {
			blank = b.Len() > 0
			continue
		}
		if blank {
			b.WriteByte(' ')
			blank = false
		}
		if b.Len()+utf8.RuneLen(r) > most {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}

// describe returns a short description of a body that no API could parse.
func describe(body []byte) string {
	text := strings.TrimSpace(string(body[:min(len(body), 4096)]))
	low := strings.ToLower(text)
	switch {
	case text == "":
		return "no explanation"
	case strings.HasPrefix(text, "<"):
		if _, rest, ok := strings.Cut(low, "<title>"); ok {
			if title, _, ok := strings.Cut(rest, "</title>"); ok && strings.TrimSpace(title) != "" {
				at := len(low) - len(rest)
				if len(low) == len(text) { // the same offsets in both
					title = text[at : at+len(title)]
				}
				return "an HTML page, “" + Clean(title) + "”"
			}
		}
		return "an HTML page"
	}
	return Clean(text)
}

func firstOf(words ...string) string {
	for _, w := range words {
		if w != "" {
			return w
		}
	}
	return ""
}
