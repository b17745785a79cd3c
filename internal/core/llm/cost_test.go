package llm

import "testing"

// SPEC 5.5: every kind of token is priced: fresh input, output, what was read
// from a cache and what was written to one. What is not known is not 0.
func TestCost(t *testing.T) {
	p := &Price{Input: 1, Output: 10, CacheRead: 100, CacheWrite: 1000}
	for name, c := range map[string]struct {
		price *Price
		usage Usage
		want  float64 // -1: not known
	}{
		"input":          {p, Usage{Known: true, Input: 1_000_000}, 1},
		"output":         {p, Usage{Known: true, Output: 1_000_000}, 10},
		"cache reads":    {p, Usage{Known: true, CacheRead: 1_000_000}, 100},
		"cache writes":   {p, Usage{Known: true, CacheWrite: 1_000_000}, 1000},
		"all":            {p, Usage{Known: true, Input: 1_000_000, Output: 1_000_000, CacheRead: 1_000_000, CacheWrite: 1_000_000}, 1111},
		"reasoning":      {p, Usage{Known: true, Output: 1_000_000, Reasoning: 400_000}, 10}, // a part of the output
		"free":           {&Price{}, Usage{Known: true, Input: 5, CacheWrite: 5}, 0},
		"nothing used":   {p, Usage{Known: true}, 0},
		"no price":       {nil, Usage{Known: true, Input: 5}, -1},
		"no usage":       {p, Usage{}, -1},
		"the host's own": {nil, Usage{CostUSD: new(0.5)}, 0.5},
	} {
		got := Cost(c.price, c.usage)
		if (got == nil) != (c.want < 0) || got != nil && *got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
