package openaichat

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
)

// Dialect describes what one host accepts and sends that others do not. The zero value is
// the subset that compatible servers share.
type Dialect struct {
	Name string // the provider's name, for errors

	// CompletionTokens selects when the limit of a reply is named max_completion_tokens:
	// always, only for OpenAI's reasoning models (which refuse max_tokens), or never.
	CompletionTokens When
	// Effort is how a reasoning effort is requested.
	Effort Effort
	// Echo is how native reasoning is sent back to the host that sent it.
	Echo Echo
	// EchoAlways sends an empty reasoning_content with assistant messages that have none:
	// the host refuses a conversation in which one is missing.
	EchoAlways bool
	// Markers writes contents as lists and adds cache_control markers: without them the
	// host's models cache nothing, or only by chance. MarkTools adds one to the last tool.
	Markers, MarkTools bool
	// CacheHeader is a header that the markers need.
	CacheHeader string
	// ResultName repeats the tool's name with its result.
	ResultName bool
	// CallID is the form of call ids that the host accepts.
	CallID IDRule
	// CallExtra sends a call's extra_content back: the host is, or may be, Google's,
	// which puts signatures there.
	CallExtra bool
	// ReasoningApart means that completion_tokens does not include reasoning_tokens.
	ReasoningApart bool
	// CacheKey sends a prompt_cache_key, made from the frozen head.
	CacheKey bool
	// CostUSD means that usage.cost is the charged price in USD.
	CostUSD bool
	// KeyHeader is the header for the key; "": Authorization.
	KeyHeader string
	// Extra contains more members for each request: `,"name":value`.
	Extra string
	// Tuning is the model's.
	Tuning provider.Tuning
}

// When selects the models to which something applies.
type When int

// The values of When.
const (
	Never When = iota
	ReasoningModels
	Always
)

// Effort is a way to request a reasoning effort.
type Effort int

// The values of Effort. With EffortNone nothing is sent: the host does not support it.
const (
	EffortNone   Effort = iota
	EffortField         // reasoning_effort, sent if the person set an effort
	EffortObject        // reasoning:{"effort":…}
)

// Echo is a way to send native reasoning back.
type Echo int

// The values of Echo.
const (
	EchoNone    Echo = iota
	EchoContent      // reasoning_content
	EchoField        // reasoning
	EchoDetails      // reasoning_details as received, else reasoning
	EchoChunks       // thinking chunks in the content (Mistral)
)

// IDRule describes the call ids that a host accepts; the zero value accepts any.
type IDRule struct {
	Max   int  // most characters; 0: any number
	Exact bool // exactly Max characters
	Plain bool // letters and digits only; otherwise also _ and -
}

// dialects returns the dialect of a provider; false if it has no row. A compatible host
// needs only a row here and one in the catalogue.
func dialects(name string) (Dialect, bool) {
	switch name {
	case "openai":
		return Dialect{CompletionTokens: Always, Effort: EffortField, CacheKey: true, CallID: IDRule{Max: 40}}, true
	case "azure":
		return Dialect{CompletionTokens: Always, Effort: EffortField, CallID: IDRule{Max: 40}, KeyHeader: "api-key"}, true
	case "openrouter":
		return Dialect{
			Effort: EffortObject, Echo: EchoDetails,
			CostUSD: true, Extra: `,"usage":{"include":true}`,
		}, true
	case "vercel":
		return Dialect{Effort: EffortObject, Echo: EchoDetails, ReasoningApart: true, CostUSD: true}, true
	case "groq":
		return Dialect{CompletionTokens: Always, Effort: EffortField}, true
	case "mistral":
		return Dialect{Effort: EffortField, Echo: EchoChunks, ResultName: true, CallID: IDRule{Max: 9, Exact: true, Plain: true}}, true
	case "deepseek":
		return Dialect{Effort: EffortField, Echo: EchoContent, EchoAlways: true}, true
	case "moonshot":
		return Dialect{Echo: EchoContent, EchoAlways: true}, true
	case "xai":
		return Dialect{Effort: EffortField, Echo: EchoContent, ReasoningApart: true}, true
	case "qwen":
		return Dialect{Echo: EchoContent, Markers: true, MarkTools: true, CacheHeader: "X-DashScope-CacheControl"}, true
	case "minimax", "huggingface", "together", "deepinfra", "nebius":
		return Dialect{Echo: EchoContent}, true
	case "fireworks", "zai":
		return Dialect{Effort: EffortField, Echo: EchoContent}, true
	case "cerebras":
		return Dialect{CompletionTokens: Always, Effort: EffortField, Echo: EchoField}, true
	case "github":
		return Dialect{CompletionTokens: ReasoningModels, CallID: IDRule{Max: 40}}, true
	case "llamacpp", "lmstudio", "vllm":
		return Dialect{Effort: EffortField, Echo: EchoContent}, true
	case "ollama":
		return Dialect{Effort: EffortField, Echo: EchoField}, true
	case "openai-compatible":
		return Dialect{CompletionTokens: ReasoningModels, Effort: EffortField, Echo: EchoContent, CallExtra: true}, true
	}
	return Dialect{}, false
}

// DialectFor returns the dialect of a provider for a model. A provider without a row has
// the default dialect.
func DialectFor(name, model string) Dialect {
	d, ok := dialects(name)
	if !ok {
		d, _ = dialects("openai-compatible")
	}
	d.Name = name
	if name == "openrouter" && strings.HasPrefix(model, "anthropic/") {
		d.Markers, d.CallID = true, IDRule{Max: 64}
	}
	return d
}
