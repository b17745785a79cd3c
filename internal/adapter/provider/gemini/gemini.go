// Package gemini implements Google's generateContent API, on the Gemini API and
// on Vertex AI: the encoding of conversations and the decoding of replies. It
// promises that thought signatures go back byte for byte on the part they came
// with, that encoding message by message equals encoding all at once, and that
// an incomplete stream never becomes a reply. It does no I/O.
package gemini

import (
	"cmp"
	"crypto/rand"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Name is the API's name, and the Wire of its parts.
const Name = "google-generate-content"

type api struct {
	t   provider.Tuning
	ids func() string
}

// API is the wire API.
type API interface {
	provider.API
	provider.Ender
}

// New returns the API. A call without an id gets one made from the reply's id, or from a
// random one.
func New(t provider.Tuning) API { return api{t, rand.Text} }

// NewWithIDs is New with another source of ids, for replies without an id.
func NewWithIDs(ids func() string) API { return api{ids: ids} }

func (api) Name() string { return Name }

func (api) Path(model string) string {
	return "/v1beta/models/" + url.PathEscape(strings.TrimPrefix(model, "models/")) + ":streamGenerateContent?alt=sse"
}

func (api) Framing() provider.Framing { return provider.SSE }

func (a api) Decoder() provider.Decoder { return &decoder{ids: a.ids} }

// Header sets the key: an API key in Google's header, an access token of Google Cloud as
// a bearer token.
func (api) Header(h http.Header, key string) {
	switch {
	case strings.HasPrefix(key, "ya29."):
		h.Set("Authorization", "Bearer "+key)
	case key != "":
		h.Set("x-goog-api-key", key)
	}
}

// Error parses {"error":{"code","message","status","details"}}, also as the only element
// of an array. The details contain how long to wait.
func (api) Error(name string, status int, h http.Header, body []byte) *fault.Error {
	said, _ := lax.Said(body)
	type explained struct {
		Error lax.Obj[struct {
			Status  lax.Text `json:"status"`
			Details lax.List[struct {
				Type       lax.Text `json:"@type"`
				RetryDelay lax.Text `json:"retryDelay"`
			}] `json:"details"`
		}] `json:"error"`
	}
	var list lax.List[explained] // a single one counts as a list of one
	if json.Unmarshal(body, &list) == nil && len(list) > 0 {
		e := list[0].Error.V
		said.Type = string(e.Status)
		for _, d := range e.Details {
			if wait, err := time.ParseDuration(string(d.RetryDelay)); err == nil && wait > 0 {
				said.RetryAfter = min(wait, 24*time.Hour)
			}
		}
	}
	return provider.Fail(name, status, h, body, said)
}

// Head returns the request up to the first message.
func (api) Head(h llm.Head) ([]byte, error) {
	b := []byte{'{'}
	if h.System != "" {
		b = append(b, `"systemInstruction":{"parts":[{"text":`...)
		b = lax.AppendString(b, h.System)
		b = append(b, `}]},`...)
	}
	declared := 0
	search := slices.ContainsFunc(h.Tools, func(t llm.ToolSpec) bool { return t.Server == llm.ServerSearch })
	for _, t := range h.Tools {
		if t.Server != "" {
			continue
		}
		if declared++; declared == 1 {
			b = append(b, `"tools":[{"functionDeclarations":[`...)
		} else {
			b = append(b, ',')
		}
		b = append(b, `{"name":`...)
		b = lax.AppendString(b, t.Name)
		b = append(b, `,"description":`...)
		b = lax.AppendString(b, t.Doc)
		schema, err := parameters(t.Schema)
		if err != nil {
			return nil, toolError(t.Name, err)
		}
		if len(schema) > 0 {
			b = append(append(b, `,"parameters":`...), schema...)
		}
		b = append(b, '}')
	}
	switch {
	case declared > 0 && search:
		b = append(b, `]},{"googleSearch":{}}],`...)
	case declared > 0:
		b = append(b, "]}],"...)
	case search:
		b = append(b, `"tools":[{"googleSearch":{}}],`...)
	}
	return append(b, `"contents":[`...), nil
}

// Tail returns the end of a request without thinking; see End.
func (a api) Tail(t llm.Tail) []byte { return a.End(llm.Head{}, t) }

// End returns the end of a request: one object with the token limit and the thinking.
func (a api) End(h llm.Head, t llm.Tail) []byte {
	b := []byte("]")
	sep := `,"generationConfig":{`
	if t.MaxTokens > 0 {
		b = strconv.AppendInt(append(b, sep+`"maxOutputTokens":`...), int64(t.MaxTokens), 10)
		sep = ","
	}
	if think := a.thinkingConfig(h.Effort); think != "" {
		b = append(b, sep+`"thinkingConfig":`+think...)
		sep = ","
	}
	if sep == "," {
		b = append(b, '}')
	}
	return append(b, '}')
}

// thinkingConfig returns the member that requests thoughts, "" for none.
func (a api) thinkingConfig(effort string) string {
	if effort == "" || a.t.Think == provider.Never {
		return ""
	}
	if a.t.Think == provider.ByBudget {
		n := map[string]string{"minimal": "1024", "low": "1024", "medium": "8192"}[effort]
		n = cmp.Or(n, "24576")
		return `{"includeThoughts":true,"thinkingBudget":` + n + `}`
	}
	return `{"includeThoughts":true,"thinkingLevel":"` + effort + `"}`
}

// madeID is the prefix of ids that pawl made for calls without one. They are not sent to
// the API: it matches such calls and results by name and order.
const madeID = "pawl_"
