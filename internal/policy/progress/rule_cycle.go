package progress

import "fmt"

// cycleLimit is the largest CycleMax.
const cycleLimit = 16

// cycle halts on a sequence of calls and results that repeats as a whole,
// without new content. Waiting and texts are ignored.
type cycle struct {
	keys  [cycleLimit]uint64 // the newest, by number
	steps tail
	n     int
	same  [cycleLimit + 1]int // how many keys in a row equal the one p before
}

func (r *cycle) reset(scope) { *r = cycle{} }

func (r *cycle) apply(d *Detector, f *facts) finding {
	if f.unknownResult {
		*r = cycle{}
	}
	if f.textOrThought || f.wait || f.fresh || f.neutral || f.unknownResult {
		return finding{}
	}
	period := 0
	for p := 2; p <= min(d.c.CycleMax, cycleLimit); p++ {
		if r.n < p || r.keys[(r.n-p)%cycleLimit] != f.key {
			r.same[p] = 0
			continue
		}
		r.same[p]++
		if period == 0 && r.same[p] >= p*(d.c.CycleRounds-1) {
			period = p
		}
	}
	r.keys[r.n%cycleLimit] = f.key
	r.steps.add(f.n)
	r.n++
	if period == 0 {
		return finding{}
	}
	steps := r.steps.list()
	// The fingerprint of a cycle does not depend on its first step.
	print := uint64(0)
	for i := r.n - period; i < r.n; i++ {
		print += r.keys[i%cycleLimit]
	}
	return finding{
		level: Halt, print: print, steps: steps[max(0, len(steps)-2*period):],
		text: fmt.Sprintf("the same %d calls with the same results for %d rounds, and no new content in them", period, d.c.CycleRounds),
	}
}
