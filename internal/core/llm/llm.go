// Package llm is the vocabulary between pawl and its models: messages and their
// parts, requests, streamed deltas, replies, usage and prices. It knows no provider
// and no wire format; those implement Model and Codec.
//
// Messages are values: a message in the log is never changed.
package llm

import (
	"context"
	"encoding/json"
	"iter"
)

// Role is the sender of a message.
type Role string

// The roles. Tool messages hold the results of one step, in the order of the
// calls, and may end in text parts that pawl appended.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Tool      Role = "tool"
)

// Message is one entry of a conversation.
type Message struct {
	Role  Role   `json:"role"`
	Parts []Part `json:"parts"`
}

type Kind string

// The kinds of parts.
const (
	Text      Kind = "text"
	Image     Kind = "image" // media of any kind: images were the first
	Reasoning Kind = "reasoning"
	CallPart  Kind = "call"
	Output    Kind = "result" // a tool's result
	Opaque    Kind = "opaque" // something that only the wire API that sent it understands
)

// Part is a piece of a message. Which fields are set follows from Kind.
//
// Some providers need a part back byte for byte (signed reasoning, server tool
// blocks). Such a part is kept in Raw, and Wire is the name of the wire API. A
// codec of the same Wire sends Raw unchanged; every other codec drops what it
// cannot express.
type Part struct {
	Kind   Kind    `json:"kind"`
	Text   string  `json:"text,omitempty"`  // text, reasoning
	Media  string  `json:"media,omitempty"` // media: MIME type
	Data   []byte  `json:"data,omitempty"`  // media: bytes
	Call   *Call   `json:"call,omitempty"`
	Result *Result `json:"result,omitempty"`
	// Parsed marks reasoning that was extracted from the text (<think>…): it is
	// shown and never sent back (SPEC 5.3).
	Parsed bool            `json:"parsed,omitempty"`
	Wire   string          `json:"wire,omitempty"`
	Raw    json.RawMessage `json:"raw,omitempty"`
}

// Call is a tool call that a model asked for. Args is always a JSON object. If the
// model sent something else, Sent is the original. If that could not be repaired,
// Bad is the reason, Args is {} and the call is never run (SPEC 4.4).
type Call struct {
	ID   string          `json:"id"`
	Name string          `json:"name"`
	Args json.RawMessage `json:"args"`
	Sent string          `json:"sent,omitempty"`
	Bad  string          `json:"bad,omitempty"`
}

// Result is the result of a tool call, as shown to the model.
type Result struct {
	ID     string  `json:"id"`
	Name   string  `json:"name"`
	Text   string  `json:"text"`
	Error  bool    `json:"error,omitempty"`
	Images []Media `json:"images,omitempty"` // and other media: images were the first
}

// ServerSearch is the ToolSpec.Server of a search of the web.
const ServerSearch = "web_search"

// ToolSpec is a tool as a model sees it. Schema is a JSON Schema of type
// object.
type ToolSpec struct {
	Name   string          `json:"name"`
	Doc    string          `json:"doc"`
	Schema json.RawMessage `json:"schema"`
	// Server is a tool that the provider itself runs, ServerSearch; such a tool has no
	// schema.
	Server string `json:"server,omitempty"`
}

// Head is the frozen start of every request between two rebases (SPEC 9.4).
type Head struct {
	Model  string     `json:"model"`
	System string     `json:"system"`
	Tools  []ToolSpec `json:"tools"`
	Effort string     `json:"effort,omitempty"` // reasoning effort, in the model's words; "" asks for none
}

// Tail holds the settings that may change from request to request without changing
// the prefix.
type Tail struct {
	MaxTokens int // 0: the model's own maximum
	// Thinking is the most of a reply that may be thinking; 0: half of it. It is the same
	// for all requests of a window: another number is another prefix for the provider's
	// cache.
	Thinking int
}

// Codec encodes a conversation for one wire API, part by part, so that each part is
// encoded once and the bytes of a request extend those of the request before.
//
// A request body is Head, then the steps joined by commas, then Tail. Step encodes
// messages that were appended together. It returns array elements joined by commas,
// without a leading comma, and nothing for messages that this API cannot express.
// With mark set it places the API's cache marker on the last element, if the API has
// one; the other bytes are the same.
type Codec interface {
	Head(Head) ([]byte, error)
	Step(ms []Message, mark bool) ([]byte, error)
	Tail(Tail) []byte
}

