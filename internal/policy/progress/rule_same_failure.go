package progress

import "fmt"

// sameFailure warns when a test or a build fails in the same way after several
// changes of content. It never halts: some such runs find the way out.
type sameFailure struct{ seen memo[failureState] }

type failureState struct {
	fault  uint64
	change int
	edits  int // after how many changes it failed the same way
	files  int // how many files were changed when it last failed
	steps  tail
}

func (r *sameFailure) reset(scope) { *r = sameFailure{} }

func (r *sameFailure) apply(d *Detector, f *facts) finding {
	if f.s.Kind != Test {
		return finding{}
	}
	v, ok := r.seen.get(f.action)
	switch {
	case f.s.OK:
		if ok {
			r.seen.put(f.action, failureState{})
		}
		return finding{}
	case !ok || v.fault != f.fault || f.moved:
		v = failureState{fault: f.fault, change: f.change, files: len(d.stats.Files)}
		v.steps.add(f.n)
		r.seen.put(f.action, v)
		return finding{}
	case v.change == f.change:
		return finding{}
	}
	v.change = f.change
	if files := len(d.stats.Files); files > v.files && v.edits > 0 {
		v.files = files // files that were not changed before: a change of many files goes on
		r.seen.put(f.action, v)
		return finding{}
	}
	v.edits++
	v.files = len(d.stats.Files)
	v.steps.add(f.n)
	r.seen.put(f.action, v)
	if v.edits < d.c.FailureEdits {
		return finding{}
	}
	return finding{
		level: Warn, soft: true, print: f.key, steps: v.steps.list(),
		text: fmt.Sprintf("the same failure after %d changes", v.edits),
	}
}
