package catalog

import (
	_ "embed"
	"encoding/csv"
	"slices"
	"strconv"
	"strings"
	"sync"

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

//go:embed models.csv
var table string

// models returns the table of models. Prices are the public list prices of a published
// catalogue, whose date is in the table, in USD per million tokens. They are flat: if a
// host charges more for long requests, the window here ends where the higher price
// begins, so that the shown cost is right; a larger window can be configured, with its
// price. If the price depends on the hour, it is the highest one. Prices that could not be
// confirmed are missing.
var models = sync.OnceValue(func() (out []model) {
	r := csv.NewReader(strings.NewReader(table))
	r.Comment = '#'
	rows, _ := r.ReadAll()
	for _, row := range rows[1:] {
		var n [6]float64 // 0: unknown
		for i, column := range []int{2, 3, 5, 6, 7, 8} {
			n[i], _ = strconv.ParseFloat(row[column], 64)
		}
		out = append(out, model{
			name: row[0], home: row[1], window: int(n[0]), output: int(n[1]), text: row[4] == "text", priced: n[2] > 0,
			price: llm.Price{Input: n[2], Output: n[3], CacheRead: n[4], CacheWrite: n[5]},
		})
	}
	return out
})

// passesThrough reports whether a provider is a router that charges the maker's price.
func passesThrough(provider string) bool { return provider == "openrouter" || provider == "vercel" }

// lookup returns a model by its exact name, else by the longest name in the table that
// the name starts with. The price is inherited only if the rest is a date or a revision
// of the same model, never for a variant such as mini.
func lookup(name string) (m model, priced bool) {
	name = bare(name)
	for _, row := range models() {
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
