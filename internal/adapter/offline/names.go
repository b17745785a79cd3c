package offline

import (
	"go/ast"
	"path"
	"slices"
	"strconv"
	"strings"
)

// This file finds what an undefined name may mean: another name in scope, a
// member of a package or type, or a package that is not imported.

// rename replaces an identifier at every place where the build complains of it
// in the same words. The compiler reports one error a line, so all of the same
// role on such a line are meant.
func (b *builder) rename(f *source, e buildError, name, to string) []fix {
	type place struct{ from, to int }
	var places []place
	lead := f.ident(e, name)
	if lead == nil {
		return nil
	}
	selected := f.selected()
	for _, x := range b.last.errs {
		if x.file != e.file || x.msg != e.msg {
			continue
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			id, ok := n.(*ast.Ident)
			if !ok || id.Name != name || selected[id] != selected[lead] || f.fset.Position(id.Pos()).Line != x.line {
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
	return only(f, text, "`"+name+"` at "+e.where()+" is now `"+to+"`, the nearest name there is")
}

// siblings parses the other files of a file's package; tests see all, others
// do not see the tests.
func (b *builder) siblings(f *source) ([]*source, error) {
	dir := path.Dir(f.path)
	files, err := b.h.List(path.Join(dir, "*.go"))
	if err != nil {
		return nil, err
	}
	var want, all []string
	for _, p := range files {
		if path.Dir(p) != dir || strings.HasSuffix(p, "_test.go") && !strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		all = append(all, p)
		if _, ok := b.h.seen[p]; !ok {
			want = append(want, p)
		}
	}
	if len(want) > 0 {
		if _, err := b.h.ReadAll(want); err != nil {
			return nil, err
		}
	}
	var out []*source
	for _, p := range all {
		s := parse(p, path.Join(path.Dir(f.file), path.Base(p)), b.h.seen[p])
		if s != nil && s.ast.Name.Name == f.ast.Name.Name {
			out = append(out, s)
		}
	}
	return out, nil
}

// undefined repairs `undefined: name` and `undefined: pkg.Name`.
func (b *builder) undefined(f *source, e buildError, name string) ([]fix, error) {
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
	sibs, err := b.siblings(f)
	if err != nil {
		return nil, err
	}
	names := f.locals(id.Pos())
	slices.Reverse(names) // inner names first
	for _, s := range sibs {
		names = append(names, s.topLevel()...)
	}
	names = append(names, sortedKeys(f.imports())...)
	names = append(names, strings.Fields(universe)...)
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
func (b *builder) oneOf(f *source, e buildError, name string, first []string, list func() ([]string, error)) ([]fix, error) {
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
	out, exit, err := b.h.Run(in(b.dir, "go doc -short "+quote(importPath)))
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
func (b *builder) member(f *source, e buildError) ([]fix, error) {
	var name, typ string
	if rest, ok := strings.CutPrefix(e.msg, "unknown field "); ok {
		name, typ, ok = strings.Cut(rest, " in struct literal of type ")
		if !ok {
			return nil, nil
		}
	} else {
		expr, rest, ok := strings.Cut(e.msg, " undefined (type ")
		if !ok {
			return nil, nil
		}
		name = expr[strings.LastIndexByte(expr, '.')+1:]
		typ, _, _ = strings.Cut(rest, " has no field or method ")
	}
	typ, _, _ = strings.Cut(typ, ", but does have ")
	var first []string
	if _, hint, ok := strings.Cut(e.msg, ", but does have "); ok {
		hint = strings.TrimRight(hint, ")")
		hint = strings.TrimPrefix(strings.TrimPrefix(hint, "field "), "method ")
		if identifier(hint) {
			first = append(first, hint)
		}
	}
	return b.oneOf(f, e, name, first, func() ([]string, error) { return b.membersOf(f, typ) })
}

// membersOf lists fields and methods of a type as the compiler writes it.
func (b *builder) membersOf(f *source, typ string) ([]string, error) {
	typ = strings.TrimLeft(strings.TrimSpace(typ), "*")
	typ, _, _ = strings.Cut(typ, "[")
	typ, _, _ = strings.Cut(typ, " ")
	if i := strings.LastIndexByte(typ, '.'); i >= 0 {
		pkg, name := typ[:i], typ[i+1:]
		p := f.imports()[path.Base(pkg)]
		if p == "" {
			p = pkg
		}
		out, exit, err := b.h.Run(in(b.dir, "go doc -all "+quote(p+"."+name)))
		if err != nil || exit != 0 {
			return nil, err
		}
		return documented(out), nil
	}
	if !identifier(typ) {
		return nil, nil
	}
	sibs, err := b.siblings(f)
	if err != nil {
		return nil, err
	}
	var out []string
	types := []string{typ}
	for i := 0; i < len(types) && i < 16; i++ {
		for _, s := range sibs {
			names, embedded := s.members(types[i])
			out = append(out, names...)
			for _, t := range embedded {
				if !slices.Contains(types, t) {
					types = append(types, t)
				}
			}
		}
	}
	return out, nil
}

// documented reads fields and methods off `go doc -all pkg.Type`.
func documented(doc string) []string {
	var out []string
	inside := false
	for l := range strings.SplitSeq(doc, "\n") {
		switch {
		case strings.HasPrefix(l, "type ") && strings.HasSuffix(l, "{"):
			inside = true
		case l == "}":
			inside = false
		case inside && strings.HasPrefix(l, "\t"):
			w := strings.TrimSpace(l)
			if i := strings.IndexAny(w, " (,"); i > 0 && identifier(w[:i]) {
				out = append(out, w[:i])
			}
		case strings.HasPrefix(l, "func ("):
			if _, rest, ok := strings.Cut(l, ") "); ok {
				if i := strings.IndexByte(rest, '('); i > 0 {
					out = append(out, rest[:i])
				}
			}
		}
	}
	return out
}

// standard lists the standard library's import paths, asked for once.
func (b *builder) standard() ([]string, error) {
	if b.std != nil {
		return b.std, nil
	}
	out, exit, err := b.h.Run(in(b.dir, "go list std"))
	if err != nil {
		return nil, err
	}
	b.std = []string{}
	if exit == 0 {
		for p := range strings.FieldsSeq(out) {
			if !strings.Contains(p, "internal") && !strings.HasPrefix(p, "vendor/") {
				b.std = append(b.std, p)
			}
		}
	}
	return b.std, nil
}

// modulePath reads the module's path, once.
func (b *builder) modulePath() error {
	if b.module != "" {
		return nil
	}
	text, err := b.h.Read(path.Join(b.dir, "go.mod"))
	if err != nil {
		return err
	}
	for l := range strings.SplitSeq(text, "\n") {
		if m, ok := strings.CutPrefix(strings.TrimSpace(l), "module "); ok {
			b.module = strings.Trim(strings.TrimSpace(m), `"`)
			break
		}
	}
	return nil
}

// local lists the import paths of the module's own packages, of all or of
// those whose folder has the name.
func (b *builder) local(name string) ([]string, error) {
	if err := b.modulePath(); err != nil {
		return nil, err
	}
	files, err := b.h.List(path.Join(b.dir, "**", name, "*.go"))
	if err != nil {
		return nil, err
	}
	var out []string
	for _, f := range files {
		if skipped(f) || strings.HasSuffix(f, "_test.go") {
			continue
		}
		p := b.module
		if d := strings.Trim(strings.TrimPrefix(path.Dir(f), b.dir), "/."); d != "" {
			p += "/" + d
		}
		out = append(out, p)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// packagesNamed lists the import paths whose package is called name: the
// module's own first. A package that is known to have the member goes first
// among the standard library's.
func (b *builder) packagesNamed(name, member string) ([]string, error) {
	local, err := b.local(name)
	if err != nil {
		return nil, err
	}
	std, err := b.standard()
	if err != nil {
		return nil, err
	}
	var out, more []string
	for _, p := range local {
		if baseName(p) == name && p != b.module {
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
func (b *builder) importPath(f *source, e buildError) ([]fix, error) {
	wrong := ""
	for _, im := range f.ast.Imports {
		if f.fset.Position(im.Pos()).Line == e.line {
			wrong, _ = strconv.Unquote(im.Path.Value)
		}
	}
	local, err := b.local("")
	if err != nil {
		return nil, err
	}
	std, err := b.standard()
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
