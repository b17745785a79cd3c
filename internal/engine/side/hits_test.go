package side

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 17.7: the pages of a search are found in whatever a provider sent, each once, and
// hostile forms do no harm.
func TestHits(t *testing.T) {
	many := make([]string, 0, 100)
	for i := range 100 {
		many = append(many, fmt.Sprintf(`{"url":"https://h/%d","title":"t"}`, i))
	}
	for name, c := range map[string]struct {
		raw  string
		want int
	}{
		"results":   {`{"type":"web_search_tool_result","content":[{"url":"https://go.dev","title":"Go"},{"url":"https://go.dev","title":"Go"},{"url":"https://pkg.go.dev","title":"P"}]}`, 2},
		"citations": {`{"type":"text","citations":[{"type":"web_search_result_location","url":"https://go.dev","title":"Go"}]}`, 1},
		"others":    {`{"url":"javascript:x","title":"no","a":{"url":"https://x"},"b":{"url":5,"title":"t"}}`, 0},
		"deep":      {strings.Repeat("[", 5000) + `{"url":"https://x","title":"t"}` + strings.Repeat("]", 5000), 0},
		"many":      {"[" + strings.Join(many, ",") + "]", 30},
		"no JSON":   {`{`, 0},
	} {
		got := hitsOf(llm.Message{Parts: []llm.Part{{Kind: llm.Opaque, Raw: json.RawMessage(c.raw)}}})
		if len(got) != c.want {
			t.Errorf("%s: %d hits", name, len(got))
		}
	}
}
