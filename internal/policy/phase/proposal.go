package phase

import (
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// Proposal is the plan of the task as a document: what the model wrote in plan mode,
// what a person made of it, and what they said of it. The zero value is ready.
type Proposal struct {
	Text string       // Markdown, "" for none
	By   event.Author // who wrote it last
	// Undecided: nobody has approved or rejected it yet.
	Undecided bool
}

func (p *Proposal) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.PlanWritten:
		p.Text, p.By, p.Undecided = b.Text, b.By, b.Text != ""
	case event.PlanDecided:
		p.Undecided = false
	}
}

func (p Proposal) Steps() ([]event.PhaseStep, error) {
	if _, below, titled := cutTitle(p.Text); titled { // the title is not a phase
		return ParsePlan(below)
	}
	return ParsePlan(p.Text)
}

// Proposed returns the plan in a reply: the text from a heading with the word "plan"
// to the end. ok is false if no phases follow the heading: a reply in plan mode may
// also be the answer to a question.
func Proposed(reply string) (text string, ok bool) {
	lines := strings.SplitAfter(reply, "\n")
	fenced := false
	for i, l := range lines {
		if t := strings.TrimSpace(l); strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~") {
			fenced = !fenced
		}
		if fenced {
			continue
		}
		text := strings.Join(lines[i:], "")
		if _, below, titled := cutTitle(text); titled {
			if _, err := ParsePlan(below); err == nil {
				return strings.TrimSpace(text) + "\n", true
			}
		}
	}
	return "", false
}

// cutTitle cuts a first line that is a heading of level 1 to 3 with the word plan.
func cutTitle(text string) (title, below string, ok bool) {
	line, below, _ := strings.Cut(text, "\n")
	title = strings.TrimLeft(line, "#")
	if level := len(line) - len(title); level < 1 || level > 3 || !strings.HasPrefix(title, " ") {
		return "", text, false
	}
	for _, word := range strings.FieldsFunc(strings.ToLower(title), func(r rune) bool { return !unicode.IsLetter(r) }) {
		if word == "plan" || strings.HasSuffix(word, "plan") && len(word) > len("plan")+2 {
			return strings.TrimSpace(title), below, true
		}
	}
	return "", text, false
}
