package progress

import "fmt"

// sterileLimit limits the number of calls that are examined.
const sterileLimit = 64

// sterile halts on a sequence of calls with few different results and without
// new content. It detects loops whose calls vary. Waits, thoughts, calls that
// succeed without output, and searches that find nothing for the first time are
// ignored.
type sterile struct {
	at   [sterileLimit]sterileStep // by number
	n    int
	last memo[int] // a result's newest number
}

type sterileStep struct {
	step int
	more bool // the same result came again later
}

func (r *sterile) reset(scope) { *r = sterile{} }

func (r *sterile) apply(d *Detector, f *facts) finding {
	s := f.s
	if f.unknownResult || f.recovered || f.news && s.Subject != "" {
		*r = sterile{}
	}
	switch {
	case f.fresh, f.neutral, f.renumbered, f.wait, f.unknownResult, s.Kind == Think, s.Kind == None && !f.keySeen,
		s.OK && s.Len <= 1 && !f.keySeen, f.silent && !f.unknownEdit:
		return finding{}
	}
	what := f.result
	if !s.OK {
		what = f.fault
	}
	if f.empty || f.unknownEdit {
		what = f.action // "nothing found" here is a separate result
	}
	known := false
	if i, ok := r.last.get(what); ok && r.n-i < sterileLimit {
		r.at[i%sterileLimit].more = true
		known = true
	}
	r.last.put(what, r.n)
	r.at[r.n%sterileLimit] = sterileStep{step: f.n}
	r.n++
	if !known {
		return finding{}
	}
	own, k := 0, 0
	for k < min(r.n, sterileLimit) {
		k++
		if !r.at[(r.n-k)%sterileLimit].more {
			own++
		}
		if k >= d.c.SterileThird && 3*own <= k || k >= d.c.SterileHalf && 2*own <= k {
			return r.finding(f, own, k)
		}
	}
	return finding{}
}

func (r *sterile) finding(f *facts, own, k int) finding {
	var steps []int
	for i := k; i > 0; i-- {
		steps = append(steps, r.at[(r.n-i)%sterileLimit].step)
	}
	return finding{
		level: Halt, print: uint64(f.epoch), steps: steps,
		text: fmt.Sprintf("%d calls with %d different results between them, and no new content", k, own),
	}
}
