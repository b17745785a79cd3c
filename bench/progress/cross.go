package main

import (
	"fmt"
	"hash/fnv"
	"io"
	"slices"

	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// cross shows what tuning to a part of the data yields on the rest. On one part it
// chooses the lowest stale_halt that harms no run, and scores the other part with it
// and with the default. The parts are one agent against the others, and the halves of
// the task names.
func cross(out io.Writer, file string, c progress.Config) error {
	var all []*trajectory.Trajectory
	if err := Each(file, func(t *trajectory.Trajectory) error { all = append(all, t); return nil }); err != nil {
		return err
	}
	half := func(t *trajectory.Trajectory) string {
		h := fnv.New32a()
		h.Write([]byte(t.ID))
		return fmt.Sprint("half ", h.Sum32()%2)
	}
	agent := func(t *trajectory.Trajectory) string { return t.Agent }
	fmt.Fprintf(out, "%-18s %26s   %s\n", "kept aside", "tuned on the others", "on what was kept aside")
	for _, part := range []func(*trajectory.Trajectory) string{agent, half} {
		var names []string
		for _, t := range all {
			if !slices.Contains(names, part(t)) {
				names = append(names, part(t))
			}
		}
		slices.Sort(names)
		for _, name := range names {
			score := func(c progress.Config, aside bool) *Score {
				s := &Score{Rules: map[string]int{}}
				for _, t := range all {
					if (part(t) == name) == aside {
						s.Add(t, trajectory.Judge(c, t))
					}
				}
				return s
			}
			tuned := c
			for tuned.StaleHalt = 12; tuned.StaleHalt < c.StaleHalt; tuned.StaleHalt++ {
				if s := score(tuned, false); s.Harmful == 0 {
					break
				}
			}
			t, d := score(tuned, true), score(c, true)
			fmt.Fprintf(out, "%-18s %23s %2d   tuned: %s   default: %s\n", name, "stale_halt", tuned.StaleHalt, t.short(), d.short())
		}
	}
	return nil
}

func (s *Score) short() string {
	return fmt.Sprintf("harmful %d of %d, caught %d of %d, burnt %s", s.Harmful, s.Resolved, s.Caught, s.Stuck, pct(s.Burnt, s.After))
}
