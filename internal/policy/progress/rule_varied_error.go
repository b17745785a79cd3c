package progress

import "fmt"

// variedError warns when one tool keeps failing with one error although its
// arguments change.
type variedError struct {
	run  streak
	args memo[struct{}] // those of the streak
}

func (r *variedError) reset(scope) { *r = variedError{} }

func (r *variedError) apply(d *Detector, f *facts) finding {
	if f.textOrThought && f.s.OK || f.wait || f.neutral {
		return finding{}
	}
	if f.s.OK || f.news {
		*r = variedError{}
		return finding{}
	}
	n := r.run.add(f.fault^hash(f.s.Tool), f.n)
	if n == 1 {
		r.args.clear()
	}
	r.args.put(f.action, struct{}{})
	if n < d.c.StuckThreshold || len(r.args.now) < 2 {
		return finding{}
	}
	return finding{
		level: Warn, print: r.run.what, steps: r.run.tail.list(),
		text: fmt.Sprintf("%s failed %d times in a row with the same error, whatever it was given", f.s.Tool, n),
	}
}
