package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// emptiness lets a check for nothing also catch one element, and the reverse.
func emptiness(s *mutator, b *ast.BinaryExpr) {
	if other := map[string]string{"==0": " <= 1", "!=0": " > 1", ">0": " > 1", "<=1": " == 0"}[b.Op.String()+constant(b.Y)]; other != "" && isLen(b.X) {
		s.replace(.35, b, s.text(b.X)+other)
	}
}

// unsigned makes a row that removes a sign.
func unsigned(sign token.Token, prior float64) func(*mutator, ast.Node) {
	return on(func(s *mutator, u *ast.UnaryExpr) {
		if u.Op == sign {
			s.replace(prior, u, s.text(u.X))
		}
	})
}

// returnedBool changes a constant answer: into the other one, or into a
// question about a local variable.
func returnedBool(s *mutator, r *ast.ReturnStmt) {
	for _, e := range r.Results {
		val := isIdent(e, "true")
		if !val && !isIdent(e, "false") {
			continue
		}
		s.replace(.35, e, strconv.FormatBool(!val))
		for _, t := range s.tests(r.Pos(), nil) {
			s.replace(.25, e, map[bool]string{true: t.yes, false: t.no}[val])
		}
	}
}

// literal moves an integer constant by one.
func literal(s *mutator, l *ast.BasicLit) {
	v, err := strconv.ParseInt(l.Value, 0, 64)
	if err != nil || l.Kind != token.INT {
		return
	}
	prior := .55
	if v > 2 {
		prior = .25
	}
	s.replace(prior, l, strconv.FormatInt(v+1, 10))
	s.replace(prior, l, strconv.FormatInt(v-1, 10))
	if v == 0 || v == 1 {
		s.replace(.2, l, "-1")
	}
}

// offByOne adds one to a value that is computed, or subtracts one.
func offByOne(s *mutator, b *ast.BinaryExpr) {
	switch {
	case constant(b.Y) == "1" || s.info.Types[b].Value != nil || !isInt(s.typ(b)): // term drops it, literal and arithmetic vary it
	case b.Op == token.ADD || b.Op == token.SUB || b.Op == token.QUO || b.Op == token.MUL:
		prior := map[string]float64{"index": .45, "bound": .5, "range": .5, "ordered": .4, "argument": .4, "assigned": .4, "result": .35, "field": .25, "operand": .2}[s.role(b)]
		s.fitted(prior, b, s.text(b)+"+1")
		s.fitted(prior, b, s.text(b)+"-1")
	}
}

// operands swaps the sides of an operator that is not symmetric, and of a
// concatenation.
func operands(s *mutator, b *ast.BinaryExpr) {
	switch b.Op {
	case token.ADD:
		if !isString(s.typ(b.X)) {
			return
		}
	case token.SUB, token.QUO, token.REM, token.SHL, token.SHR:
	default:
		return
	}
	s.replace(.55, b, s.operand(b.Y)+" "+b.Op.String()+" "+s.operand(b.X))
}

// term drops one side of a sum or a product.
func term(s *mutator, b *ast.BinaryExpr) {
	prior := func(e ast.Expr) float64 {
		if constant(e) == "1" {
			return .55
		}
		return .3
	}
	switch b.Op {
	case token.ADD:
		s.replace(prior(b.X), b, s.text(b.Y))
		fallthrough
	case token.SUB:
		s.replace(prior(b.Y), b, s.text(b.X))
	case token.MUL, token.QUO, token.REM:
		s.replace(.15, b, s.text(b.X))
	}
}

// divided turns float64(a / b) into float64(a) / float64(b), and a / b * c
// into a * c / b.
func divided(s *mutator, n ast.Node) {
	switch x := n.(type) {
	case *ast.CallExpr:
		if len(x.Args) != 1 || !s.info.Types[x.Fun].IsType() || !basic(s.typ(x), types.IsFloat) {
			return
		}
		if b, ok := x.Args[0].(*ast.BinaryExpr); ok && isInt(s.typ(b)) {
			f := s.text(x.Fun)
			s.replace(.5, x, f+"("+s.text(b.X)+") "+b.Op.String()+" "+f+"("+s.text(b.Y)+")")
		}
	case *ast.BinaryExpr:
		if q, ok := ast.Unparen(x.X).(*ast.BinaryExpr); ok && x.Op == token.MUL && q.Op == token.QUO && isInt(s.typ(x)) {
			s.replace(.4, x, s.operand(q.X)+" * "+s.operand(x.Y)+" / "+s.operand(q.Y))
		}
	}
}

