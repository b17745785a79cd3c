package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// statementOps add a statement that was forgotten, or change the order of two.
// None takes one away.
func statementOps() []operator {
	return []operator{
		{"statement order", ordered},
		{"statement in the wrong block", moved},
		{"missing update", missingUpdate},
		{"missing mark", missingMark},
		{"missing append", missingAppend},
		{"missing count", missingCount},
		{"missing link", missingLink},
		{"missing delete", missingDelete},
	}
}

// listed reports whether a node is a statement of a list.
func (s *mutator) listed(n ast.Node) bool {
	if _, ok := n.(ast.Stmt); !ok {
		return false
	}
	switch n.(type) {
	case *ast.CaseClause, *ast.CommClause:
		return false
	}
	switch p := s.parent(0).(type) {
	case *ast.BlockStmt, *ast.CaseClause:
		return true
	case *ast.CommClause:
		return p.Comm != n
	}
	return false
}

// list returns the statement list that holds the node.
func (s *mutator) list() []ast.Stmt {
	switch p := s.parent(0).(type) {
	case *ast.BlockStmt:
		return p.List
	case *ast.CaseClause:
		return p.Body
	case *ast.CommClause:
		return p.Body
	}
	return nil
}

// indent returns the white space before a node on its line.
func (s *mutator) indent(n ast.Node) string {
	at := s.m.offset(n.Pos())
	from := strings.LastIndexByte(s.src[:at], '\n') + 1
	line := s.src[from:at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// insert puts lines before a statement.
func (s *mutator) insert(prior float64, before ast.Stmt, text string) {
	in := s.indent(before)
	s.put(prior, before.Pos(), before.Pos(), strings.ReplaceAll(text, "\n", "\n"+in)+"\n"+in)
}

// insertAfter puts lines after a statement.
func (s *mutator) insertAfter(prior float64, after ast.Stmt, text string) {
	in := s.indent(after)
	s.put(prior, after.End(), after.End(), "\n"+in+strings.ReplaceAll(text, "\n", "\n"+in))
}

// place proposes text before a statement, and after it where it is the last
// and does not leave.
func (s *mutator) place(prior float64, st ast.Stmt, text string) {
	s.insert(prior, st, text)
	list := s.list()
	if len(list) == 0 || list[len(list)-1] != st {
		return
	}
	switch st.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
		return
	}
	s.insertAfter(prior, st, text)
}

// ordered swaps a statement with the next one.
func ordered(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	list := s.list()
	for i, x := range list {
		if x != st || i+1 >= len(list) {
			continue
		}
		next := list[i+1]
		a, b := movable(st), movable(next)
		if a == 0 || b == 0 {
			return
		}
		s.swap(.35*a*b, st, next)
	}
}

// movable returns how well a statement moves: 0 is not.
func movable(st ast.Stmt) float64 {
	switch st.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.IncDecStmt:
		return 1
	case *ast.IfStmt, *ast.ForStmt, *ast.RangeStmt, *ast.SwitchStmt:
		return .6
	}
	return 0
}

// moved takes the last statement of a block out of it, to just after, or the
// statement after a block into it.
func moved(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	var body *ast.BlockStmt
	switch x := st.(type) {
	case *ast.ForStmt:
		body = x.Body
	case *ast.RangeStmt:
		body = x.Body
	case *ast.IfStmt:
		if x.Else == nil {
			body = x.Body
		}
	}
	if body == nil || len(body.List) == 0 {
		return
	}
	last := body.List[len(body.List)-1]
	switch last.(type) {
	case *ast.AssignStmt, *ast.ExprStmt, *ast.IncDecStmt, *ast.ReturnStmt:
		if len(body.List) > 1 {
			prev := body.List[len(body.List)-2]
			tail := s.src[s.m.offset(last.End()):s.m.offset(st.End())]
			s.put(.2, prev.End(), st.End(), tail+"\n"+s.indent(st)+s.text(last))
		}
	}
	list := s.list()
	for i, x := range list {
		if x == st && i+1 < len(list) && movable(list[i+1]) == 1 {
			next := list[i+1]
			in := s.indent(last)
			tail := s.src[s.m.offset(last.End()):s.m.offset(st.End())]
			if leaves(body) {
				continue
			}
			s.put(.2, last.End(), next.End(), "\n"+in+s.text(next)+tail)
		}
	}
}

