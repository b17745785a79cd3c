package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"strings"
)

// test is a condition that is true when something usual is missing, and its reverse.
type test struct {
	yes, no string
	vars    []string
}

// mentions reports whether a variable of the condition is one of the names.
func (t test) mentions(names map[string]bool) bool {
	for _, v := range t.vars {
		if names[v] {
			return true
		}
	}
	return false
}

// tests returns the conditions on the variables that are in scope.
func (s *mutator) tests(pos token.Pos, used map[string]bool) []test {
	var out []test
	var ints, sized []string
	for _, v := range s.vars(pos) {
		n, one := v.Name(), []string{v.Name()}
		switch t := v.Type(); {
		case nilable(t):
			out = append(out, test{n + " == nil", n + " != nil", one})
		case hasLen(t):
			sized = append(sized, n)
			out = append(out, test{"len(" + n + ") == 0", "len(" + n + ") > 0", one})
		case isInt(t):
			ints = append(ints, n)
			out = append(out, test{n + " == 0", n + " != 0", one}, test{n + " < 0", n + " >= 0", one})
		case isBool(t):
			out = append(out, test{"!" + n, n, one}, test{n, "!" + n, one})
		}
	}
	for _, i := range ints {
		for _, l := range sized {
			if used[i] || used[l] || len(ints)*len(sized) <= 4 {
				out = append(out, test{i + " >= len(" + l + ")", i + " < len(" + l + ")", []string{i, l}})
			}
		}
	}
	return out
}

// names returns the identifiers in a node.
func names(n ast.Node) map[string]bool {
	out := map[string]bool{}
	ast.Inspect(n, func(n ast.Node) bool {
		if id, ok := n.(*ast.Ident); ok {
			out[id.Name] = true
		}
		return true
	})
	return out
}

// clause adds a clause to a condition.
func clause(s *mutator, n ast.Node) {
	var cond ast.Expr
	var body ast.Node
	ends := func(string, float64) {} // adds a clause that ends the matter
	switch x := n.(type) {
	case *ast.IfStmt:
		cond, body = x.Cond, x.Body
		ends = func(c string, prior float64) { s.replace(prior, cond, c+" || "+s.text(cond)) }
	case *ast.ForStmt:
		cond, body = x.Cond, x.Body
	}
	if cond == nil {
		return
	}
	left := s.text(cond)
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		left = "(" + left + ")"
	}
	used, inBody := names(cond), names(body)
	for _, t := range s.tests(cond.Pos(), used) {
		prior := .12
		if t.mentions(used) || t.mentions(inBody) {
			prior = .2
		}
		if _, loop := n.(*ast.ForStmt); !loop && used[t.vars[0]] {
			prior = .22
		}
		s.replace(prior, cond, t.no+" && "+left)
		ends(t.yes, prior)
	}
	ast.Inspect(cond, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.SelectorExpr: // a pointer whose field is read may be missing
			if nilable(s.typ(x.X)) {
				s.replace(.4, cond, s.text(x.X)+" != nil && "+left)
				ends(s.text(x.X)+" == nil", .4)
			}
		case *ast.IndexExpr:
			if isInt(s.typ(x.Index)) && hasLen(s.typ(x.X)) {
				s.replace(.4, cond, s.text(x.Index)+" < len("+s.text(x.X)+") && "+left)
				s.replace(.3, cond, s.text(x.Index)+" >= 0 && "+left)
			}
		}
		return true
	})
	ast.Inspect(body, func(n ast.Node) bool { // a field that the body goes through
		if x, ok := n.(*ast.SelectorExpr); ok && nilable(s.typ(x.X)) {
			if _, nested := x.X.(*ast.SelectorExpr); nested {
				s.replace(.25, cond, s.text(x.X)+" != nil && "+left)
			}
		}
		return true
	})
}

