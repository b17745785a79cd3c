// Package provider talks to model servers over HTTP. It knows how a request
// is sent, how a stream is framed (server-sent events, NDJSON, one JSON text),
// how long to wait, and which failures are worth another try; each wire API is
// a folder below that knows only its own words, as an API.
//
// One try is one HTTP exchange: retrying is the turn loop's business, which
// can see what was already shown. Keys go into headers and nowhere else.
package provider

import (
	"net/http"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Framing is how a wire API frames its stream.
type Framing int

// The framings. A server that answered otherwise than it promised is read as
// what it sent.
const (
	SSE Framing = iota
	NDJSON
)

// API is one wire API: pure encoding and decoding, no I/O.
type API interface {
	llm.Codec
	// Name is the API's name as in llm.Info.API.
	Name() string
	// Path is what is appended to the base URL for a model's streamed reply.
	// Where it starts with a version (/v1/…) and the base URL's path has one
	// already, the base URL's counts.
	Path(model string) string
	// Header sets authentication and whatever the API wants in each request.
	Header(h http.Header, key string)
	Framing() Framing
	// Decoder reads one reply.
	Decoder() Decoder
	// Error reads an answer that is not 2xx, or an error inside a stream
	// (status 200). It always returns an error, with category provider and
	// Retryable, RetryAfter and Kind set from what the provider said. Fail
	// does all of it but taking the body apart.
	Error(provider string, status int, h http.Header, body []byte) *fault.Error
}

// Ender is an API whose end of the request depends on its head: Gemini keeps
// the token limit and the thinking in one object, Anthropic's thinking must
// fit into its token limit. The client sends End in place of Tail. A limit of
// 0 has been replaced by the model's own maximum where that is known.
type Ender interface {
	End(llm.Head, llm.Tail) []byte
}

// Decoder turns the events of one stream into deltas and at the end a reply.
// The data it is given is only valid during the call. It need not be a
// *fault.Error that it returns: any other is a malformed reply, which is
// retryable.
type Decoder interface {
	// Event takes one event: the SSE event name ("" where there is none) and
	// its data, or a line of NDJSON. An error inside the stream is an error.
	Event(name string, data []byte) ([]llm.Delta, error)
	// Whole takes a body that is one JSON text: what a server that does not
	// stream sends.
	Whole(body []byte) ([]llm.Delta, error)
	// End is called when the body ended. It returns the reply, or a retryable
	// provider error when no terminal event was seen.
	End() (llm.Reply, error)
}

// Finisher is a Decoder that knows the last event when it sees it. Some hosts
// keep the connection open after it; the client then waits only a moment for
// the end of the body.
type Finisher interface {
	Finished() bool
}
