package repair

import (
	"cmp"
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"sort"
	"strconv"
	"strings"
)

// generate returns the candidates for the suspicious functions, best first.
func (w *work) generate(s *spectrum) []*candidate {
	var all []*candidate
	for _, fn := range s.fns {
		if clash(fn) {
			continue
		}
		for _, c := range mutate(w.m, fn) {
			if x := s.suspicion(&c); x > 0 {
				c.score = x * c.prior
				all = append(all, &c)
			}
		}
	}
	sort.SliceStable(all, func(i, j int) bool { return all[i].score > all[j].score })
	for i, c := range all {
		c.id = i + 1
	}
	return all
}

// clash reports a function whose parameters hide what a variant must name.
func clash(fn *function) bool {
	used, name := names(fn.decl.Type), fn.decl.Name.Name
	return used["pawlrt"] || fn.decl.Recv == nil && (used[name] || name == "init")
}

// typed keeps the candidates that type-check, at most n.
func (w *work) typed(cs []*candidate, n int) []*candidate {
	var out []*candidate
	for len(cs) > 0 && len(out) < n {
		batch := cs[:min(len(cs), 2*n)]
		cs = cs[len(batch):]
		byPkg := map[*pkg][]*candidate{}
		for _, c := range batch {
			byPkg[c.fn.pkg] = append(byPkg[c.fn.pkg], c)
		}
		bad := map[int]bool{}
		for p, list := range byPkg {
			maps.Copy(bad, w.illTyped(p, list))
		}
		for _, c := range batch {
			if !bad[c.id] && len(out) < n {
				out = append(out, c)
			}
		}
	}
	return out
}

// illTyped type-checks a package with variants and returns the ids of those with
// an error that the package as it is does not have.
func (w *work) illTyped(p *pkg, cs []*candidate) map[int]bool {
	bad := map[int]bool{}
	var good []*candidate
	for _, c := range cs {
		if c.variant(w.m) == "" {
			bad[c.id] = true // it does not parse
		} else {
			good = append(good, c)
		}
	}
	files := w.m.variants(good, nil)
	var trees []*ast.File
	var decls []ast.Decl
	for _, s := range p.files {
		text := cmp.Or(files[s.path], s.text)
		tree, err := parser.ParseFile(w.m.fset, s.path, text, parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler names it
		}
		trees, decls = append(trees, tree), append(decls, tree.Decls...)
	}
	w.m.check(p.path, trees, func(msg string, pos token.Pos) {
		for _, d := range decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || pos < d.Pos() || pos >= d.End() || p.bad[msg] {
				continue
			}
			if id, err := strconv.Atoi(strings.TrimPrefix(f.Name.Name, variantName)); err == nil {
				bad[id] = true
			}
		}
	})
	return bad
}

// batchSize bounds what one compilation holds, in variants and in bytes.
const (
	batchSize  = 300
	batchBytes = 600_000
)

// batch returns how many of the candidates one compilation takes.
func (w *work) batch(cs []*candidate) int {
	size := 0
	for i, c := range cs {
		size += len(c.fn.file.text) / 50
		size += w.m.offset(c.fn.decl.End()) - w.m.offset(c.fn.decl.Pos())
		if i >= batchSize || i > 20 && size > batchBytes {
			return i
		}
	}
	return len(cs)
}

// screen runs candidates against a package's tests, the failing ones first,
// and returns those that pass. tried counts those that ran.
func (w *work) screen(s *spectrum, cs []*candidate) (passed []*candidate, tried int, err error) {
	byID := map[int]*candidate{}
	c := probeConfig{Mode: "screen", Tests: s.tests, Failing: s.failing, Seconds: s.seconds}
	for _, x := range cs {
		c.Variants = append(c.Variants, x.id)
		byID[x.id] = x
	}
	out, err := w.probe(s.pkg, w.m.variants(cs, nil), c)
	if err != nil {
		return nil, 0, err
	}
	for _, id := range out.Passed {
		passed = append(passed, byID[id])
	}
	return passed, out.Tried, nil
}
