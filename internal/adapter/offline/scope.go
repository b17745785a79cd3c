package offline

import (
	"go/ast"
	"go/token"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/editdistance"
)

// This file knows which names can be meant at a place of a Go file, and how
// near two names are.

// universe are Go's own names that a misspelling may mean.
const universe = "append cap clear close complex copy delete imag len make max min new panic print println real recover " +
	"bool byte error float32 float64 int int8 int16 int32 int64 rune string uint uint8 uint16 uint32 uint64 uintptr any comparable " +
	"true false nil iota"

// locals lists the names that functions declare and that are visible at pos,
// innermost last.
func (s *source) locals(pos token.Pos) []string {
	var out []string
	add := func(ids ...*ast.Ident) {
		for _, id := range ids {
			if id != nil && id.Name != "_" {
				out = append(out, id.Name)
			}
		}
	}
	fields := func(l *ast.FieldList) {
		if l != nil {
			for _, f := range l.List {
				add(f.Names...)
			}
		}
	}
	declares := func(st ast.Stmt) {
		switch x := st.(type) {
		case *ast.AssignStmt:
			if x.Tok == token.DEFINE {
				for _, l := range x.Lhs {
					if id, ok := l.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		case *ast.DeclStmt:
			if g, ok := x.Decl.(*ast.GenDecl); ok {
				for _, sp := range g.Specs {
					switch v := sp.(type) {
					case *ast.ValueSpec:
						add(v.Names...)
					case *ast.TypeSpec:
						add(v.Name)
					}
				}
			}
		}
	}
	before := func(list []ast.Stmt) {
		for _, st := range list {
			if st.End() <= pos {
				declares(st)
			}
		}
	}
	for _, n := range s.nodesAt(pos) {
		switch x := n.(type) {
		case *ast.FuncDecl:
			fields(x.Recv)
			fields(x.Type.TypeParams)
			fields(x.Type.Params)
			fields(x.Type.Results)
		case *ast.FuncLit:
			fields(x.Type.Params)
			fields(x.Type.Results)
		case *ast.BlockStmt:
			before(x.List)
		case *ast.CaseClause:
			before(x.Body)
		case *ast.CommClause:
			if x.Comm != nil && x.Comm.End() <= pos {
				declares(x.Comm)
			}
			before(x.Body)
		case *ast.IfStmt:
			if x.Init != nil && x.Init.End() <= pos {
				declares(x.Init)
			}
		case *ast.ForStmt:
			if x.Init != nil && x.Init.End() <= pos {
				declares(x.Init)
			}
		case *ast.SwitchStmt:
			if x.Init != nil && x.Init.End() <= pos {
				declares(x.Init)
			}
		case *ast.TypeSwitchStmt:
			if x.Assign.End() <= pos {
				declares(x.Assign)
			}
		case *ast.RangeStmt:
			if x.Tok == token.DEFINE && x.X.End() <= pos {
				for _, e := range []ast.Expr{x.Key, x.Value} {
					if id, ok := e.(*ast.Ident); ok {
						add(id)
					}
				}
			}
		}
	}
	return out
}

// topLevel lists the names that a file declares for its package.
func (s *source) topLevel() []string {
	var out []string
	for _, d := range s.ast.Decls {
		switch x := d.(type) {
		case *ast.FuncDecl:
			if x.Recv == nil {
				out = append(out, x.Name.Name)
			}
		case *ast.GenDecl:
			for _, sp := range x.Specs {
				switch v := sp.(type) {
				case *ast.ValueSpec:
					for _, n := range v.Names {
						out = append(out, n.Name)
					}
				case *ast.TypeSpec:
					out = append(out, v.Name.Name)
				}
			}
		}
	}
	return out
}

// members lists the fields and methods that a file declares for a named type, and
// the types that it embeds.
func (s *source) members(typ string) (names, embedded []string) {
	for _, d := range s.ast.Decls {
		switch x := d.(type) {
		case *ast.FuncDecl:
			if x.Recv != nil && len(x.Recv.List) == 1 && receiver(x.Recv.List[0].Type) == typ {
				names = append(names, x.Name.Name)
			}
		case *ast.GenDecl:
			for _, sp := range x.Specs {
				t, ok := sp.(*ast.TypeSpec)
				if !ok || t.Name.Name != typ {
					continue
				}
				var list *ast.FieldList
				switch u := t.Type.(type) {
				case *ast.StructType:
					list = u.Fields
				case *ast.InterfaceType:
					list = u.Methods
				}
				if list == nil {
					continue
				}
				for _, f := range list.List {
					for _, n := range f.Names {
						names = append(names, n.Name)
					}
					if len(f.Names) == 0 {
						if e := receiver(f.Type); e != "" {
							names = append(names, e)
							embedded = append(embedded, e)
						}
					}
				}
			}
		}
	}
	return names, embedded
}

// receiver returns the name of the type in T, *T, T[P] and p.T.
func receiver(e ast.Expr) string {
	switch x := e.(type) {
	case *ast.Ident:
		return x.Name
	case *ast.StarExpr:
		return receiver(x.X)
	case *ast.IndexExpr:
		return receiver(x.X)
	case *ast.IndexListExpr:
		return receiver(x.X)
	case *ast.SelectorExpr:
		return x.Sel.Name
	case *ast.ParenExpr:
		return receiver(x.X)
	}
	return ""
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
