package session

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// seenGate is read-before-write (SPEC 4.6). A refusal shows the lines that
// should have been read first, which counts as having read them.
type seenGate struct{ s *Session }

// Check is part of turn.Gate. A call whose files an earlier call of the step
// touches is judged when that one is done.
func (g *seenGate) Check(ctx context.Context, step []*turn.Pending) error {
	for i, p := range step {
		if p.Refused != nil || len(p.Footprint.Writes) == 0 {
			continue
		}
		earlier := slices.ContainsFunc(step[:i], func(q *turn.Pending) bool { return q.Refused == nil && touches(q.Footprint, p.Footprint) })
		if !earlier {
			p.Refused = g.judge(ctx, p)
		}
	}
	return nil
}

// Recheck is part of turn.Rechecker.
func (g *seenGate) Recheck(ctx context.Context, p *turn.Pending) *turn.Refusal {
	if len(p.Footprint.Writes) == 0 {
		return nil
	}
	if err := p.Measure(g.s.env(p)); err != nil {
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	return g.judge(ctx, p)
}

func touches(a, b tool.Footprint) bool {
	for _, x := range slices.Concat(a.Reads, a.Writes) {
		if slices.ContainsFunc(b.Writes, func(y tool.Span) bool { return x.Path == y.Path }) {
			return true
		}
	}
	return a.Unknown
}

func (g *seenGate) judge(ctx context.Context, p *turn.Pending) *turn.Refusal {
	g.s.mu.Lock()
	v := g.s.seen.Check(p.Footprint)
	others := g.s.seen.ChangedSince(p.Footprint)
	g.s.mu.Unlock()
	if v.OK {
		if len(others) > 0 && !strings.Contains(p.Fix, "changed by someone else") {
			p.Fix = strings.TrimPrefix(p.Fix+"; "+strings.Join(others, ", ")+" was changed by someone else since you saw it", "; ")
		}
		return nil
	}
	need := slices.DeleteFunc(slices.Clone(v.Need), func(sp tool.Span) bool { return !g.mayRead(sp) })
	if len(need) < len(v.Need) && !g.mayRun(p) {
		return nil // the permission gate says no, and why
	}
	r := &turn.Refusal{Outcome: event.Denied, Text: v.Reason}
	lines, seen := tools.Lines(ctx, g.s.cfg.Files, need, window.Bytes(g.s.resultCap())/2)
	if len(seen) > 0 {
		r.Text += "\n" + lines + "These lines now count as read: the same call may be made again."
	}
	if masked := g.s.cfg.Mask(r.Text); masked != r.Text {
		r.Text, seen = masked, nil
	}
	r.Seen = seen
	return r
}

// mayRead says whether a read of the lines would be allowed without a question:
// a refusal must not show what a read would not.
func (g *seenGate) mayRead(sp tool.Span) bool {
	return g.decide(permission.Call{Tool: "read", ReadOnly: true, Footprint: tool.Footprint{Reads: []tool.Span{sp}}}) == permission.Allow
}

// mayRun says whether the call itself is allowed, or may be by a person.
func (g *seenGate) mayRun(p *turn.Pending) bool {
	v := g.decide(permission.Call{Tool: p.Tool.Spec.Name, ReadOnly: p.Tool.ReadOnly, Footprint: p.Footprint, Args: p.Args})
	return v == permission.Allow || v == permission.Ask && g.s.cfg.Person
}

func (g *seenGate) decide(c permission.Call) permission.Verdict {
	g.s.mu.Lock()
	defer g.s.mu.Unlock()
	return g.s.perm.Decide(c).Verdict
}