// Changing is a Codec that may encode otherwise from one request on, since the model's
// server was found to want it: then its Version is another one.
type Changing interface {
	Codec
	Version() int
}

// Lasting is a Codec of a provider that keeps what it cached for some minutes, and for an
// hour if that is asked for: Long returns the codec that asks for it; false if this server
// is not known to take it.
type Lasting interface {
	Codec
	Long() (Codec, bool)
}

// Request is one request to a model. Head and All are the whole request. Body
// is the same request encoded by the model's codec, in pieces that are sent one
// after the other; it is empty for a model without a codec.
type Request struct {
	Head     Head
	Messages []Message
	// Packed returns the messages if Messages is empty: a long conversation is not
	// unpacked for a model that is sent Body.
	Packed func() []Message
	Tail   Tail
	Body   [][]byte
}

func (r *Request) All() []Message {
	if r.Messages == nil && r.Packed != nil {
		return r.Packed()
	}
	return r.Messages
}

// Model answers requests.
//
// Stream yields deltas as they arrive; the last one of a whole reply is of kind Done
// and contains the reply. An error ends the sequence: nothing comes after it, and
// there is never both a Done and an error. Errors are *fault.Error. Cancelling ctx
// ends the stream at once with a cancellation.
type Model interface {
	Info() Info
	Stream(ctx context.Context, r *Request) iter.Seq2[Delta, error]
}

// Encoded is a Model that needs Request.Body.
type Encoded interface {
	Model
	Codec() Codec
}

type DeltaKind string

// The kinds of deltas. Done is the last delta of a whole reply.
const (
	DeltaText      DeltaKind = "text"
	DeltaReasoning DeltaKind = "reasoning"
	DeltaCall      DeltaKind = "call" // a call begins, or more of its arguments arrived
	Done           DeltaKind = "done"
)

// Delta is a piece of a streamed reply. Index counts the calls of the reply.
type Delta struct {
	Kind  DeltaKind
	Text  string // text, reasoning: the new piece; call: the new piece of its arguments
	Index int
	ID    string // call: as soon as known
	Name  string // call: as soon as known
	Reply *Reply // done
}

// Stop is why a reply ended, in pawl's terms.
type Stop string

// The reasons. StopOther is a reason that pawl does not know; Reply.Finish has the
// provider's own name for it.
const (
	StopEnd     Stop = "end"
	StopCalls   Stop = "calls"
	StopLength  Stop = "length"
	StopRefusal Stop = "refusal"
	StopPaused  Stop = "paused" // the provider wants the same conversation again, including this reply
	StopOther   Stop = "other"
)

type Reply struct {
	Message  Message         `json:"message"`
	Stop     Stop            `json:"stop"`
	Finish   string          `json:"finish,omitempty"`  // the provider's name for Stop
	Refusal  string          `json:"refusal,omitempty"` // the provider's message about a refusal
	Model    string          `json:"model,omitempty"`   // the model that answered, as it names itself
	Response string          `json:"response,omitempty"`
	Usage    Usage           `json:"usage"`
	UsageRaw json.RawMessage `json:"usage_raw,omitempty"`
	// Notice is what the person should know of how the reply was asked for, in one line. It
	// is recorded by itself.
	Notice string `json:"-"`
}

// Text joins the text parts.
func (m Message) Text() string {
	s := ""
	for _, p := range m.Parts {
		if p.Kind == Text {
			s += p.Text
		}
	}
	return s
}

// Calls lists the calls, in order.
func (m Message) Calls() []Call {
	var out []Call
	for _, p := range m.Parts {
		if p.Kind == CallPart && p.Call != nil {
			out = append(out, *p.Call)
		}
	}
	return out
}

// TextPart is a part of plain text.
func TextPart(s string) Part { return Part{Kind: Text, Text: s} }

