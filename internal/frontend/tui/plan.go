package tui

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/markdown"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file draws questions outside the conversation, and plans.

// aside shows a question outside the conversation with its answer, set apart from the
// conversation's text.
func (p *renderer) aside(b chat.Aside) {
	p.beginCard(aPrompt)
	p.put(styled.Of(styled.Accent, "◇ ").Add(styled.Person, "btw: "+b.Question).Wrap(p.width, inset)...)
	bar := styled.Of(styled.Dim, "│ ")
	switch {
	case b.Error != "":
		p.wrapped(styled.Bad, "  no answer: "+b.Error)
	case b.Answer == "":
		p.wrapped(styled.Warn, "  it was not answered")
	}
	for _, l := range markdown.Lines(b.Answer, markdown.Options{Width: max(8, p.width-2), Links: p.links}) {
		p.put(append(append(styled.Line(nil), bar...), l...))
	}
	if b.Answer != "" {
		text := "not a part of the conversation"
		if b.Cost != nil {
			text += "; " + brief.Cost(b.Cost)
		}
		p.wrapped(styled.Dim, "  "+text)
	}
}

// document shows a plan that a person edited. The model's own has just been shown as
// its reply.
func (p *renderer) document(b chat.Document) {
	p.beginCard(aNote)
	if b.By != "person" {
		p.wrapped(styled.Accent, fmt.Sprintf("▤ a plan with %s; /plan shows it", plural.Of(b.Phases, "phase")))
		return
	}
	p.wrapped(styled.Accent, fmt.Sprintf("▤ the plan as you edited it, with %s", plural.Of(b.Phases, "phase")))
	p.beginCard(aReply)
	p.put(markdown.Lines(b.Text, markdown.Options{Width: p.width, Links: p.links})...)
}

// planRows is how many steps of a plan are shown in the live area.
const planRows = 5

// currentSteps shows the plan's steps around the active one, for the live area. It returns
// nil if the plan itself is still in sight, or all steps are done.
func (p *renderer) currentSteps() (out []styled.Line) {
	items := p.plan
	if !p.planChanged || p.linesSincePlan < planRows || p.whole {
		return nil
	}
	done, at := 0, 0
	for i, it := range items {
		if isDone(it) {
			done, at = done+1, i
		}
	}
	if done == len(items) {
		return nil
	}
	for i, it := range items {
		if isActive(it) {
			at = i - 1
			break
		}
	}
	from := max(0, min(at, len(items)-planRows))
	to := min(len(items), from+planRows)
	for _, it := range items[from:to] {
		out = append(out, step(it).Cut(p.width))
	}
	if len(items) > planRows {
		out = append(out, styled.Of(styled.Dim, fmt.Sprintf("  %d of %d done; /todo", done, len(items))))
	}
	return out
}

func isDone(it tool.Item) bool   { return it.Status == "completed" || it.Status == "done" }
func isActive(it tool.Item) bool { return it.Status == "in_progress" || it.Status == "active" }

// step shows a step of a plan after a sign for its status.
func step(it tool.Item) styled.Line {
	switch {
	case isDone(it):
		return styled.Of(styled.Good, "☑ "+it.Text)
	case isActive(it):
		return styled.Of(styled.Accent, "▸ "+it.Text)
	}
	return styled.Of(styled.Text, "☐ "+it.Text)
}
