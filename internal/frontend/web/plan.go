package web

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/page"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// The plan that a turn in plan mode ended with, and what a person says of it.

var errDecided = fault.NewConfiguration("look at it again", "the plan was changed or decided meanwhile")

// planID names a plan as it was shown.
func planID(p phase.Proposal) string {
	sum := sha256.Sum256([]byte(p.Text))
	return hex.EncodeToString(sum[:8])
}

// proposed returns the plan that waits for a decision, nil for none.
func (l *live) proposed() *Proposed {
	p := l.Session.View().Proposal()
	if !p.Undecided {
		return nil
	}
	steps, _ := p.Steps() // it was read when it was written
	return &Proposed{ID: planID(p), Phases: len(steps)}
}

func (s *server) planText(r *request) (PlanText, error) {
	l := s.sessions.of(r.PathValue("id"))
	if l == nil {
		return PlanText{}, errNotOpen
	}
	p := l.Session.View().Proposal()
	if p.Text == "" {
		return PlanText{}, errDecided
	}
	text := plain.Text(strings.TrimSpace(p.Text))
	return PlanText{ID: planID(p), Text: text, HTML: page.Fragment(chat.Block{Body: chat.Reply{Text: text}}), Waits: p.Undecided}, nil
}

// decide does what a person says of the plan that they were shown. Of several answers the
// session takes the first one.
func (s *server) decide(r *request, l *live, d Decision) error {
	r.detail = d.What
	p := l.Session.View().Proposal()
	if !p.Undecided || planID(p) != d.Plan {
		return errDecided
	}
	var op session.Op
	switch d.What {
	case "edit":
		op = session.WritePlan{Text: d.Text}
	case "approve":
		op = session.DecidePlan{Approve: true, Mode: string(permission.Default(true).Editing()), Shown: p.Text}
	case "approve-asking":
		op = session.DecidePlan{Approve: true, Mode: string(permission.Default(true)), Shown: p.Text}
	case "reject":
		op = session.DecidePlan{Why: strings.TrimSpace(d.Text), Shown: p.Text}
	default:
		return fault.NewConfiguration("load the page again", "this answer was not offered")
	}
	_, err := l.Session.Submit(r.Context(), op)
	l.publishState()
	return err
}
