package repair

import (
	"fmt"
	"math"
	"slices"
	"sort"
)

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