// Usage counts tokens. Input is the tokens that were neither read from nor written
// to the provider's cache; Reasoning is a part of Output. Known is false if the
// provider reported nothing.
type Usage struct {
	Known      bool     `json:"known"`
	Input      int64    `json:"input"`
	CacheRead  int64    `json:"cache_read"`
	CacheWrite int64    `json:"cache_write"`
	Output     int64    `json:"output"`
	Reasoning  int64    `json:"reasoning"`
	Searches   int64    `json:"searches,omitempty"` // of the web, by the provider
	CostUSD    *float64 `json:"cost_usd,omitempty"` // only if the provider itself reported it
}

// Add sums two usages. The sum is known only if both are.
func (u Usage) Add(v Usage) Usage {
	sum := Usage{
		Known: u.Known && v.Known,
		Input: u.Input + v.Input, CacheRead: u.CacheRead + v.CacheRead, CacheWrite: u.CacheWrite + v.CacheWrite,
		Output: u.Output + v.Output, Reasoning: u.Reasoning + v.Reasoning,
		Searches: u.Searches + v.Searches,
	}
	if u.CostUSD != nil && v.CostUSD != nil {
		c := *u.CostUSD + *v.CostUSD
		sum.CostUSD = &c
	}
	return sum
}

// Price is what a model costs, in USD per million tokens.
type Price struct {
	Input      float64 `json:"input"`
	Output     float64 `json:"output"`
	CacheRead  float64 `json:"cache_read"`
	CacheWrite float64 `json:"cache_write"`
	CacheLong  float64 `json:"cache_long,omitempty"` // a write that lasts an hour; 0: as CacheWrite
	Search     float64 `json:"search,omitempty"`     // USD for each search that the provider runs
}

// Long returns the prices of a request whose cache is to last an hour.
func (p *Price) Long() *Price {
	if p == nil || p.CacheLong == 0 {
		return p
	}
	long := *p
	long.CacheWrite = p.CacheLong
	return &long
}

// Cost returns the price of a usage in USD. It is nil if it is not known: no price,
// or no usage reported.
func Cost(p *Price, u Usage) *float64 {
	if u.CostUSD != nil {
		c := *u.CostUSD
		return &c
	}
	if p == nil || !u.Known {
		return nil
	}
	c := (float64(u.Input)*p.Input+float64(u.Output)*p.Output+
		float64(u.CacheRead)*p.CacheRead+float64(u.CacheWrite)*p.CacheWrite)/1e6 + float64(u.Searches)*p.Search
	return &c
}

// Info describes a model. It never contains a secret.
type Info struct {
	Provider string `json:"provider"` // anthropic, openai, gemini, ollama, offline, …
	Model    string `json:"model"`    // the provider's name for it
	API      string `json:"api"`      // the wire API: anthropic-messages, openai-chat-completions, …
	From     string `json:"from"`     // where requests go: the base URL's host, or "this process"
	// Family decides the form of edit tool that is offered: gpt, claude, gemini, other.
	Family    string `json:"family"`
	Window    int    `json:"window"`     // context window in tokens, 0 unknown
	MaxOutput int    `json:"max_output"` // largest reply in tokens, 0 unknown
	Images    bool   `json:"images"`
	PDF       bool   `json:"pdf,omitempty"`
	Audio     bool   `json:"audio,omitempty"`
	Search    bool   `json:"search,omitempty"` // the provider searches the web
	Price     *Price `json:"price"`            // nil unknown
	// ListPrice: Price is the maker's price, but requests go to another server.
	ListPrice bool `json:"list_price,omitempty"`
	// Effort is the reasoning effort that the conversation asks for, SideEffort that of
	// requests beside it: the least, where the model thinks whether asked or not.
	Effort     string `json:"effort,omitempty"`
	SideEffort string `json:"side_effort,omitempty"`
	// Bound: the model's thinking is refused behind anything but what it was made with.
	Bound bool `json:"bound,omitempty"`
}

// PlannerAPI is the API of a model that is a program without weights, in this process.
const PlannerAPI = "offline"

// Planner reports whether the model is such a program: it needs results as they were,
// writes no prose, and answers no question beside its task.
func (i Info) Planner() bool { return i.API == PlannerAPI }

// Ref returns the name of the model on a command line: provider/model.
func (i Info) Ref() string {
	if i.Provider == i.Model {
		return i.Model
	}
	return i.Provider + "/" + i.Model
}
