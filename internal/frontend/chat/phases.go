package chat

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// phased returns blocks for the phases that an event plans, begins and ends.
func phased(fold *phase.Fold, e event.Event) []Phase {
	progress.ApplyPhases(fold, e)
	var out []Phase
	by := "model"
	if b, ok := e.Body.(event.Phased); ok {
		by = string(b.By)
		for i, s := range b.Plan {
			out = append(out, Phase{State: Planned, Number: b.Number + i, Total: b.Number + len(b.Plan) - 1, Text: plain.Line(s.Text), By: by})
		}
	}
	total := fold.Totals(fold.At()).TotalPhases
	for _, c := range fold.Changes() {
		p := Phase{State: Begun, Number: c.Number, Total: total, Text: plain.Line(c.Description), By: by}
		if c.Ended {
			p.State, p.How, p.Failed, p.ByNext = Over, plain.Line(brief.Ended(c.Phase)), !c.Success && !c.ByNext, c.ByNext
		}
		out = append(out, p)
	}
	return out
}
