package catalog

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/adapter/provider/gemini"
	"github.com/pawl-agent/pawl/internal/adapter/provider/openaichat"
	"github.com/pawl-agent/pawl/internal/adapter/provider/responses"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// model is what is known about a model. Zero means unknown; the price is known only if
// priced.
type model struct {
	name   string
	home   string // the provider that made it and serves it at this price
	window int
	output int
	text   bool // takes no images
	priced bool
	price  llm.Price
}

// models is the table of models. Prices are the public list prices as of 2026-11-21, in
// USD per million tokens. They are flat: if a host charges more for long requests, the
// window here ends where the higher price begins, so that the shown cost is right; a
// larger window can be configured, with its price. If the price depends on the hour, it
// is the highest one. Prices that could not be confirmed are missing.
var models = []model{
	{name: "claude-fable-5", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 10, Output: 50, CacheRead: 1, CacheWrite: 12.5}},
	{name: "claude-fable-5-1", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 10, Output: 50, CacheRead: 0.25, CacheWrite: 12.5}},
	{name: "claude-opus-5-5", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 4, Output: 20, CacheRead: 0.2, CacheWrite: 5}},
	{name: "claude-opus-5", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}},
	{name: "claude-opus-4-8", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}},
	{name: "claude-opus-4-7", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}},
	{name: "claude-opus-4-6", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}},
	{name: "claude-opus-4-5", home: "anthropic", window: 200_000, output: 64_000, priced: true, price: llm.Price{Input: 5, Output: 25, CacheRead: 0.5, CacheWrite: 6.25}},
	{name: "claude-opus-4-1", home: "anthropic", window: 200_000, output: 32_000, priced: true, price: llm.Price{Input: 15, Output: 75, CacheRead: 1.5, CacheWrite: 18.75}},
	{name: "claude-opus-4", home: "anthropic", window: 200_000, output: 32_000, priced: true, price: llm.Price{Input: 15, Output: 75, CacheRead: 1.5, CacheWrite: 18.75}},
	{name: "claude-sonnet-5-5", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 2, Output: 10, CacheRead: 0.1, CacheWrite: 2.5}},
	{name: "claude-sonnet-5", home: "anthropic", window: 1_000_000, output: 128_000, priced: true, price: llm.Price{Input: 2, Output: 10, CacheRead: 0.2, CacheWrite: 2.5}},
	{name: "claude-sonnet-4-6", home: "anthropic", window: 1_000_000, output: 64_000, priced: true, price: llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
	{name: "claude-sonnet-4-5", home: "anthropic", window: 200_000, output: 64_000, priced: true, price: llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
	{name: "claude-sonnet-4", home: "anthropic", window: 200_000, output: 64_000, priced: true, price: llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
	{name: "claude-haiku-5-5", home: "anthropic", window: 100_000, priced: true, price: llm.Price{Input: 0.1, Output: 0.5, CacheRead: 0.01, CacheWrite: 0.125}},
	{name: "claude-haiku-4-5", home: "anthropic", window: 200_000, output: 64_000, priced: true, price: llm.Price{Input: 1, Output: 5, CacheRead: 0.1, CacheWrite: 1.25}},
	{name: "claude-3-7-sonnet", home: "anthropic", window: 200_000, output: 64_000, priced: true, price: llm.Price{Input: 3, Output: 15, CacheRead: 0.3, CacheWrite: 3.75}},
	{name: "claude-3-5-haiku", home: "anthropic", window: 200_000, output: 8_192, priced: true, price: llm.Price{Input: 0.8, Output: 4, CacheRead: 0.08, CacheWrite: 1}},
	{name: "claude-", home: "anthropic", window: 200_000},

	{name: "gpt-6.1-sol", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 2, Output: 10, CacheRead: 0.1, CacheWrite: 2.5}},
	{name: "gpt-6-sol", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 2, Output: 10, CacheRead: 0.2, CacheWrite: 2.5}},
	{name: "gpt-6-luna", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 0.1, Output: 0.5, CacheRead: 0.01, CacheWrite: 0.125}},
	{name: "gpt-6-astra", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 10, Output: 50, CacheRead: 1, CacheWrite: 12.5}},
	{name: "gpt-5.6-sol", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 2, Output: 10, CacheRead: 0.2, CacheWrite: 2.5}},
	{name: "gpt-5.6", home: "openai", window: 272_000, output: 128_000},
	{name: "gpt-5.5", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 5, Output: 30, CacheRead: 0.5, CacheWrite: 5}},
	{name: "gpt-5.4", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 2.5, Output: 15, CacheRead: 0.25, CacheWrite: 2.5}},
	{name: "gpt-5.4-mini", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 0.75, Output: 4.5, CacheRead: 0.075, CacheWrite: 0.75}},
	{name: "gpt-5.4-nano", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 0.2, Output: 1.25, CacheRead: 0.02, CacheWrite: 0.2}},
	{name: "gpt-5.3-codex", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 1.75, Output: 14, CacheRead: 0.175, CacheWrite: 1.75}},
	{name: "gpt-5.2", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 1.75, Output: 14, CacheRead: 0.175, CacheWrite: 1.75}},
	{name: "gpt-5.2-codex", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 1.75, Output: 14, CacheRead: 0.175, CacheWrite: 1.75}},
	{name: "gpt-5.1", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25}},
	{name: "gpt-5.1-codex", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25}},
	{name: "gpt-5", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25}},
	{name: "gpt-5-codex", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25}},
	{name: "gpt-5-mini", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 0.25, Output: 2, CacheRead: 0.025, CacheWrite: 0.25}},
	{name: "gpt-5-nano", home: "openai", window: 272_000, output: 128_000, priced: true, price: llm.Price{Input: 0.05, Output: 0.4, CacheRead: 0.005, CacheWrite: 0.05}},
	{name: "gpt-4.1", home: "openai", window: 1_047_576, output: 32_768, priced: true, price: llm.Price{Input: 2, Output: 8, CacheRead: 0.5, CacheWrite: 2}},
	{name: "gpt-4.1-mini", home: "openai", window: 1_047_576, output: 32_768, priced: true, price: llm.Price{Input: 0.4, Output: 1.6, CacheRead: 0.1, CacheWrite: 0.4}},
	{name: "gpt-4.1-nano", home: "openai", window: 1_047_576, output: 32_768, priced: true, price: llm.Price{Input: 0.1, Output: 0.4, CacheRead: 0.025, CacheWrite: 0.1}},
	{name: "gpt-4o", home: "openai", window: 128_000, output: 16_384, priced: true, price: llm.Price{Input: 2.5, Output: 10, CacheRead: 1.25, CacheWrite: 2.5}},
	{name: "gpt-4o-mini", home: "openai", window: 128_000, output: 16_384, priced: true, price: llm.Price{Input: 0.15, Output: 0.6, CacheRead: 0.075, CacheWrite: 0.15}},
	{name: "o3", home: "openai", window: 200_000, output: 100_000, priced: true, price: llm.Price{Input: 2, Output: 8, CacheRead: 0.5, CacheWrite: 2}},
	{name: "o4-mini", home: "openai", window: 200_000, output: 100_000, priced: true, price: llm.Price{Input: 1.1, Output: 4.4, CacheRead: 0.275, CacheWrite: 1.1}},
	{name: "gpt-oss-", window: 131_072, text: true},
	{name: "gpt-", home: "openai"},

	{name: "gemini-3.8-flash", home: "gemini", window: 1_048_576, output: 65_536, priced: true, price: llm.Price{Input: 0.75, Output: 3.75, CacheRead: 0.075, CacheWrite: 0.75}}, // until 2026-12-31, then 1.50, 7.50, 0.15
	{name: "gemini-3.5-flash", home: "gemini", window: 1_048_576, output: 65_536, priced: true, price: llm.Price{Input: 1.5, Output: 9, CacheRead: 0.15, CacheWrite: 1.5}},
	{name: "gemini-3.1-pro", home: "gemini", window: 200_000, output: 65_536, priced: true, price: llm.Price{Input: 2, Output: 12, CacheRead: 0.2, CacheWrite: 2}},
	{name: "gemini-3-pro", home: "gemini", window: 200_000, output: 65_536, priced: true, price: llm.Price{Input: 2, Output: 12, CacheRead: 0.2, CacheWrite: 2}},
	{name: "gemini-3-flash", home: "gemini", window: 1_048_576, output: 65_536, priced: true, price: llm.Price{Input: 0.5, Output: 3, CacheRead: 0.05, CacheWrite: 0.5}},
	{name: "gemini-2.5-pro", home: "gemini", window: 200_000, output: 65_536, priced: true, price: llm.Price{Input: 1.25, Output: 10, CacheRead: 0.125, CacheWrite: 1.25}},
	{name: "gemini-2.5-flash", home: "gemini", window: 1_048_576, output: 65_536, priced: true, price: llm.Price{Input: 0.3, Output: 2.5, CacheRead: 0.03, CacheWrite: 0.3}},
	{name: "gemini-2.5-flash-lite", home: "gemini", window: 1_048_576, output: 65_536, priced: true, price: llm.Price{Input: 0.1, Output: 0.4, CacheRead: 0.01, CacheWrite: 0.1}},
	{name: "gemini-", home: "gemini", window: 1_048_576, output: 65_536},

	{name: "grok-4.5", home: "xai", window: 200_000, priced: true, price: llm.Price{Input: 2, Output: 6, CacheRead: 0.5, CacheWrite: 2}},
	{name: "grok-4.3", home: "xai", window: 200_000, priced: true, price: llm.Price{Input: 1.25, Output: 2.5, CacheRead: 0.2, CacheWrite: 1.25}},
	{name: "grok-", home: "xai"},

	{name: "deepseek-v4-pro", home: "deepseek", window: 1_000_000, output: 384_000, text: true, priced: true, price: llm.Price{Input: 1.32, Output: 3.96, CacheRead: 0.044, CacheWrite: 1.32}},
	{name: "deepseek-flash", home: "deepseek", window: 1_000_000, output: 384_000, priced: true, price: llm.Price{Input: 0.3, Output: 1.2, CacheRead: 0.006, CacheWrite: 0.3}},
	{name: "deepseek-v4-flash", home: "deepseek", window: 1_000_000, output: 384_000, priced: true, price: llm.Price{Input: 0.3, Output: 1.2, CacheRead: 0.006, CacheWrite: 0.3}},
	{name: "deepseek-", home: "deepseek", text: true},

	{name: "devstral-medium", home: "mistral", window: 262_144, text: true, priced: true, price: llm.Price{Input: 0.4, Output: 2, CacheRead: 0.4, CacheWrite: 0.4}},
	{name: "devstral-2512", home: "mistral", window: 262_144, text: true, priced: true, price: llm.Price{Input: 0.4, Output: 2, CacheRead: 0.4, CacheWrite: 0.4}},
	{name: "mistral-medium-3.5", home: "mistral", window: 256_000, priced: true, price: llm.Price{Input: 1.5, Output: 7.5, CacheRead: 1.5, CacheWrite: 1.5}},
	{name: "codestral", home: "mistral", window: 256_000, text: true, priced: true, price: llm.Price{Input: 0.3, Output: 0.9, CacheRead: 0.3, CacheWrite: 0.3}},
	{name: "devstral-", home: "mistral", text: true},
	{name: "mistral-", home: "mistral"},
	{name: "magistral-", home: "mistral"},

	{name: "glm-5.2", home: "zai", text: true},
	{name: "glm-", home: "zai", text: true},
	{name: "kimi-", home: "moonshot"},
}

