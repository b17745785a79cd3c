package repair

import (
	"errors"
	"maps"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// sub is a program with one bug, in a module below the workspace's root.
func sub() map[string]string {
	return map[string]string{
		"mod/go.mod": "module example.com/m\n\ngo 1.26\n",
		"mod/math/clamp.go": `package math

// Clamp keeps x between lo and hi.
func Clamp(x, lo, hi int) int {
	if x < lo {
		return lo
	}
	if x < hi {
		return hi
	}
	return x
}
`,
		"mod/use/use_test.go": `package use

import (
	"testing"

	"example.com/m/math"
)

func TestLow(t *testing.T) {
	if got := math.Clamp(-5, 0, 10); got != 0 {
		t.Error(got)
	}
}

func TestMiddle(t *testing.T) {
	if got := math.Clamp(5, 0, 10); got != 5 {
		t.Error(got)
	}
}

func TestHigh(t *testing.T) {
	if got := math.Clamp(50, 0, 10); got != 10 {
		t.Error(got)
	}
}
`,
	}
}

// The fault lies in another package than the tests; only the fix is in the
// tree at the end. SPEC 5.2
func TestFixed(t *testing.T) {
	t.Parallel()
	d := newDisk(t, sub())
	before := d.tree(t)
	r := must.Get(Tests(d, Options{Dir: "mod"}))(t)
	if r.Outcome != Fixed || r.Edit.Func != "Clamp" || r.Edit.Path != "mod/math/clamp.go" || r.Edit.Line != 8 {
		t.Fatalf("%+v", r)
	}
	if r.Exit != 0 || r.Runs != d.runs || r.Tried == 0 || len(r.Tests) != 2 {
		t.Errorf("%+v", r)
	}
	after := d.tree(t)
	if !strings.Contains(after["mod/math/clamp.go"], "if x > hi {") {
		t.Errorf("%s", after["mod/math/clamp.go"])
	}
	after["mod/math/clamp.go"] = before["mod/math/clamp.go"]
	if !maps.Equal(before, after) {
		t.Error("something else changed")
	}
	if out, exit, err := d.Run("go test -C mod ./..."); err != nil || exit != 0 {
		t.Error(out, err)
	}
}

// Whichever tool fails, or panics, the tree is as before and the error tells it.
// SPEC 5.2, 11.1
func TestToolFails(t *testing.T) {
	t.Parallel()
	whole := newDisk(t, sub())
	must.Get(Tests(whole, Options{Dir: "mod"}))(t)
	edit := whole.runs // the change is made before the last command runs
	for _, after := range []int{1, edit, edit + 1} {
		d := newDisk(t, sub())
		before := d.tree(t)
		d.after = after
		r, err := Tests(d, Options{Dir: "mod"})
		if d.after > 0 || !errors.Is(err, ErrHands) || !errors.Is(err, errDisk) {
			t.Errorf("after %d: %v, %+v", after, err, r.Outcome)
		}
		if !maps.Equal(before, d.tree(t)) {
			t.Errorf("after %d: something is left in the tree", after)
		}
	}
	d := newDisk(t, sub())
	before := d.tree(t)
	d.after, d.panics = edit+1, true
	func() {
		defer func() {
			if recover() == nil {
				t.Error("it did not panic")
			}
		}()
		_, _ = Tests(d, Options{Dir: "mod"})
	}()
	if !maps.Equal(before, d.tree(t)) {
		t.Error("a panic left something in the tree")
	}
}

// What cannot be repaired is left as it was, and the report has the reason. SPEC 5.2
func TestOutcomes(t *testing.T) {
	t.Parallel()
	const head = "package m\n\nimport \"testing\"\n\n"
	tests := []struct {
		name string
		code string
		test string
		opt  Options
		want Outcome
	}{
		{"passes", "package m\n\nfunc F() int { return 1 }\n", "func TestF(t *testing.T) {\n\tif F() != 1 {\n\t\tt.Fatal()\n\t}\n}\n", Options{}, NothingFailing},
		{"does not build", "package m\n\nfunc F() int { return x }\n", "func TestF(t *testing.T) { F() }\n", Options{}, BuildFails},
		{"no small change", "package m\n\nfunc F(a int) string { return \"\" }\n", "func TestF(t *testing.T) {\n\tif F(1) != \"one\" || F(2) != \"two\" {\n\t\tt.Fatal()\n\t}\n}\n", Options{}, NotFixed},
		{"no commands left", "package m\n\nfunc F() int { return 1 }\n", "func TestF(t *testing.T) {\n\tif F() != 2 {\n\t\tt.Fatal()\n\t}\n}\n", Options{Runs: 2}, NotFixed},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			d := newDisk(t, map[string]string{"f.go": tt.code, "f_test.go": head + tt.test})
			before := d.tree(t)
			r, err := Tests(d, tt.opt)
			if err != nil || r.Outcome != tt.want || r.Why == "" {
				t.Errorf("%v: %+v", err, r)
			}
			if !maps.Equal(before, d.tree(t)) {
				t.Error("the tree changed")
			}
		})
	}
}

// Candidates that pass and behave differently are not called a fix: the report
// shows an input that tells them apart. SPEC 5.2
func TestUncertain(t *testing.T) {
	t.Parallel()
	d := newDisk(t, map[string]string{
		"f.go":      "package m\n\n// F picks one of three numbers.\nfunc F(a, b, c int) int {\n\treturn a\n}\n",
		"f_test.go": "package m\n\nimport \"testing\"\n\nfunc TestF(t *testing.T) {\n\tif got := F(1, 4, 4); got != 4 {\n\t\tt.Error(got)\n\t}\n}\n",
	})
	r := must.Get(Tests(d, Options{}))(t)
	if r.Outcome != Uncertain || len(r.Plausible) < 2 || len(r.Differ) == 0 || r.Why == "" {
		t.Fatalf("%+v", r)
	}
	if x := r.Differ[0]; x.Func != "F" || x.Input == "" || len(x.Outputs) < 2 {
		t.Errorf("%+v", x)
	}
}

// A loop without end and a panic are failures like others, and do not stop the
// search. SPEC 5.2
func TestPanicAndEndless(t *testing.T) {
	t.Parallel()
	d := newDisk(t, map[string]string{
		"f.go": `package m

// Last returns the last element, 0 of nothing.
func Last(xs []int) int {
	if len(xs) == 0 {
		return 0
	}
	return xs[len(xs)]
}
`,
		"f_test.go": `package m

import "testing"

func TestLast(t *testing.T) {
	if got := Last([]int{1, 2, 3}); got != 3 {
		t.Error(got)
	}
}

func TestNone(t *testing.T) {
	if got := Last(nil); got != 0 {
		t.Error(got)
	}
}
`,
	})
	r, err := Tests(d, Options{})
	if err != nil || r.Outcome != Fixed || !strings.Contains(r.Edit.New, "xs[len(xs)-1]") {
		t.Fatalf("%v: %+v", err, r)
	}
}
