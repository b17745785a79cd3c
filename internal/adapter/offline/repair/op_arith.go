package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
)

// arithmeticOps vary numbers and what is done to them.
func arithmeticOps() []operator {
	return []operator{
		{"constant off by one", literal},
		{"off by one", offByOne},
		{"arithmetic operator", arithmetic},
		{"operand order", operands},
		{"missing or extra term", term},
		{"assignment operator", assignment},
		{"negated number", minus},
		{"conversion before the division", divided},
		{"start value", start},
		{"clamped value", clamped},
	}
}

// literal moves an integer constant by one.
func literal(s *mutator, n ast.Node) {
	l, ok := n.(*ast.BasicLit)
	if !ok || l.Kind != token.INT {
		return
	}
	v, err := strconv.ParseInt(l.Value, 0, 64)
	if err != nil {
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
	if v == 1 {
		s.replace(.2, l, "-1")
	}
	if v == 0 {
		s.replace(.15, l, "-1")
	}
}

// offByOne adds one to a bound, an index, an argument or a result, or subtracts one.
func offByOne(s *mutator, n ast.Node) {
	e, ok := n.(ast.Expr)
	if !ok || !isInt(s.typ(e)) || !s.info.Types[e].IsValue() || s.info.Types[e].Value != nil {
		return
	}
	switch x := e.(type) {
	case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
	case *ast.BinaryExpr:
		if x.Op != token.ADD && x.Op != token.SUB && x.Op != token.QUO && x.Op != token.MUL {
			return
		}
		if v, ok := constant(x.Y); ok && v == "1" {
			return // term drops it, literal and arithmetic vary it
		}
	default:
		return
	}
	prior := 0.0
	switch p := s.parent(0).(type) {
	case *ast.IndexExpr:
		if p.Index == e {
			prior = .45
		}
	case *ast.SliceExpr:
		if p.X != e {
			prior = .5
		}
	case *ast.BinaryExpr:
		switch p.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			prior = .4
		case token.ADD, token.SUB, token.MUL, token.QUO, token.REM, token.EQL, token.NEQ:
			prior = .2
		}
	case *ast.CallExpr:
		if p.Fun != e {
			prior = .4
		}
	case *ast.ReturnStmt:
		prior = .35
	case *ast.RangeStmt:
		if p.X == e {
			prior = .5
		}
	case *ast.AssignStmt:
		for _, r := range p.Rhs {
			if r == e {
				prior = .4
			}
		}
	case *ast.KeyValueExpr:
		if p.Value == e {
			prior = .25
		}
	}
	if prior == 0 {
		return
	}
	more, less := s.text(e)+"+1", s.text(e)+"-1"
	if p, ok := s.parent(0).(*ast.BinaryExpr); ok && (p.Op.Precedence() > token.ADD.Precedence() || p.Op == token.SUB && p.Y == e) {
		more, less = "("+more+")", "("+less+")"
	}
	s.replace(prior, e, more)
	s.replace(prior, e, less)
}

// arithmetic swaps an operator for another of its family.
func arithmetic(s *mutator, n ast.Node) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return
	}
	type to struct {
		op    string
		prior float64
	}
	table := map[token.Token][]to{
		token.ADD:     {{"-", .5}, {"*", .25}},
		token.SUB:     {{"+", .5}, {"/", .1}},
		token.MUL:     {{"+", .25}, {"/", .35}},
		token.QUO:     {{"*", .35}, {"%", .4}},
		token.REM:     {{"/", .4}, {"*", .1}},
		token.AND:     {{"|", .5}, {"^", .4}, {"&^", .3}},
		token.OR:      {{"&", .5}, {"^", .4}},
		token.XOR:     {{"&", .5}, {"|", .5}},
		token.AND_NOT: {{"&", .5}, {"|", .3}},
		token.SHL:     {{">>", .5}},
		token.SHR:     {{"<<", .5}},
	}
	if b.Op == token.ADD && isString(s.typ(b.X)) {
		return
	}
	same := s.text(b.X) == s.text(b.Y)
	for _, c := range table[b.Op] {
		if same && c.op != "+" && c.op != "*" {
			continue // x - x, x / x: nobody means that
		}
		s.put(c.prior, b.OpPos, b.OpPos+token.Pos(len(b.Op.String())), c.op)
	}
}

// operands swaps the sides of an operator that is not symmetric, and of a
// concatenation.
func operands(s *mutator, n ast.Node) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return
	}
	switch b.Op {
	case token.SUB, token.QUO, token.REM, token.SHL, token.SHR:
	case token.ADD:
		if !isString(s.typ(b.X)) {
			return
		}
	default:
		return
	}
	s.replace(.55, b, s.operand(b.Y)+" "+b.Op.String()+" "+s.operand(b.X))
}

