package offline

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
	"github.com/pawl-agent/pawl/internal/core/editdistance"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// This file finds what an undefined name may mean: another name in scope, a
// member of a package or type, or a package that is not imported.

// rename replaces an identifier at every place where the build complains of it
// in the same words. The compiler reports one error a line, so all of the same
// role on such a line are meant.
func (b *builder) rename(f *source, e repair.BuildError, name, to string) []fix {
	type place struct{ from, to int }
	var places []place
	lead := f.ident(e, name)
	if lead == nil {
		return nil
	}
	selected := f.selected()
	for _, x := range b.last.errs {
		if x.File != e.File || x.Msg != e.Msg {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || id.Name != name || selected[id] != selected[lead] || f.fset.Position(id.Pos()).Line != x.Line {
				return true
			}
			if p := (place{f.at(id.Pos()), f.at(id.End())}); !slices.Contains(places, p) {
				places = append(places, p)
			}
			return true
		})
	}
	if len(places) == 0 {
		return nil
	}
	slices.SortFunc(places, func(a, b place) int { return b.from - a.from })
	text := f.text
	for _, p := range places {
		text = text[:p.from] + to + text[p.to:]
	}
	return only(f, text, "`"+name+"` at "+e.Where()+" is now `"+to+"`, the nearest name there is")
}

// undefined repairs `undefined: name` and `undefined: pkg.Name`.
func (b *builder) undefined(f *source, e repair.BuildError, name string) ([]fix, error) {
	name, hint, _ := strings.Cut(name, " (but have ")
	if pkg, member, ok := strings.Cut(name, "."); ok {
		var first []string
		if hint = strings.TrimSuffix(hint, ")"); identifier(hint) {
			first = []string{hint}
		}
		p := f.imports()[pkg]
		if p == "" {
			for _, q := range f.imports() { // the compiler may name the path
				if q == pkg || path.Base(q) == pkg {
					p = q
				}
			}
		}
		if p == "" {
			return nil, nil
		}
		return b.oneOf(f, e, member, first, func() ([]string, error) { return b.exported(p) })
	}
	id := f.ident(e, name)
	if id == nil {
		return nil, nil
	}
	var out []fix
	nodes := f.nodesAt(id.Pos())
	sel, qualifies := nodes[max(len(nodes)-2, 0)].(*ast.SelectorExpr)
	qualifies = qualifies && sel.X == ast.Expr(id)
	if qualifies {
		paths, err := b.packagesNamed(name, sel.Sel.Name)
		if err != nil {
			return nil, err
		}
		for _, p := range paths {
			out = append(out, only(f, f.addImport(p), "import of "+strconv.Quote(p)+" added to "+f.file)...)
		}
		if len(paths) > 1 {
			for i := range out {
				out[i].note = "More than one package has that name; the one that compiles was taken."
			}
		}
	}
	look, err := b.look(f)
	if err != nil {
		return nil, err
	}
	names := look.Visible(f.at(id.Pos()))
	for _, n := range nearest(name, names) {
		out = append(out, b.rename(f, e, name, n)...)
	}
	if qualifies && len(out) == 0 {
		// A misspelt package that is not imported either is two mistakes: too
		// far to guess.
		return nil, nil
	}
	return out, nil
}

// oneOf makes the renames of a misspelt name to the nearest of a list.
func (b *builder) oneOf(f *source, e repair.BuildError, name string, first []string, list func() ([]string, error)) ([]fix, error) {
	names, err := list()
	if err != nil {
		return nil, err
	}
	var out []fix
	for _, n := range append(first, nearest(name, names)...) {
		out = append(out, b.rename(f, e, name, n)...)
	}
	return out, nil
}

// exported lists what a package offers, as go doc shows it.
func (b *builder) exported(importPath string) ([]string, error) {
	out, exit, err := b.h.Run(in(b.dir, "go doc -short "+shellsyntax.Quote(importPath)))
	if err != nil || exit != 0 {
		return nil, err
	}
	return declared(out), nil
}

// declared reads the names off lines like `func Name(…` and `type Name …`.
func declared(doc string) []string {
	var out []string
	for l := range strings.SplitSeq(doc, "\n") {
		for _, kind := range []string{"func ", "type ", "const ", "var "} {
			rest, ok := strings.CutPrefix(strings.TrimSpace(l), kind)
			if !ok {
				continue
			}
			end := strings.IndexAny(rest, " ([=,")
			if end < 0 {
				end = len(rest)
			}
			if identifier(rest[:end]) {
				out = append(out, rest[:end])
			}
		}
	}
	return out
}

