package progress

import "fmt"

// identical halts on the same call with the same result, many times in a row.
// Waiting is exempt; texts and thoughts in between are ignored. Thoughts are
// counted separately: the same thought as a call, with nothing else in between,
// is a loop as well.
type identical struct {
	run, thoughts streak
	fails         bool // the run is of failures
}

func (r *identical) reset(s scope) {
	if s != byPhase || r.fails {
		*r = identical{}
	}
}

func (r *identical) apply(d *Detector, f *facts) finding {
	if f.textOnly || f.neutral {
		return finding{}
	}
	run := &r.run
	if f.s.Kind == Think {
		run = &r.thoughts
	} else {
		r.thoughts = streak{}
	}
	if f.wait || f.unknownResult {
		*run = streak{}
		return finding{}
	}
	r.fails = !f.s.OK
	n := run.add(f.key, f.n)
	if n < d.c.HaltIdentical {
		return finding{}
	}
	return finding{
		level: Halt, print: f.action, steps: run.tail.list(),
		text: fmt.Sprintf("the same %s with the same result %d times in a row", d.call(f), n),
	}
}
