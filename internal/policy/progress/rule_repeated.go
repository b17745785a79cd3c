package progress

import "fmt"

// repeated warns on a call that is repeated with the same result, with other
// calls in between, while nothing new is found.
type repeated struct{ seen memo[int] }

func (*repeated) name() string { return "repeated" }

func (r *repeated) reset(s scope) {
	if s == byPerson || s == byContent {
		r.seen.clear()
	}
}

func (r *repeated) apply(d *Detector, f *facts) finding {
	if f.textOnly || f.wait {
		return finding{}
	}
	if f.news {
		r.seen.clear()
	}
	n, _ := r.seen.get(f.key)
	n++
	r.seen.put(f.key, n)
	if n < d.c.StuckThreshold {
		return finding{}
	}
	return finding{
		level: Warn, print: f.action, steps: d.stepsWithKey(f.key, f.n),
		text: fmt.Sprintf("the same %s with the same result %d times since anything was new", d.call(f), n),
	}
}
