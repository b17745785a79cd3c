package session

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// permissionGate decides what may run and asks a person about the rest, once
// for all calls of a step (SPEC 4.7). Where nobody is there, what would ask is
// denied, and the refusal says what would allow it.
type permissionGate struct {
	s *Session
	// allowed are the calls of this step that a person allowed once. A call's
	// id is unique in its step only: some models count from 0 in each.
	allowed map[*turn.Pending]bool
	// places are where the calls that a person allowed led when they were
	// asked about.
	places map[*turn.Pending][]string
	// beyond is what calls of this step need that their turn's route lacks.
	beyond map[*turn.Pending]string
}

// Check is part of turn.Gate.
func (g *permissionGate) Check(ctx context.Context, step []*turn.Pending) error {
	g.allowed, g.beyond = map[*turn.Pending]bool{}, map[*turn.Pending]string{}
	g.places = map[*turn.Pending][]string{}
	var asks []*turn.Pending
	decided := map[*turn.Pending]permission.Decision{}
	for _, p := range step {
		if p.Refused != nil {
			continue
		}
		d, err := g.routed(ctx, p, g.decide(ctx, p))
		if err != nil {
			return err
		}
		p.Confine = d.Confine
		switch d.Verdict {
		case permission.Deny:
			why := d.Reason
			if d.Flag != "" {
				why += "; a run with " + d.Flag + " may do it"
			}
			p.Refused = refusal(p, why, d.By)
		case permission.Ask:
			if !g.s.cfg.Person {
				p.Refused = refusal(p, nobody(d), "headless")
				continue
			}
			asks = append(asks, p)
			decided[p], g.places[p] = d, places(p.Footprint)
		}
	}
	if len(asks) == 0 {
		return nil
	}
	questions := g.questions(ctx, step, decided)
	a, err := g.s.ask(ctx, event.Asked{Questions: questions})
	if ctx.Err() != nil {
		return nil // the loop sees it and cancels the step
	}
	if err != nil && !errors.Is(err, tool.ErrNobody) {
		return err
	}
	return g.take(ctx, asks, questions, a)
}

// nobody says why a call that needs consent does not run without a person.
func nobody(d permission.Decision) string {
	why := d.Reason + "; nobody is there to allow it. Do not try it another way; say at the end what is needed"
	if d.Flag != "" {
		why += ", which is to run pawl with " + d.Flag
	}
	return why
}

// take applies a person's answers.
func (g *permissionGate) take(ctx context.Context, asked []*turn.Pending, qs []event.Question, a event.Answered) error {
	verdicts := map[string]event.Verdict{}
	for _, v := range a.Verdicts {
		verdicts[v.Call] = v
	}
	for i, p := range asked {
		v := verdicts[p.Call.ID]
		switch v.Scope {
		case event.Once:
			g.allowed[p], p.Allowed = true, true
		case event.Session, event.Always:
			if v.Scope == event.Always && !qs[i].Always {
				v.Scope = event.Session
			}
			if err := g.s.record(ctx, event.Draft{Body: event.Granted{Rule: qs[i].Pattern, Scope: v.Scope}}); err != nil {
				return err
			}
			if v.Scope == event.Always && g.s.cfg.Keep != nil {
				if err := g.s.cfg.Keep(qs[i].Pattern); err != nil {
					return err
				}
			}
			g.allowed[p], p.Allowed = true, true
		default:
			reason := "The user did not allow it."
			if v.Why != "" {
				reason = "The user did not allow it and says: " + v.Why
			}
			p.Refused = refusal(p, reason, "person")
			p.Refused.EndTurn = v.Why == ""
		}
		if right := g.beyond[p]; right != "" && g.allowed[p] {
			if err := g.s.widen(ctx, right, "person", title(p)); err != nil {
				return err
			}
		}
	}
	return nil
}