// clamped keeps the larger or the smaller of an old and a new value.
func clamped(s *mutator, a *ast.AssignStmt) {
	if len(a.Lhs) != 1 || a.Tok != token.ASSIGN || !isNumber(s.typ(a.Rhs[0])) {
		return
	}
	lhs, text := s.text(a.Lhs[0]), s.text(a.Rhs[0])
	if c, ok := a.Rhs[0].(*ast.CallExpr); !ok || !isIdent(c.Fun, "min") && !isIdent(c.Fun, "max") {
		s.replace(.3, a.Rhs[0], "max("+lhs+", "+text+")")
		s.replace(.3, a.Rhs[0], "min("+lhs+", "+text+")")
		s.replace(.25, a.Rhs[0], "max(0, "+text+")")
	}
}

// swappedArgs swaps two arguments of the same type.
func swappedArgs(s *mutator, c *ast.CallExpr) {
	if !isIdent(c.Fun, "min") && !isIdent(c.Fun, "max") {
		s.swapPairs(.6, c.Args)
	}
}

// swapPairs exchanges two expressions of one type.
func (s *mutator) swapPairs(prior float64, list []ast.Expr) {
	for i, x := range list {
		for _, y := range list[i+1:] {
			if a, b := s.typ(x), s.typ(y); a != nil && b != nil && types.Identical(types.Default(a), types.Default(b)) {
				s.swap(prior, x, y)
			}
		}
	}
}

// swap exchanges the text of two nodes.
func (s *mutator) swap(prior float64, a, b ast.Node) {
	between := s.src[s.m.offset(a.End()):s.m.offset(b.Pos())]
	s.put(prior, a.Pos(), b.End(), s.text(b)+between+s.text(a))
}

// swappedIndices turns x[i][j] into x[j][i], and swaps the elements of a short
// composite literal.
func swappedIndices(s *mutator, n ast.Node) {
	switch x := n.(type) {
	case *ast.IndexExpr:
		if in, ok := x.X.(*ast.IndexExpr); ok {
			s.swap(.4, in.Index, x.Index)
		}
	case *ast.CompositeLit:
		var values []ast.Expr
		for _, e := range x.Elts {
			if k, ok := e.(*ast.KeyValueExpr); ok {
				e = k.Value
			}
			values = append(values, e)
		}
		if len(values) <= 4 {
			s.swapPairs(.35, values)
		}
	}
}

// unwrapped passes on an argument instead of a call's result.
func unwrapped(s *mutator, c *ast.CallExpr) {
	t := s.typ(c)
	if t == nil || s.info.Types[c.Fun].IsType() {
		return
	}
	prior := map[bool]float64{true: .3, false: .2}[isIdent(c.Fun, s.fn.decl.Name.Name)]
	p, _ := s.parent(0).(*ast.CallExpr)
	for _, a := range c.Args {
		ta := s.typ(a)
		switch {
		case ta == nil:
		case types.AssignableTo(ta, t):
			s.replace(prior, c, s.text(a))
		case p != nil && p.Ellipsis.IsValid() && element(t) != nil && types.AssignableTo(ta, element(t)): // an element, no longer with dots
			s.put(prior, c.Pos(), p.Rparen, s.text(a))
		}
	}
}

// wrapped calls a function of this package from T to T, or counts characters instead of
// bytes.
func wrapped(s *mutator, n ast.Node) {
	e, t, role, ok := s.plain(n)
	c, call := e.(*ast.CallExpr)
	switch {
	case !ok || role == "" || s.called(e):
		return
	case call && isLen(c) && isString(s.typ(c.Args[0])):
		s.replace(.25, c, "len([]rune("+s.text(c.Args[0])+"))")
	}
	sc := s.fn.pkg.types.Scope()
	for _, name := range sc.Names() {
		f, ok := sc.Lookup(name).(*types.Func)
		if !ok || call || name == s.fn.decl.Name.Name {
			continue
		}
		in, out := f.Signature().Params(), f.Signature().Results()
		if in.Len() == 1 && out.Len() == 1 && types.Identical(in.At(0).Type(), t) && types.Identical(out.At(0).Type(), t) {
			s.replace(.2, e, name+"("+s.text(e)+")")
		}
	}
}

// called reports whether an expression is what a call calls.
func (s *mutator) called(e ast.Expr) bool {
	c, ok := s.parent(0).(*ast.CallExpr)
	return ok && c.Fun == e
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

// ranged goes over another length, or by index.
func ranged(s *mutator, r *ast.RangeStmt) {
	t := s.typ(r.X)
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
