package metrics

import (
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// Names of OpenTelemetry's semantic conventions for generative AI, version 1.41. They are
// not stable, so they are used only here.
const (
	conventions = "https://opentelemetry.io/schemas/1.41.0"

	attrOperation    = "gen_ai.operation.name"
	attrProvider     = "gen_ai.provider.name"
	attrConversation = "gen_ai.conversation.id"
	attrAgent        = "gen_ai.agent.name"
	attrRequestModel = "gen_ai.request.model"
	attrModel        = "gen_ai.response.model"
	attrResponse     = "gen_ai.response.id"
	attrFinish       = "gen_ai.response.finish_reasons"
	attrInput        = "gen_ai.usage.input_tokens" // including those from caches
	attrOutput       = "gen_ai.usage.output_tokens"
	attrCacheRead    = "gen_ai.usage.cache_read.input_tokens"
	attrCacheWrite   = "gen_ai.usage.cache_creation.input_tokens"
	attrTool         = "gen_ai.tool.name"
	attrToolType     = "gen_ai.tool.type"
	attrCall         = "gen_ai.tool.call.id"
	attrError        = "error.type"

	// Attributes without a name in the conventions.
	attrOutcome = "pawl.outcome"
	attrCost    = "pawl.cost.usd"
	attrAttempt = "pawl.attempt"
)

// providers maps pawl's names to the conventions' names where they differ.
var providers = map[string]string{
	"gemini": "gcp.gemini", "vertex": "gcp.vertex_ai", "bedrock": "aws.bedrock", "azure": "azure.ai.openai",
	"mistral": "mistral_ai", "xai": "x_ai", "moonshot": "moonshot_ai",
}

// The kinds of spans in use, by their numbers in the protocol.
const (
	kindInternal = 1
	kindClient   = 3
)

// Span is one timed operation.
type Span struct {
	Trace, ID, Parent string // hex
	Name              string
	Kind              int
	Start, End        time.Time
	Attrs             []Attr
	Failed            string // the kind of error, "" if it did not fail
}

// Attr is one attribute. Value is a string, an int64, a float64 or a []string.
type Attr struct {
	Key   string
	Value any
}

func (s *Span) set(key string, v any) {
	switch v := v.(type) {
	case string:
		if v == "" {
			return
		}
	case int64:
		if v == 0 {
			return
		}
	}
	s.Attrs = append(s.Attrs, Attr{key, v})
}

func (s *Span) fail(kind string) {
	s.Failed = kind
	s.set(attrError, kind)
}

// Spans makes spans from a session's events: invoke_agent for a turn, and below it chat
// for each request and execute_tool for each call. It is not safe for concurrent use.
type Spans struct {
	// NewID returns n random bytes as hex.
	NewID func(n int) string
	// Trace and Parent, if set, identify the span that called pawl (TRACEPARENT).
	Trace, Parent string

	info  llm.Info
	turn  *Span
	chat  *Span
	calls []*Span // open ones, in the order they began
	done  []Span
}

// maxSpans is how many finished spans of a turn are collected before they are returned.
const maxSpans = 1000

// Apply applies one event. It returns finished spans for export at the end of a turn, or
// when there are maxSpans.
func (f *Spans) Apply(e event.Event) []Span {
	if e.Seq == 0 {
		return nil
	}
	switch b := e.Body.(type) {
	case event.Rebased:
		f.info = b.Info
	case event.Prompted:
		f.begin(e)
	case event.Requested:
		f.chat = f.open(e, "chat "+f.info.Model, kindClient, "chat")
		f.provider(f.chat)
		if b.Attempt > 1 {
			f.chat.set(attrAttempt, int64(b.Attempt))
		}
	case event.Retried:
		if f.chat != nil {
			f.chat.fail(b.Error.Category)
			f.close(&f.chat, e.Time)
		}
	case event.Replied:
		if f.chat != nil {
			f.replied(b)
			f.close(&f.chat, e.Time)
		}
	case event.CallStarted:
		s := f.open(e, "execute_tool", kindInternal, "execute_tool")
		s.set(attrToolType, "function")
		s.set(attrCall, b.ID)
		f.calls = append(f.calls, s)
	case event.CallDone:
		f.called(e, b)
	case event.Ended:
		return f.end(e, b)
	}
	if len(f.done) >= maxSpans {
		return f.take()
	}
	return nil
}

func (f *Spans) begin(e event.Event) {
	if f.turn != nil {
		return // the prompt joins the running turn
	}
	f.turn = &Span{Trace: f.Trace, ID: f.NewID(8), Parent: f.Parent, Name: "invoke_agent pawl", Kind: kindInternal, Start: e.Time}
	if f.turn.Trace == "" {
		f.turn.Trace = f.NewID(16)
	}
	f.turn.set(attrOperation, "invoke_agent")
	f.turn.set(attrAgent, "pawl")
	f.turn.set(attrConversation, e.Session)
	f.provider(f.turn)
}

func (f *Spans) provider(s *Span) {
	name := f.info.Provider
	if n, ok := providers[name]; ok {
		name = n
	}
	s.set(attrProvider, name)
	s.set(attrRequestModel, f.info.Model)
}

// open starts a span below the turn's.
func (f *Spans) open(e event.Event, name string, kind int, operation string) *Span {
	if f.turn == nil {
		f.begin(e) // the log is older than this process
	}
	s := &Span{Trace: f.turn.Trace, ID: f.NewID(8), Parent: f.turn.ID, Name: name, Kind: kind, Start: e.Time}
	s.set(attrOperation, operation)
	s.set(attrConversation, e.Session)
	return s
}

func (f *Spans) close(s **Span, at time.Time) {
	(*s).End = at
	f.done = append(f.done, **s)
	*s = nil
}

func (f *Spans) replied(b event.Replied) {
	r, s := b.Reply, f.chat
	s.set(attrModel, r.Model)
	s.set(attrResponse, r.Response)
	if finish := r.Finish; finish != "" {
		s.set(attrFinish, []string{finish})
	}
	u := r.Usage
	s.set(attrInput, u.Input+u.CacheRead+u.CacheWrite)
	s.set(attrOutput, u.Output)
	s.set(attrCacheRead, u.CacheRead)
	s.set(attrCacheWrite, u.CacheWrite)
	if b.Cost != nil {
		s.set(attrCost, *b.Cost)
	}
}

func (f *Spans) called(e event.Event, b event.CallDone) {
	for i, s := range f.calls {
		if !s.is(attrCall, b.ID) {
			continue
		}
		f.calls = append(f.calls[:i:i], f.calls[i+1:]...)
		s.Name = "execute_tool " + b.Tool
		s.set(attrTool, b.Tool)
		s.set(attrOutcome, string(b.Outcome))
		if b.Outcome != event.OK {
			s.fail(string(b.Outcome))
		}
		f.close(&s, e.Time)
		return
	}
}

func (s *Span) is(key string, v any) bool {
	for _, a := range s.Attrs {
		if a.Key == key {
			return a.Value == v
		}
	}
	return false
}

func (f *Spans) end(e event.Event, b event.Ended) []Span {
	if f.turn == nil {
		return nil
	}
	if f.chat != nil {
		f.chat.fail(string(b.End))
		f.close(&f.chat, e.Time)
	}
	for _, s := range f.calls {
		f.close(&s, e.Time)
	}
	f.calls = nil
	f.turn.set(attrOutcome, string(b.End))
	if b.Error != nil {
		f.turn.fail(b.Error.Category)
	}
	f.close(&f.turn, e.Time)
	return f.take()
}

func (f *Spans) take() []Span {
	out := f.done
	f.done = nil
	return out
}