// term drops one side of a sum, or adds a number that is in scope.
func term(s *mutator, n ast.Node) {
	if b, ok := n.(*ast.BinaryExpr); ok {
		switch b.Op {
		case token.ADD, token.SUB:
			prior := .3
			if v, ok := constant(b.Y); ok && v == "1" {
				prior = .55
			}
			s.replace(prior, b, s.text(b.X))
			if b.Op == token.ADD {
				prior = .3
				if v, ok := constant(b.X); ok && v == "1" {
					prior = .55
				}
				s.replace(prior, b, s.text(b.Y))
			}
		case token.MUL, token.QUO, token.REM:
			s.replace(.15, b, s.text(b.X))
		}
	}
	e, ok := n.(ast.Expr)
	if !ok || !isNumber(s.typ(e)) || !s.info.Types[e].IsValue() || s.info.Types[e].Value != nil {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.IndexExpr, *ast.SelectorExpr, *ast.CallExpr:
	default:
		return
	}
	whole := 0.0
	switch p := s.parent(0).(type) {
	case *ast.CallExpr:
		if p.Fun != e {
			whole = .2
		}
	case *ast.AssignStmt:
		for _, r := range p.Rhs {
			if r == e {
				whole = .2
			}
		}
	case *ast.ReturnStmt, *ast.IndexExpr, *ast.SliceExpr:
		whole = .2
	case *ast.BinaryExpr:
		whole = .1
	}
	if whole == 0 {
		return
	}
	if ix, ok := s.parent(0).(*ast.IndexExpr); ok && ix.X == e {
		return
	}
	for _, v := range s.varsOf(e.Pos(), s.typ(e)) {
		if s.text(e) == v.Name() {
			square := v.Name() + "*" + v.Name()
			if p, in := s.parent(0).(*ast.BinaryExpr); in && p.Op.Precedence() >= token.MUL.Precedence() {
				square = "(" + square + ")"
			}
			s.replace(whole*.5, e, square)
			continue
		}
		open, end := "", ""
		if p, in := s.parent(0).(*ast.BinaryExpr); in && p.Op.Precedence() >= token.ADD.Precedence() {
			open, end = "(", ")"
		}
		s.replace(whole, e, open+s.text(e)+" - "+v.Name()+end)
		s.replace(whole, e, open+s.text(e)+" + "+v.Name()+end)
	}
}

// assignment swaps an assignment's operator.
func assignment(s *mutator, n ast.Node) {
	switch a := n.(type) {
	case *ast.IncDecStmt:
		if a.Tok == token.INC {
			s.put(.4, a.TokPos, a.TokPos+2, "--")
		} else {
			s.put(.4, a.TokPos, a.TokPos+2, "++")
		}
	case *ast.AssignStmt:
		if len(a.Lhs) != 1 {
			return
		}
		table := map[token.Token][]string{
			token.ADD_ASSIGN: {"-=", "=", "*="}, token.SUB_ASSIGN: {"+=", "="},
			token.MUL_ASSIGN: {"/=", "=", "+="}, token.QUO_ASSIGN: {"*=", "%="}, token.REM_ASSIGN: {"/="},
			token.OR_ASSIGN: {"&=", "^=", "&^="}, token.AND_ASSIGN: {"|=", "^=", "&^="}, token.XOR_ASSIGN: {"&=", "|="},
			token.AND_NOT_ASSIGN: {"&=", "|="}, token.SHL_ASSIGN: {">>="}, token.SHR_ASSIGN: {"<<="},
		}
		for i, to := range table[a.Tok] {
			s.put([]float64{.5, .4, .3}[i], a.TokPos, a.TokPos+token.Pos(len(a.Tok.String())), to)
		}
		if a.Tok == token.ASSIGN && (isNumber(s.typ(a.Lhs[0])) || isString(s.typ(a.Lhs[0]))) {
			s.put(.45, a.TokPos, a.TokPos+1, "+=")
		}
		if a.Tok == token.ASSIGN && isBool(s.typ(a.Lhs[0])) {
			s.replace(.25, a.Rhs[0], s.text(a.Lhs[0])+" || "+s.text(a.Rhs[0]))
			s.replace(.25, a.Rhs[0], s.text(a.Lhs[0])+" && "+s.text(a.Rhs[0]))
		}
	}
}

// minus adds or takes the sign of a number.
func minus(s *mutator, n ast.Node) {
	if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.SUB {
		s.replace(.35, u, s.text(u.X))
		return
	}
	e, ok := n.(ast.Expr)
	if !ok || !isNumber(s.typ(e)) || !s.info.Types[e].IsValue() {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
	default:
		return
	}
	switch p := s.parent(0).(type) {
	case *ast.ReturnStmt:
		s.replace(.2, e, "-"+s.text(e))
	case *ast.AssignStmt:
		if len(p.Rhs) == 1 && p.Rhs[0] == e {
			s.replace(.15, e, "-"+s.text(e))
		}
	case *ast.CallExpr:
		if p.Fun != e {
			s.replace(.1, e, "-"+s.text(e))
		}
	}
}

