package repair

import (
	"go/parser"
	"go/token"
	"reflect"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func mutants(t *testing.T, code string) []candidate {
	t.Helper()
	d := newDisk(t, map[string]string{"f.go": code})
	m := must.Get(openModule(d, ""))(t)
	p := must.Get(m.open(""))(t)
	for msg := range p.bad {
		t.Fatalf("the code does not type-check: %s", msg)
	}
	return mutate(m, p.funcs[0])
}

const sample = `package m

import (
	"sort"
	"strings"
)

type node struct {
	key         string
	left, right *node
	size        int
}

func (n *node) find(keys []string, want string, deep bool) (int, bool) {
	seen := map[string]bool{}
	count := 0
	for i := 0; i < len(keys) && !deep; i++ {
		if seen[keys[i]] || strings.HasPrefix(keys[i], "x") {
			continue
		}
		if keys[i] == want {
			return i, true
		}
		count += i - 1
	}
	sort.Strings(keys)
	if n.left != nil {
		return n.left.find(keys[1:], want, deep)
	}
	return count, false
}
`

// Every operator family proposes the changes of its table, each once, and in the same
// order each time.
func TestMutate(t *testing.T) {
	t.Parallel()
	all := mutants(t, sample)
	wants := []string{
		"i <= len(keys)", "i := 1", "return n.right.find", "count -= i", "HasSuffix(keys[i]", "|| !deep",
		"&& strings.HasPrefix", "keys[:len(keys)-1]", "seen[keys[i]] = true", "keys[i+1]", "keys[i] != want",
		"return i, false", "n == nil", "i + 1",
	}
	var text strings.Builder
	seen := map[string]bool{}
	for _, c := range all {
		b := c.patched()
		if seen[squeeze(b)] {
			t.Errorf("twice: %s at %d: %q", c.op, c.from, c.text)
		}
		seen[squeeze(b)] = true
		text.WriteString(b)
		if c.prior <= 0 || c.prior > 1 {
			t.Errorf("%s has prior %v", c.op, c.prior)
		}
	}
	for _, w := range wants {
		if !strings.Contains(text.String(), w) {
			t.Errorf("no candidate has %q", w)
		}
	}
	list := func(cs []candidate) (out []string) {
		for _, c := range cs {
			out = append(out, c.op+c.text)
		}
		return out
	}
	if !reflect.DeepEqual(list(all), list(mutants(t, sample))) {
		t.Error("the candidates differ from run to run")
	}
}

// A mark of the table in the code's own text stays as it is.
func TestMarksInCode(t *testing.T) {
	t.Parallel()
	for _, c := range mutants(t, "package m\n\nimport \"strings\"\n\nfunc f(s string, n int) int { return strings.Index(s, \"$@#\") }\n") {
		if !strings.Contains(c.patched(), "$@#") && strings.Contains(c.text, "Index(") {
			t.Errorf("%s: %s", c.op, c.text)
		}
	}
}

// A change takes whole lines that stand once in the file, and makes the file
// that the candidate means.
func TestChange(t *testing.T) {
	t.Parallel()
	for _, c := range mutants(t, sample) {
		ch := c.change()
		old, new := Narrow(ch.before, ch.after)
		if n := strings.Count(ch.before, old); n != 1 {
			t.Fatalf("%q is there %d times", old, n)
		}
		after := strings.Replace(ch.before, old, new, 1)
		if squeeze(strings.ReplaceAll(after, "\n", "")) != squeeze(strings.ReplaceAll(c.patched(), "\n", "")) {
			t.Fatalf("%s: %q became %q", c.op, c.patched(), after)
		}
	}
}

// Instrumented files parse, and keep the lines of the code.
func TestInstrument(t *testing.T) {
	t.Parallel()
	const code = `package m // about m

func A(int, _ string, xs ...int) (n int) {
	switch {
	case n > 0:
		n++
	default:
	outer:
		for range 3 {
			break outer
		}
	}
	return
}

type T[K comparable] struct{ m map[K]int }

func (t *T[K]) B(k K) { t.m[k]++ }

func C[X any](x X) X { return x }
`
	d := newDisk(t, map[string]string{"f.go": code})
	m := must.Get(openModule(d, ""))(t)
	p := must.Get(m.open(""))(t)
	hits := map[string]string{}
	all := m.hits(p, nil, hits)
	if len(all) != 7 {
		t.Errorf("%d statements", len(all))
	}
	var cs []*candidate
	for _, fn := range p.funcs {
		for _, c := range mutate(m, fn) {
			if c.id = len(cs) + 1; c.variant(m) != "" { // it parses
				cs = append(cs, &c)
			}
		}
	}
	over := m.variants(cs, p.funcs)
	if n := strings.Count(over["f.go"], ") "+variantName) + strings.Count(over["f.go"], "func "+variantName); n != len(cs) {
		t.Errorf("%d variants of %d", n, len(cs))
	}
	for _, files := range []map[string]string{hits, over} {
		for name, text := range files {
			if _, err := parser.ParseFile(token.NewFileSet(), name, text, 0); err != nil {
				t.Errorf("%v\n%s", err, text)
			}
			was, _, _ := strings.Cut(code, "func C")
			now, _, _ := strings.Cut(text, "func C")
			if strings.Count(was, "\n") != strings.Count(now, "\n") {
				t.Error("lines moved")
			}
		}
	}
}

// The runtime's own text is Go.
func TestRuntimeParses(t *testing.T) {
	t.Parallel()
	for _, text := range []string{rtText, exploreText, valuesText, strings.Replace(probeText, "CONFIG", `""`, 1)} {
		if _, err := parser.ParseFile(token.NewFileSet(), "", text, 0); err != nil {
			t.Error(err)
		}
	}
	for _, imp := range []string{"strings", "sort", "math/rand", "testing", "time"} {
		if _, ok := stdBlock(imp); !ok {
			t.Errorf("no declarations of %s", imp)
		}
	}
}

func TestReadTests(t *testing.T) {
	out := "--- FAIL: TestA (0.00s)\n    --- FAIL: TestA/one (0.00s)\n        a_test.go:9: got 1\nFAIL\nFAIL\texample.com/x/a\t0.01s\n" +
		"ok  \texample.com/x/b\t0.01s\npanic: runtime error: index out of range [recovered]\n\tpanic: again\ngoroutine 1 [running]:\nFAIL\texample.com/x/c\t0.01s\n" +
		"FAIL\texample.com/x/d [build failed]\nFAIL\n"
	r := ReadTests(out)
	if len(r.Passed) != 1 || len(r.Failed) != 2 || len(r.Unbuilt) != 1 || len(r.Failures) != 2 {
		t.Fatalf("%+v", r)
	}
	if f := r.Failures[0]; f.Name != "TestA/one" || f.Where != "a_test.go:9" || f.Said != "got 1" {
		t.Errorf("%+v", f)
	}
	if f := r.Failures[1]; !f.Panicked || f.Pkg != "example.com/x/c" {
		t.Errorf("%+v", f)
	}
}

// Every row of the table proposes something somewhere: a row that never applies is no
// operator. SPEC 5.2
func TestEveryOperator(t *testing.T) {
	t.Parallel()
	const code = `package m

import "math"

const low, high = 1, 2

var errNone error

type pair struct {
	next *pair
	a, b int
}

func trim(s string) string { return s }

func (p *pair) all(xs []int, grid [][]int, name string, other string, ok bool) ([]int, int, error) {
	seen, total, mean := map[string]bool{}, 0, 0.0
	for {
		if len(xs) == 0 || !ok {
			break
		}
		xs = xs[1:]
	}
	for i := range xs {
		if x := xs[i]; x > low && !seen[name] {
			total += x - 1
			continue
		}
		total := grid[i][total] / 2 * max(i, high)
		mean = float64(total / len(xs))
	}
	p.next.a, p.b = p.b, p.a
	name = trim(trim(other))
	mean = math.Floor(mean) - 1
	xs = append(xs, total)
	_ = equal(name, other)
	return xs, total, nil
}

func equal(a, b string) bool { return true }
`
	d := newDisk(t, map[string]string{"f.go": code})
	m := must.Get(openModule(d, ""))(t)
	p := must.Get(m.open(""))(t)
	proposed := map[string]bool{}
	for _, fn := range p.funcs {
		for _, c := range mutate(m, fn) {
			proposed[c.op] = true
		}
	}
	for _, op := range operators() {
		if !proposed[op.name] {
			t.Errorf("%q proposes nothing", op.name)
		}
	}
}
