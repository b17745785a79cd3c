package repair

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"sort"
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
	c := probeConfig{Mode: "diff", Tests: s.tests, Seconds: 3 * timeout}
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
					d.Outputs[strings.TrimSpace(y.change().New)] = o
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
	var out []*function
	for before := -1; before < len(out); {
		before, out = len(out), nil
		for _, fn := range s.fns {
			for name := range names(fn.decl) {
				if want[name] {
					want[fn.decl.Name.Name], out = true, append(out, fn)
					break
				}
			}
		}
	}
	out = slices.DeleteFunc(out, clash)
	return out[:min(len(out), maxHooks)]
}

// certain is how much the best class must outweigh the next to be called a
// fix.
const certain = 1.7

// rare is the prior below which a change is not called a fix, even when no
// other one passes.
const rare = .13

// keeping weighs a class by the share of results that it changes around the
// calls that were right, against the least share of any class. Who leaves alone
// what was right is likelier right (PATCH-SIM, Xiong and others, 2018). Where
// even the gentlest class changes a third of them, those calls were right by
// luck, and this proves nothing.
//
// It puts classes in order and can raise a doubt. It makes nothing certain: an
// edit that does too little also leaves much alone.
func keeping(changed, least float64) float64 {
	return max(.5, 1-4*(changed-least)*max(0, 1-3*least))
}

// rank orders classes by the evidence: how likely their best change is, how
// many ways lead to the same behaviour, whether they fail where others do not,
// whether they change more of what was right than others must.
func rank(classes []class, inputs int) {
	panics, stops, changed := math.MaxInt, math.MaxInt, 1.
	for _, k := range classes {
		panics, stops, changed = min(panics, k.panics), min(stops, k.stops), min(changed, k.changed)
	}
	for i := range classes {
		k := &classes[i]
		sort.SliceStable(k.members, func(a, b int) bool { return better(k.members[a], k.members[b]) })
		k.weight = .9 * k.members[0].score
		for _, c := range k.members {
			k.weight += .1 * c.score
		}
		if inputs > 0 {
			excess := float64(k.panics-panics) / float64(inputs)
			k.weight *= max(.4, 1-2*excess)
			if k.stops > stops {
				k.weight *= .3 // hardly anybody means a loop without end
			}
		}
		k.bare = k.weight
		k.weight *= keeping(k.changed, changed)
	}
	sort.SliceStable(classes, func(a, b int) bool { return classes[a].weight > classes[b].weight })
}

// better orders candidates: likelier, then smaller, then as generated.
func better(a, b *candidate) bool {
	if a.score != b.score {
		return a.score > b.score
	}
	if x, y := a.grows(), b.grows(); x != y {
		return x < y
	}
	return a.id < b.id
}

// grows is by how much text a change makes the function longer.
func (c *candidate) grows() int { return len(c.text) - (c.to - c.from) }

// judge reports whether the first class stands out, and if not, why.
func judge(classes []class, inputs int) (Outcome, string) {
	best := classes[0]
	beside := slices.ContainsFunc(classes[1:], func(k class) bool { return best.weight < certain*k.weight || best.bare < certain*k.bare })
	switch {
	case best.members[0].prior < rare:
		return Uncertain, "what passes every test is a kind of change that is seldom right; look at it before you keep it"
	case !beside:
		return Fixed, ""
	case inputs == 0:
		return Uncertain, fmt.Sprintf("%d changes pass every test and nothing tells them apart", len(classes))
	}
	return Uncertain, fmt.Sprintf("changes of %d different behaviours pass every test; a test for one of the inputs shown would decide", len(classes))
}
