package main

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/progress"
)

// beginnings are starts that are there without the recorded runs: none, and some
// ordinary work.
func beginnings() [][]progress.Step {
	var work []progress.Step
	for i := range 20 {
		path := fmt.Sprint("w", i)
		work = append(work,
			progress.Step{Tool: "read", Kind: progress.Read, Target: path, Args: path, OK: true, Exact: path, Len: 90},
			progress.Step{Tool: "edit", Kind: progress.Edit, Target: path, Args: path, Edit: path, OK: true, Exact: "ok", Len: 20, State: path},
		)
	}
	return [][]progress.Step{nil, work}
}

// SPEC 6.1, 6.3, 6.4: in the words of each kind of agent every loop is halted,
// and no innocent run is.
func TestGrafts(t *testing.T) {
	t.Parallel()
	bad := append(loops(), random(6, 1, randomLoop)...)
	good := append(innocents(), random(6, 1, randomWork)...)
	stuck := together(grafts(progress.Default(), beginnings(), bad, 1, loopSteps))
	fine := together(grafts(progress.Default(), beginnings()[1:], good, 1, innocentSteps))
	for _, g := range stuck {
		if g.halted != g.n {
			t.Errorf("%s: %d of %d halted, not in %v", g.name, g.halted, g.n, g.missed)
		}
	}
	for _, g := range fine {
		if g.halted > 0 {
			t.Errorf("%s: %d of %d halted, by %v after %s", g.name, g.halted, g.n, g.rules, quantiles(g.delays))
		}
	}
	var b bytes.Buffer
	printGrafts(&b, stuck, fine)
	for _, want := range []string{"the same failing edit", "all loops", "(100.0%)", "all innocent runs", "(0.0%)"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is not in\n%s", want, b.String())
		}
	}
	// Whatever the number of calls in a reply: of the monotonous runs none is halted
	// and hardly one is warned, and what is stuck does not hide in noise.
	own := vocabularies()[0]
	for _, width := range []int{1, 3, 10} {
		n, halted, warned := 0, 0, 0
		for _, g := range grafts(progress.Default(), beginnings()[1:], monotonous(), width, innocentSteps, own) {
			if n, warned = n+g.n, warned+g.warn; g.halted > 0 {
				t.Errorf("%d calls a reply: %s: %d of %d halted, by %v after %s", width, g.name, g.halted, g.n, g.rules, quantiles(g.delays))
			}
		}
		if warned*50 > n {
			t.Errorf("%d calls a reply: %d of %d monotonous runs are warned", width, warned, n)
		}
		n = 0
		for _, g := range grafts(progress.Default(), beginnings()[:1], noisy(), width, loopSteps, own) {
			n, halted = n+g.n, halted+g.halted
		}
		if halted*100 < 95*n {
			t.Errorf("%d calls a reply: %d of %d stuck runs are halted", width, halted, n)
		}
	}
	// Without rules nothing is halted: it is they that were measured.
	off := progress.Default()
	off.Enable = false
	for _, g := range grafts(off, beginnings()[:1], loops()[:3], 1, loopSteps) {
		if g.halted > 0 || len(g.missed) != len(vocabularies()) {
			t.Errorf("%+v", g)
		}
	}
}
