package chat

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// phases makes blocks of the phases that begin and end.
type phases struct {
	fold         phase.Fold
	begun, ended int
}

// apply returns the blocks that an event leads to.
func (p *phases) apply(e event.Event) []Phase {
	p.fold.Apply(e)
	switch b := e.Body.(type) {
	case event.CallDone:
		if p.fold.Open() != nil && passed(b) {
			p.fold.Passed()
		}
	case event.Checked:
		if b.Exit != nil && *b.Exit == 0 && b.Why == "" {
			p.fold.Passed()
		}
	case event.Stuck:
		if b.Level != event.StuckRecovery {
			p.fold.Blocker(normalize.OneLine(b.Level+" ("+b.Rule+"): "+progress.Loop(b), 160))
		}
	case event.Planned:
		return p.news("model")
	case event.Phased:
		var out []Phase
		for i, s := range b.Plan {
			out = append(out, Phase{State: Planned, Number: b.Number + i, Total: b.Number + len(b.Plan) - 1, Text: plain.Line(s.Text), By: b.By})
		}
		return append(out, p.news(b.By)...)
	}
	return nil
}

// passed reports whether a call was a test run that passed, as the detector
// takes it.
func passed(b event.CallDone) bool {
	return b.Command != "" && b.Outcome == event.OK && !b.Result.Error && (b.Exit == nil || *b.Exit == 0) &&
		progress.CommandKind(b.Command) == progress.Test && !progress.Echoes(b.Command, b.Result.Text)
}

func (p *phases) news(by string) []Phase {
	var out []Phase
	total := p.fold.Totals(p.fold.At()).TotalPhases
	began := func(d *phase.Phase) {
		if d != nil && d.Number > p.begun {
			p.begun = d.Number
			out = append(out, Phase{State: Begun, Number: d.Number, Total: total, Text: plain.Line(d.Description), By: by})
		}
	}
	for _, d := range p.fold.History() {
		began(&d)
		if d.Number > p.ended {
			p.ended = d.Number
			out = append(out, Phase{
				State: Over, Number: d.Number, Total: total, Text: plain.Line(d.Description), By: by,
				How: plain.Line(brief.Ended(d)), Failed: !d.Success && !d.ByNext, ByNext: d.ByNext,
			})
		}
	}
	began(p.fold.Open())
	return out
}
