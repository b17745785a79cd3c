package progress

import "fmt"

// failedEdit counts how often an edit of one file failed with the same error
// since content last changed, whatever was read in between and however the edit
// was written. It warns, and halts much later: a model that keeps guessing at a
// text that is not there reads new lines each time, so it looks busy. An edit that
// failed and was shown the lines it lacked is no guess.
type failedEdit struct{ seen memo[tail] }

func (r *failedEdit) reset(scope) { r.seen.clear() }

func (r *failedEdit) apply(d *Detector, f *facts) finding {
	s := f.s
	if s.Kind != Edit || s.OK || s.Target == "" || s.Error == "" || s.Blocked || s.Shown {
		return finding{}
	}
	k := f.fault ^ hash(s.Tool, s.Target)
	t, _ := r.seen.get(k)
	t.add(f.n)
	r.seen.put(k, t)
	level := OK
	switch {
	case t.n >= d.c.FailedEditsHalt:
		level = Halt
	case t.n >= d.c.FailedEditsWarn:
		level = Warn
	default:
		return finding{}
	}
	return finding{
		level: level, print: k, steps: t.list(),
		text: fmt.Sprintf("the same edit error %d times%s, and no new content in between", t.n, about(s.Target)),
	}
}