// assigned reports whether a variable is assigned to in a node.
func (s *mutator) assigned(v *types.Var, in ast.Node) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		check := func(e ast.Expr) {
			if id, ok := e.(*ast.Ident); ok && s.info.Uses[id] == v {
				found = true
			}
		}
		switch x := n.(type) {
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				check(l)
			}
		case *ast.IncDecStmt:
			check(x.X)
		case *ast.RangeStmt:
			if x.Tok == token.ASSIGN {
				check(x.Key)
			}
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				check(x.X)
			}
		}
		return !found
	})
	return found
}

// uses reports whether a variable is mentioned in a node.
func (s *mutator) uses(v *types.Var, in ast.Node) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok && s.info.Uses[id] == v {
			found = true
		}
		return !found
	})
	return found
}

// missingUpdate carries a value to the next turn of a loop: a variable from
// outside that the loop uses and never changes.
func missingUpdate(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	loop := s.loop()
	if loop == nil {
		return
	}
	for _, v := range s.vars(loop.Pos()) {
		if s.assigned(v, loop) || !s.uses(v, s.fn.decl.Body) {
			continue
		}
		prior := .12
		if nilable(v.Type()) {
			prior = .3
		} else if s.assigned(v, s.fn.decl.Body) || s.declared(v) {
			prior = .2
		}
		if s.param(v) && !nilable(v.Type()) {
			prior = .05
		}
		for _, w := range s.varsOf(st.Pos(), v.Type()) {
			if w != v {
				s.place(prior, st, v.Name()+" = "+w.Name())
			}
		}
	}
}

// declared reports a variable that the function itself declares.
func (s *mutator) declared(v *types.Var) bool {
	return v.Pos() > s.fn.decl.Body.Pos() && v.Pos() < s.fn.decl.Body.End()
}

// param reports a parameter.
func (s *mutator) param(v *types.Var) bool { return !s.declared(v) }

// missingMark adds a statement that puts a key into a set, where the function looks the
// key up and never adds it.
func missingMark(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	type use struct{ m, k, val string }
	var reads []use
	seen := map[use]bool{}
	written := map[string]bool{}
	ast.Inspect(s.fn.decl.Body, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.AssignStmt:
			for _, l := range x.Lhs {
				if ix, ok := l.(*ast.IndexExpr); ok {
					written[s.text(ix)] = true
				}
			}
		case *ast.IndexExpr:
			t := s.typ(x.X)
			if t == nil || !s.simple(x) {
				return true
			}
			val := ""
			switch u := t.Underlying().(type) {
			case *types.Map:
				if isBool(u.Elem()) {
					val = "true"
				} else if st, ok := u.Elem().Underlying().(*types.Struct); ok && st.NumFields() == 0 {
					val = "struct{}{}"
				}
			case *types.Slice:
				if isBool(u.Elem()) {
					val = "true"
				}
			}
			u := use{s.text(x.X), s.text(x.Index), val}
			if val != "" && !seen[u] {
				seen[u] = true
				reads = append(reads, u)
			}
		}
		return true
	})
	for _, u := range reads {
		if written[u.m+"["+u.k+"]"] {
			continue
		}
		s.place(.3, st, u.m+"["+u.k+"] = "+u.val)
	}
	// The set's other keys in scope.
	for _, u := range reads {
		for _, v := range s.vars(st.Pos()) {
			if v.Name() != u.k {
				s.markVar(st, u.m, u.val, v)
			}
		}
	}
}