// Recheck is part of turn.Rechecker: an earlier call of the step may have made
// the same words mean something else, such as a path that is a link now. What
// would ask now does not run, and a person's yes is for where a call led then.
func (g *permissionGate) Recheck(ctx context.Context, p *turn.Pending) *turn.Refusal {
	if err := p.Measure(g.s.env(p)); err != nil {
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	d := g.decide(ctx, p)
	p.Confine = d.Confine
	switch {
	case d.Verdict == permission.Deny:
		return refusal(p, d.Reason, d.By)
	case d.Verdict == permission.Allow:
		return nil
	case !g.allowed[p]:
		return refusal(p, d.Reason+"; a call before it changed what it does. Call it again to have it asked about", d.By)
	}
	for _, now := range places(p.Footprint) {
		if !slices.Contains(g.places[p], now) {
			return refusal(p, "it leads elsewhere than when it was allowed ("+d.Reason+"). Call it again to have it asked about", d.By)
		}
	}
	return nil
}

// places are all that a call is seen to touch.
func places(f tool.Footprint) []string {
	var out []string
	for _, sp := range f.Reads {
		out = append(out, "read "+sp.Path)
	}
	for _, sp := range f.Writes {
		out = append(out, "write "+sp.Path)
	}
	for _, l := range f.Lands {
		out = append(out, fmt.Sprintf("%t %s %s", l.Write, l.Path, l.Named))
	}
	return out
}

// decide asks the policy, and what it allows asks all the same where a file
// would be destroyed that can not be put back (SPEC 11.1).
func (g *permissionGate) decide(ctx context.Context, p *turn.Pending) permission.Decision {
	d := g.policy(p)
	if d.Verdict == permission.Deny || g.s.Mode() == permission.Yolo {
		return d
	}
	lost := g.s.changes.Unrestorable(ctx, p)
	if lost == "" {
		return d
	}
	why := "no copy of " + lost + " is kept, so what it does there can not be undone"
	if d.Verdict == permission.Ask {
		d.Reason += "; " + why
		return d
	}
	return permission.Decision{Verdict: permission.Ask, By: "journal", Reason: why, Confine: d.Confine}
}

func (g *permissionGate) policy(p *turn.Pending) permission.Decision {
	return g.s.decide(asked(p))
}

func asked(p *turn.Pending) permission.Call {
	return permission.Call{Tool: p.Tool.Spec.Name, Family: p.Tool.Family, Spoken: p.Tool.Spoken, ReadOnly: p.Tool.ReadOnly, Footprint: p.Footprint, Args: p.Args}
}

// edits reports whether a call that is asked about is one that the mode for
// edits allows: then a person may allow all of its kind from now on.
func (g *permissionGate) edits(ctx context.Context, p *turn.Pending) bool {
	if p.Footprint.Shell != "" || g.beyond[p] != "" || g.s.changes.Unrestorable(ctx, p) != "" {
		return false
	}
	return eventlog.Look(g.s.log, func() bool {
		return g.s.perm.Mode() == permission.Ask4All && g.s.perm.In(permission.AcceptEdits).Decide(asked(p)).Verdict == permission.Allow
	})
}

func (s *Session) decide(c permission.Call) permission.Decision {
	return eventlog.Look(s.log, func() permission.Decision { return s.perm.Decide(c) })
}

// title says in one line what a call is about.
func title(p *turn.Pending) string {
	var what []string
	if p.Footprint.Shell != "" {
		first, _, more := strings.Cut(p.Footprint.Shell, "\n")
		if more {
			first += " …"
		}
		what = append(what, first)
	}
	words := strings.FieldsFunc(p.Footprint.Shell, func(r rune) bool { return strings.ContainsRune(" \t\n\"'<>|&;()=", r) })
	for _, w := range p.Footprint.Writes {
		if !slices.Contains(words, w.Path) { // else the command says it
			what = append(what, w.Path)
		}
	}
	if len(what) == 0 {
		for _, r := range p.Footprint.Reads {
			what = append(what, r.Path)
		}
	}
	what = append(what, p.Footprint.Hosts...)
	return p.Tool.Spec.Name + " " + strings.Join(what, ", ")
}

// refusal denies a call; the run's result lists it.
func refusal(p *turn.Pending, reason, by string) *turn.Refusal {
	return &turn.Refusal{
		Outcome: event.Denied, Text: "Not allowed, it did not run: " + reason,
		Blocked: &event.Blocked{Call: p.Call.ID, Tool: p.Tool.Spec.Name, What: title(p), Reason: reason, By: by},
	}
}
