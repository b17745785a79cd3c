package permission

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Gate is the permission gate of one turn.
type Gate struct {
	*Evaluator
	// allowedChecks are the commands of checks that the person allowed in this
	// turn, with the reasons of the questions.
	allowedChecks map[string]string
	// allowed are the calls of this step that a person allowed once.
	allowed map[*turn.Pending]bool
	// places are the places that the calls in need of consent led to when they
	// were judged.
	places map[*turn.Pending][]string
	// missing is the right that a call of this step needs and that its turn's
	// route lacks.
	missing map[*turn.Pending]string
}

func (g *Gate) Check(ctx context.Context, step []*turn.Pending) error {
	g.allowed, g.missing = map[*turn.Pending]bool{}, map[*turn.Pending]string{}
	g.places = map[*turn.Pending][]string{}
	open := map[*turn.Pending]permission.Decision{} // calls that the person is asked about
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
			p.Refused = g.denial(p, d)
		case permission.Ask:
			if !g.Person {
				p.Refused = g.denial(p, d)
				continue
			}
			if g.Hooks != nil {
				if p.Refused, err = g.Hooks(ctx, p); p.Refused != nil {
					continue
				} else if err != nil && ctx.Err() == nil {
					return err
				}
			}
			g.places[p] = places(p.Footprint)
			if c := checkOf(p); c != nil {
				if allowed, known := g.remembered(c, d); allowed {
					g.allowed[p] = true
					continue
				} else if known {
					p.Refused = checkRefused()
					continue
				}
			}
			open[p] = d
		}
	}
	if len(open) == 0 {
		return nil
	}
	asks := g.questions(ctx, step, open)
	if len(asks) == 0 {
		return nil
	}
	asked := event.Asked{}
	for _, c := range asks {
		asked.Questions = append(asked.Questions, c.Question)
	}
	a, err := g.Ask(ctx, asked)
	if ctx.Err() != nil {
		return nil // the loop notices and cancels the step
	}
	if err != nil && !errors.Is(err, tool.ErrNobody) {
		return err
	}
	return g.apply(ctx, asks, open, a)
}

// routed decides about a call that needs a right that its turn's route lacks. A
// person is asked. Without one, a route that pawl chose itself is widened,
// which the log and the result report. A route that somebody asked for is kept.
func (g *Gate) routed(ctx context.Context, p *turn.Pending, d permission.Decision) (permission.Decision, error) {
	switch {
	case d.MissingRight == "", checkOf(p) != nil && !g.Person: // no right is granted for a check
	case g.Person:
		g.missing[p] = d.MissingRight
	case d.Explicit:
		d.Verdict, d.By, d.Flag = permission.Deny, event.ByRoute, ""
		d.Instead = "Say what you would change"
	case d.By == event.ByRoute:
		if err := g.GrantRight(ctx, d.MissingRight, event.WidenedByModel, p.Title()); err != nil {
			return d, err
		}
		return g.decide(ctx, p), nil
	}
	return d, nil
}

// apply applies a person's answers.
func (g *Gate) apply(ctx context.Context, asks []question, open map[*turn.Pending]permission.Decision, a event.Answered) error {
	verdicts := map[string]event.Verdict{}
	for _, v := range a.Verdicts {
		verdicts[v.Call] = v
	}
	for _, q := range asks {
		v := verdicts[q.Call]
		lasts := v.Scope == event.Session || v.Scope == event.Always
		if v.Scope == event.Always && !q.Always {
			v.Scope = event.Session
		}
		if v.Scope == event.Never {
			v.Why = cmp.Or(v.Why, "not in this session; go on without it")
			lasts = q.Pattern != ""
		}
		if lasts {
			if err := g.Grant(ctx, q.Pattern, v.Scope); err != nil {
				return err
			}
		}
		for _, p := range q.calls {
			allowed := v.Scope == event.Session || v.Scope == event.Always || v.Scope == event.Once
			g.allowed[p], p.Allowed = allowed, allowed
			c := checkOf(p)
			switch {
			case c != nil:
				g.remember(c, open[p], allowed, lasts)
				if !allowed {
					p.Refused = checkRefused()
				}
			case !allowed:
				p.Refused = refusedByPerson(p, v)
			}
			if right := g.missing[p]; right != "" && allowed {
				if err := g.GrantRight(ctx, right, event.WidenedByPerson, p.Title()); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

// Start implements turn.Starter. An earlier call of the step may have changed
// the meaning of the same words, such as a path that is a link now. A call that
// would ask now does not run, and a person's yes is only for the places that
// the call led to then.
func (g *Gate) Start(ctx context.Context, p *turn.Pending) *turn.Refusal {
	if err := p.Measure(g.Env(p)); err != nil {
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	d := g.decide(ctx, p)
	p.Confine = d.Confine
	p.Hold = g.hold(ctx, p, d)
	switch {
	case d.Verdict == permission.Allow:
		return nil
	case checkOf(p) != nil && !g.allowed[p]:
		return g.denial(p, d)
	case d.Verdict == permission.Deny:
		return p.Deny(d.Reason, d.By)
	case !g.allowed[p]:
		return p.Deny(d.Reason+"; a call before it changed what it does. Call it again to have it asked about", d.By)
	}
	for _, now := range places(p.Footprint) {
		if !slices.Contains(g.places[p], now) {
			return p.Deny("it leads elsewhere than when it was allowed ("+d.Reason+"). Call it again to have it asked about", d.By)
		}
	}
	return nil
}

// places returns all places that a call is known to touch.
func places(f tool.Footprint) []string {
	var out []string
	for _, sp := range f.Reads {
		out = append(out, "read "+sp.Path)
	}
	for _, sp := range f.Writes {
		out = append(out, "write "+sp.Path)
	}
	for _, l := range f.Resolved {
		out = append(out, fmt.Sprintf("%t %s %s", l.Write, l.Path, l.Named))
	}
	return out
}

// denial refuses a call that is denied, or that would need consent without a person. Who is
// there chooses another mode, and needs no flag of a run.
func (g *Gate) denial(p *turn.Pending, d permission.Decision) *turn.Refusal {
	if checkOf(p) != nil {
		return checkDenied(d)
	}
	why, by := d.Reason, d.By
	var advice []string // for the model only
	if d.Instead != "" {
		advice = append(advice, "Do not try it another way", d.Instead)
	}
	if d.Verdict == permission.Ask {
		why, by = why+"; nobody is there to allow it", event.ByNobody
		if d.Instead == "" {
			advice = append(advice, "Do not try it another way")
		}
		advice = append(advice, "Else go on without it, and say at the end what was needed")
	}
	switch mode, ok := strings.CutPrefix(d.Flag, "--permission-mode "); {
	case d.Flag == "":
	case g.Person && ok:
		mode, _, _ = strings.Cut(mode, " ")
		why += "; the mode " + mode + " allows it (Shift+Tab, /mode " + mode + ")"
	default:
		why += "; a run with " + d.Flag + " may do it"
	}
	r := p.Deny(why, by)
	r.Text = strings.Join(append([]string{r.Text}, advice...), ". ")
	return r
}

// refusedByPerson is the refusal after a person's No. Without a reason, it ends the turn.
func refusedByPerson(p *turn.Pending, v event.Verdict) *turn.Refusal {
	reason := "The user did not allow it."
	if v.Why != "" {
		reason = "The user did not allow it and says: " + v.Why
	}
	r := p.Deny(reason, event.ByPerson)
	r.EndTurn = v.Why == ""
	return r
}
