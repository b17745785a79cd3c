package repair

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// Look is what the type checker knows of one file, whether or not it compiles.
type Look struct {
	m    *module
	tree *ast.File
	pkg  *types.Package
	info *types.Info
}

// LookAt type-checks the package of a file, with its tests if the file is one.
func LookAt(h Hands, dir, file string) (*Look, error) {
	m, err := openModule(h, dir)
	if err != nil {
		return nil, err
	}
	p, err := m.open(folder(file))
	if err != nil {
		return nil, err
	}
	all := p.files
	if strings.HasSuffix(file, "_test.go") {
		all = slices.Concat(p.files, p.tests)
	}
	i := slices.IndexFunc(all, func(s *source) bool { return s.path == file })
	if i < 0 {
		return nil, fmt.Errorf("%s is not built here", file)
	}
	l := &Look{m: m, tree: all[i].tree}
	var trees []*ast.File
	for _, s := range all {
		if s.tree.Name.Name == l.tree.Name.Name {
			trees = append(trees, s.tree)
		}
	}
	l.pkg, l.info = m.check(p.path, trees, func(string, token.Pos) {})
	return l, nil
}

// Names returns what may stand at a byte of the file in place of the identifier there:
// what can be selected, the fields of a literal, or the names in scope, the innermost
// first. of is the import path of a package whose names are not known.
func (l *Look) Names(at int) (names []string, of string) {
	pos := l.m.fset.File(l.tree.Pos()).Pos(at)
	var lit, from types.Type
	var imported *types.Package
	ast.Inspect(l.tree, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos >= n.End() {
			return false
		}
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if id, ok := x.X.(*ast.Ident); pos >= x.Sel.Pos() {
				if p, is := l.info.Uses[id].(*types.PkgName); ok && is {
					imported = p.Imported()
				}
				from = cmp.Or(l.info.TypeOf(x.X), types.Type(types.Typ[types.Invalid]))
			}
		case *ast.CompositeLit:
			lit = l.info.TypeOf(x)
		case *ast.KeyValueExpr:
			if pos < x.Colon && lit != nil && elementOf(lit) == nil {
				from = lit
			}
		}
		return true
	})
	switch {
	case imported != nil && imported.Scope().Len() == 0:
		return nil, imported.Path()
	case imported != nil:
		return imported.Scope().Names(), ""
	case from != nil:
		return members(from, map[types.Type]bool{}), ""
	}
	for sc := l.pkg.Scope().Innermost(pos); sc != nil; sc = sc.Parent() {
		local := sc != types.Universe && sc != l.pkg.Scope() && sc.Parent() != l.pkg.Scope()
		for _, name := range sc.Names() {
			if !local || sc.Lookup(name).Pos() < pos {
				names = append(names, name)
			}
		}
	}
	return names, ""
}

// members returns the fields and methods of a type, with those of embedded fields.
func members(t types.Type, seen map[types.Type]bool) (out []string) {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if seen[t] {
		return nil
	}
	seen[t] = true
	if st, ok := t.Underlying().(*types.Struct); ok {
		for f := range st.Fields() {
			out = append(out, f.Name())
			if f.Embedded() {
				out = append(out, members(f.Type(), seen)...)
			}
		}
	}
	if !types.IsInterface(t) {
		t = types.NewPointer(t)
	}
	for m := range types.NewMethodSet(t).Methods() {
		out = append(out, m.Obj().Name())
	}
	return out
}

// Formatted returns after as gofmt writes it, if before was written so.
func Formatted(before, after string) string {
	if f, err := format.Source([]byte(before)); err == nil && string(f) == before {
		if f, err := format.Source([]byte(after)); err == nil {
			return string(f)
		}
	}
	return after
}
