package tui

import (
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file draws agents and swarms.

// crewRows is how many members of a swarm are shown in the live area.
const crewRows = 6

// crew shows a swarm's tasks as a tree, each with its worker, state and cost; or one
// agent in a line. It shows at most most members, see mostRelevant; 0 shows all.
func (p *renderer) crew(b chat.Crew, began, now time.Time, most int) (out []styled.Line) {
	if b.Goal == "" && len(b.Members) == 1 {
		return p.agentLine(b.Members[0], now)
	}
	over, all := b.Count()
	head := styled.Of(styled.Accent, "⁂ ").Add(styled.Text, "swarm: "+b.Goal).Cut(max(10, p.width-28))
	text := fmt.Sprintf("  %d of %d tasks", over, all)
	if b.USD > 0 || b.Known && over > 0 {
		text += ", " + brief.Cost(&b.USD)
		if !b.Known {
			text += " or more"
		}
	}
	if b.Outcome == "" {
		text += since(began, now)
	}
	out = append(out, head.Add(styled.Dim, text).Cut(p.width))
	members, left := b.Members, 0
	if most > 0 && len(members) > most {
		members, left = mostRelevant(members, most), len(members)-most
	}
	for i, m := range members {
		branch := "├ "
		if i == len(members)-1 && left == 0 {
			branch = "└ "
		}
		out = append(out, p.member(branch, m).Cut(p.width))
	}
	if left > 0 {
		out = append(out, styled.Of(styled.Dim, fmt.Sprintf("└ and %d more; /states shows all", left)))
	}
	if b.Outcome == "" { // they do no more
		for _, m := range b.Machines[:min(len(b.Machines), crewRows)] {
			out = append(out, styled.Of(styled.Dim, "  "+m).Cut(p.width))
		}
		if left := len(b.Machines) - crewRows; left > 0 {
			out = append(out, styled.Of(styled.Dim, fmt.Sprintf("  and %s", plural.Of(left, "more machine"))))
		}
	}
	if b.Outcome != "" {
		role := styled.Bad
		if b.Outcome == "verified" {
			role = styled.Good
		}
		out = append(out, styled.Of(role, "  "+b.Outcome).Wrap(p.width, inset)...)
	}
	return out
}

// mostRelevant returns at most most members: first those that work, then those that failed,
// wait, and are done; in the order of the plan within each group.
func mostRelevant(all []chat.Member, most int) (out []chat.Member) {
	for _, is := range []func(chat.Member) bool{
		func(m chat.Member) bool { return !m.Done && m.Worker != "" },
		func(m chat.Member) bool { return m.Failed },
		func(m chat.Member) bool { return !m.Done && m.Worker == "" && !m.Failed },
		func(m chat.Member) bool { return m.Done && !m.Failed },
	} {
		for _, m := range all {
			if len(out) < most && is(m) {
				out = append(out, m)
			}
		}
	}
	return out
}

// member shows a task of a swarm in a line.
func (p *renderer) member(branch string, m chat.Member) styled.Line {
	sign, role := "☐ ", styled.Text
	switch {
	case m.Failed:
		sign, role = "✗ ", styled.Bad
	case m.Done:
		sign, role = "☑ ", styled.Good
	case m.Worker != "":
		sign, role = "▸ ", styled.Accent
	}
	l := styled.Of(styled.Dim, branch).Add(role, sign+m.ID)
	if m.Title != "" && m.Title != m.ID {
		l = l.Add(styled.Text, " "+m.Title)
	}
	text := "  " + m.State
	if m.Worker != "" {
		text += " by " + m.Worker
	}
	if m.USD != nil {
		text += ", " + brief.Cost(m.USD)
	}
	if m.LastAction != "" {
		text += ": " + m.LastAction
	}
	return l.Add(styled.Dim, text)
}

// agentLine shows an agent in a line, and while it works its last action below.
func (p *renderer) agentLine(m chat.Member, now time.Time) []styled.Line {
	sign, role := "● ", styled.Accent
	switch {
	case m.Failed:
		role = styled.Bad
	case m.Done:
		role = styled.Good
	}
	text := "  " + plural.Of(m.Calls, "call")
	if m.Done {
		text += ", " + m.State
	} else {
		text += since(m.Began, now)
	}
	title := "agent " + m.Worker
	if m.Title != "" {
		title += ": " + m.Title
	}
	out := []styled.Line{styled.Of(role, sign).Add(styled.Text, title).Cut(max(10, p.width-styled.Width(text))).Add(styled.Dim, text)}
	if m.LastAction != "" && (!m.Done || m.Failed) {
		out = append(out, styled.Of(styled.Dim, "  "+m.LastAction).Cut(p.width))
	}
	return out
}
