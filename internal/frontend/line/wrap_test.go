package line

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// On a terminal no word is cut at the margin, however the text comes: the
// answer in pieces, thinking, a call and its outcome. What a person's own
// command prints stays as it is, and so does everything without a terminal.
// SPEC 18.1
func TestWordsAreNotCut(t *testing.T) {
	const text = "Some words of an answer that is longer than any terminal here, with 日本語の言葉 in it and e\u0301 and 🙂.\n\n- a list item that goes on and on\n"
	for _, columns := range []int{0, 40, 80, 100} {
		p := &paper{}
		v := newSeen(p, func() int { return columns })
		show := func(b event.Body) { v.show(event.Event{Body: b}) }
		for i := 0; i < len(text); i += 3 {
			show(event.TextDelta{Text: text[i:min(i+3, len(text))]})
		}
		show(event.Replied{Reply: llm.Reply{Message: llm.Message{Role: llm.Assistant, Parts: []llm.Part{llm.TextPart(text)}}}})
		show(event.CallAsked{ID: "a", Tool: "bash", Title: "bash some command with several words that is long"})
		show(event.CallStarted{ID: "a"})
		show(event.CallDone{ID: "a", Tool: "bash", Outcome: event.OK, Note: "exit code 0, 3s, 12 lines and more words"})
		out := strings.Repeat("column ", 30)
		show(event.OutputDelta{Text: out})
		show(event.PersonRan{Output: out + "\n"})
		v.line("pawl: " + strings.Repeat("closing words ", 12))
		shown := p.String()
		words := strings.Fields(strings.ReplaceAll(text, "日本語の言葉", "")) // that may break anywhere
		for _, w := range append(words, "several", "closing", "lines") {
			if !strings.Contains(shown, w) {
				t.Errorf("%d columns: %q was cut:\n%s", columns, w, shown)
			}
		}
		if !strings.Contains(shown, strings.TrimSpace(out)) {
			t.Errorf("%d columns: the output of the person's command was broken:\n%s", columns, shown)
		}
		wide := 0
		for line := range strings.Lines(strings.Replace(shown, strings.TrimSpace(out), "", 1)) {
			if n := plain.Width(strings.TrimRight(line, "\n ")); n > wide {
				wide = n
			}
		}
		if (columns > 0 && wide > columns) || (columns == 0 && wide < 90) {
			t.Errorf("%d columns: a line of %d:\n%s", columns, wide, shown)
		}
	}
}

// The prompt of a question is broken before the editor draws it. SPEC 18.1
func TestLongQuestion(t *testing.T) {
	for _, columns := range []int{40, 80} {
		p := &paper{}
		v := newView(p, func() int { return columns })
		const prompt = "allow? [y]es, [e] yes, and all edits from now on, [s] yes, for this session, [a] yes, always, [d]iff whole, [n]o, and what to do instead: "
		v.write(v.lastLine(prompt) + "y\n")
		for i, line := range strings.Split(p.String(), "\n") {
			if plain.Width(line) > columns {
				t.Errorf("%d columns: line %d: %q", columns, i, line)
			}
		}
		if got := strings.Join(strings.Fields(p.String()), " "); !strings.Contains(got, strings.TrimSpace(prompt)) {
			t.Errorf("%d columns: %s", columns, fmt.Sprintf("%q", got))
		}
	}
}

// A word that will fit is shown as it comes, and what came of a reply that is
// cut short stays in sight. SPEC 5.4, 18.2
func TestNoWordIsHeldBack(t *testing.T) {
	for _, c := range []struct {
		columns         int
		streamed, shown string
	}{
		{80, "Some wor", "Some wor"},
		{80, "Some words, and", "Some words, and"},
		{0, "Some wor", "Some wor"},
		{80, "see http", "see"},
		{80, "in internal/fro", "in internal"},
		{40, strings.Repeat("word ", 5) + "nearly", strings.TrimSpace(strings.Repeat("word ", 5))},
	} {
		p := &paper{}
		v := newSeen(p, func() int { return c.columns })
		for i := range c.streamed {
			v.show(event.Event{Body: event.TextDelta{Text: c.streamed[i : i+1]}})
		}
		if got := p.String(); got != c.shown {
			t.Errorf("%d columns: %q is shown as %q, want %q", c.columns, c.streamed, got, c.shown)
		}
		v.show(event.Event{Seq: 1, Body: event.Interrupted{By: "person"}})
		if got := p.String(); got != c.streamed+"\ninterrupted\n" {
			t.Errorf("%d columns: after an interrupt %q", c.columns, got)
		}
	}
}

// SPEC 5.5, 18.5: the first line is one line of 80 columns with the facts that
// must be there, for the longest of usual names as well.
func TestFirstLine(t *testing.T) {
	for _, c := range []struct {
		columns int
		model   string
		mode    string
		want    string
	}{
		{0, "openrouter/meta-llama/llama-4-maverick from openrouter.ai, $0.15/$0.60 per M tokens", "accept-edits", "pawl: openrouter/meta-llama/llama-4-maverick from openrouter.ai, $0.15/$0.60 per M tokens; mode accept-edits; session 0123456789; /help"},
		{80, "p/m from h, free", "ask", "pawl: p/m from h, free; mode ask; session 0123456789; /help"},
		{80, "openai/gpt-5 from api.openai.com, $1.25/$10 per M tokens", "ask", "pawl: openai/gpt-5 from api.openai.com, $1.25/$10 per M tokens; mode ask; /help"},
		{80, "anthropic/claude-sonnet-4-5 from api.anthropic.com, $3/$15 per M tokens", "ask", "pawl: anthropic/claude-sonnet-4-5 from api.anthropic.com, $3/$15 per M; mode ask"},
		{80, "anthropic/claude-sonnet-4-5 from api.anthropic.com, $3/$15 per M tokens", "accept-edits", "pawl: anthropic/claude-sonnet-4-5, api.anthropic.com, $3/$15 per M; accept-edits"},
		{40, "anthropic/claude-sonnet-4-5 from api.anthropic.com, effort high, $3/$15 per M tokens", "ask", "pawl: anthropic/claude-sonnet-4-5, api.anthropic.com, $3/$15; ask"}, // two rows
		{80, "offline, the built-in planner without weights, free", "plan", "pawl: offline, the built-in planner without weights, free; mode plan; /help"},
	} {
		if got := "pawl: " + (chat.Start{ID: "0123456789", Model: c.model, Mode: c.mode}).Head(c.columns-6); got != c.want || c.columns > 0 && plain.Width(got) > max(c.columns, 72) {
			t.Errorf("%q (%d columns), want %q", got, plain.Width(got), c.want)
		}
	}
}
