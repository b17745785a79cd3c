package main

import (
	"fmt"
	"io"
	"slices"

	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// Score counts as score.py does.
type Score struct {
	Resolved, ResolvedHalted, Harmful, ResolvedWarned int
	Finished, FinishedHalted                          int
	Stuck, Caught, Early, StuckWarned                 int
	Delays, WarnDelays                                []int
	Burnt, After                                      int
	HarmedIDs                                         []string
	Rules                                             map[string]int // of the halts
	MissedIDs                                         []string
}

// Add adds one trajectory with its verdict.
func (s *Score) Add(t *trajectory.Trajectory, r progress.Raw) {
	end := t.N - 1
	switch {
	case t.Outcome == "resolved":
		s.Resolved++
		if r.Warn != nil {
			s.ResolvedWarned++
		}
		if r.Halt != nil && *r.Halt < end {
			s.ResolvedHalted++
			if *r.Halt < t.LastNew {
				s.Harmful++
				s.HarmedIDs = append(s.HarmedIDs, t.ID)
			}
		}
	case t.StuckOnset != nil:
		s.stuck(t, r, *t.StuckOnset)
	case t.Outcome == "unknown" && t.Ended == "self":
		s.Finished++
		if r.Halt != nil && *r.Halt < end {
			s.FinishedHalted++
		}
	}
}

func (s *Score) stuck(t *trajectory.Trajectory, r progress.Raw, onset int) {
	s.Stuck++
	s.After += t.N - onset
	if r.Warn != nil {
		s.StuckWarned++
		if *r.Warn >= onset {
			s.WarnDelays = append(s.WarnDelays, *r.Warn-onset)
		}
	}
	switch {
	case r.Halt == nil:
		s.Burnt += t.N - onset
		s.MissedIDs = append(s.MissedIDs, t.ID)
	case *r.Halt < onset:
		s.Early++
		s.MissedIDs = append(s.MissedIDs, t.ID)
	default:
		s.Caught++
		s.Delays = append(s.Delays, *r.Halt-onset)
		s.Burnt += *r.Halt - onset + 1
		s.Rules[r.First.Rule]++
	}
}

// Print writes the table.
func (s *Score) Print(w io.Writer) {
	fmt.Fprintln(w, "resolved halted      ", pct(s.ResolvedHalted, s.Resolved))
	fmt.Fprintln(w, "  harmful            ", pct(s.Harmful, s.Resolved), s.HarmedIDs)
	fmt.Fprintln(w, "  warned             ", pct(s.ResolvedWarned, s.Resolved))
	fmt.Fprintln(w, "finished halted      ", pct(s.FinishedHalted, s.Finished))
	fmt.Fprintln(w, "stuck caught         ", pct(s.Caught, s.Stuck), "early", s.Early, s.MissedIDs)
	fmt.Fprintln(w, "  delay median/p90   ", quantiles(s.Delays), "steps")
	fmt.Fprintln(w, "  warned             ", pct(s.StuckWarned, s.Stuck), "median/p90", quantiles(s.WarnDelays))
	fmt.Fprintln(w, "  steps burnt        ", pct(s.Burnt, s.After))
	fmt.Fprintln(w, "  halted by          ", s.Rules)
}

func pct(a, b int) string {
	if b == 0 {
		return fmt.Sprintf("%d/%d", a, b)
	}
	return fmt.Sprintf("%d/%d (%.1f%%)", a, b, 100*float64(a)/float64(b))
}

func quantiles(xs []int) string {
	if len(xs) == 0 {
		return "-"
	}
	slices.Sort(xs)
	return fmt.Sprintf("%d/%d", xs[len(xs)/2], xs[int(float64(len(xs))*.9)])
}
