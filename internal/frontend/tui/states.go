package tui

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// This file draws the view of the state machines (SPEC 2.5): the state of each, its legal
// next states, the activities of this turn, its calls, phases, steps and agents.

// stateLines returns the view's current content.
func (s *screen) stateLines() []styled.Line {
	open := s.Conversation.Session()
	if open == nil {
		return nil
	}
	view := open.View()
	out := machineLines(view.States())
	if path := pathLine(view.Path()); path != nil {
		out = append(out, nil, heading("the path of this turn"), path)
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

// machineLines shows every machine in its state.
func machineLines(s session.States) (out []styled.Line) {
	row := func(name string, at fsm.State, table *fsm.Table) {
		l := styled.Of(styled.Text, "  "+name).Pad(16)
		l = append(l, styled.Span{Text: string(at), Style: styled.Style{Role: styled.Accent, Attr: styled.Bold}})
		if table != nil {
			var next []string
			for _, to := range table.Legal[at] {
				next = append(next, string(to))
			}
			if len(next) > 0 {
				l = l.Add(styled.Dim, "   → "+strings.Join(next, ", "))
			}
		}
		out = append(out, l)
	}
	out = append(out, heading("state machines, and their next states"))
	row("agent", s.Agent, lifecycle.AgentTable())
	row("activity", s.Activity, lifecycle.ActivityTable())
	row("application", s.Application, nil)
	row("window", s.Window, nil)
	row("log", s.Storage, nil)
	for _, c := range s.Calls {
		row("call "+plain.Line(plain.Cut(c.Tool, 20)), c.State, nil)
	}
	if n := len(s.Violations); n > 0 {
		out = append(out, styled.Of(styled.Bad, plain.Line(fmt.Sprintf("  %d events match no transition, the first at %d: %v; please report it", n, s.Violations[0].Seq, s.Violations[0].Err))))
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
			l = l.Add(role, string(path[i])).Add(styled.Dim, " ⇄ ").Add(role, string(path[i+1])).Add(styled.Dim, fmt.Sprintf(" (%d times)", n))
			i += 2 * n
			continue
		}
		if i == len(path)-1 {
			role = styled.Accent
		}
		l = l.Add(role, string(path[i]))
		i++
	}
	if len(path) == 0 {
		return nil
	}
	return l
}
