package permission

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// narrow limits a decision by the turn's route (SPEC 13.1): a call beyond its rights is
// asked about instead of allowed. It never widens a decision. What asks anyway keeps its
// reason, unless the person said not to change anything: the route may be wrong.
func (p *Policy) narrow(c Call, d Decision) Decision {
	if len(p.turn.Rights) == 0 || d.Verdict == Deny {
		return d
	}
	need, what := p.needs(c)
	switch {
	case need == "" || slices.Contains(p.turn.Rights, need):
		return d
	case d.Verdict == Allow && p.held(c.Footprint): // asked when it changes something
		d.Confine.Asks, d.Confine.Editors = d.Confine.Level == process.Workspace, nil
		return d
	case d.Verdict == Ask && !p.turn.Explicit: // asked anyway
	case d.Verdict == Ask:
		d.Reason = routeTold(p.turn) + ", and " + d.Reason
	default:
		d = Decision{Verdict: Ask, By: event.ByRoute, Reason: routeTold(p.turn) + ", and " + what, Confine: d.Confine}
	}
	d.MissingRight, d.Explicit = need, p.turn.Explicit
	return d
}

// Widened returns the policy as it is without the turn's route.
func (p *Policy) Widened() *Policy {
	q := *p
	q.turn = event.Routed{}
	return &q
}

// routeTold returns how the turn's request was classified, and why.
func routeTold(r event.Routed) string {
	switch {
	case r.Explicit && r.By == event.RoutedByFlag:
		return "this turn has the route " + r.Route + ", as was asked for"
	case r.Explicit:
		return "the request says not to change anything (“" + shorten(r.Why) + "”)"
	}
	reads := "the request was routed to " + r.Route
	if t, ok := route.Lookup(r.Route); ok {
		reads = t.Reads
	}
	if r.Why != "" {
		reads += " (“" + shorten(r.Why) + "”)"
	}
	return reads
}

// needs returns the right that a call needs beyond reading, and for what; ""
// for none. Checks of the project and notes for later sessions need none.
func (p *Policy) needs(c Call) (right, what string) {
	if c.AnsweredByPerson {
		return "", ""
	}
	cmds, err := p.commands(c.Footprint)
	if err != nil {
		return route.RightRun, "the effect of the command is unknown"
	}
	shell := c.Footprint.Shell != "" || len(cmds) > 0
	for _, u := range p.parts(c, cmds) {
		check, ok := command.CheckOf(u.cmd)
		switch {
		case u.readOnly || u.kind == readPart || u.kind == hostPart || ok && !check.MayWrite():
			continue
		case shell:
			return route.RightRun, u.why
		}
		return route.RightEdit, u.why
	}
	return "", ""
}
