package progress

import "fmt"

// reapplied warns on an edit that is made again and restores an earlier content.
type reapplied struct{ seen memo[int] }

func (r *reapplied) reset(scope) { *r = reapplied{} }

func (r *reapplied) apply(d *Detector, f *facts) finding {
	s := f.s
	if !s.OK || s.Edit == "" || s.State == "" {
		return finding{}
	}
	k := hash(s.Target, s.Edit, s.State)
	n, _ := r.seen.get(k)
	n++
	r.seen.put(k, n)
	if n < d.c.StuckThreshold {
		return finding{}
	}
	return finding{
		level: Warn, print: hash(s.Target, s.Edit), steps: d.stepsWithKey(f.key, f.n),
		text: fmt.Sprintf("the same edit made %d times%s, with nothing new in between", n, about(s.Target)),
	}
}
