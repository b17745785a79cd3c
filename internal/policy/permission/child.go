package permission

import (
	"maps"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file derives the rights of an agent's session from those of the session
// that started it: at no moment are they wider.

// Child returns the policy for an agent's session: the same rules and folders,
// in a mode that is not wider. It folds the child's own events from then on.
// Later decisions of the parent's policy are combined with its own: see
// Decision.Narrow.
func (p *Policy) Child(readOnly bool) *Policy {
	q := *p
	q.rules, q.ignored = slices.Clone(p.rules), slices.Clone(p.ignored)
	for i := range q.rules { // it lives no longer than this turn, and has turns of its own
		q.rules[i].turn = false
	}
	q.changed, q.turn = maps.Clone(p.changed), event.Routed{}
	q.parentLimits, q.limits = append(slices.Clip(p.parentLimits), p.limits...), nil
	q.cfg.Mode, q.mode = p.mode.Child(readOnly), p.mode.Child(readOnly)
	return &q
}

// Follow adds the rules of the session that started this one, which works in a copy of its
// folder: a rule that guards a file there by its whole path guards the copy, too.
func (p *Policy) Follow(parent *Policy) {
	p.AddRules(parent.rules)
	for _, r := range parent.rules {
		named := strings.HasPrefix(r.Pattern, "/") || strings.HasPrefix(r.Pattern, "~")
		rest, in := strings.CutPrefix(parent.absPattern(r.Pattern), parent.cfg.Root+"/")
		if f := r.family(); in && named && r.List != Allows && (f == tool.ReadFamily || f == tool.EditFamily) {
			r.Pattern = p.cfg.Root + "/" + rest
			p.AddRules([]Rule{r})
		}
	}
}

// Grants lists the rules that a person allowed in this session.
func (p *Policy) Grants() []string {
	var out []string
	for _, r := range p.rules {
		if r.From == Granted && r.List == Allows {
			out = append(out, r.Text)
		}
	}
	return out
}

// Narrow returns what both decisions about one call allow. If both ask, a
// person's yes has to cover what both need.
func (d Decision) Narrow(o Decision) Decision {
	confine := d.Confine.Narrow(o.Confine)
	can := d.CanAlways && o.CanAlways
	if o.Verdict < d.Verdict || o.Verdict == d.Verdict && d.MissingRight == "" && o.MissingRight != "" {
		d = o
	}
	d.Confine, d.CanAlways = confine, can || d.Verdict != Ask && d.CanAlways
	return d
}
