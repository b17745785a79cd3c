// Package anthropic implements Anthropic's Messages API: the encoding of
// conversations and the decoding of replies. It promises that signed and
// redacted thinking, server tool blocks and cited text go back unchanged, that
// encoding message by message equals encoding all at once, and that an
// incomplete stream never becomes a reply. It does no I/O.
package anthropic

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"net/http"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Name is the API's name, and the Wire of its parts.
const Name = "anthropic-messages"

// fallbackTokens is the token limit of a reply if none is set and the model's maximum is
// not known: the API requires a limit.
const fallbackTokens = 32000

// cacheMark marks the end of a prefix that the provider should cache.
const cacheMark = `,"cache_control":{"type":"ephemeral"}`

// api is the Messages API. With a version (in a cloud) the address names the model, and
// the body the API's version.
type api struct {
	version  string
	noStream bool // the address requests a stream, not the body
}

var _ provider.Ender = api{}

// New returns the API.
func New() provider.API { return api{} }

// OnBedrock returns the API with the request bodies of Amazon Bedrock.
func OnBedrock() Hosted { return Hosted{api{version: "bedrock-2023-05-31", noStream: true}} }

// OnVertex returns the API with the request bodies of Google Vertex AI.
func OnVertex() Hosted { return Hosted{api{version: "vertex-2023-10-16"}} }

// Hosted is the API as a cloud serves it. Addresses and keys are the cloud's.
type Hosted struct{ api }

func (api) Name() string { return Name }

func (api) Path(string) string { return "/v1/messages" }

func (api) Framing() provider.Framing { return provider.SSE }

func (api) Decoder() provider.Decoder { return new(decoder) }

// Header sets a key as x-api-key, and a sign-in token as a bearer token.
func (api) Header(h http.Header, key string) {
	h.Set("anthropic-version", "2023-06-01")
	switch {
	case strings.HasPrefix(key, "sk-ant-oat"):
		h.Set("Authorization", "Bearer "+key)
		h.Set("anthropic-beta", "oauth-2025-04-20")
	case key != "":
		h.Set("x-api-key", key)
	}
}

// Error parses {"type":"error","error":{"type","message"}}.
func (api) Error(name string, status int, h http.Header, body []byte) *fault.Error {
	said, _ := lax.Said(body)
	return provider.Fail(name, status, h, body, said)
}

// Head returns the request up to the first message. Tools and system each end in a cache
// marker.
func (a api) Head(h llm.Head) ([]byte, error) {
	b := append([]byte(`{"model":`), quote(h.Model)...)
	if a.version != "" {
		b = append([]byte(`{"anthropic_version":`), quote(a.version)...)
	}
	if h.System != "" {
		b = append(b, `,"system":[{"type":"text","text":`...)
		b = lax.AppendString(b, h.System)
		b = append(b, cacheMark+"}]"...)
	}
	for i, t := range h.Tools {
		if i == 0 {
			b = append(b, `,"tools":[`...)
		} else {
			b = append(b, ',')
		}
		if t.Server == llm.ServerSearch {
			b = append(b, `{"type":"web_search_20250305","name":"web_search","max_uses":5}`...)
			continue
		}
		if !json.Valid(t.Schema) {
			return nil, fmt.Errorf("tool %s: its schema is not JSON", t.Name)
		}
		b = append(b, `{"name":`...)
		b = lax.AppendString(b, t.Name)
		b = append(b, `,"description":`...)
		b = lax.AppendString(b, t.Doc)
		b = append(b, `,"input_schema":`...)
		b = append(b, t.Schema...)
		if i == len(h.Tools)-1 {
			b = append(b, cacheMark...)
		}
		b = append(b, '}')
	}
	if len(h.Tools) > 0 {
		b = append(b, ']')
	}
	if !a.noStream {
		b = append(b, `,"stream":true`...)
	}
	return append(b, `,"messages":[`...), nil
}

// Tail returns the end of a request without thinking; see End.
func (a api) Tail(t llm.Tail) []byte { return a.End(llm.Head{}, t) }

// End returns the end of a request: the token limit, and the thinking that fits into it.
func (api) End(h llm.Head, t llm.Tail) []byte {
	if t.MaxTokens <= 0 {
		t.MaxTokens = fallbackTokens
	}
	b := strconv.AppendInt([]byte(`],"max_tokens":`), int64(t.MaxTokens), 10)
	if h.Effort != "" {
		switch thinks(h.Model) {
		case byEffort:
			b = append(b, `,"thinking":{"type":"adaptive"},"output_config":{"effort":`...)
			b = append(lax.AppendString(b, h.Effort), '}')
		case byBudget:
			// At most half of the reply, and at least the API's minimum.
			if n := min(budget(h.Effort), t.MaxTokens/2); n >= 1024 {
				b = append(b, `,"thinking":{"type":"enabled","budget_tokens":`...)
				b = append(strconv.AppendInt(b, int64(n), 10), '}')
			}
		}
	}
	return append(b, '}')
}

func budget(effort string) int {
	switch effort {
	case "minimal", "low":
		return 2048
	case "medium":
		return 8192
	}
	return 24576
}

// thinking is how a model accepts a thinking effort.
type thinking int

const (
	never    thinking = iota
	byBudget          // models before 4.6: a number of tokens
	byEffort          // from 4.6 on: adaptive
)

// thinks returns the form for a model, by the generation in its name: claude-3-5-haiku-…,
// claude-sonnet-4-5-20250929, claude-opus-4-6. An unknown name counts as a newer one.
func thinks(model string) thinking {
	_, name, ok := strings.Cut(strings.ToLower(model), "claude-")
	if !ok {
		return byEffort
	}
	major, minor := 0, 0
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == '.' || r == '@' || r == ':' }) {
		n, err := strconv.Atoi(word)
		if err != nil {
			if major > 0 {
				break
			}
			continue
		}
		if n >= 100 { // a date
			break
		}
		if major == 0 {
			major = n
			continue
		}
		minor = n
		break
	}
	switch v := major*100 + minor; {
	case v == 0 || v >= 406:
		return byEffort
	case v >= 307:
		return byBudget
	}
	return never
}

func quote(s string) []byte { return lax.AppendString(nil, s) }

// wireID returns another provider's id in a form that this API accepts: letters, digits,
// - and _. The same id always becomes the same one.
func wireID(id string) string {
	ok := id != ""
	clean := []byte(id)
	for i, c := range clean {
		switch {
		case c >= '0' && c <= '9', c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z', c == '-', c == '_':
		default:
			clean[i], ok = '_', false
		}
	}
	if ok {
		return id
	}
	h := fnv.New32a()
	_, _ = h.Write([]byte(id)) // a hash never fails
	return fmt.Sprintf("%s_%08x", clean, h.Sum32())
}
