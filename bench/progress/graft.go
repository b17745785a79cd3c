package main

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/trajectory"
)

// Grafts: a loop, or an innocent run that looks like one, is appended to the start of a
// real, resolved run, in the vocabulary of several agents. None of them was used to
// choose a threshold.

const (
	loopSteps     = 60  // how long a loop goes on
	innocentSteps = 240 // and an innocent run
)

// grafted is the result of one pattern over all starts and vocabularies.
type grafted struct {
	name            string
	n, halted, warn int
	delays          []int
	missed          map[string]int // by vocabulary
	rules           map[string]int
}

// graft appends a pattern to a start, and returns after how many of its steps the
// detector first warned and halted; -1: never.
//
// Each reply has width calls.
func graft(c progress.Config, start []progress.Step, p pattern, v vocabulary, width, limit int) (warn, halt int, rule string) {
	d := progress.New(c)
	for _, s := range start {
		d.Apply(s)
	}
	if p.asked != "" {
		d.Person(p.asked)
	}
	t := &teller{v: v}
	warn, halt = -1, -1
	n := 0
	var reply []progress.Step
	for i := 0; n < limit; i++ {
		for _, call := range p.round(t, i) {
			n++
			if reply = append(reply, call.Step()); len(reply) < width {
				continue
			}
			x := d.Apply(reply...)
			reply = reply[:0]
			switch x.Level {
			case progress.Halt:
				return warn, n, x.Rule
			case progress.Warn:
				if warn < 0 {
					warn, rule = n, x.Rule
				}
			}
		}
	}
	return warn, halt, rule
}

// starts returns beginnings of resolved runs: from the first step to one before the
// last new content.
func starts(file string, k int) ([][]progress.Step, error) {
	rng := rand.New(rand.NewPCG(7, 11))
	var all [][]progress.Step
	err := Each(file, func(t *trajectory.Trajectory) error {
		if t.Outcome != "resolved" || t.LastNew < 4 {
			return nil
		}
		var steps []progress.Step
		for i := range t.Steps[:3+rng.IntN(t.LastNew-3)] {
			steps = append(steps, t.Steps[i].Step())
		}
		all = append(all, steps)
		return nil
	})
	rng.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(k, len(all))], err
}

// grafts appends every pattern to every start in every vocabulary.
func grafts(c progress.Config, starts [][]progress.Step, ps []pattern, width, limit int, vs ...vocabulary) []grafted {
	if len(vs) == 0 {
		vs = vocabularies()
	}
	var out []grafted
	for _, p := range ps {
		g := grafted{name: p.name, missed: map[string]int{}, rules: map[string]int{}}
		limit := limit
		if p.slow {
			limit *= 2
		}
		if p.long {
			limit = 1000
		}
		if p.asked == "" {
			limit = max(limit, min(limit, 40)*width)
		}
		for _, v := range vs {
			for _, s := range starts {
				warn, halt, rule := graft(c, s, p, v, width, limit)
				g.n++
				if warn >= 0 {
					g.warn++
				}
				if halt < 0 {
					g.missed[v.name]++
					continue
				}
				g.halted++
				g.delays = append(g.delays, halt)
				g.rules[rule]++
			}
		}
		out = append(out, g)
	}
	return out
}

func printGrafts(out io.Writer, loops, innocents []grafted) {
	fmt.Fprintf(out, "\n%-46s %12s %12s  %s\n", "grafted loop", "halted", "delay", "by; not in")
	n, halted := 0, 0
	var delays []int
	for _, g := range loops {
		fmt.Fprintf(out, "%-46s %6d/%d %11s  %v", g.name, g.halted, g.n, quantiles(g.delays), g.rules)
		if len(g.missed) > 0 {
			fmt.Fprintf(out, "; not %v", g.missed)
		}
		fmt.Fprintln(out)
		n, halted, delays = n+g.n, halted+g.halted, slices.Concat(delays, g.delays)
	}
	fmt.Fprintf(out, "%-46s %s, delay %s\n", "all loops", pct(halted, n), quantiles(delays))
	fmt.Fprintf(out, "\n%-46s %12s %12s\n", "grafted innocent run", "halted", "warned")
	n, halted = 0, 0
	for _, g := range innocents {
		fmt.Fprintf(out, "%-46s %6d/%d %6d/%d", g.name, g.halted, g.n, g.warn, g.n)
		if g.halted > 0 {
			fmt.Fprintf(out, "  %v after %s", g.rules, quantiles(g.delays))
		}
		fmt.Fprintln(out)
		n, halted = n+g.n, halted+g.halted
	}
	fmt.Fprintf(out, "%-46s %s\n", "all innocent runs", pct(halted, n))
}
