// Package provider talks to model servers over HTTP. It knows how a request is
// sent, how a stream is framed (server-sent events, NDJSON, one JSON text, Amazon's
// event stream), how long to wait, and which failures are worth a retry. Each wire
// API is a folder below that knows only its own format, as an API; bedrock and
// vertex are clouds that serve other APIs' models, with an Auth of their own.
//
// One attempt is one HTTP exchange: the turn loop retries, since it knows what
// was already shown. Keys go into headers and nowhere else.
package provider

import (
	"net/http"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Framing is how a wire API frames its stream.
type Framing int

// The framings. A server that answers in another framing than promised is read
// by what it sent.
const (
	SSE Framing = iota
	NDJSON
	EventStream // Amazon's binary messages; an exception's name has ExceptionPrefix
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
	// Retryable, RetryAfter and Kind set from the answer. Fail does all of this
	// except parsing the body.
	Error(provider string, status int, h http.Header, body []byte) *fault.Error
}

// Ender is an API whose end of the request depends on its head: Gemini keeps
// the token limit and the thinking in one object, and Anthropic's thinking must
// fit into its token limit. The client sends End in place of Tail. A limit of 0
// is replaced by the model's own maximum if that is known.
type Ender interface {
	End(llm.Head, llm.Tail) []byte
}

// Decoder turns the events of one stream into deltas and at the end a reply.
// Its input is only valid during the call. It may return errors other than
// *fault.Error: these are malformed replies, which are retryable.
type Decoder interface {
	// Event decodes one event: the SSE event name ("" if there is none) and its
	// data, or a line of NDJSON. An error inside the stream is an error.
	Event(name string, data []byte) ([]llm.Delta, error)
	// Whole decodes a body that is one JSON text, as a server sends it that
	// does not stream.
	Whole(body []byte) ([]llm.Delta, error)
	// End is called when the body ended. It returns the reply, or a retryable
	// provider error when no terminal event was seen.
	End() (llm.Reply, error)
}

// Finisher is a Decoder that recognises the last event. Some hosts keep the
// connection open after it; the client then waits only briefly for the end of
// the body.
type Finisher interface {
	Finished() bool
}