// member repairs `x.Name undefined (type T has no field or method Name)` and
// `unknown field Name in struct literal of type T`.
func (b *builder) member(f *source, e repair.BuildError) ([]fix, error) {
	name, literal := strings.CutPrefix(e.Msg, "unknown field ")
	if literal {
		name, _, _ = strings.Cut(name, " ")
	} else {
		name, _, _ = strings.Cut(name, " undefined (type ")
		name = last(name)
	}
	id := f.ident(e, name)
	if id == nil {
		return nil, nil
	}
	return b.oneOf(f, e, name, nil, func() ([]string, error) {
		look, err := b.look(f)
		if err != nil {
			return nil, err
		}
		return look.Members(f.at(id.Pos())), nil
	})
}

// look type-checks the package of a file.
func (b *builder) look(f *source) (*repair.Look, error) {
	return repair.LookAt(known{b.h}, b.dir, f.path)
}

// known reads no file twice.
type known struct{ *hands }

func (k known) ReadAll(paths []string) (map[string]string, error) {
	if _, err := k.hands.ReadAll(slices.DeleteFunc(slices.Clone(paths), func(p string) bool { _, ok := k.seen[p]; return ok })); err != nil {
		return nil, err
	}
	return k.seen, nil
}

// list returns the import paths that the go command lists, asked for once.
func (b *builder) list(pattern string) ([]string, error) {
	if out, ok := b.listed[pattern]; ok {
		return out, nil
	}
	out, exit, err := b.h.Run(in(b.dir, "go list -e "+pattern))
	if err != nil {
		return nil, err
	}
	b.listed[pattern] = nil
	for p := range strings.FieldsSeq(out) {
		if exit == 0 && !strings.Contains(p, "internal/") && !strings.HasPrefix(p, "vendor/") || pattern != "std" {
			b.listed[pattern] = append(b.listed[pattern], p)
		}
	}
	return b.listed[pattern], nil
}

// packagesNamed lists the import paths whose package is called name: the
// module's own first. A package that is known to have the member goes first
// among the standard library's.
func (b *builder) packagesNamed(name, member string) ([]string, error) {
	local, err := b.list("./...")
	if err != nil {
		return nil, err
	}
	std, err := b.list("std")
	if err != nil {
		return nil, err
	}
	var out, more []string
	for _, p := range local {
		if baseName(p) == name {
			out = append(out, p)
		}
	}
	for _, p := range std {
		if baseName(p) == name {
			more = append(more, p)
		}
	}
	// The plain choice first where a name is shared: text/template, math/rand
	// (but for the functions that only the other has, which the build decides).
	rank := func(p string) int {
		switch p {
		case "html/template", "text/scanner", "go/scanner", "go/version", "runtime/debug", "runtime/metrics":
			return 1
		case "crypto/rand":
			if member == "Read" || member == "Text" || member == "Prime" || member == "Reader" {
				return -1
			}
			return 1
		case "math/rand/v2":
			return 2
		}
		return 0
	}
	slices.SortStableFunc(more, func(a, b string) int { return rank(a) - rank(b) })
	return append(out, more...), nil
}

// importPath repairs an import of a package that does not exist.
func (b *builder) importPath(f *source, e repair.BuildError) ([]fix, error) {
	wrong := ""
	for _, im := range f.ast.Imports {
		if f.fset.Position(im.Pos()).Line == e.Line {
			wrong, _ = strconv.Unquote(im.Path.Value)
		}
	}
	local, err := b.list("./...")
	if err != nil {
		return nil, err
	}
	std, err := b.list("std")
	if err != nil {
		return nil, err
	}
	var out []fix
	q := strconv.Quote(wrong)
	for _, im := range f.ast.Imports {
		if im.Path.Value != q {
			continue
		}
		for _, p := range nearest(wrong, append(local, std...)) {
			text := f.splice(f.at(im.Path.Pos()), f.at(im.Path.End()), strconv.Quote(p))
			out = append(out, only(f, text, "import "+q+" in "+f.file+" is now "+strconv.Quote(p))...)
		}
	}
	return out, nil
}

// nearest orders the names that a misspelt one may mean, nearest first. Names
// given earlier win among equals, so callers put inner scopes first.
func nearest(name string, names []string) []string {
	type scored struct {
		name string
		d    int
	}
	limit := 1
	if n := len(name); n > 3 {
		limit = 2
		if n > 8 {
			limit = 3
		}
	}
	var got []scored
	seen := map[string]bool{name: true, "": true, "_": true}
	for _, n := range names {
		if seen[n] {
			continue
		}
		seen[n] = true
		d := editdistance.Distance(strings.ToLower(name), strings.ToLower(n))
		if len(name) < 3 && len(n) < 3 && d > 0 {
			continue // x is not a misspelt y
		}
		if d <= limit && d < max(len(name), len(n))-1 || d == 0 {
			got = append(got, scored{n, d})
		}
	}
	slices.SortStableFunc(got, func(a, b scored) int { return a.d - b.d })
	var out []string
	for _, g := range got {
		out = append(out, g.name)
	}
	return out
}
