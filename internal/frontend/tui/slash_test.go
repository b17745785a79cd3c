package tui

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
)

const planned = "I looked.\n\n# Plan: a flag\n\n## Phase 1: parse it\n\nIn main.go.\n\n## Phase 2: test it\n"

// Issue 14, points 2, 5 and 6, on the screen: a plan is edited in an editor and approved,
// a question is asked beside the conversation, the states are one key away, a reply is
// copied, a theme chosen; and each prompt of a command is seen.
func TestCommandsOnTheScreen(t *testing.T) {
	r := newTestScreen(t, llmtest.New(llmtest.Say(planned), llmtest.Say("All *done*."), llmtest.Say("It is **42**."), llmtest.Say("reviewed")))
	r.start("")
	r.enter("/plan add a flag")
	r.see("› add a flag")
	r.see("the plan has 2 phases")
	r.say("e")                         // one key answers: a second one could be for the next question
	r.see("the plan as you edited it") // the editor added a word
	r.until("asked again", func(s string) bool { return strings.Count(s, "the plan has 2 phases") == 2 })
	text := r.text()
	if strings.LastIndex(text, "the plan has 2 phases") < strings.Index(text, "as you edited it") {
		t.Errorf("asked before the plan is shown:\n%s", text)
	}
	r.say("y")
	r.see("the plan is approved")
	r.see("› Implement the plan")
	r.see("▸ phase 1 of 2: parse it")
	r.rest(2)
	if !strings.Contains(r.screen(), "accept-edits · script · context ▁") || strings.Contains(r.screen(), "· phase 1 of 2") { // of a turn that is over
		t.Errorf("the status:\n%s", r.screen())
	}
	before := r.text()
	r.enter("/states")
	for _, want := range []string{"waits for you", "the way of this turn", "reads the prompt → the model answers", "phases", "parse it"} {
		r.see(want)
	}
	r.press("q")
	r.until("the text as it was before the view", func(got string) bool { return got == before })
	r.enter("/btw what is it?")
	r.see("◇ btw: what is it?")
	r.see("│ It is 42.")
	r.see("not a part of the conversation")
	r.enter("/copy reply 2")
	r.see("copied: reply, 1 line")
	r.mu.Lock()
	copied := slices.Clone(r.term.Copied)
	r.mu.Unlock()
	if len(copied) != 1 || !strings.Contains(copied[0], "QWxsICpkb25lKi4K") && !strings.Contains(copied[0], "All *done*.\n") {
		t.Errorf("copied %q", copied)
	}
	r.enter("/keys")
	r.see("Ctrl+T")
	r.press("q")
	r.enter("/theme gold")
	r.see("unknown theme gold")
	r.enter("/theme contrast")
	r.see("theme contrast")
	r.enter("/review main")
	r.see("› Review these changes: main")
	r.rest(3)
	r.press("ctrl+d")
	r.left()
}
