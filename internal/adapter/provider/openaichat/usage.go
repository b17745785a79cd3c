package openaichat

import (
	"encoding/json"

	"github.com/pawl-agent/pawl/internal/adapter/provider/lax"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// tokens is the usage that hosts report. Prompt tokens include cached tokens,
// and completion tokens include reasoning, unless a host counts it separately.
type tokens struct {
	Prompt     lax.Int `json:"prompt_tokens"`
	Completion lax.Int `json:"completion_tokens"`
	Total      lax.Int `json:"total_tokens"`
	In         lax.Obj[struct {
		Cached  lax.Int `json:"cached_tokens"`
		Written lax.Int `json:"cache_write_tokens"`
	}] `json:"prompt_tokens_details"`
	Out lax.Obj[struct {
		Reasoning lax.Int `json:"reasoning_tokens"`
	}] `json:"completion_tokens_details"`
	Hit      lax.Int `json:"prompt_cache_hit_tokens"`     // deepseek
	Cached   lax.Int `json:"cached_tokens"`               // moonshot
	Read     lax.Int `json:"cache_read_input_tokens"`     // gateways to anthropic
	Creation lax.Int `json:"cache_creation_input_tokens"` // gateways to anthropic
	lax.Charge
}

// usage returns the token counts that a host reported.
func (d Dialect) usage(raw json.RawMessage) llm.Usage {
	var t tokens
	if !lax.Present(raw) || json.Unmarshal(raw, &t) != nil {
		return llm.Usage{}
	}
	first := func(ns ...lax.Int) int64 {
		for _, n := range ns {
			if n > 0 {
				return int64(n)
			}
		}
		return 0
	}
	u := llm.Usage{
		Known:      t.Prompt > 0 || t.Completion > 0,
		CacheRead:  first(t.In.V.Cached, t.Hit, t.Cached, t.Read),
		CacheWrite: first(t.In.V.Written, t.Creation),
		Output:     int64(t.Completion),
		Reasoning:  int64(t.Out.V.Reasoning),
	}
	u.CacheRead = min(u.CacheRead, int64(t.Prompt))
	u.CacheWrite = min(u.CacheWrite, int64(t.Prompt)-u.CacheRead)
	u.Input = int64(t.Prompt) - u.CacheRead - u.CacheWrite
	if u.Reasoning > 0 && (d.ReasoningApart || u.Reasoning > u.Output || t.Total == t.Prompt+t.Completion+t.Out.V.Reasoning) {
		u.Output += u.Reasoning
	}
	u.CostUSD = t.USD(d.CostUSD)
	return u
}