// passesThrough reports whether a provider is a router that charges the maker's price.
func passesThrough(provider string) bool { return provider == "openrouter" || provider == "vercel" }

// lookup returns a model by its exact name, else by the longest name in the table that
// the name starts with. The price is inherited only if the rest is a date or a revision
// of the same model, never for a variant such as mini.
func lookup(name string) (m model, priced bool) {
	name = bare(name)
	for _, row := range models {
		if row.name == name {
			return row, row.priced
		}
		if strings.HasPrefix(name, row.name) && len(row.name) > len(m.name) && ends(row.name, name) {
			m = row
		}
	}
	return m, m.priced && sameModel(name[len(m.name):])
}

// ends reports whether row, a prefix of name, ends at a word's end.
func ends(row, name string) bool {
	if strings.HasSuffix(row, "-") {
		return true
	}
	c := name[len(row)]
	return c == '-' || c == '@' || c == ':'
}

// sameModel reports whether a suffix names a snapshot of the same model: latest, preview,
// exp, or a date or revision of at least three digits. A single digit means another
// version.
func sameModel(suffix string) bool {
	digits := 0
	for _, word := range strings.FieldsFunc(suffix, func(r rune) bool { return r == '-' || r == '@' || r == ':' }) {
		switch word {
		case "latest", "preview", "exp":
			digits = 3 // a date may follow
			continue
		}
		for _, c := range word {
			if c < '0' || c > '9' {
				return false
			}
		}
		if digits += len(word); digits < 3 {
			return false
		}
	}
	return true
}

