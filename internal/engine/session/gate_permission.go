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
			p.Refused = denial(p, d)
		case permission.Ask:
			if !g.s.cfg.Person {
				p.Refused = denial(p, d)
				continue
			}
			g.places[p] = places(p.Footprint)
			if k := checkOf(p); k != nil {
				if allowed, known := k.remembered(d); allowed {
					g.allowed[p] = true
					continue
				} else if known {
					p.Refused = refusedByPerson()
					continue
				}
			}
			decided[p] = d
		}
	}
	if len(decided) == 0 {
		return nil
	}
	asks := g.questions(ctx, step, decided)
	asked := event.Asked{}
	for _, c := range asks {
		asked.Questions = append(asked.Questions, c.Question)
	}
	a, err := g.s.questions.ask(ctx, asked)
	if ctx.Err() != nil {
		return nil // the loop sees it and cancels the step
	}
	if err != nil && !errors.Is(err, tool.ErrNobody) {
		return err
	}
	return g.take(ctx, asks, decided, a)
}

// denial refuses a call that is denied, or would need consent without a person.
func denial(p *turn.Pending, d permission.Decision) *turn.Refusal {
	if k := checkOf(p); k != nil {
		return k.why(d)
	}
	if d.Verdict == permission.Ask {
		return refusal(p, nobody(d), "headless")
	}
	why := d.Reason
	if d.Flag != "" {
		why += "; a run with " + d.Flag + " may do it"
	}
	return refusal(p, why, d.By)
}

// nobody words why a call that needs consent does not run without a person.
func nobody(d permission.Decision) string {
	why := d.Reason + "; nobody is there to allow it. Do not try it another way; say at the end what is needed"
	if d.Flag != "" {
		why += ", which is to run pawl with " + d.Flag
	}
	return why
}

// take applies a person's answers.
func (g *permissionGate) take(ctx context.Context, asks []consent, decided map[*turn.Pending]permission.Decision, a event.Answered) error {
	verdicts := map[string]event.Verdict{}
	for _, v := range a.Verdicts {
		verdicts[v.Call] = v
	}
	for _, c := range asks {
		v := verdicts[c.Call]
		lasts := v.Scope == event.Session || v.Scope == event.Always
		if v.Scope == event.Always && !c.Always {
			v.Scope = event.Session
		}
		if lasts {
			if err := g.grant(ctx, c.Pattern, v.Scope); err != nil {
				return err
			}
		}
		for _, p := range c.of {
			allowed := lasts || v.Scope == event.Once
			g.allowed[p], p.Allowed = allowed, allowed
			k := checkOf(p)
			switch {
			case k != nil:
				k.answered(decided[p], allowed, lasts)
				if !allowed {
					p.Refused = refusedByPerson()
				}
			case !allowed:
				p.Refused = refusedBy(p, v)
			}
			if right := g.beyond[p]; right != "" && allowed {
				if err := g.s.router.grantRight(ctx, right, "person", title(p)); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// grant keeps a yes that holds for more than one call.
func (g *permissionGate) grant(ctx context.Context, rule string, scope event.Scope) error {
	if err := g.s.record(ctx, event.Draft{Body: event.Granted{Rule: rule, Scope: scope}}); err != nil {
		return err
	}
	if scope == event.Always && g.s.cfg.Keep != nil {
		return g.s.cfg.Keep(rule)
	}
	return nil
}

// refusedBy is a person's No. Without a word of why, it ends the turn.
func refusedBy(p *turn.Pending, v event.Verdict) *turn.Refusal {
	reason := "The user did not allow it."
	if v.Why != "" {
		reason = "The user did not allow it and says: " + v.Why
	}
	r := refusal(p, reason, "person")
	r.EndTurn = v.Why == ""
	return r
}

// Start is part of turn.Starter: an earlier call of the step may have made
// the same words mean something else, such as a path that is a link now. What
// would ask now does not run, and a person's yes is for where a call led then.
func (g *permissionGate) Start(ctx context.Context, p *turn.Pending) *turn.Refusal {
	if err := p.Measure(g.s.env(p)); err != nil {
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	d := g.decide(ctx, p)
	p.Confine = d.Confine
	switch {
	case d.Verdict == permission.Allow:
		return nil
	case checkOf(p) != nil && !g.allowed[p]:
		return denial(p, d)
	case d.Verdict == permission.Deny:
		return refusal(p, d.Reason, d.By)
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
	if d.Verdict == permission.Deny || g.s.mode() == permission.Yolo {
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
	if k := checkOf(p); k != nil {
		return k.decide(p)
	}
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
