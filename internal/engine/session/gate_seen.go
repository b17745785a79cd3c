package session

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"strings"

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
	fp, err := p.Tool.Footprint(g.s.env(p), p.Args)
	if err != nil {
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	p.Footprint = fp
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
	r := &turn.Refusal{Outcome: event.Denied}
	var text strings.Builder
	text.WriteString(v.Reason)
	budget := resultCap / 2
	for _, span := range v.Need {
		shown, seen, err := g.lines(ctx, span, budget-text.Len())
		if err != nil {
			fmt.Fprintf(&text, "\n%s: %v", span.Path, err)
			continue
		}
		text.WriteString("\n" + shown)
		r.Seen = append(r.Seen, seen)
	}
	if len(r.Seen) > 0 {
		text.WriteString("\nThese lines now count as read: the same call may be made again.")
	}
	r.Text = g.s.cfg.Mask(text.String())
	if r.Text != text.String() {
		r.Seen = nil
	}
	return r
}

// lines shows a span of a file as the read tool does, within limit bytes, and
// says which part of it that is.
func (g *seenGate) lines(ctx context.Context, span tool.Span, limit int) (string, tool.Span, error) {
	f, err := g.s.cfg.Files.Read(ctx, span.Path, 0)
	if err != nil {
		return "", tool.Span{}, err
	}
	all := bytes.Split(bytes.TrimSuffix(f.Data, []byte("\n")), []byte("\n"))
	from, to := max(span.From, 1), span.To
	if to <= 0 || to > len(all) {
		to = len(all)
	}
	var b strings.Builder
	last := from - 1
	for n := from; n <= to; n++ {
		line := bytes.ToValidUTF8(bytes.TrimSuffix(all[n-1], []byte("\r")), []byte("\uFFFD"))
		if b.Len()+len(line) > limit {
			break
		}
		fmt.Fprintf(&b, "%d\t%s\n", n, line)
		last = n
	}
	head := fmt.Sprintf("== %s (lines %d-%d of %d) ==\n", span.Path, from, last, len(all))
	return head + b.String(), tool.Span{Path: span.Path, From: from, To: last, Hash: f.Hash}, nil
}
