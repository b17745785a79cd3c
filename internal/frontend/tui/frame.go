package tui

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// This file puts a frame together.

const (
	liveRows   = 12 // rows of the live area, at most
	promptRows = 5  // of them for typed text
	queueRows  = 3  // and for queued texts
	promptSign = "› "
	// invitation is shown until something was entered.
	invitation = "enter a task   ? keys   / commands   @ files   ! shell"
)

// frame draws a frame.
func (s *screen) frame() {
	s.drawnAt, s.nextFrame = s.Now(), nil
	s.updateTitle()
	var done []string
	if s.probed {
		for _, l := range s.renderer.takeFinished() {
			done = append(done, s.Theme.Render(l))
		}
	}
	if s.pager != nil {
		s.drawPager()
		s.painter.Frame(done, nil, paint.Caret{}) // the painter keeps done until the pager closes
		return
	}
	if p := s.picking(); p != nil {
		s.drawPicker(p)
		s.painter.Frame(done, nil, paint.Caret{})
		return
	}
	s.painter.CloseModal() // of a picker whose question is over
	lines, caret := s.liveArea()
	above := s.unfoldedRows(s.Height - 1 - len(lines))
	lines, caret.Row = append(above, lines...), caret.Row+len(above)
	rows := make([]string, len(lines))
	for i, l := range lines {
		rows[i] = s.Theme.Render(l.Cut(s.Width))
	}
	s.painter.Frame(done, rows, caret)
}

// liveArea returns the live area: open blocks above the typed text. If there is too little
// space, only the end of the open blocks is shown.
func (s *screen) liveArea() (out []styled.Line, caret paint.Caret) {
	most := max(3, min(liveRows, s.Height-1))
	status := s.status()
	typed, row, col := s.promptLines(max(1, min(promptRows, most-2)))
	mine := s.ownLinesShown()
	mine = mine[:min(len(mine), max(0, most-len(typed)-4))] // a question has the room first
	most -= len(mine)
	room := most - len(typed) - 1
	all := room
	var above []styled.Line
	if s.question != nil { // a menu below it hides no answer
		above = s.questionLines(room)
		all = min(room+menuRows, s.Height-len(typed)-len(mine)-2)
	}
	foot := s.menuLines(max(0, all-len(above)))
	room = min(room, all-len(foot))
	queued := s.queueLines()
	if s.question != nil { // new entries are shown as far as the question leaves room
		above = append(above, queued[:min(len(queued), max(0, room-len(above)))]...)
	} else {
		above = append(above, s.renderer.openRows(s.Now())...)
		above = append(above, queued...)
	}
	if len(above) > 0 && room > len(above) || s.renderer.hasCards && room > len(above) {
		above = append(above, nil)
	}
	if s.renderer.hasCards && len(above) > 1 && room > len(above) && s.renderer.stream == nil {
		above = append([]styled.Line{nil}, above...) // a blank line below the finished ones
	}
	out = append(out, above[max(0, len(above)-room):]...)
	caret = paint.Caret{Row: len(out) + row, Column: col}
	out = append(out, typed...)
	out = append(out, foot...)
	return append(append(out, mine...), status), caret
}

// promptLines returns the typed text after its sign, and the caret's row and column.
func (s *screen) promptLines(most int) (out []styled.Line, row, col int) {
	e, lead := s.editor, styled.Of(styled.Accent, promptSign)
	if s.question != nil && s.question.focused {
		e, lead = s.question.answer, styled.Of(styled.Warn, s.question.sign())
	}
	if words, found, on := e.Searching(); on {
		lead = styled.Of(styled.Accent, "search: "+plain.Line(words))
		if !found {
			lead = styled.Of(styled.Bad, "not found: "+plain.Line(words))
		}
		lead = lead.Add(styled.Dim, "  ").Cut(s.Width / 2)
	}
	n := lead.Width()
	lines, row, col := e.Render(max(2, s.Width-n-1), most)
	for i, l := range lines {
		if i == 0 {
			out = append(out, append(append(styled.Line(nil), lead...), l...))
		} else {
			out = append(out, append(styled.Of(styled.Text, strings.Repeat(" ", n)), l...))
		}
	}
	if e == s.editor && e.Empty() && !s.anyEntered {
		text := invitation
		if a := s.Conversation.Attached(); a != nil && !a.Steers {
			text = "watching   ? keys   Ctrl+T whole session   Ctrl+C leaves"
			if a.Interrupt != nil {
				text = "a swarm runs   /swarm steers it   Ctrl+T whole session   Ctrl+C interrupts"
			}
		}
		out[0] = out[0].Add(styled.Dim, text).Cut(s.Width)
	}
	return out, row, col + n
}

// queueLines shows the entered texts that have not reached the model.
func (s *screen) queueLines() (out []styled.Line) {
	queue := s.Conversation.Queue()
	if len(queue) == 0 {
		clear(s.queuedIDs)
	}
	for i, q := range queue {
		if i == queueRows-1 && len(queue) > queueRows {
			return append(out, styled.Of(styled.Dim, "  and more"))
		}
		when := "  sent with the next request; Up takes it back"
		switch {
		case !s.queuedIDs[q.ID]:
			when = "  sending"
		case q.After:
			when = "  sent after this turn; Up takes it back"
		}
		l := styled.Of(styled.Accent, "◦ ").Add(styled.Text, plain.Line(shortened(q.Text, 4*s.Width))).Cut(max(10, s.Width-styled.Width(when)))
		out = append(out, l.Add(styled.Dim, when))
	}
	return out
}

// shortened returns at most the first bytes of a text that is shown in one row: a paste
// may have any length.
func shortened(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "")
}
