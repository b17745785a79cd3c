package repair

import (
	"go/ast"
	"go/types"
)

// part takes the head or the tail of a slice or string.
func part(s *mutator, n ast.Node) {
	e, t, role, ok := s.plain(n)
	if _, call := n.(*ast.CallExpr); !ok || call || !s.value(e) || element(t) == nil && !isString(t) {
		return
	}
	prior := map[string]float64{"argument": .3, "assigned": .12, "result": .12, "field": .12}[role]
	if p, ok := s.parent(0).(*ast.CallExpr); ok && isIdent(p.Fun, "append") {
		prior = .12
	} else if ok && isLen(p) {
		return
	}
	s.parts(prior, prior*.6, e)
}

// parts writes a slice without its ends, and cut at a number in scope.
func (s *mutator) parts(ends, cut float64, e ast.Expr) {
	x := s.operand(e)
	s.replace(ends, e, x+"[1:]")
	s.replace(ends*.9, e, x+"[:len("+x+")-1]")
	for _, v := range s.varsOf(e.Pos(), types.Typ[types.Int]) {
		s.replace(cut, e, x+"["+v.Name()+":]")
		s.replace(cut*.9, e, x+"[:"+v.Name()+"]")
		s.replace(cut*.8, e, x+"["+v.Name()+"+1:]")
	}
}

// returnedSlice returns something else than nothing, or more than one part.
func returnedSlice(s *mutator, r *ast.ReturnStmt) {
	res := s.results()
	if len(res) != len(r.Results) {
		return
	}
	for i, e := range r.Results {
		elem := element(res[i])
		if elem == nil {
			continue
		}
		t, text := s.name(res[i]), s.text(e)
		lit, isLit := e.(*ast.CompositeLit)
		nothing := isIdent(e, "nil") || isLit && len(lit.Elts) == 0
		if nothing && element(elem) != nil {
			s.replace(.35, e, t+"{{}}")
		}
		if isLit && len(lit.Elts) == 1 {
			s.replace(.15, e, "nil")
		}
		for _, v := range s.vars(r.Pos()) {
			switch {
			case types.Identical(v.Type(), elem) && nothing:
				s.replace(.35, e, t+"{"+v.Name()+"}")
			case types.Identical(v.Type(), elem):
				s.replace(.15, e, "append("+text+", "+v.Name()+")")
			case types.Identical(v.Type(), res[i]) && v.Name() != text && !nothing:
				s.replace(.25, e, "append("+v.Name()+", "+text+"...)")
				s.replace(.25, e, "append("+text+", "+v.Name()+"...)")
			}
		}
	}
}

// endless adds a condition to a loop without one.
func endless(s *mutator, f *ast.ForStmt) {
	if f.Cond != nil || f.Init != nil || f.Post != nil {
		return
	}
	used := names(f.Body)
	for _, t := range s.tests(f.Pos(), used) {
		prior := .1
		if t.mentions(used) {
			prior = .3
		}
		s.put(prior, f.For+3, f.Body.Lbrace, " "+t.no+" ")
	}
}

// ranged goes over a part of a slice, over another length, or by index.
func ranged(s *mutator, r *ast.RangeStmt) {
	t := s.typ(r.X)
	if element(t) != nil || isString(t) {
		s.parts(.25, .25, r.X)
	}
	for _, v := range s.vars(r.Pos()) {
		if isInt(t) && hasLen(v.Type()) {
			s.replace(.25, r.X, "len("+v.Name()+")")
		}
	}
	// for _, x := range s is written where for x := range s was meant.
	k, _ := r.Key.(*ast.Ident)
	v, _ := r.Value.(*ast.Ident)
	switch {
	case k != nil && v != nil && k.Name == "_":
		s.put(.25, k.Pos(), v.End(), v.Name)
	case k != nil && r.Value == nil && element(t) != nil && k.Name != "_":
		s.replace(.25, k, "_, "+k.Name)
	}
}
