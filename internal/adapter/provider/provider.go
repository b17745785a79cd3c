// Package provider talks to model servers over HTTP. It knows how to send a request, how
// a stream is framed (server-sent events, NDJSON, one JSON text, Amazon's event stream),
// how long to wait, and which failures are worth a retry. Each wire API is a subfolder
// that knows only its own format, as an API. bedrock and vertex are clouds that serve
// other APIs' models, each with its own Auth.
//
// A client sends one attempt per request, except for expired credentials, a lost stored
// conversation, a closed reused connection and an option that the server refuses. The turn loop does other retries, since it
// knows what was already shown. Keys go into headers and nowhere else.
package provider

import (
	"net/http"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Framing is how a wire API frames its stream.
type Framing int

// The framings. A reply in another framing than promised is recognised by its first byte.
const (
	SSE Framing = iota
	NDJSON
	EventStream // Amazon's binary messages; an exception's name has ExceptionPrefix
)

// API is one wire API: pure encoding and decoding, no I/O.
type API interface {
	llm.Codec
	// Name returns the API's name as in llm.Info.API.
	Name() string
	// Path returns what is appended to the base URL for a model's streamed reply. If it
	// starts with a version (/v1/…) and the base URL's path has one, the base URL's
	// version is used.
	Path(model string) string
	// Header sets authentication and other headers that the API requires in each request.
	Header(h http.Header, key string)
	Framing() Framing
	// Decoder returns a decoder for one reply.
	Decoder() Decoder
	// Error returns the error for an answer that is not 2xx, or for an error inside a
	// stream (status 200). It is never nil. Its category is provider; Retryable,
	// RetryAfter and Kind are set from the answer. Fail does all of this except parsing
	// the body.
	Error(provider string, status int, h http.Header, body []byte) *fault.Error
}

// Ender is an API for which the end of the request depends on its head: Gemini has the
// token limit and the thinking in one object, and Anthropic's thinking must fit into its
// token limit. The client sends End instead of Tail. A limit of 0 is replaced by the
// model's maximum if that is known.
type Ender interface {
	End(llm.Head, llm.Tail) []byte
}

// Frugal is an API with members that a request does not need. Gateways refuse some that the
// model's maker takes.
type Frugal interface {
	// Without returns the API without the members that a refusal names, and their names;
	// nil if it names none.
	Without(refusal string) (API, string)
}

// Decoder turns the events of one stream into deltas and, at the end, a reply. Its input
// is valid only during the call. An error that is not a *fault.Error means a malformed
// reply; the client makes it a retryable error.
type Decoder interface {
	// Event decodes one event: the SSE event name ("" if there is none) and its data, or
	// one JSON value of NDJSON. An error inside the stream is returned as an error.
	Event(name string, data []byte) ([]llm.Delta, error)
	// Whole decodes a body that is one JSON text: a server without streaming sends it.
	Whole(body []byte) ([]llm.Delta, error)
	// End is called at the end of the body. It returns the reply, or a retryable provider
	// error if no terminal event was seen.
	End() (llm.Reply, error)
}

// Finisher is a Decoder that recognises the last event. Some hosts keep the connection
// open after it; then the client waits only briefly for the end of the body.
type Finisher interface {
	Finished() bool
}
