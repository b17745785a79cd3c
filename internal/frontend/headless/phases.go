package headless

import (
	"time"

	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// Phases are the parts of the task: all that the session has recorded, including those
// of earlier runs.
type Phases struct {
	Completed   int     `json:"completed"`
	Total       int     `json:"total"`
	ElapsedMS   int64   `json:"elapsed_ms"`
	Files       int     `json:"files_changed"` // each once
	TestsPassed int     `json:"tests_passed"`
	Open        *Phase  `json:"open"` // null if none is open
	History     []Phase `json:"history"`
}

// Phase is one part of the task.
type Phase struct {
	Number      int        `json:"number"`
	Text        string     `json:"text"`
	Started     time.Time  `json:"started"`
	Ended       *time.Time `json:"ended"`       // null while it is open
	ExpectedMS  int64      `json:"expected_ms"` // 0: not given
	OverMS      int64      `json:"over_ms"`     // more than expected
	Success     bool       `json:"success"`
	EndedByNext bool       `json:"ended_by_next"`
	Files       []string   `json:"files_changed"`
	TestsPassed int        `json:"tests_passed"`
	Blockers    []string   `json:"blockers"`
}

// phasesOf returns nil if the session has no phases.
func phasesOf(p phase.Status) *Phases {
	if p.Open == nil && len(p.Done) == 0 && len(p.Plan) == 0 {
		return nil
	}
	t := p.Totals
	out := &Phases{
		Completed: t.CompletedPhases, Total: t.TotalPhases, ElapsedMS: t.Elapsed.Milliseconds(),
		Files: t.Files, TestsPassed: t.TestsOK, History: []Phase{},
	}
	for _, d := range p.Done {
		out.History = append(out.History, phaseOf(d, p.At))
	}
	if p.Open != nil {
		o := phaseOf(*p.Open, p.At)
		out.Open = &o
	}
	return out
}

func phaseOf(d phase.Phase, now time.Time) Phase {
	out := Phase{
		Number: d.Number, Text: d.Description, Started: d.Started, ExpectedMS: d.Expected.Milliseconds(), OverMS: d.Over(now).Milliseconds(),
		Success: d.Success, EndedByNext: d.ByNext, Files: append([]string{}, d.Files...), TestsPassed: d.TestsOK, Blockers: append([]string{}, d.Blockers...),
	}
	if !d.Ended.IsZero() {
		out.Ended = &d.Ended
	}
	return out
}
