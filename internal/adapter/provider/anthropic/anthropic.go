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
	"slices"
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

// A mark is the end of a prefix that the provider should cache: for five minutes after each
// use, or for an hour.
const (
	shortMark = `,"cache_control":{"type":"ephemeral"}`
	longMark  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

// api is the Messages API. With a version (in a cloud) the address names the model, and
// the body the API's version.
type api struct {
	t        provider.Tuning
	long     bool // the cache is to last for an hour
	version  string
	bodied   bool // betas are in the body
	noStream bool // the address requests a stream, not the body
}

var (
	_ provider.Ender  = api{}
	_ provider.Frugal = direct{}
	_ llm.Lasting     = direct{}
)

func New(t provider.Tuning) provider.API { return direct{api{t: t}} }

// direct is the API at an address with its own paths: Anthropic's, or a gateway's.
type direct struct{ api }

// betas are the betas by the beginnings of their names, each with the member that needs it.
var betas = [...]struct {
	name, member string
	drop         func(*provider.Tuning)
}{
	{"thinking-binding-controls-", "block_binding", func(t *provider.Tuning) { t.Binds = false }},
	{"thinking-display-updates-", "display", func(t *provider.Tuning) { t.Display = "" }},
	{"context-management-", "context_management", func(t *provider.Tuning) { t.KeepThinking = false }},
	{"task-budgets-", "task_budget", func(t *provider.Tuning) { t.TaskBudget = 0 }},
	{"effort-", "output_config", func(t *provider.Tuning) { t.Think = provider.ByBudget }},
	{"interleaved-thinking-", "interleaved-thinking", func(*provider.Tuning) {}},
}

// Without implements provider.Frugal: a refusal names a beta, a member that needs one, or only
// the header, which stands for all.
func (a direct) Without(refusal string) (provider.API, string) {
	t := a.t
	var dropped []string
	for _, all := range []bool{false, strings.Contains(refusal, "anthropic-beta") || strings.Contains(refusal, "anthropic_beta")} {
		for _, name := range a.t.Betas {
			for _, b := range betas {
				if strings.HasPrefix(name, b.name) && (all || strings.Contains(refusal, name) || strings.Contains(refusal, b.member)) {
					dropped = append(dropped, name)
					b.drop(&t)
				}
			}
		}
		if len(dropped) > 0 {
			break
		}
	}
	if len(dropped) == 0 {
		return nil, ""
	}
	t.Betas = slices.DeleteFunc(slices.Clone(a.t.Betas), func(name string) bool { return slices.Contains(dropped, name) })
	return direct{api{t: t}}, strings.Join(dropped, ", ")
}

// OnBedrock returns the API with the request bodies of Amazon Bedrock.
func OnBedrock(t provider.Tuning) Hosted {
	return Hosted{api{t: t, version: "bedrock-2023-05-31", bodied: true, noStream: true}}
}

// OnVertex returns the API with the request bodies of Google Vertex AI.
func OnVertex(t provider.Tuning) Hosted { return Hosted{api{t: t, version: "vertex-2023-10-16"}} }

// Hosted is the API as a cloud serves it. Addresses and keys are the cloud's.
type Hosted struct{ api }

func (a direct) Long() (llm.Codec, bool) {
	a.long = a.t.LongCache
	return a, a.long
}

func (a api) mark() string {
	if a.long {
		return longMark
	}
	return shortMark
}

func (api) Name() string { return Name }

func (api) Path(string) string { return "/v1/messages" }

func (api) Framing() provider.Framing { return provider.SSE }

func (api) Decoder() provider.Decoder { return new(decoder) }

// Header sets a key as x-api-key, a sign-in token as a bearer token, and the betas.
func (a api) Header(h http.Header, key string) {
	h.Set("anthropic-version", "2023-06-01")
	used := a.t.Betas
	switch {
	case strings.HasPrefix(key, "sk-ant-oat"):
		h.Set("Authorization", "Bearer "+key)
		used = append([]string{"oauth-2025-04-20"}, used...)
	case key != "":
		h.Set("x-api-key", key)
	}
	SetBetas(h, used)
}

// SetBetas sets the header that names betas, if there are any.
func SetBetas(h http.Header, betas []string) {
	if len(betas) > 0 {
		h.Set("anthropic-beta", strings.Join(betas, ","))
	}
}

// Betas returns the betas that requests use.
func (h Hosted) Betas() []string { return h.t.Betas }

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
	if a.bodied && len(a.t.Betas) > 0 {
		b = append(b, `,"anthropic_beta":["`+strings.Join(a.t.Betas, `","`)+`"]`...)
	}
	if h.System != "" {
		b = append(b, `,"system":[{"type":"text","text":`...)
		b = lax.AppendString(b, h.System)
		b = append(b, a.mark()+"}]"...)
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
			b = append(b, a.mark()...)
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
func (a api) End(h llm.Head, t llm.Tail) []byte {
	if t.MaxTokens <= 0 {
		t.MaxTokens = fallbackTokens
	}
	b := strconv.AppendInt([]byte(`],"max_tokens":`), int64(t.MaxTokens), 10)
	budget := 0
	if len(h.Tools) > 0 { // a request beside the conversation has a task of its own
		budget = a.t.TaskBudget
	}
	if h.Effort == "" {
		b = output(b, "", budget)
	} else {
		b = a.think(b, h.Effort, budget, t)
	}
	return append(b, '}')
}

// output appends output_config, if it says anything.
func output(b []byte, effort string, taskBudget int) []byte {
	var members []string
	if effort != "" {
		members = append(members, `"effort":`+string(quote(effort)))
	}
	if taskBudget > 0 {
		members = append(members, fmt.Sprintf(`"task_budget":{"type":"tokens","total":%d}`, taskBudget))
	}
	if members == nil {
		return b
	}
	return append(b, `,"output_config":{`+strings.Join(members, ",")+`}`...)
}

// think appends the members that ask for thinking, and output_config.
func (a api) think(b []byte, effort string, taskBudget int, t llm.Tail) []byte {
	switch a.t.Think {
	case provider.ByEffort:
		b = append(b, `,"thinking":{"type":"adaptive"`...)
	case provider.ByBudget, provider.ByBoth:
		// Less than the reply, and at least the API's minimum.
		n := t.MaxTokens / 2
		if t.Thinking > 0 && t.Thinking < t.MaxTokens {
			n = t.Thinking
		}
		n = min(budget(effort), n)
		if n < 1024 {
			return b
		}
		b = strconv.AppendInt(append(b, `,"thinking":{"type":"enabled","budget_tokens":`...), int64(n), 10)
	default:
		return b
	}
	if a.t.Display != "" {
		b = append(b, `,"display":"`+a.t.Display+`"`...)
	}
	if a.t.Binds {
		b = append(b, `,"block_binding":{"prefix_mismatch_behavior":"drop_block"}`...)
	}
	b = append(b, '}')
	if a.t.Think == provider.ByBudget {
		effort = ""
	}
	b = output(b, effort, taskBudget)
	if a.t.KeepThinking {
		b = append(b, `,"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`...)
	}
	return b
}

func budget(effort string) int {
	switch effort {
	case "minimal", "low":
		return 2048
	case "medium":
		return 8192
	}
	return 31999
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