// guard leaves a function, or a turn of a loop, before it uses what is not
// there.
func guard(s *mutator, st ast.Stmt) {
	var used ast.Node = st
	switch x := st.(type) {
	case *ast.IfStmt:
		used = x.Cond
	case *ast.RangeStmt:
		used = x.X
	case *ast.BlockStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return
	}
	var conds []string
	add := func(e ast.Expr, form string) {
		if s.simple(e) {
			conds = append(conds, strings.ReplaceAll(form, "$", s.text(e)))
		}
	}
	ast.Inspect(used, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if nilable(s.typ(x.X)) {
				add(x.X, "$ == nil")
			}
		case *ast.StarExpr:
			if nilable(s.typ(x.X)) {
				add(x.X, "$ == nil")
			}
		case *ast.IndexExpr:
			if t := s.typ(x.X); hasLen(t) && !isMap(t) && s.simple(x.X) {
				add(x.X, "len($) == 0")
				if s.info.Types[x.Index].Value == nil {
					add(x.X, s.text(x.Index)+" >= len($)")
					add(x.X, s.text(x.Index)+" < 0")
				}
			}
		case *ast.SliceExpr:
			if hasLen(s.typ(x.X)) {
				add(x.X, "len($) == 0")
			}
		case *ast.BinaryExpr:
			if (x.Op == token.QUO || x.Op == token.REM) && s.info.Types[x.Y].Value == nil {
				add(x.Y, "$ == 0")
			}
		}
		return true
	})
	exits := s.exits()
	for _, c := range conds {
		for _, x := range exits {
			s.insert(.22, st, "if "+c+" {\n\t"+x+"\n}")
		}
	}
}

// exits returns the statements that leave: with zero values, to the next turn of a
// loop, or with one of the package's own errors.
func (s *mutator) exits() []string {
	var out, zeros []string
	res := s.results()
	for _, t := range res {
		if t == nil || s.zero(t) == "" {
			zeros = nil
			break
		}
		zeros = append(zeros, s.zero(t))
	}
	if len(zeros) == len(res) {
		out = append(out, strings.TrimSpace("return "+strings.Join(zeros, ", ")))
	}
	if s.loop() != nil {
		out = append(out, "continue")
	}
	if n := len(zeros); n > 0 && res[n-1].String() == "error" {
		own := s.globals(res[n-1])
		for _, name := range own[:min(len(own), 4)] {
			out = append(out, "return "+strings.Join(append(zeros[:n-1:n-1], name), ", "))
		}
	}
	return out
}

// simple reports an expression without a call.
func (s *mutator) simple(e ast.Expr) bool {
	ok := true
	ast.Inspect(e, func(n ast.Node) bool {
		if c, call := n.(*ast.CallExpr); call && !isLen(c) {
			ok = false
		}
		return ok
	})
	return ok
}

// Statements returns the list that a node holds.
func Statements(n ast.Node) []ast.Stmt {
	switch p := n.(type) {
	case *ast.BlockStmt:
		return p.List
	case *ast.CaseClause:
		return p.Body
	case *ast.CommClause:
		return p.Body
	}
	return nil
}

// insert puts lines before a statement.
func (s *mutator) insert(prior float64, before ast.Stmt, text string) {
	in := s.indent(before)
	s.put(prior, before.Pos(), before.Pos(), strings.ReplaceAll(text, "\n", "\n"+in)+"\n"+in)
}

func (s *mutator) indent(n ast.Node) string { return Indent(s.src, s.m.offset(n.Pos())) }

// Indent returns the white space before a position on its line.
func Indent(text string, at int) string {
	line := text[strings.LastIndexByte(text[:at], '\n')+1 : at]
	return line[:len(line)-len(strings.TrimLeft(line, " \t"))]
}

// place proposes a line before a statement, and after it where it is the last
// and does not leave.
func (s *mutator) place(prior float64, st ast.Stmt, text string) {
	s.insert(prior, st, text)
	list := Statements(s.parent(0))
	switch st.(type) {
	case *ast.ReturnStmt, *ast.BranchStmt:
	default:
		if list[len(list)-1] == st {
			s.put(prior, st.End(), st.End(), "\n"+s.indent(st)+text)
		}
	}
}

