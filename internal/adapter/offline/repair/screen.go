package repair

import (
	"go/ast"
	"go/parser"
	"go/token"
	"sort"
	"strconv"
	"strings"
)

// generate returns the candidates for the suspicious functions, best first.
func (w *work) generate(s *spectrum) []*candidate {
	fns := make([]*function, 0, len(s.sus))
	for fn := range s.sus {
		fns = append(fns, fn)
	}
	sort.Slice(fns, func(i, j int) bool { return fns[i].decl.Pos() < fns[j].decl.Pos() })
	var all []*candidate
	for _, fn := range fns {
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
	if fn.decl.Name.Name == "init" {
		return true
	}
	for _, fl := range []*ast.FieldList{fn.decl.Recv, fn.decl.Type.Params, fn.decl.Type.Results} {
		if fl == nil {
			continue
		}
		for _, f := range fl.List {
			for _, id := range f.Names {
				if id.Name == fn.decl.Name.Name || id.Name == "pawlrt" {
					return true
				}
			}
		}
	}
	return false
}

// typed keeps the candidates that type-check, at most n.
func (w *work) typed(cs []*candidate, n int) []*candidate {
	var out []*candidate
	for len(cs) > 0 && len(out) < n {
		batch := cs[:min(len(cs), 2*n)]
		cs = cs[len(batch):]
		byPkg := map[*pkg][]*candidate{}
		var pkgs []*pkg
		for _, c := range batch {
			if byPkg[c.fn.pkg] == nil {
				pkgs = append(pkgs, c.fn.pkg)
			}
			byPkg[c.fn.pkg] = append(byPkg[c.fn.pkg], c)
		}
		bad := map[int]bool{}
		for _, p := range pkgs {
			for id := range w.illTyped(p, byPkg[p]) {
				bad[id] = true
			}
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
		if _, ok := ticked(c.body(w.m), "x"); ok {
			good = append(good, c)
		} else {
			bad[c.id] = true
		}
	}
	files, spans := w.m.variants(good, nil)
	var trees []*ast.File
	for _, s := range p.files {
		text, ok := files[s.path]
		if !ok {
			text = s.text
		}
		tree, err := parser.ParseFile(w.m.fset, s.path, text, parser.SkipObjectResolution)
		if err != nil {
			continue // the compiler names it
		}
		trees = append(trees, tree)
	}
	w.m.check(p.path, trees, func(msg string, pos token.Pos) {
		if p.bad[msg] {
			return
		}
		at := w.m.fset.Position(pos)
		for _, s := range spans {
			if s.file == at.Filename && at.Line >= s.from && at.Line <= s.to {
				bad[s.id] = true
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
	byID := map[string]*candidate{}
	c := probeConfig{Mode: "screen", Tests: s.tests, Failing: s.failing, Seconds: s.seconds}
	for _, x := range cs {
		c.Variants = append(c.Variants, x.id)
		byID[strconv.Itoa(x.id)] = x
	}
	over, _ := w.m.variants(cs, nil)
	out, err := w.probe(s.pkg, over, c)
	if err != nil {
		return nil, 0, err
	}
	for line := range strings.Lines(out) {
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		switch f[0] {
		case "PAWLP":
			for _, id := range f[1:] {
				if x := byID[id]; x != nil {
					passed = append(passed, x)
				}
			}
		case "PAWLE":
			tried, _ = strconv.Atoi(f[len(f)-1]) // our own output
		}
	}
	return passed, tried, nil
}
