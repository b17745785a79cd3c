package progress

import "fmt"

// sameError warns on the same error about the same target, in a row.
type sameError struct{ run streak }

func (r *sameError) reset(scope) { *r = sameError{} }

func (r *sameError) apply(d *Detector, f *facts) finding {
	if f.textOrThought && f.s.OK || f.wait || f.neutral {
		return finding{}
	}
	if f.s.OK || f.news {
		r.run = streak{}
		return finding{}
	}
	n := r.run.add(f.fault^hash(f.s.Target), f.n)
	if n < d.c.StuckThreshold {
		return finding{}
	}
	return finding{
		level: Warn, print: r.run.what, steps: r.run.tail.list(),
		text: fmt.Sprintf("the same error %d times in a row%s", n, about(f.s.Target)),
	}
}

func about(target string) string {
	if target == "" {
		return ""
	}
	return " on " + target
}
