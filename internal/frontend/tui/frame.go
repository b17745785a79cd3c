package tui

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// This file puts a frame together.

const (
	liveRows   = 12 // at most
	promptRows = 5  // of what is typed
	queueRows  = 3
	sign       = "› "
	// invitation is shown until something was entered.
	invitation = "what is to be done?   ? keys   / commands   @ files   ! shell"
)

// frame draws what changed.
func (s *screen) frame() {
	s.drawn, s.due = s.Now(), nil
	s.titles()
	var done []string
	if s.ready {
		for _, l := range s.renderer.done() {
			done = append(done, s.Theme.Render(l))
		}
	}
	if s.pager != nil {
		s.show()
		s.paint.Frame(done, nil, paint.Caret{}) // it waits until then
		return
	}
	lines, caret := s.live()
	rows := make([]string, len(lines))
	for i, l := range lines {
		rows[i] = s.Theme.Render(l.Cut(s.Width))
	}
	s.paint.Frame(done, rows, caret)
}

// live returns the live area: open blocks above the typed text. If there is too little
// space, only the end of the open blocks is shown.
func (s *screen) live() (out []styled.Line, caret paint.Caret) {
	most := max(3, min(liveRows, s.Height-1))
	status := s.status()
	typed, row, col := s.typing(max(1, min(promptRows, most-2)))
	foot := s.footer(max(0, most-len(typed)-1))
	room := most - len(typed) - len(foot) - 1
	var above []styled.Line
	queued := s.queued()
	if s.ask != nil { // new entries are shown as far as the question leaves room
		above = s.asked(room)
		above = append(above, queued[:min(len(queued), max(0, room-len(above)))]...)
	} else {
		above = append(above, s.renderer.rows(s.Now())...)
		above = append(above, queued...)
	}
	if len(above) > 0 && room > len(above) || s.renderer.begun && room > len(above) {
		above = append(above, nil)
	}
	if s.renderer.begun && len(above) > 1 && room > len(above) && s.renderer.flow == nil {
		above = append([]styled.Line{nil}, above...) // apart from what is finished
	}
	out = append(out, above[max(0, len(above)-room):]...)
	caret = paint.Caret{Row: len(out) + row, Column: col}
	out = append(out, typed...)
	out = append(out, foot...)
	return append(out, status), caret
}

// typing returns the typed text, with its sign.
func (s *screen) typing(most int) (out []styled.Line, row, col int) {
	e, lead := s.edit, styled.Of(styled.Accent, sign)
	if s.ask != nil && s.ask.focus {
		e, lead = s.ask.answer, styled.Of(styled.Warn, s.ask.sign())
	}
	if words, found, on := e.Searching(); on {
		lead = styled.Of(styled.Accent, "search: "+plain.Line(words))
		if !found {
			lead = styled.Of(styled.Bad, "not found: "+plain.Line(words))
		}
		lead = lead.Add(styled.Dim, "  ").Cut(s.Width / 2)
	}
	n := lead.Width()
	lines, row, col := e.Shown(max(2, s.Width-n-1), most)
	for i, l := range lines {
		if i == 0 {
			out = append(out, append(append(styled.Line(nil), lead...), l...))
		} else {
			out = append(out, append(styled.Of(styled.Text, strings.Repeat(" ", n)), l...))
		}
	}
	if e == s.edit && e.Empty() && !s.spoken {
		text := invitation
		if a := s.talk.Attached(); a != nil && !a.Steers {
			text = "you are watching   ? keys   Ctrl+O all of it   Ctrl+C leaves"
			if a.Interrupt != nil {
				text = "a swarm works   ? keys   Ctrl+O all of it   Ctrl+C interrupts it"
			}
		}
		out[0] = out[0].Add(styled.Dim, text).Cut(s.Width)
	}
	return out, row, col + n
}

// queued returns the entered texts that have not reached the model.
func (s *screen) queued() (out []styled.Line) {
	queue := s.talk.Queue()
	if len(queue) == 0 {
		clear(s.waits)
	}
	for i, q := range queue {
		if i == queueRows-1 && len(queue) > queueRows {
			return append(out, styled.Of(styled.Dim, "  and more that waits"))
		}
		when := "  goes with its next request; Up takes it back"
		switch {
		case !s.waits[q.ID]:
			when = "  on its way"
		case q.After:
			when = "  waits for the end of the turn; Up takes it back"
		}
		l := styled.Of(styled.Accent, "◦ ").Add(styled.Text, plain.Line(begin(q.Text, 4*s.Width))).Cut(max(10, s.Width-styled.Width(when)))
		out = append(out, l.Add(styled.Dim, when))
	}
	return out
}

// begin returns the beginning of a text that is shown in one row: a paste may have any
// length.
func begin(text string, bytes int) string {
	if len(text) <= bytes {
		return text
	}
	return strings.ToValidUTF8(text[:bytes], "")
}
