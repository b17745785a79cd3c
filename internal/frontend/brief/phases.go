package brief

import (
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/plural"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// Ended describes how a phase ended and what was done in it.
func Ended(d phase.Phase) string {
	how := "done"
	switch {
	case d.ByNext:
		how = "ended by the next one"
	case !d.Success:
		how = "given up"
	}
	return how + " after " + took.Text(d.Ended.Sub(d.Started)) + Did(len(d.Files), d.TestsOK) + late(d, d.Ended) + blocked(d)
}

// openFor describes the progress of an open phase at a time.
func openFor(d phase.Phase, now time.Time) string {
	return "open for " + took.Text(max(0, now.Sub(d.Started))) + Did(len(d.Files), d.TestsOK) + late(d, now) + blocked(d)
}

func late(d phase.Phase, now time.Time) string {
	switch over := d.Over(now); {
	case d.Expected <= 0:
		return ""
	case over > 0:
		return fmt.Sprintf("; %s over the expected %s", took.Text(over), took.Text(d.Expected))
	}
	return "; expected " + took.Text(d.Expected)
}

func blocked(d phase.Phase) string {
	if len(d.Blockers) == 0 {
		return ""
	}
	return plain.Line("; " + plural.Of(len(d.Blockers), "blocker") + ", the last: " + cut.Runes(d.Blockers[len(d.Blockers)-1], 120))
}

// Did describes how many files were changed and how many test runs passed.
func Did(files, tests int) string {
	s := ""
	if files > 0 {
		s += ", " + plural.Of(files, "file") + " changed"
	}
	if tests > 0 {
		s += ", " + plural.Of(tests, "test run") + " passed"
	}
	return s
}

// PhaseList returns lines about all phases: completed ones, the open one, the planned
// ones after it, and the totals. It returns none if there are no phases.
func PhaseList(p phase.Status) []string {
	var out []string
	last := 0
	for _, d := range p.Done {
		out = append(out, fmt.Sprintf("  %d. %s: %s", d.Number, plain.Line(cut.Runes(d.Description, 120)), Ended(d)))
		last = d.Number
	}
	if d := p.Open; d != nil {
		out = append(out, fmt.Sprintf("> %d. %s: %s", d.Number, plain.Line(cut.Runes(d.Description, 120)), openFor(*d, p.At)))
		last = d.Number
	}
	for i, s := range p.Plan {
		if n := p.First + i; n > last {
			out = append(out, fmt.Sprintf("  %d. %s", n, plain.Line(cut.Runes(s.Text, 120))))
		}
	}
	if len(out) == 0 {
		return nil
	}
	t := p.Totals
	return append(out, fmt.Sprintf("%d of %d phases done in %s%s", t.CompletedPhases, t.TotalPhases, took.Text(t.Elapsed), Did(t.Files, t.TestsOK)))
}