// divided turns float64(a / b) into float64(a) / float64(b), and a / b * c
// into a * c / b.
func divided(s *mutator, n ast.Node) {
	if c, ok := n.(*ast.CallExpr); ok && len(c.Args) == 1 {
		b, ok := c.Args[0].(*ast.BinaryExpr)
		if ok && s.info.Types[c.Fun].IsType() && basic(s.typ(c), types.IsFloat) && isInt(s.typ(b)) {
			f := s.text(c.Fun)
			s.replace(.5, c, f+"("+s.text(b.X)+") "+b.Op.String()+" "+f+"("+s.text(b.Y)+")")
		}
		return
	}
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.MUL || !isInt(s.typ(b)) {
		return
	}
	if q, ok := b.X.(*ast.BinaryExpr); ok && q.Op == token.QUO {
		s.replace(.4, b, s.operand(q.X)+" * "+s.operand(b.Y)+" / "+s.operand(q.Y))
	} else if q, ok := b.X.(*ast.ParenExpr); ok {
		if d, ok := q.X.(*ast.BinaryExpr); ok && d.Op == token.QUO {
			s.replace(.4, b, s.operand(d.X)+" * "+s.operand(b.Y)+" / "+s.operand(d.Y))
		}
	}
}

// start lets an accumulator begin with another value to start from.
func start(s *mutator, n ast.Node) {
	var names []*ast.Ident
	var value ast.Expr
	switch d := n.(type) {
	case *ast.AssignStmt:
		if d.Tok != token.DEFINE || len(d.Lhs) != 1 || len(d.Rhs) != 1 {
			return
		}
		id, ok := d.Lhs[0].(*ast.Ident)
		if !ok {
			return
		}
		names, value = []*ast.Ident{id}, d.Rhs[0]
	case *ast.ValueSpec:
		if len(d.Names) != 1 || len(d.Values) > 0 || d.Type == nil {
			return
		}
		names = d.Names
	default:
		return
	}
	obj, ok := s.info.Defs[names[0]].(*types.Var)
	if !ok || obj == nil {
		return
	}
	t := obj.Type()
	if value == nil {
		d := n.(*ast.ValueSpec)
		for _, v := range s.varsOf(d.Pos(), t) {
			s.put(.2, d.End(), d.End(), " = "+v.Name())
		}
		if isNumber(t) {
			s.put(.3, d.End(), d.End(), " = 1")
		}
		for _, v := range s.vars(d.Pos()) {
			if e := element(v.Type()); e != nil && types.Identical(e, t) {
				s.put(.3, d.End(), d.End(), " = "+v.Name()+"[0]")
			}
		}
		return
	}
	if _, lit := constant(value); lit || isString(t) && s.info.Types[value].Value != nil {
		for _, v := range s.vars(n.Pos()) {
			if e := element(v.Type()); e != nil && types.Identical(e, t) {
				s.replace(.3, value, v.Name()+"[0]")
			}
			if types.Identical(v.Type(), t) {
				s.replace(.2, value, v.Name())
			}
			if hasLen(v.Type()) && isInt(t) {
				s.replace(.12, value, "len("+v.Name()+")")
				s.replace(.12, value, "len("+v.Name()+")-1")
			}
		}
		return
	}
	if c, ok := value.(*ast.CompositeLit); ok && len(c.Elts) == 0 && element(t) != nil {
		for _, v := range s.varsOf(n.Pos(), t) {
			s.replace(.15, value, v.Name())
		}
	}
}

// clamped keeps the larger or the smaller of an old and a new value.
func clamped(s *mutator, n ast.Node) {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || len(a.Rhs) != 1 || a.Tok != token.ASSIGN && a.Tok != token.DEFINE {
		return
	}
	t := s.typ(a.Rhs[0])
	if !isNumber(t) {
		return
	}
	lhs, rhs := s.text(a.Lhs[0]), s.text(a.Rhs[0])
	if c, ok := a.Rhs[0].(*ast.CallExpr); ok && (isIdent(c.Fun, "min") || isIdent(c.Fun, "max")) {
		return
	}
	if a.Tok == token.ASSIGN {
		s.replace(.3, a.Rhs[0], "max("+lhs+", "+rhs+")")
		s.replace(.3, a.Rhs[0], "min("+lhs+", "+rhs+")")
		s.replace(.25, a.Rhs[0], "max(0, "+rhs+")")
		if _, simple := a.Rhs[0].(*ast.Ident); !simple {
			for _, v := range s.varsOf(a.Pos(), t) {
				if v.Name() != lhs {
					s.replace(.15, a.Rhs[0], "max("+v.Name()+", "+rhs+")")
				}
			}
		}
	}
}
