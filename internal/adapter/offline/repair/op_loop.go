package repair

import (
	"go/ast"
	"go/token"
	"go/types"
)

// loopOps vary where a loop starts, goes and ends.
func loopOps() []operator {
	return []operator{
		{"break or continue", branch},
		{"missing loop condition", endless},
		{"loop bounds", bounds},
		{"range of the loop", ranged},
		{"if or while", repeated},
	}
}

// branch swaps break, continue and return.
func branch(s *mutator, n ast.Node) {
	b, ok := n.(*ast.BranchStmt)
	if !ok || s.loop() == nil {
		return
	}
	switch b.Tok {
	case token.BREAK:
		s.put(.45, b.TokPos, b.TokPos+5, "continue")
		if z := s.zeros(); z != "" && b.Label == nil {
			s.replace(.2, b, z)
		}
	case token.CONTINUE:
		s.put(.45, b.TokPos, b.TokPos+8, "break")
	}
}

// endless adds a condition to a loop without one.
func endless(s *mutator, n ast.Node) {
	f, ok := n.(*ast.ForStmt)
	if !ok || f.Cond != nil || f.Init != nil || f.Post != nil {
		return
	}
	used := names(f.Body)
	for _, t := range s.tests(f.Pos(), used) {
		prior := .1
		for name := range names2(t[1]) {
			if used[name] {
				prior = .3
			}
		}
		s.put(prior, f.For+3, f.Body.Lbrace, " "+t[1]+" ")
	}
}

// bounds starts a counting loop elsewhere, or counts with another end.
func bounds(s *mutator, n ast.Node) {
	f, ok := n.(*ast.ForStmt)
	if !ok {
		return
	}
	if a, ok := f.Init.(*ast.AssignStmt); ok && len(a.Rhs) == 1 && isInt(s.typ(a.Rhs[0])) {
		id, _ := a.Lhs[0].(*ast.Ident)
		for _, v := range s.vars(f.Pos()) {
			if !isInt(v.Type()) || id != nil && v.Name() == id.Name {
				continue
			}
			s.replace(.2, a.Rhs[0], v.Name())
			s.replace(.2, a.Rhs[0], v.Name()+"+1")
			s.replace(.1, a.Rhs[0], v.Name()+"*"+v.Name())
			s.replace(.12, a.Rhs[0], v.Name()+"-1")
		}
	}
	c, ok := f.Cond.(*ast.BinaryExpr)
	if !ok || !isInt(s.typ(c.Y)) {
		return
	}
	for _, v := range s.vars(f.Pos()) {
		if hasLen(v.Type()) {
			s.replace(.2, c.Y, "len("+v.Name()+")")
		}
	}
	id, ok := c.X.(*ast.Ident)
	if ok && (c.Op == token.LSS || c.Op == token.LEQ) {
		s.replace(.12, c.X, id.Name+"*"+id.Name)
	}
}

// ranged goes over a part of a slice, over another one, or by index.
func ranged(s *mutator, n ast.Node) {
	r, ok := n.(*ast.RangeStmt)
	if !ok {
		return
	}
	t := s.typ(r.X)
	if element(t) != nil || isString(t) {
		x := s.operand(r.X)
		s.replace(.25, r.X, x+"[1:]")
		s.replace(.2, r.X, x+"[:len("+x+")-1]")
		for _, v := range s.vars(r.Pos()) {
			if isInt(v.Type()) {
				s.replace(.25, r.X, x+"["+v.Name()+":]")
				s.replace(.2, r.X, x+"["+v.Name()+"+1:]")
				s.replace(.2, r.X, x+"[:"+v.Name()+"]")
			}
		}
	}
	if isInt(t) {
		for _, v := range s.vars(r.Pos()) {
			if hasLen(v.Type()) {
				s.replace(.25, r.X, "len("+v.Name()+")")
			}
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

// repeated makes an if a loop and a loop an if: once, or as long as.
func repeated(s *mutator, n ast.Node) {
	switch x := n.(type) {
	case *ast.IfStmt:
		if x.Init == nil && x.Else == nil && !leaves(x.Body) {
			if p, ok := s.parent(0).(*ast.IfStmt); ok && p.Else == x {
				return
			}
			s.put(.2, x.If, x.If+2, "for")
		}
	case *ast.ForStmt:
		if x.Init == nil && x.Post == nil && x.Cond != nil {
			s.put(.15, x.For, x.For+3, "if")
		}
	}
}

// leaves reports whether a block ends by leaving.
func leaves(b *ast.BlockStmt) bool {
	if len(b.List) == 0 {
		return true
	}
	switch b.List[len(b.List)-1].(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return true
	}
	return false
}

// slicesOf reports whether a type is a slice of slices.
func slicesOf(t types.Type) bool { return element(t) != nil && element(element(t)) != nil }
