package page

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
)

// Fragment draws one block as HTML for a page that shows a session while it goes on. It
// is escaped as in Write, opens nothing that it does not close, and has no id. The text
// that an open block streams is not in it. It is empty for a block that shows nothing.
func Fragment(b chat.Block) string {
	var out strings.Builder
	p := &writer{out: &out, clean: cleaner{func(s string) string { return s }}, folds: folds, entries: entries, single: true}
	p.draw(b)
	return out.String()
}

// DiffFragment draws a diff, such as the preview of a call in question.
func DiffFragment(diff string) string {
	var out strings.Builder
	p := &writer{out: &out, single: true}
	d := newPassage(diff, mostFold)
	p.putDiff(diffLines(d.Head), d.Gap)
	return out.String()
}

// running draws a block that is still open: what is known of it so far.
func (p *writer) running(b chat.Block) {
	look := look{"running", "▸", "running"}
	switch b := b.Body.(type) {
	case chat.Call:
		if !b.Started {
			look.word = "waits"
		}
		p.card(card{Title: b.Title}, look, "", "")
	case chat.Check:
		p.card(card{Title: b.Title}, look, "", "")
	case chat.Command:
		p.card(card{Title: "! …"}, look, "", "")
	case chat.Question:
		p.note("asked", asked(b))
	case chat.Aside:
		p.note("", "/btw "+b.Question)
	case chat.Retry:
		p.note("warn", b.Text)
	case chat.Crew:
		p.crew(b)
	}
}