func (s *mutator) markVar(st ast.Stmt, m, val string, v *types.Var) {
	for _, o := range s.vars(st.Pos()) {
		if o.Name() != m {
			continue
		}
		if t, ok := o.Type().Underlying().(*types.Map); ok && types.Identical(t.Key(), v.Type()) {
			s.place(.12, st, m+"["+v.Name()+"] = "+val)
		}
	}
}

// missingAppend keeps an element that is in hand.
func missingAppend(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	if _, decl := st.(*ast.DeclStmt); decl {
		return
	}
	for _, v := range s.vars(st.Pos()) {
		e := element(v.Type())
		if e == nil {
			continue
		}
		prior := .1
		if s.declared(v) {
			prior = .2
		}
		for _, w := range s.vars(st.Pos()) {
			if w != v && types.Identical(w.Type(), e) {
				s.place(prior, st, v.Name()+" = append("+v.Name()+", "+w.Name()+")")
			}
			if w != v && types.Identical(w.Type(), v.Type()) && !s.param(v) {
				s.place(prior*.4, st, v.Name()+" = append("+v.Name()+", "+w.Name()+"...)")
			}
		}
	}
}

// missingCount counts something up or down, or starts a count again.
func missingCount(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	if _, decl := st.(*ast.DeclStmt); decl {
		return
	}
	for _, v := range s.vars(st.Pos()) {
		switch {
		case isInt(v.Type()) && s.declared(v):
			s.place(.12, st, v.Name()+"++")
			s.place(.08, st, v.Name()+"--")
			if s.loop() != nil {
				s.place(.08, st, v.Name()+" = 0")
			}
		case isBool(v.Type()) && s.declared(v):
			s.place(.1, st, v.Name()+" = true")
			s.place(.1, st, v.Name()+" = false")
		case isString(v.Type()) && s.declared(v) && s.loop() != nil:
			s.place(.08, st, v.Name()+` = ""`)
		case element(v.Type()) != nil && s.declared(v) && s.loop() != nil:
			s.place(.08, st, v.Name()+" = nil")
		}
	}
	if r := s.receiver(); r != nil {
		for _, f := range s.fields(r.Type(), types.Typ[types.Int]) {
			s.place(.12, st, r.Name()+"."+f+"++")
			s.place(.12, st, r.Name()+"."+f+"--")
		}
	}
}

// receiver returns the method's receiver, nil in a function.
func (s *mutator) receiver() *types.Var {
	f := s.fn.decl
	if f.Recv == nil || len(f.Recv.List) == 0 || len(f.Recv.List[0].Names) == 0 {
		return nil
	}
	v, _ := s.info.Defs[f.Recv.List[0].Names[0]].(*types.Var)
	return v
}

// missingLink sets a pointer field that the function knows to something in
// scope.
func missingLink(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	for _, f := range s.fragments() {
		if !strings.Contains(f.text, ".") || strings.Contains(f.text, "(") {
			continue
		}
		if _, ptr := f.typ.Underlying().(*types.Pointer); !ptr {
			continue
		}
		if root := strings.FieldsFunc(f.text, func(r rune) bool { return r == '.' || r == '[' })[0]; !s.visible(st.Pos(), root) {
			continue
		}
		for _, v := range s.varsOf(st.Pos(), f.typ) {
			s.place(.1, st, f.text+" = "+v.Name())
		}
	}
}

func (s *mutator) visible(pos token.Pos, name string) bool {
	for _, v := range s.vars(pos) {
		if v.Name() == name {
			return true
		}
	}
	return false
}

// missingDelete takes out of a map what the function looked up in it.
func missingDelete(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	seen := map[string]bool{}
	ast.Inspect(s.fn.decl.Body, func(n ast.Node) bool {
		ix, ok := n.(*ast.IndexExpr)
		if !ok || s.typ(ix.X) == nil || !s.simple(ix) {
			return true
		}
		if _, isMap := s.typ(ix.X).Underlying().(*types.Map); isMap && !seen[s.text(ix)] {
			seen[s.text(ix)] = true
			s.place(.1, st, "delete("+s.text(ix.X)+", "+s.text(ix.Index)+")")
		}
		return true
	})
}
