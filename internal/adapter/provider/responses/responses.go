// Package responses implements OpenAI's Responses API, for OpenAI and other hosts that
// offer it. Every request contains the whole conversation, with unchanged reasoning
// items, including encrypted content. Only if the person allows it (Store), the server
// stores replies; then a request may name the reply that it follows instead of what came
// before. The package promises that a reply's parts are those of the final event,
// whatever was streamed before. It does no I/O.
package responses

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Name is the API's name.
const Name = "openai-responses"

// Dialect describes what one host accepts that others do not. The zero value is the
// subset that compatible hosts share.
type Dialect struct {
	Name string // the provider's name, for errors
	// OpenAI means OpenAI itself or Azure: options of reasoning are refused for models
	// that do not reason, results may contain images, and reasoning without encrypted
	// content is refused.
	OpenAI bool
	// SealedOnly sends back only reasoning with encrypted content.
	SealedOnly bool
	// CacheKey sends a prompt_cache_key, made from the frozen head.
	CacheKey bool
	// CostUSD means that usage.cost is the charged price in USD.
	CostUSD bool
	// Store lets the server store replies, so that requests may follow them.
	Store bool
	// Freeform means that the host takes tools that are called with a plain text.
	Freeform bool
	// KeyHeader is the header for the key; "": Authorization.
	KeyHeader string
	// Tuning is the model's.
	Tuning provider.Tuning
}

func DialectFor(name string) Dialect {
	d := Dialect{Name: name}
	switch name {
	case "openai":
		d.OpenAI, d.SealedOnly, d.CacheKey, d.Freeform = true, true, true, true
	case "azure":
		d.OpenAI, d.SealedOnly, d.KeyHeader = true, true, "api-key"
	case "xai":
		d.SealedOnly, d.CacheKey = true, true
	case "openrouter":
		d.CostUSD = true
	}
	return d
}

// freeform returns the form of a tool that is called with a plain text; nil for others.
func (d Dialect) freeform(name string) *provider.Freeform {
	if f := d.Tuning.Freeform; d.Freeform && f != nil && f.Tool == name {
		return f
	}
	return nil
}

// API is the Responses API in one dialect.
type API struct {
	d     Dialect
	newID func() string
}

var (
	_ provider.API      = (*API)(nil)
	_ provider.Ender    = (*API)(nil)
	_ provider.Finisher = (*Decoder)(nil)

	_ provider.Continuer = (*API)(nil)
)

// fit returns an id in a form that OpenAI accepts as a call_id.
func fit(id string) string { return openaichat.IDRule{Max: 64}.Fit(id) }

// New returns the API in a dialect. newID returns ids for calls without one; nil means
// random ids.
func New(d Dialect, newID func() string) *API {
	if newID == nil {
		newID = func() string { return "call_" + strings.ToLower(rand.Text())[:20] }
	}
	return &API{d: d, newID: newID}
}

// Name returns the API's name.
func (a *API) Name() string { return Name }

// Path returns the same path for every model.
func (a *API) Path(string) string { return "/v1/responses" }

func (a *API) Header(h http.Header, key string) { lax.SetKey(h, a.d.KeyHeader, key) }

func (a *API) Framing() provider.Framing { return provider.SSE }

func (a *API) Decoder() provider.Decoder { return &Decoder{d: a.d, newID: a.newID} }

// Error returns the error for an answer that is not 2xx.
func (a *API) Error(name string, status int, h http.Header, body []byte) *fault.Error {
	if name == "" {
		name = a.d.Name
	}
	return lax.Fail(name, status, h, body)
}