// bare returns a model's name without what routers and clouds add to it, and with dashes
// in Anthropic's version numbers.
func bare(name string) string {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	if _, model, ok := strings.Cut(name, "anthropic."); ok { // us.anthropic.claude-sonnet-4-5-20250929-v1:0
		name, _, _ = strings.Cut(model, ":")
		if i := strings.LastIndex(name, "-v"); i > 0 && strings.Trim(name[i+2:], "0123456789") == "" {
			name = name[:i]
		}
	}
	if strings.HasPrefix(name, "claude-") {
		name = strings.ReplaceAll(name, ".", "-")
	}
	return name
}

// searches reports whether a provider itself searches the web for a model. This is known
// only for the makers' own servers and for Gemini on Vertex.
func searches(c Choice, r row, m model) bool {
	switch r.name {
	case "anthropic", "xai", "gemini":
		return m.home == r.name && sameHost(c.BaseURL, r.base) && !strings.HasPrefix(m.name, "claude-3-5-haiku")
	case "openai", "openai-responses":
		return c.Info.API == responses.Name && m.home == "openai" && sameHost(c.BaseURL, r.base)
	case vertexName:
		return m.home == "gemini"
	}
	return false
}

// searchPrice returns what a maker charges for one search, in USD, as of 2026-11-21.
func searchPrice(m model) float64 {
	switch {
	case m.home == "gemini" && strings.HasPrefix(m.name, "gemini-2"):
		return 0.035
	case m.home == "gemini":
		return 0.014
	case m.home == "xai":
		return 0.005
	}
	return 0.01
}

