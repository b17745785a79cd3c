package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// emptiness lets a check for nothing also catch one element, and the reverse.
func emptiness(s *mutator, b *ast.BinaryExpr) {
	v, ok := constant(b.Y)
	if !ok || !isLen(b.X) {
		return
	}
	switch b.Op.String() + v {
	case "==0":
		s.replace(.4, b, s.text(b.X)+" <= 1")
	case "!=0", ">0":
		s.replace(.3, b, s.text(b.X)+" > 1")
	case "<=1":
		s.replace(.3, b, s.text(b.X)+" == 0")
	}
}

// negated adds or removes a negation, of a whole condition or of one clause.
func negated(s *mutator, n ast.Node) {
	if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		s.replace(.5, u, s.text(u.X))
	} else if e, t, role, ok := s.plain(n); ok && isBool(t) {
		s.replace(map[string]float64{"condition": .4, "result": .4, "operand": .4, "assigned": .25}[role], e, "!"+s.text(e))
	}
}

// returnedBool changes a constant answer: into the other one, or into a
// question about a local count.
func returnedBool(s *mutator, r *ast.ReturnStmt) {
	for _, e := range r.Results {
		val := isIdent(e, "true")
		if !val && !isIdent(e, "false") {
			continue
		}
		s.replace(.35, e, strconv.FormatBool(!val))
		eq := map[bool]string{true: " == 0", false: " != 0"}[val]
		for _, v := range s.vars(r.Pos()) {
			switch t := v.Type(); {
			case isInt(t):
				s.replace(.25, e, v.Name()+eq)
			case isBool(t):
				s.replace(.2, e, v.Name())
				s.replace(.1, e, "!"+v.Name())
			case hasLen(t) && !isString(t):
				s.replace(.2, e, "len("+v.Name()+")"+eq)
			}
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
	b, inSum := s.parent(0).(*ast.BinaryExpr)
	inSum = inSum && (b.Op == token.ADD || b.Op == token.SUB)
	if v != 1 || !inSum { // x + 0 is what term writes as x
		s.replace(prior, l, strconv.FormatInt(v-1, 10))
	}
	if v == 0 || v == 1 {
		s.replace(.2, l, "-1")
	}
}

// offByOne adds one to a bound, an index, an argument or a result, or subtracts one.
func offByOne(s *mutator, n ast.Node) {
	e, t, role, ok := s.plain(n)
	if b, sum := n.(*ast.BinaryExpr); sum && s.info.Types[b].Value == nil {
		v, one := constant(b.Y) // term drops it, literal and arithmetic vary it
		e, t, role, ok = b, s.typ(b), s.role(b), (b.Op == token.ADD || b.Op == token.SUB || b.Op == token.QUO || b.Op == token.MUL) && !(one && v == "1")
	}
	prior := map[string]float64{
		"index": .45, "bound": .5, "range": .5, "ordered": .4, "argument": .4, "assigned": .4, "result": .35, "field": .25, "operand": .2,
	}[role]
	if !ok || !isInt(t) || prior == 0 {
		return
	}
	for _, d := range []string{"+1", "-1"} {
		text := s.text(e) + d
		if p, ok := s.parent(0).(*ast.BinaryExpr); ok && (p.Op.Precedence() > token.ADD.Precedence() || p.Op == token.SUB && p.Y == e) {
			text = "(" + text + ")"
		}
		s.replace(prior, e, text)
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

// term drops one side of a sum, or adds a number that is in scope.
func term(s *mutator, n ast.Node) {
	if b, ok := n.(*ast.BinaryExpr); ok {
		prior := func(e ast.Expr) float64 {
			if v, ok := constant(e); ok && v == "1" {
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
	e, t, role, ok := s.plain(n)
	prior := map[string]float64{"argument": .2, "assigned": .2, "result": .2, "index": .2, "bound": .2, "operand": .1, "ordered": .1}[role]
	if !ok || !isNumber(t) || prior == 0 {
		return
	}
	for _, v := range s.varsOf(e.Pos(), t) {
		texts, level := []string{s.text(e) + " - " + v.Name(), s.text(e) + " + " + v.Name()}, token.ADD.Precedence()
		if s.text(e) == v.Name() {
			texts, level = []string{v.Name() + "*" + v.Name()}, token.MUL.Precedence()
			s.replace(prior*.5, e, texts[0])
		}
		for _, text := range texts {
			if p, in := s.parent(0).(*ast.BinaryExpr); in && p.Op.Precedence() >= level {
				text = "(" + text + ")"
			}
			s.replace(prior/float64(3-len(texts)), e, text)
		}
	}
}

// minus adds or removes the sign of a number.
func minus(s *mutator, n ast.Node) {
	if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		s.replace(.35, u, s.text(u.X))
	} else if e, t, role, ok := s.plain(n); ok && isNumber(t) {
		s.replace(map[string]float64{"result": .2, "assigned": .15, "argument": .1}[role], e, "-"+s.text(e))
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
	if len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN || !isNumber(s.typ(a.Rhs[0])) {
		return
	}
	rhs := a.Rhs[0]
	lhs, text := s.text(a.Lhs[0]), s.text(rhs)
	if c, ok := rhs.(*ast.CallExpr); ok && (isIdent(c.Fun, "min") || isIdent(c.Fun, "max")) {
		return
	}
	s.replace(.3, rhs, "max("+lhs+", "+text+")")
	s.replace(.3, rhs, "min("+lhs+", "+text+")")
	s.replace(.25, rhs, "max(0, "+text+")")
	if _, simple := rhs.(*ast.Ident); simple {
		return
	}
	for _, v := range s.varsOf(a.Pos(), s.typ(rhs)) {
		if v.Name() != lhs {
			s.replace(.15, rhs, "max("+v.Name()+", "+text+")")
		}
	}
}

// swappedArgs swaps two arguments of the same type.
func swappedArgs(s *mutator, c *ast.CallExpr) {
	if !isIdent(c.Fun, "min") && !isIdent(c.Fun, "max") {
		s.swapPairs(.6, c.Args, len(c.Args))
	}
}

// swapPairs exchanges two expressions of one type that stand at most reach apart.
func (s *mutator) swapPairs(prior float64, list []ast.Expr, reach int) {
	for i := range list {
		for j := i + 1; j < len(list) && j <= i+reach; j++ {
			a, b := s.typ(list[i]), s.typ(list[j])
			if a != nil && b != nil && types.Identical(types.Default(a), types.Default(b)) {
				s.swap(prior, list[i], list[j])
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
			s.swapPairs(.35, values, len(values))
		}
	}
}

// unwrapped passes on an argument instead of a call's result.
func unwrapped(s *mutator, c *ast.CallExpr) {
	t := s.typ(c)
	if _, statement := s.parent(0).(*ast.ExprStmt); t == nil || statement || s.info.Types[c.Fun].IsType() {
		return
	}
	prior := .2
	if isIdent(c.Fun, s.fn.decl.Name.Name) {
		prior = .3
	}
	p, _ := s.parent(0).(*ast.CallExpr)
	for _, a := range c.Args {
		ta := s.typ(a)
		if ta == nil {
			continue
		}
		if types.AssignableTo(ta, t) {
			s.replace(prior, c, s.text(a))
		} else if p != nil && isIdent(p.Fun, "append") && len(p.Args) == 2 && p.Args[1] == c {
			if e := element(s.typ(p)); e != nil && types.AssignableTo(ta, e) { // an element, no longer with dots
				s.put(prior, c.Pos(), p.Rparen, s.text(a))
			}
		}
	}
}

// wrapped calls a function of this package from T to T, counts characters instead of
// bytes, or copies a slice that goes on being changed.
func wrapped(s *mutator, n ast.Node) {
	e, t, role, ok := s.plain(n)
	if !ok || !s.value(e) {
		return
	}
	if c, ok := e.(*ast.CallExpr); ok {
		if isLen(c) && isString(s.typ(c.Args[0])) {
			s.replace(.25, c, "len([]rune("+s.text(c.Args[0])+"))")
		}
		return
	}
	if _, ident := e.(*ast.Ident); ident && element(t) != nil {
		if p, ok := s.parent(0).(*ast.CallExpr); ok && (!isIdent(p.Fun, "append") || p.Ellipsis.IsValid()) {
			role = ""
		}
		s.replace(map[string]float64{"argument": .35, "assigned": .2, "result": .2, "field": .2}[role], e, "append("+s.name(t)+"(nil), "+s.text(e)+"...)")
	}
	_, selected := s.parent(0).(*ast.SelectorExpr)
	sc := s.fn.pkg.types.Scope()
	for _, name := range sc.Names() {
		f, ok := sc.Lookup(name).(*types.Func)
		if !ok || selected || name == s.fn.decl.Name.Name || s.called(e) {
			continue
		}
		sig := f.Signature()
		if sig.Params().Len() == 1 && sig.Results().Len() == 1 && !sig.Variadic() &&
			types.Identical(sig.Params().At(0).Type(), t) && types.Identical(sig.Results().At(0).Type(), t) {
			s.replace(.2, e, name+"("+s.text(e)+")")
		}
	}
}

// called reports whether an expression is what a call calls.
func (s *mutator) called(e ast.Expr) bool {
	c, ok := s.parent(0).(*ast.CallExpr)
	return ok && c.Fun == e
}
