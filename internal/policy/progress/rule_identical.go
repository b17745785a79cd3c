package progress

import "fmt"

// identical halts on the same call with the same result, many times in a row.
// Waiting is exempt; words in between change nothing.
type identical struct{ run streak }

func (*identical) name() string { return "identical" }

func (r *identical) reset(s scope) {
	if s == byPerson || s == byContent {
		r.run = streak{}
	}
}

func (r *identical) apply(d *Detector, f *facts) finding {
	if f.light {
		return finding{}
	}
	if f.wait || f.unseen {
		r.run = streak{}
		return finding{}
	}
	n := r.run.add(f.key, f.n)
	if n < d.c.HaltIdentical {
		return finding{}
	}
	return finding{
		level: Halt, print: f.action, steps: r.run.tail.list(),
		text: fmt.Sprintf("the same %s with the same result %d times in a row", d.call(f), n),
	}
}
