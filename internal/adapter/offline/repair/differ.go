package repair

import (
	"encoding/json"
	"errors"
	"go/ast"
	"sort"
	"strconv"
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

// maxDiffer bounds how many candidates are compared.
const maxDiffer = 40

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
	over, _ := w.m.variants(cs, w.hooks(s, cs))
	out, err := w.probe(s.pkg, over, c)
	if errors.Is(err, errBuild) {
		return alone(cs), 0, nil, nil // no comparison is possible: no evidence
	}
	if err != nil {
		return nil, 0, nil, err
	}
	right := 0 // inputs on which the code as it was is taken to be right
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) < 2 {
			continue
		}
		switch f[0] {
		case "PAWLI":
			inputs, _ = strconv.Atoi(f[1]) // our own output, here and below
			right, _ = strconv.Atoi(f[len(f)-1])
		case "PAWLC":
			var n []int
			for _, x := range f[1:] {
				v, _ := strconv.Atoi(x)
				n = append(n, v)
			}
			if len(n) < 4 {
				continue
			}
			k := class{panics: n[0], stops: n[1], changed: float64(n[2]) / float64(max(1, right))}
			for _, id := range n[3:] {
				if x := byID[id]; x != nil {
					k.members = append(k.members, x)
				}
			}
			if len(k.members) > 0 {
				classes = append(classes, k)
			}
		case "PAWLD":
			if d, ok := readDifference(strings.TrimPrefix(line, "PAWLD "), byID); ok {
				diffs = append(diffs, d)
			}
		}
	}
	if inputs == 0 {
		return alone(cs), 0, nil, nil
	}
	return classes, inputs, diffs, nil
}

func alone(cs []*candidate) []class {
	var out []class
	for _, c := range cs {
		out = append(out, class{members: []*candidate{c}})
	}
	return out
}

func readDifference(text string, byID map[int]*candidate) (Difference, bool) {
	var row struct {
		F   string            `json:"f"`
		In  string            `json:"in"`
		Out map[string]string `json:"out"`
	}
	if err := json.Unmarshal([]byte(text), &row); err != nil {
		return Difference{}, false
	}
	d := Difference{Func: row.F, Input: row.In, Outputs: map[string]string{}}
	ids := make([]int, 0, len(row.Out))
	for id := range row.Out {
		n, err := strconv.Atoi(id)
		if err == nil {
			ids = append(ids, n)
		}
	}
	sort.Ints(ids)
	for _, id := range ids {
		if x := byID[id]; x != nil {
			d.Outputs[strings.TrimSpace(x.change().edit.New)] = row.Out[strconv.Itoa(id)]
		}
	}
	return d, len(d.Outputs) > 1
}

// hooks returns the functions whose calls are explored: those that a failing test
// runs and from which a changed one can be reached.
func (w *work) hooks(s *spectrum, cs []*candidate) []*function {
	want := map[string]bool{}
	for _, c := range cs {
		want[c.fn.decl.Name.Name] = true
	}
	var fns []*function
	for fn := range s.sus {
		fns = append(fns, fn)
	}
	sort.Slice(fns, func(i, j int) bool { return fns[i].decl.Pos() < fns[j].decl.Pos() })
	in := map[*function]bool{}
	for again := true; again; {
		again = false
		for _, fn := range fns {
			if in[fn] {
				continue
			}
			reach := want[fn.decl.Name.Name]
			ast.Inspect(fn.decl.Body, func(n ast.Node) bool {
				if id, ok := n.(*ast.Ident); ok && want[id.Name] {
					reach = true
				}
				return !reach
			})
			if reach {
				in[fn], want[fn.decl.Name.Name], again = true, true, true
			}
		}
	}
	var out []*function
	for _, fn := range fns {
		if in[fn] && !clash(fn) && len(out) < 60 {
			out = append(out, fn)
		}
	}
	return out
}
