// Package openaichat implements OpenAI's Chat Completions, for OpenAI and the many
// compatible servers. It handles their deviations from the API and has a table of
// dialects that describes what each accepts. It promises that every call in a reply has a
// unique id, and that reasoning is sent back unchanged, only to hosts that accept it. It
// does no I/O.
package openaichat

import (
	"crypto/rand"
	"net/http"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Name is the API's name.
const Name = "openai-chat-completions"

// API is Chat Completions in one dialect.
type API struct {
	d     Dialect
	newID func() string
}

var (
	_ provider.API      = (*API)(nil)
	_ provider.Ender    = (*API)(nil)
	_ provider.Finisher = (*Decoder)(nil)
)

// New returns the API in a dialect. newID returns ids for calls without one; nil means
// random ids.
func New(d Dialect, newID func() string) *API {
	if newID == nil {
		newID = randomID
	}
	return &API{d: d, newID: newID}
}

func randomID() string { return "call_" + strings.ToLower(rand.Text())[:20] }

// Name returns the API's name.
func (a *API) Name() string { return Name }

// Path returns the same path for every model.
func (a *API) Path(string) string { return "/v1/chat/completions" }

// Header sets the key and what the host needs to cache.
func (a *API) Header(h http.Header, key string) {
	lax.SetKey(h, a.d.KeyHeader, key)
	if a.d.CacheHeader != "" {
		h.Set(a.d.CacheHeader, "enable")
	}
}

func (a *API) Framing() provider.Framing { return provider.SSE }

func (a *API) Decoder() provider.Decoder { return &Decoder{d: a.d, newID: a.newID} }

// Error returns the error for an answer that is not 2xx.
func (a *API) Error(name string, status int, h http.Header, body []byte) *fault.Error {
	if name == "" {
		name = a.d.Name
	}
	return lax.Fail(name, status, h, body)
}
