package repair

import (
	"go/ast"
	"go/token"
	"go/types"
)

// compareOps vary comparisons and conditions.
func compareOps() []operator {
	return []operator{
		{"comparison", comparison},
		{"reversed comparison", reversed},
		{"and, or", junction},
		{"negated condition", negated},
		{"dropped clause", dropped},
		{"returned boolean", returnedBool},
	}
}

// comparison moves the bound of an ordering, or turns an equality into one.
func comparison(s *mutator, n ast.Node) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return
	}
	type to struct {
		op    token.Token
		prior float64
	}
	table := map[token.Token][]to{
		token.LSS: {{token.LEQ, 1}, {token.NEQ, .15}, {token.EQL, .1}},
		token.LEQ: {{token.LSS, 1}, {token.EQL, .3}},
		token.GTR: {{token.GEQ, 1}, {token.NEQ, .15}, {token.EQL, .1}},
		token.GEQ: {{token.GTR, 1}, {token.EQL, .3}},
		token.EQL: {{token.NEQ, .5}},
		token.NEQ: {{token.EQL, .5}},
	}
	if t := s.typ(b.X); isNumber(t) || isString(t) {
		table[token.EQL] = append(table[token.EQL], to{token.LEQ, .4}, to{token.GEQ, .35}, to{token.LSS, .15}, to{token.GTR, .15})
		table[token.NEQ] = append(table[token.NEQ], to{token.LSS, .3}, to{token.GTR, .3})
	}
	for _, c := range table[b.Op] {
		s.put(c.prior, b.OpPos, b.OpPos+token.Pos(len(b.Op.String())), c.op.String())
	}
	// An emptiness check that should also catch one element, and the reverse.
	if v, ok := constant(b.Y); ok && isLen(b.X) && (v == "0" || v == "1") {
		switch {
		case b.Op == token.EQL && v == "0":
			s.replace(.4, b, s.text(b.X)+" <= 1")
		case b.Op == token.NEQ && v == "0" || b.Op == token.GTR && v == "0":
			s.replace(.3, b, s.text(b.X)+" > 1")
		case b.Op == token.LEQ && v == "1":
			s.replace(.3, b, s.text(b.X)+" == 0")
		}
	}
}

func isLen(e ast.Expr) bool {
	c, ok := e.(*ast.CallExpr)
	return ok && isIdent(c.Fun, "len") && len(c.Args) == 1
}

// reversed turns an ordering round.
func reversed(s *mutator, n ast.Node) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return
	}
	table := map[token.Token][]token.Token{
		token.LSS: {token.GTR, token.GEQ}, token.GTR: {token.LSS, token.LEQ},
		token.LEQ: {token.GEQ, token.GTR}, token.GEQ: {token.LEQ, token.LSS},
	}
	for i, op := range table[b.Op] {
		s.put([]float64{.7, .4}[i], b.OpPos, b.OpPos+token.Pos(len(b.Op.String())), op.String())
	}
}

// junction swaps && and ||.
func junction(s *mutator, n ast.Node) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return
	}
	swap := map[token.Token]string{token.LAND: "||", token.LOR: "&&"}
	if to, ok := swap[b.Op]; ok {
		s.put(.6, b.OpPos, b.OpPos+2, to)
	}
}

// negated adds or takes a negation, of a whole condition or of one clause.
func negated(s *mutator, n ast.Node) {
	if u, ok := n.(*ast.UnaryExpr); ok && u.Op == token.NOT {
		s.replace(.5, u, s.text(u.X))
		return
	}
	e, ok := n.(ast.Expr)
	if !ok || !isBool(s.typ(e)) || !s.info.Types[e].IsValue() {
		return
	}
	switch e.(type) {
	case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
	default:
		return
	}
	if isIdent(e, "true") || isIdent(e, "false") {
		return
	}
	switch p := s.parent(0).(type) {
	case *ast.IfStmt, *ast.ForStmt, *ast.ReturnStmt, *ast.ParenExpr:
		s.replace(.4, e, "!"+s.text(e))
	case *ast.BinaryExpr:
		if p.Op == token.LAND || p.Op == token.LOR {
			s.replace(.4, e, "!"+s.text(e))
		}
	case *ast.AssignStmt:
		s.replace(.25, e, "!"+s.text(e))
	}
}

// dropped takes one side of a && or ||: a clause too many.
func dropped(s *mutator, n ast.Node) {
	b, ok := n.(*ast.BinaryExpr)
	if !ok || b.Op != token.LAND && b.Op != token.LOR {
		return
	}
	s.replace(.2, b, s.text(b.X))
	s.replace(.2, b, s.text(b.Y))
}

// returnedBool changes a constant answer: into the other one, or into a
// question about a local count.
func returnedBool(s *mutator, n ast.Node) {
	r, ok := n.(*ast.ReturnStmt)
	if !ok {
		return
	}
	for _, e := range r.Results {
		val := isIdent(e, "true")
		if !val && !isIdent(e, "false") {
			continue
		}
		if val {
			s.replace(.35, e, "false")
		} else {
			s.replace(.35, e, "true")
		}
		eq := map[bool]string{true: " == 0", false: " != 0"}[val]
		for _, v := range s.vars(r.Pos()) {
			switch {
			case isInt(v.Type()):
				s.replace(.25, e, v.Name()+eq)
			case isSized(v.Type()):
				s.replace(.2, e, "len("+v.Name()+")"+eq)
			case isBool(v.Type()):
				s.replace(.2, e, v.Name())
				s.replace(.1, e, "!"+v.Name())
			}
		}
	}
}

// isSized reports a slice or map.
func isSized(t types.Type) bool {
	switch t.Underlying().(type) {
	case *types.Slice, *types.Map:
		return true
	}
	return false
}
