package session

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
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
	r := &turn.Refusal{Outcome: event.Denied, Text: v.Reason}
	lines, seen := tools.Lines(ctx, g.s.cfg.Files, v.Need, resultCap/2)
	if len(seen) > 0 {
		r.Text += "\n" + lines + "These lines now count as read: the same call may be made again."
	}
	if masked := g.s.cfg.Mask(r.Text); masked != r.Text {
		r.Text, seen = masked, nil
	}
	r.Seen = seen
	return r
}
