package progress

import "fmt"

// waiting halts a wait without any change: very many reads in a row, all with
// results that were seen before. A good run waits while a job runs, so the
// limit is far beyond every other rule; at three quarters of it, the model is
// told to wait longer each time.
type waiting struct{ tail tail }

func (r *waiting) reset(scope) { *r = waiting{} }

func (r *waiting) apply(d *Detector, f *facts) finding {
	switch {
	case f.news || f.requested || f.unknownResult || f.s.Patient:
		r.tail = tail{}
		return finding{}
	case !f.wait, f.s.Kind != Wait && d.waited > 0: // a look belongs to its wait
		return finding{}
	}
	r.tail.add(f.n)
	level := Halt
	switch {
	case r.tail.n < d.c.HaltWaits*3/4:
		return finding{}
	case r.tail.n < d.c.HaltWaits:
		level = Warn
	}
	return finding{
		level: level, print: f.action, steps: r.tail.list(),
		text: fmt.Sprintf("%d checks of something that does not change", r.tail.n),
	}
}