// assigned reports whether a variable is assigned to in a node.
func (s *mutator) assigned(v *types.Var, in ast.Node) bool {
	found := false
	ast.Inspect(in, func(n ast.Node) bool {
		var to []ast.Expr
		switch x := n.(type) {
		case *ast.AssignStmt:
			to = x.Lhs
		case *ast.IncDecStmt:
			to = []ast.Expr{x.X}
		case *ast.RangeStmt:
			to = []ast.Expr{x.Key}
		case *ast.UnaryExpr:
			if x.Op == token.AND {
				to = []ast.Expr{x.X}
			}
		}
		for _, e := range to {
			id, ok := e.(*ast.Ident)
			found = found || ok && s.info.Uses[id] == v
		}
		return !found
	})
	return found
}

// missingUpdate carries a value to the next turn of a loop: a variable from
// outside that the loop never changes.
func missingUpdate(s *mutator, st ast.Stmt) {
	loop := s.loop()
	if loop == nil {
		return
	}
	for _, v := range s.vars(loop.Pos()) {
		prior := .2
		switch {
		case s.assigned(v, loop) || !names(s.fn.decl.Body)[v.Name()]:
			continue
		case nilable(v.Type()):
			prior = .3
		case !s.declared(v):
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

// missingMark adds a key to a set where the function looks it up and never adds it, or
// deletes it from a map.
func missingMark(s *mutator, st ast.Stmt) {
	body := s.src[s.m.offset(s.fn.decl.Body.Pos()):s.m.offset(s.fn.decl.Body.End())]
	for _, ix := range s.indices() {
		t, set, key := s.typ(ix.X), s.text(ix.X), s.text(ix.Index)
		if t == nil || !s.simple(ix) {
			continue
		}
		mark := func(prior float64, k string) {
			switch elem := elementOf(t); {
			case elem != nil && isBool(elem):
				s.place(prior, st, set+"["+k+"] = true")
			case elem != nil && s.zero(elem) == "struct{}{}":
				s.place(prior, st, set+"["+k+"] = struct{}{}")
			}
		}
		if !strings.Contains(body, set+"["+key+"] = ") {
			mark(.3, key)
		}
		if m, ok := t.Underlying().(*types.Map); ok {
			for _, v := range s.varsOf(st.Pos(), m.Key()) {
				mark(.12, v.Name())
			}
			s.place(.1, st, "delete("+set+", "+key+")")
		}
	}
}

// missingAppend keeps an element that is in hand.
func missingAppend(s *mutator, st ast.Stmt) {
	for _, v := range s.vars(st.Pos()) {
		e, prior := element(v.Type()), .1
		if e == nil {
			continue
		}
		if s.declared(v) {
			prior = .2
		}
		for _, w := range s.vars(st.Pos()) {
			if w != v && types.Identical(w.Type(), e) {
				s.place(prior, st, v.Name()+" = append("+v.Name()+", "+w.Name()+")")
			}
			if w != v && types.Identical(w.Type(), v.Type()) && s.declared(v) {
				s.place(prior*.4, st, v.Name()+" = append("+v.Name()+", "+w.Name()+"...)")
			}
		}
	}
}

// missingCount counts something up or down, or starts it again.
func missingCount(s *mutator, st ast.Stmt) {
	for _, v := range s.vars(st.Pos()) {
		switch t := v.Type(); {
		case !s.declared(v):
			if s.fn.decl.Recv != nil {
				for _, f := range s.fields(t, types.Typ[types.Int]) {
					s.place(.12, st, v.Name()+"."+f+"++")
					s.place(.12, st, v.Name()+"."+f+"--")
				}
			}
		case isInt(t):
			s.place(.12, st, v.Name()+"++")
			s.place(.08, st, v.Name()+"--")
			fallthrough
		default:
			if zero := s.zero(t); zero != "" && s.loop() != nil || isBool(t) {
				s.place(.08, st, v.Name()+" = "+zero)
			}
			if isBool(t) {
				s.place(.1, st, v.Name()+" = true")
			}
		}
	}
}

// indices returns the index expressions of the function, each text once.
func (s *mutator) indices() []*ast.IndexExpr {
	var out []*ast.IndexExpr
	seen := map[string]bool{}
	ast.Inspect(s.fn.decl.Body, func(n ast.Node) bool {
		if ix, ok := n.(*ast.IndexExpr); ok && !seen[s.text(ix)] {
			seen[s.text(ix)] = true
			out = append(out, ix)
		}
		return true
	})
	return out
}