// sees reports whether a model with open weights accepts images, judged by its name:
// nothing else is known about most of them.
func sees(name string) bool {
	name = strings.ToLower(name[strings.LastIndexByte(name, '/')+1:])
	for _, word := range strings.FieldsFunc(name, func(r rune) bool { return r == '-' || r == ':' || r == '_' }) {
		switch word {
		case "vl", "vision", "llava", "pixtral", "moondream", "bakllava", "minicpm", "internvl", "multimodal":
			return true
		}
		if strings.HasSuffix(word, "vl") && strings.HasPrefix(word, "qwen") { // qwen2.5vl
			return true
		}
	}
	return slices.ContainsFunc([]string{"gemma3", "gemma-3", "gemma4", "gemma-4", "llama4", "llama-4", "mistral-small3", "mistral-small-3"}, func(family string) bool {
		return strings.HasPrefix(name, family)
	})
}

// reads reports whether a model accepts PDF documents, hears whether it accepts audio. It
// is known of the makers' models that see, where their own servers, clouds and OpenRouter
// serve them; other gateways each have their own form for it.
func reads(c Choice, m model) bool {
	at := c.row.dialectName()
	switch m.home {
	case "anthropic":
		return c.Info.API == anthropic.Name || at == "openrouter"
	case "gemini":
		return c.Info.API == gemini.Name || at == "openrouter"
	case "openai":
		return at == "openai" || at == "openrouter" || at == "azure" && c.Info.API == responses.Name
	}
	return false
}

func hears(c Choice, m model) bool {
	at := c.row.dialectName()
	return m.home == "gemini" && (c.Info.API == gemini.Name || at == "openrouter") ||
		m.home == "openai" && strings.Contains(c.Info.Model, "audio") && c.Info.API == openaichat.Name && (at == "openai" || at == "openrouter")
}

// family returns the model family, which decides the form of the edit tool.
func family(name string) string {
	name = bare(name)
	for _, f := range []struct{ prefix, family string }{
		{"claude", "claude"},
		{"gpt", "gpt"},
		{"chatgpt", "gpt"},
		{"codex", "gpt"},
		{"o1", "gpt"},
		{"o3", "gpt"},
		{"o4", "gpt"},
		{"gemini", "gemini"},
	} {
		if strings.HasPrefix(name, f.prefix) {
			return f.family
		}
	}
	return "other"
}
