package permission

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// narrowing is how the route of the running turn limits the rights of mode and rules
// (SPEC 13.1). The zero value limits nothing. It applies until a person's next prompt:
// prompts by checks or hooks do not change it.
type narrowing struct {
	route event.Routed
}

func (n *narrowing) apply(b event.Body) {
	switch b := b.(type) {
	case event.Prompted:
		if b.Source == event.Person {
			n.route = event.Routed{}
		}
	case event.Routed:
		n.route = b
	}
}

// lacks reports whether the turn lacks a right.
func (n *narrowing) lacks(right string) bool {
	return right != "" && len(n.route.Rights) > 0 && !slices.Contains(n.route.Rights, right)
}

// narrow limits a decision by the turn's route: a call beyond its rights is
// asked about instead of allowed. It never widens a decision. What asks anyway keeps its
// reason, unless the person said not to change anything: the route may be wrong.
func (p *Policy) narrow(c Call, d Decision) Decision {
	if len(p.turn.route.Rights) == 0 || d.Verdict == Deny {
		return d
	}
	need, what := p.needs(c)
	switch {
	case !p.turn.lacks(need):
		return d
	case d.Verdict == Allow && p.held(c.Footprint): // asked when it changes something
		d.Confine.Asks = d.Confine.Level == process.Workspace
		return d
	case d.Verdict == Ask && !p.turn.route.Explicit: // asked anyway
	case d.Verdict == Ask:
		d.Reason = p.turn.describe() + ", and " + d.Reason
	default:
		d = Decision{Verdict: Ask, By: "route", Reason: p.turn.describe() + ", and " + what}
	}
	d.MissingRight, d.Explicit = need, p.turn.route.Explicit
	return d
}

// Widened returns the policy as it is without the turn's route.
func (p *Policy) Widened() *Policy {
	q := *p
	q.turn = narrowing{}
	return &q
}

// describe returns how the turn's request was classified, and why.
func (n *narrowing) describe() string {
	r := n.route
	switch {
	case r.Explicit && r.By == "flag":
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
		return route.RightRun, "what the command would do cannot be told"
	}
	shell := c.Footprint.Shell != "" || len(cmds) > 0
	for _, u := range p.units(c, cmds) {
		switch {
		case u.readOnly || u.kind == readUnit || u.kind == hostUnit || u.check:
			continue
		case shell:
			return route.RightRun, u.why
		}
		return route.RightEdit, u.why
	}
	return "", ""
}
