package session

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	consent "github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// seenGate is read-before-write (SPEC 4.6). A refusal shows the lines that
// should have been read first, which counts as having read them.
type seenGate struct{ s *Session }

// Check implements turn.Gate. A call whose files an earlier call of the step
// touches is judged after that one.
func (g *seenGate) Check(ctx context.Context, step []*turn.Pending) error {
	for i, p := range step {
		if p.Refused != nil || len(p.Footprint.Writes)+len(p.Footprint.Reads) == 0 {
			continue
		}
		earlier := slices.ContainsFunc(step[:i], func(q *turn.Pending) bool { return q.Refused == nil && touches(q.Footprint, p.Footprint) })
		switch {
		case earlier:
		case len(p.Footprint.Writes) > 0:
			p.Refused = g.check(ctx, p)
		default:
			g.noteChangedFiles(p)
		}
	}
	return nil
}

// noteChangedFiles adds to the result which files of a call have changed since the model saw them.
func (g *seenGate) noteChangedFiles(p *turn.Pending) {
	others := eventlog.Query(g.s.log, func() []string { return g.s.seen.ChangedSince(g.s.known(p.Footprint)) })
	for _, path := range others {
		p.Corrected(path + " changed since you saw it: someone else, or a command, wrote it")
	}
}

func (g *seenGate) Start(ctx context.Context, p *turn.Pending) *turn.Refusal {
	if len(p.Footprint.Writes) == 0 {
		return nil
	}
	if err := p.Measure(g.s.abilities.env(p)); err != nil {
		return &turn.Refusal{Outcome: event.Failed, Text: err.Error()}
	}
	return g.check(ctx, p)
}

func touches(a, b tool.Footprint) bool {
	for _, x := range slices.Concat(a.Reads, a.Writes) {
		if slices.ContainsFunc(b.Writes, func(y tool.Span) bool { return x.Path == y.Path }) {
			return true
		}
	}
	return a.Unknown
}

func (g *seenGate) check(ctx context.Context, p *turn.Pending) *turn.Refusal {
	fp := p.Footprint
	// What may not be read must not be found out by quoting guesses.
	fp.Quoted = slices.DeleteFunc(slices.Clone(fp.Quoted), func(path string) bool { return !g.mayRead(tool.Span{Path: path}) })
	v := eventlog.Query(g.s.log, func() edits.CheckResult { return g.s.seen.Check(g.s.known(fp)) })
	if v.OK {
		g.noteChangedFiles(p)
		return nil
	}
	need := slices.DeleteFunc(slices.Clone(v.Need), func(sp tool.Span) bool { return !g.mayRead(sp) })
	if len(need) < len(v.Need) && !g.mayRun(p) {
		return nil // the permission gate refuses it, with the reason
	}
	r := &turn.Refusal{Outcome: event.Denied, Text: v.Reason}
	limit := window.Bytes(g.s.window.resultCap()) / 2
	lines, seen := tools.Lines(ctx, g.s.cfg.Files, g.s.drafts().Narrow(ctx, p, need, limit), limit)
	if len(seen) > 0 {
		r.Text += "\n" + lines + "These lines now count as read: make the call again if they are the ones you mean."
	}
	masked := g.s.results().Masked(tool.Result{Text: r.Text, Seen: seen})
	r.Text, r.Seen = masked.Text, masked.Seen
	return r
}

// mayRead reports whether a read of the lines would be allowed without a
// question: a refusal must not show what a read would not.
func (g *seenGate) mayRead(sp tool.Span) bool {
	return g.decide(permission.Call{Tool: tool.ReadFamily, Family: tool.ReadFamily, ReadOnly: true, Footprint: tool.Footprint{Reads: []tool.Span{sp}}}) == permission.Allow
}

// mayRun reports whether the call itself is allowed, or may be by a person.
func (g *seenGate) mayRun(p *turn.Pending) bool {
	v := g.decide(consent.Call(p))
	return v == permission.Allow || v == permission.Ask && g.s.cfg.Person
}

func (g *seenGate) decide(c permission.Call) permission.Verdict {
	return g.s.rights.Decide(c).Verdict
}
