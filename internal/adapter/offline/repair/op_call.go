package repair

import (
	"go/ast"
	"go/types"
)

// callOps vary what is called with what.
func callOps() []operator {
	return []operator{
		{"swapped arguments", swappedArgs},
		{"swapped indices", swappedIndices},
		{"swapped operands of an assignment", swappedValues},
		{"call too many", unwrapped},
		{"missing call", wrapped},
		{"bytes or characters", runes},
		{"missing copy", copied},
	}
}

// swappedArgs swaps two arguments of the same type.
func swappedArgs(s *mutator, n ast.Node) {
	c, ok := n.(*ast.CallExpr)
	if !ok {
		return
	}
	if isIdent(c.Fun, "min") || isIdent(c.Fun, "max") {
		return
	}
	for i := range c.Args {
		for j := i + 1; j < len(c.Args); j++ {
			a, b := c.Args[i], c.Args[j]
			ta, tb := s.typ(a), s.typ(b)
			if ta == nil || tb == nil || !types.Identical(types.Default(ta), types.Default(tb)) {
				continue
			}
			s.swap(.6, a, b)
		}
	}
}

// swap exchanges the text of two nodes.
func (s *mutator) swap(prior float64, a, b ast.Node) {
	between := s.src[s.m.offset(a.End()):s.m.offset(b.Pos())]
	s.put(prior, a.Pos(), b.End(), s.text(b)+between+s.text(a))
}

// swappedIndices turns x[i][j] into x[j][i], and swaps the elements of a
// composite literal that is an index.
func swappedIndices(s *mutator, n ast.Node) {
	switch x := n.(type) {
	case *ast.IndexExpr:
		if in, ok := x.X.(*ast.IndexExpr); ok {
			s.swap(.4, in.Index, x.Index)
		}
	case *ast.CompositeLit:
		for i := range x.Elts {
			for j := i + 1; j < len(x.Elts) && j < 6; j++ {
				a, b := x.Elts[i], x.Elts[j]
				if k, ok := a.(*ast.KeyValueExpr); ok {
					l, ok := b.(*ast.KeyValueExpr)
					if !ok {
						continue
					}
					a, b = k.Value, l.Value
				}
				if ta, tb := s.typ(a), s.typ(b); ta != nil && tb != nil && types.Identical(ta, tb) && len(x.Elts) <= 4 {
					s.swap(.35, a, b)
				}
			}
		}
	}
}

// swappedValues turns a, b = x, y into a, b = y, x, and so for two results.
func swappedValues(s *mutator, n ast.Node) {
	var list []ast.Expr
	switch x := n.(type) {
	case *ast.AssignStmt:
		list = x.Rhs
		if len(x.Lhs) == 2 && len(x.Rhs) == 1 {
			if _, call := x.Rhs[0].(*ast.CallExpr); call {
				list = x.Lhs
			}
		}
	case *ast.ReturnStmt:
		list = x.Results
	}
	for i := 0; i+1 < len(list); i++ {
		a, b := s.typ(list[i]), s.typ(list[i+1])
		if a != nil && b != nil && types.Identical(types.Default(a), types.Default(b)) {
			s.swap(.45, list[i], list[i+1])
		}
	}
}

// unwrapped passes on an argument instead of a call's result.
func unwrapped(s *mutator, n ast.Node) {
	c, ok := n.(*ast.CallExpr)
	if !ok || len(c.Args) == 0 || s.info.Types[c.Fun].IsType() {
		return
	}
	t := s.typ(c)
	if t == nil {
		return
	}
	if _, statement := s.parent(0).(*ast.ExprStmt); statement {
		return
	}
	own := 0.0
	if isIdent(c.Fun, s.fn.decl.Name.Name) {
		own = .1
	}
	for _, a := range c.Args {
		ta := s.typ(a)
		if ta == nil {
			continue
		}
		if types.AssignableTo(ta, t) {
			s.replace(.2+own, c, s.text(a))
			continue
		}
		// As an element of append, or where any type may stand.
		p, ok := s.parent(0).(*ast.CallExpr)
		if !ok || !isIdent(p.Fun, "append") || len(p.Args) != 2 || p.Args[1] != c {
			continue
		}
		if e := element(s.typ(p)); e != nil && types.AssignableTo(ta, e) {
			s.put(.2+own, c.Pos(), p.Rparen, s.text(a))
		}
	}
}

// wrapped calls what this package has for a value: a function from T to T, or
// a method of T that returns a T.
func wrapped(s *mutator, n ast.Node) {
	e, ok := n.(ast.Expr)
	if !ok || !s.value(e) || s.info.Types[e].Value != nil || !s.info.Types[e].IsValue() {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
	default:
		return
	}
	if _, ok := s.parent(0).(*ast.SelectorExpr); ok {
		return
	}
	if c, ok := s.parent(0).(*ast.CallExpr); ok && c.Fun == e {
		return
	}
	t := s.typ(e)
	if t == nil || isIdent(e, "nil") {
		return
	}
	sc := s.fn.pkg.types.Scope()
	for _, name := range sc.Names() {
		f, ok := sc.Lookup(name).(*types.Func)
		if !ok || name == s.fn.decl.Name.Name {
			continue
		}
		sig := f.Signature()
		if sig.Params().Len() == 1 && sig.Results().Len() == 1 && !sig.Variadic() &&
			types.Identical(sig.Params().At(0).Type(), t) && types.Identical(sig.Results().At(0).Type(), t) {
			s.replace(.2, e, name+"("+s.text(e)+")")
		}
	}
}

// runes counts characters instead of bytes, and walks them.
func runes(s *mutator, n ast.Node) {
	if c, ok := n.(*ast.CallExpr); ok && isLen(c) && isString(s.typ(c.Args[0])) {
		s.replace(.25, c, "len([]rune("+s.text(c.Args[0])+"))")
	}
	c, ok := n.(*ast.CallExpr)
	if !ok || len(c.Args) != 1 {
		return
	}
	if s.text(c.Fun) == "[]byte" && isString(s.typ(c.Args[0])) {
		s.replace(.2, c.Fun, "[]rune")
	}
}

// copied stores a copy of a slice that goes on being changed.
func copied(s *mutator, n ast.Node) {
	id, ok := n.(*ast.Ident)
	if !ok || !s.value(id) {
		return
	}
	t := s.typ(id)
	if element(t) == nil {
		return
	}
	if _, ok := s.info.Uses[id].(*types.Var); !ok {
		return
	}
	prior := 0.0
	switch p := s.parent(0).(type) {
	case *ast.CallExpr:
		if !isIdent(p.Fun, "append") || p.Ellipsis.IsValid() {
			return
		}
		for i, a := range p.Args {
			if a == id {
				prior = .2
				if i > 0 {
					prior = .35
				}
			}
		}
	case *ast.AssignStmt, *ast.ReturnStmt, *ast.KeyValueExpr:
		prior = .2
	}
	if prior > 0 {
		s.replace(prior, id, "append("+s.name(t)+"(nil), "+id.Name+"...)")
	}
}
