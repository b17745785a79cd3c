package window

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
)

// SPEC 20.1, 9.4: how much of a reply may be thinking is the same for all requests until the
// window is compacted, though less and less fits; and each of these replies can hold it.
func TestThinkingTokens(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ window, output, want int }{
		"a small window":     {24_000, 64_000, 2329},
		"a usual one":        {200_000, 64_000, 35_190},
		"a short reply":      {200_000, 8192, 4096},
		"the window unknown": {0, 64_000, 0},
	} {
		var k Conversation
		apply := func(bs ...event.Body) {
			for _, b := range bs {
				k.Apply(event.Event{Body: event.Completed(b)})
			}
		}
		apply(event.Rebased{Info: llm.Info{Provider: "p", Model: "m", Window: c.window, MaxOutput: c.output}, Head: llm.Head{Model: "m"}})
		for {
			if got := k.ThinkingTokens(); got != c.want {
				t.Fatalf("%s: %d, want %d", name, got, c.want)
			} else if got > 0 && got >= k.MaxReplyTokens() {
				t.Fatalf("%s: a reply of %d tokens, %d of them thinking", name, k.MaxReplyTokens(), got)
			}
			if c.window == 0 || k.Due() != "" {
				break
			}
			apply(event.Prompted{Text: strings.Repeat("word ", c.window/60)})
		}
	}
}
