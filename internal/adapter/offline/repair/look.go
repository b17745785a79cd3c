package repair

import (
	"fmt"
	"go/ast"
	"go/format"
	"go/token"
	"go/types"
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
		all = append(all, p.tests...)
	}
	l := &Look{m: m}
	for _, s := range all {
		if s.path == file {
			l.tree = s.tree
		}
	}
	if l.tree == nil {
		return nil, fmt.Errorf("%s is not built here", file)
	}
	var trees []*ast.File
	for _, s := range all {
		if s.tree.Name.Name == l.tree.Name.Name {
			trees = append(trees, s.tree)
		}
	}
	l.pkg, l.info = m.check(p.path, trees, func(string, token.Pos) {})
	return l, nil
}

// pos returns the position of a byte of the file.
func (l *Look) pos(at int) token.Pos { return l.m.fset.File(l.tree.Pos()).Pos(at) }

// Visible returns the names in scope at a byte of the file, the innermost first.
func (l *Look) Visible(at int) []string {
	var out []string
	pos := l.pos(at)
	for sc := l.pkg.Scope().Innermost(pos); sc != nil; sc = sc.Parent() {
		local := sc != types.Universe && sc != l.pkg.Scope() && sc.Parent() != l.pkg.Scope()
		for _, name := range sc.Names() {
			if !local || sc.Lookup(name).Pos() < pos {
				out = append(out, name)
			}
		}
	}
	return out
}

// Members returns the fields and methods of what is selected from at a byte, or of the
// struct of a literal whose key is there.
func (l *Look) Members(at int) []string {
	pos := l.pos(at)
	var of types.Type
	ast.Inspect(l.tree, func(n ast.Node) bool {
		if n == nil || pos < n.Pos() || pos >= n.End() {
			return false
		}
		switch x := n.(type) {
		case *ast.SelectorExpr:
			if pos >= x.Sel.Pos() {
				of = l.info.TypeOf(x.X)
			}
		case *ast.CompositeLit:
			of = l.info.TypeOf(x)
		}
		return true
	})
	var out []string
	if of == nil {
		return nil
	}
	seen := map[types.Type]bool{}
	var visit func(t types.Type)
	visit = func(t types.Type) {
		if p, ok := t.Underlying().(*types.Pointer); ok {
			t = p.Elem()
		}
		if seen[t] {
			return
		}
		seen[t] = true
		if st, ok := t.Underlying().(*types.Struct); ok {
			for f := range st.Fields() {
				out = append(out, f.Name())
				if f.Embedded() {
					visit(f.Type())
				}
			}
		}
		if !types.IsInterface(t) {
			t = types.NewPointer(t)
		}
		for m := range types.NewMethodSet(t).Methods() {
			out = append(out, m.Obj().Name())
		}
	}
	visit(of)
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
