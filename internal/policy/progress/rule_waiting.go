package progress

import "fmt"

// waiting halts a wait that nothing comes of: very many looks, one after the
// other, all with a result that was seen. Waiting is what a good run does while
// a job runs, so this is far beyond every other rule; before it, staleness
// warns, and the model is told to wait longer at a time.
type waiting struct{ tail tail }

func (*waiting) name() string { return "waiting" }

func (r *waiting) reset(s scope) {
	if s == byPerson || s == byContent {
		r.tail = tail{}
	}
}

func (r *waiting) apply(d *Detector, f *facts) finding {
	switch {
	case f.news || f.wanted || f.unseen || f.s.Patient:
		r.tail = tail{}
		return finding{}
	case f.s.Kind != Wait:
		return finding{}
	}
	r.tail.add(f.n)
	if r.tail.n < d.c.HaltWaits {
		return finding{}
	}
	return finding{
		level: Halt, print: f.action, steps: r.tail.list(),
		text: fmt.Sprintf("%d looks at something that does not change", r.tail.n),
	}
}
