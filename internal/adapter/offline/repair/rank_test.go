package repair

import (
	"strings"
	"testing"
)

// Of two changes that pass, the one that leaves alone what no test has and what
// was right goes first, though its kind of change is a little less likely: a
// third of the length would break odd lengths of five and more. SPEC 5.2
func TestKeepsWhatWasRight(t *testing.T) {
	t.Parallel()
	d := newDisk(t, map[string]string{
		"f.go": `package m

import "slices"

// Median returns the number in the middle, 0 for no numbers.
func Median(xs []float64) float64 {
	if len(xs) == 0 {
		return 0
	}
	s := slices.Clone(xs)
	slices.Sort(s)
	m := len(s) / 2
	if len(s)%2 == 1 {
		return s[m]
	}
	return (s[m] + s[m+1]) / 2
}
`,
		"f_test.go": `package m

import "testing"

func TestMedian(t *testing.T) {
	for _, c := range []struct {
		in   []float64
		want float64
	}{
		{nil, 0},
		{[]float64{3}, 3},
		{[]float64{3, 1, 2}, 2},
		{[]float64{4, 1, 3, 2}, 2.5},
	} {
		if got := Median(c.in); got != c.want {
			t.Errorf("Median(%v) = %v, want %v", c.in, got, c.want)
		}
	}
}
`,
	})
	r, err := Tests(d, Options{})
	if err != nil || !strings.Contains(r.Edit.New, "s[m-1]") {
		t.Fatalf("%v: %+v", err, r)
	}
}

// That a change leaves alone more than another puts it first, but does not make
// it a fix. SPEC 5.2
func TestKeepingIsNoProof(t *testing.T) {
	t.Parallel()
	classes := []class{
		{members: []*candidate{{score: .5, prior: .5, id: 1}}, changed: .6},
		{members: []*candidate{{score: .5, prior: .5, id: 2}}, changed: 0},
	}
	rank(classes, 100)
	if classes[0].members[0].id != 2 {
		t.Error("what changes more goes first")
	}
	if got, why := judge(classes, 100); got != Uncertain || why == "" {
		t.Errorf("%s %q", got, why)
	}
}

// What changes more of what was right than another must weighs less; what all
// must change weighs on none. SPEC 5.2
func TestRankChanged(t *testing.T) {
	t.Parallel()
	weights := func(a, b float64) (float64, float64) {
		one := class{members: []*candidate{{score: .5, id: 1}}, changed: a}
		two := class{members: []*candidate{{score: .5, id: 2}}, changed: b}
		classes := []class{one, two}
		rank(classes, 100)
		if classes[0].members[0].id == 2 {
			return classes[1].weight, classes[0].weight
		}
		return classes[0].weight, classes[1].weight
	}
	if x, y := weights(0, .2); x <= y || x != .5 {
		t.Errorf("nothing changed weighs %v, a fifth %v", x, y)
	}
	if x, y := weights(.8, .8); x != .5 || y != .5 {
		t.Errorf("alike, yet %v and %v", x, y)
	}
	if x, y := weights(0, 1); y <= 0 || x < y {
		t.Errorf("%v and %v: a doubt, not a verdict", x, y)
	}
}
