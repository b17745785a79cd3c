package tui

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

// SPEC 18.1, 19.3: for a long session that is opened again the screen shows the end, as it
// was, and a line that tells this; Ctrl+T has all of it.
func TestLongSessionIsOpenedAgain(t *testing.T) {
	m := llmtest.New()
	m.Next = func(n int, _ *llm.Request) llmtest.Turn { return llmtest.Say(fmt.Sprintf("reply number %d.", n+1)) }
	r := newTestScreen(t, m)
	r.start("")
	const turns = 8
	for n := range turns {
		r.enter(fmt.Sprintf("prompt number %d", n+1))
		r.rest(n + 1)
	}
	was := r.text()
	r.press("ctrl+d")
	r.left()

	again := newTestScreen(t, llmtest.New(llmtest.Say(fmt.Sprintf("reply number %d.", turns+1))))
	again.store, again.dir, again.recent = r.store, r.dir, 20
	again.start("s1")
	again.until("ready", func(s string) bool {
		_, end, ok := strings.Cut(s, fmt.Sprintf("reply number %d.", turns))
		return ok && strings.Contains(end, "model reply") && strings.Contains(end, invitation)
	})
	_, shown, ok := strings.Cut(again.text(), "the beginning is not shown; Ctrl+T shows the whole session\n\n")
	if !ok {
		t.Fatalf("it does not say that something is missing:\n%s", again.text())
	}
	shown, _, _ = strings.Cut(shown, "\n› "+invitation)
	rest, _, _ := strings.Cut(was, "\n› "+invitation)
	rest = rest[:strings.LastIndex(rest, "\n›")+1] // the prompt below
	if shown = strings.TrimSpace(shown); !strings.HasSuffix(strings.TrimSpace(rest), shown) || strings.Contains(shown, "number 1.") || len(shown) < 100 {
		t.Errorf("it shows\n%s\nand the session was\n%s", shown, rest)
	}
	again.press("ctrl+t")
	again.until("the pager", func(s string) bool { return strings.Contains(s, "session, unfolded") })
	again.press("home")
	again.see("prompt number 1")
	again.see("reply number 1.")
	again.press("q")
	again.enter(fmt.Sprintf("prompt number %d", turns+1))
	again.until("the end of the turn", func(s string) bool {
		_, end, ok := strings.Cut(s, fmt.Sprintf("reply number %d.", turns+1))
		return ok && strings.Contains(end, "model reply")
	})
	from := turns // the first turn of which something was shown
	for n := turns + 1; n > 0; n-- {
		for _, text := range []string{fmt.Sprintf("› prompt number %d\n", n), fmt.Sprintf("reply number %d.", n)} {
			if c := strings.Count(again.text(), text); c > 1 || c == 0 && n >= from {
				t.Errorf("%q is seen %d times", text, c)
			}
		}
	}
	again.press("ctrl+d")
	again.left()
}
