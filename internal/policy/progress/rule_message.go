package progress

import "fmt"

// message warns when the model writes the same text in reply after reply and
// makes no progress.
type message struct{ run streak }

func (r *message) reset(scope) { *r = message{} }

func (r *message) apply(d *Detector, f *facts) finding {
	if f.s.Message == "" || f.wait {
		return finding{}
	}
	n := r.run.add(hash(f.s.Message), f.n)
	if n < d.c.StuckThreshold || f.fresh || f.news {
		return finding{}
	}
	return finding{
		level: Warn, print: r.run.what, steps: r.run.tail.list(),
		text: fmt.Sprintf("the same message %d times in a row", n),
	}
}
