package repair

import (
	"go/ast"
	"go/token"
	"go/types"
)

// sliceOps vary slices: which part, in which order, of what.
func sliceOps() []operator {
	return []operator{
		{"slice bound", sliceBound},
		{"part of a slice", part},
		{"append order", appended},
		{"returned slice", returnedSlice},
		{"wrong index", wrongIndex},
	}
}

// sliceBound drops, adds or swaps a bound.
func sliceBound(s *mutator, n ast.Node) {
	x, ok := n.(*ast.SliceExpr)
	if !ok || x.Slice3 {
		return
	}
	of := s.text(x.X)
	switch {
	case x.Low == nil && x.High != nil:
		s.put(.3, x.Lbrack, x.End(), "["+s.text(x.High)+":]")
	case x.Low != nil && x.High == nil:
		s.put(.3, x.Lbrack, x.End(), "[:"+s.text(x.Low)+"]")
		if s.simple(x.X) {
			s.put(.15, x.Lbrack, x.End(), "["+s.text(x.Low)+":len("+of+")-1]")
		}
	case x.Low != nil && x.High != nil:
		s.put(.2, x.Lbrack, x.End(), "["+s.text(x.Low)+":]")
		s.put(.2, x.Lbrack, x.End(), "[:"+s.text(x.High)+"]")
	}
	for _, v := range s.vars(x.Pos()) {
		if !isInt(v.Type()) {
			continue
		}
		if x.Low == nil && x.High != nil {
			s.put(.15, x.Lbrack+1, x.Lbrack+1, v.Name())
		}
		if x.High == nil && x.Low != nil {
			s.put(.15, x.Rbrack, x.Rbrack, v.Name())
		}
	}
}

// part takes the head or the tail of a slice or string.
func part(s *mutator, n ast.Node) {
	e, ok := n.(ast.Expr)
	if !ok || !s.value(e) {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.SelectorExpr, *ast.IndexExpr:
	default:
		return
	}
	t := s.typ(e)
	if element(t) == nil && !isString(t) || !s.info.Types[e].IsValue() || s.info.Types[e].Value != nil {
		return
	}
	prior := .12
	switch p := s.parent(0).(type) {
	case *ast.CallExpr:
		if p.Fun == e || isLen(p) {
			return
		}
		if !isIdent(p.Fun, "append") {
			prior = .3
		}
	case *ast.IndexExpr, *ast.SliceExpr, *ast.SelectorExpr, *ast.BinaryExpr:
		return
	case *ast.RangeStmt:
		return
	}
	x := s.text(e)
	s.replace(prior, e, x+"[1:]")
	s.replace(prior, e, x+"[:len("+x+")-1]")
	for _, v := range s.vars(e.Pos()) {
		if isInt(v.Type()) {
			s.replace(prior*.6, e, x+"["+v.Name()+":]")
			s.replace(prior*.6, e, x+"[:"+v.Name()+"]")
			s.replace(prior*.4, e, x+"["+v.Name()+"+1:]")
		}
	}
}

// appended changes the order of two slices that are put together, or what is
// put to them.
func appended(s *mutator, n ast.Node) {
	c, ok := n.(*ast.CallExpr)
	if !ok || !isIdent(c.Fun, "append") || len(c.Args) != 2 {
		return
	}
	elem := element(s.typ(c))
	if elem == nil {
		return
	}
	a, b := s.text(c.Args[0]), s.text(c.Args[1])
	if c.Ellipsis.IsValid() {
		s.replace(.4, c, "append("+b+", "+a+"...)")
		return
	}
	slice := s.name(s.typ(c))
	s.replace(.25, c, "append("+slice+"{"+b+"}, "+a+"...)")
	for _, v := range s.vars(c.Pos()) {
		if types.Identical(v.Type(), elem) && v.Name() != b {
			s.replace(.2, c.Args[1], v.Name())
		}
	}
}

// returnedSlice returns something else than nothing, or more than one part.
func returnedSlice(s *mutator, n ast.Node) {
	r, ok := n.(*ast.ReturnStmt)
	if !ok {
		return
	}
	res := s.results()
	if len(res) != len(r.Results) {
		return
	}
	for i, e := range r.Results {
		elem := element(res[i])
		if elem == nil {
			continue
		}
		t := s.name(res[i])
		lit, isLit := e.(*ast.CompositeLit)
		if isIdent(e, "nil") || isLit && len(lit.Elts) == 0 {
			for _, v := range s.vars(r.Pos()) {
				if types.Identical(v.Type(), elem) {
					s.replace(.35, e, t+"{"+v.Name()+"}")
				}
			}
			if slicesOf(res[i]) {
				s.replace(.35, e, t+"{{}}")
			}
			continue
		}
		if isLit && len(lit.Elts) == 1 {
			s.replace(.15, e, "nil")
		}
		for _, v := range s.vars(r.Pos()) {
			if !types.Identical(v.Type(), res[i]) || v.Name() == s.text(e) {
				continue
			}
			s.replace(.25, e, "append("+v.Name()+", "+s.text(e)+"...)")
			s.replace(.25, e, "append("+s.text(e)+", "+v.Name()+"...)")
		}
		for _, v := range s.vars(r.Pos()) {
			if types.Identical(v.Type(), elem) {
				s.replace(.15, e, "append("+s.text(e)+", "+v.Name()+")")
			}
		}
	}
}

// wrongIndex indexes from the other end, or at the ends.
func wrongIndex(s *mutator, n ast.Node) {
	x, ok := n.(*ast.IndexExpr)
	if !ok || s.typ(x.X) == nil || !isInt(s.typ(x.Index)) || !s.simple(x.X) {
		return
	}
	if _, isMap := s.typ(x.X).Underlying().(*types.Map); isMap {
		return
	}
	if !hasLen(s.typ(x.X)) {
		return
	}
	of, at := s.text(x.X), s.text(x.Index)
	if v, ok := constant(x.Index); ok && v == "0" {
		s.replace(.3, x.Index, "len("+of+")-1")
		return
	}
	if b, ok := x.Index.(*ast.BinaryExpr); ok && b.Op == token.SUB && at == "len("+of+")-1" {
		s.replace(.3, x.Index, "0")
		return
	}
	s.replace(.12, x.Index, "len("+of+")-1-"+s.operand(x.Index))
	for _, v := range s.vars(x.Pos()) {
		if isInt(v.Type()) && v.Name() != at {
			s.replace(.2, x.Index, v.Name()+"-1")
			s.replace(.2, x.Index, v.Name()+"+1")
		}
	}
}
