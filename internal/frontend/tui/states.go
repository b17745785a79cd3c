package tui

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file draws the view of the activity (SPEC 2.5), in words: what pawl does now, the way
// of this turn, its calls, phases, steps and agents. pawl states draws the tables behind it.

// stateLines returns the view's current content.
func (s *screen) stateLines() []styled.Line {
	open := s.Conversation.Session()
	if open == nil {
		return nil
	}
	view := open.View()
	out := nowLines(view.States())
	if path := pathLine(view.Path()); path != nil {
		out = append(out, nil, heading("the way of this turn"), path)
	}
	if phases := brief.PhaseList(view.Phases()); len(phases) > 0 {
		out = append(out, nil, heading("phases"))
		for _, l := range phases {
			out = append(out, styled.Of(styled.Text, plain.Line(l)))
		}
	}
	if items := view.Plan(); len(items) > 0 {
		out = append(out, nil, heading("steps"))
		for _, it := range items {
			it.Text = plain.Line(it.Text)
			out = append(out, append(styled.Of(styled.Text, "  "), step(it)...))
		}
	}
	for _, l := range s.renderer.open {
		if c, ok := l.Body.(chat.Crew); ok {
			out = append(out, nil)
			out = append(out, s.renderer.crew(c, l.Began, s.Now(), 0)...)
		}
	}
	return out
}

func heading(text string) styled.Line {
	return styled.Line{{Text: text, Style: styled.Style{Role: styled.Heading, Attr: styled.Bold}}}
}

// nowLines shows what pawl does, and the calls that have no result yet.
func nowLines(v session.States) (out []styled.Line) {
	out = append(out, heading("now"), styled.Of(styled.Text, "  ").Add(styled.Accent, brief.Doing(v.Activity)))
	for _, c := range v.Calls {
		out = append(out, styled.Of(styled.Text, "  "+plain.Line(cut.Runes(c.Tool, 20))).Add(styled.Dim, "  "+brief.Doing(c.State)))
	}
	if n := len(v.Violations); n > 0 {
		out = append(out, styled.Of(styled.Bad, plain.Line(fmt.Sprintf("  a defect of pawl, please report it: %s that fit no state, the first at %d: %v",
			plural.Of(n, "event"), v.Violations[0].Seq, v.Violations[0].Err))))
	}
	return out
}

// pathLine shows a sequence of states. Two states that alternate are shown once, with
// how often.
func pathLine(path []fsm.State) styled.Line {
	l := styled.Of(styled.Text, "  ")
	for i := 0; i < len(path); {
		n := 1 // of times that this state and the next one take turns
		for i+2*n+1 < len(path) && path[i+2*n] == path[i] && path[i+2*n+1] == path[i+1] {
			n++
		}
		if len(l) > 1 {
			l = l.Add(styled.Dim, " → ")
		}
		role := styled.Text
		if n > 1 {
			l = l.Add(role, brief.Doing(path[i])).Add(styled.Dim, " ⇄ ").Add(role, brief.Doing(path[i+1])).Add(styled.Dim, fmt.Sprintf(" (%d times)", n))
			i += 2 * n
			continue
		}
		if i == len(path)-1 {
			role = styled.Accent
		}
		l = l.Add(role, brief.Doing(path[i]))
		i++
	}
	if len(path) == 0 {
		return nil
	}
	return l
}
