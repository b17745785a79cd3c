package repair

import (
	"errors"
	"strings"
)

// class is a set of candidates that behave alike on every input tried.
type class struct {
	members []*candidate // best first
	panics  int          // inputs on which they panic
	stops   int          // inputs on which they do not end
	changed float64      // share of the results around what was right that they change
	bare    float64      // weight without what they leave alone
	weight  float64
}

// maxDiffer bounds how many candidates are compared, maxHooks whose calls are explored.
const (
	maxDiffer = 40
	maxHooks  = 60
)

// compare runs plausible candidates, and the code as it was, on inputs that no
// test has. inputs is how many there were; with none, every candidate is a
// class of its own.
func (w *work) compare(s *spectrum, plausible []*candidate) (classes []class, inputs int, diffs []Difference, err error) {
	cs := plausible[:min(len(plausible), maxDiffer)]
	c := probeConfig{Mode: "diff", Tests: s.tests, Seconds: 3 * w.opt.Timeout}
	byID := map[int]*candidate{}
	for _, x := range cs {
		c.Variants = append(c.Variants, x.id)
		byID[x.id] = x
	}
	c.Variants = append(c.Variants, 0)
	out, err := w.probe(s.pkg, w.m.variants(cs, s.hooks(cs)), c, func(p *probed) {
		if x := p.Class; x != nil {
			k := class{panics: x.Panics, stops: x.Stops, changed: float64(x.Changed) / float64(max(1, p.Right))}
			for _, id := range x.Members {
				if x := byID[id]; x != nil {
					k.members = append(k.members, x)
				}
			}
			if len(k.members) > 0 {
				classes = append(classes, k)
			}
		}
		if x := p.Row; x != nil {
			d := Difference{Func: x.Func, Input: x.Input, Outputs: map[string]string{}}
			for _, y := range cs {
				if o, ok := x.Out[y.id]; ok {
					d.Outputs[strings.TrimSpace(y.change().edit.New)] = o
				}
			}
			if len(d.Outputs) > 1 {
				diffs = append(diffs, d)
			}
		}
	})
	if errors.Is(err, errBuild) || err == nil && out.Inputs == 0 {
		return alone(cs), 0, nil, nil // no comparison is possible: no evidence
	}
	if err != nil {
		return nil, 0, nil, err
	}
	return classes, out.Inputs, diffs, nil
}

func alone(cs []*candidate) []class {
	var out []class
	for _, c := range cs {
		out = append(out, class{members: []*candidate{c}})
	}
	return out
}

// hooks returns the functions whose calls are explored: those that a failing test
// runs and from which a changed one can be reached.
func (s *spectrum) hooks(cs []*candidate) []*function {
	want := map[string]bool{}
	for _, c := range cs {
		want[c.fn.decl.Name.Name] = true
	}
	reach := func(fn *function) bool {
		for name := range names(fn.decl) {
			if want[name] {
				return true
			}
		}
		return false
	}
	for before := 0; before < len(want); {
		before = len(want)
		for _, fn := range s.fns {
			if reach(fn) {
				want[fn.decl.Name.Name] = true
			}
		}
	}
	var out []*function
	for _, fn := range s.fns {
		if want[fn.decl.Name.Name] && !clash(fn) && len(out) < maxHooks {
			out = append(out, fn)
		}
	}
	return out
}
