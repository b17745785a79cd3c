package progress

import "fmt"

// repeated warns on a call that is repeated with the same result, with other
// calls in between, while nothing new is found. It halts on a call that keeps
// failing in the same way although nothing changed that it could depend on,
// whatever else was found in between: news elsewhere does not make it work.
type repeated struct {
	seen   memo[int]
	failed memo[failing]
	acts   int // how many new commands succeeded
}

// failing is how often a call failed in the same way, and the value of acts then.
type failing struct {
	tail tail
	acts int
}

func (r *repeated) reset(scope) { *r = repeated{} }

func (r *repeated) apply(d *Detector, f *facts) finding {
	if f.textOnly || f.wait || f.neutral {
		return finding{}
	}
	if f.news {
		r.seen.clear()
		if f.s.Subject == "" {
			r.failed.clear() // an outcome, such as another error of the compiler
		}
	}
	if f.s.OK && !f.keySeen && f.s.Kind == Exec {
		r.acts++ // it may have changed what the failing call needs
	}
	if !f.s.OK && !f.news && f.s.Subject != "" && f.s.Kind != Edit && f.s.Kind != None {
		k := f.question(d) ^ f.fault
		t, ok := r.failed.get(k)
		if ok && t.acts != r.acts {
			t.tail = tail{n: t.tail.n / 2}
		}
		t.acts = r.acts
		t.tail.add(f.n)
		r.failed.put(k, t)
		if t.tail.n >= d.c.HaltFailing {
			return finding{
				level: Halt, print: k, steps: t.tail.list(),
				text: fmt.Sprintf("the same %s failed %d times in the same way, and nothing that matters to it changed", d.call(f), t.tail.n),
			}
		}
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
