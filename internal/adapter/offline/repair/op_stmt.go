package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"slices"
	"strings"
)

// test is a condition that is true when something usual is missing, and its reverse.
type test struct {
	yes, no string
	vars    []string
}

// mentions reports whether a variable of the condition is one of the names.
func (t test) mentions(names map[string]bool) bool {
	return slices.ContainsFunc(t.vars, func(v string) bool { return names[v] })
}

// tests returns the conditions on the variables that are in scope.
func (s *mutator) tests(pos token.Pos, used map[string]bool) []test {
	var out []test
	var ints, sized []string
	for _, v := range s.vars(pos) {
		n := v.Name()
		add := func(yes, no string) { out = append(out, test{yes, no, []string{n}}) }
		switch t := v.Type(); {
		case nilable(t):
			add(n+" == nil", n+" != nil")
		case hasLen(t):
			sized = append(sized, n)
			add("len("+n+") == 0", "len("+n+") > 0")
		case isInt(t):
			ints = append(ints, n)
			add(n+" == 0", n+" != 0")
			add(n+" < 0", n+" >= 0")
		case isBool(t):
			add("!"+n, n)
			add(n, "!"+n)
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

func names(nodes ...ast.Node) map[string]bool {
	out := map[string]bool{}
	for _, n := range nodes {
		ast.Inspect(n, func(n ast.Node) bool {
			if id, ok := n.(*ast.Ident); ok {
				out[id.Name] = true
			}
			return true
		})
	}
	return out
}

// hazards returns the conditions under which a part of a node fails.
func (s *mutator) hazards(n ast.Node) []test {
	var out []test
	add := func(e ast.Expr, yes, no string) {
		if s.simple(e) {
			named := strings.NewReplacer("$", s.text(e))
			out = append(out, test{yes: named.Replace(yes), no: named.Replace(no)})
		}
	}
	ast.Inspect(n, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if nilable(s.typ(x.X)) {
				add(x.X, "$ == nil", "$ != nil")
			}
		case *ast.SliceExpr:
			if hasLen(s.typ(x.X)) {
				add(x.X, "len($) == 0", "len($) > 0")
			}
		case *ast.IndexExpr:
			if t := s.typ(x.X); hasLen(t) && !isMap(t) {
				add(x.X, "len($) == 0", "len($) > 0")
				if i := s.text(x.Index); s.info.Types[x.Index].Value == nil {
					add(x.X, i+" >= len($)", i+" < len($)")
					add(x.Index, "$ < 0", "$ >= 0")
				}
			}
		case *ast.BinaryExpr:
			if (x.Op == token.QUO || x.Op == token.REM) && s.info.Types[x.Y].Value == nil {
				add(x.Y, "$ == 0", "$ != 0")
			}
		}
		return true
	})
	return out
}

// clause adds a clause to a condition.
func clause(s *mutator, n ast.Node) {
	var cond ast.Expr
	var body ast.Node
	branch := false
	switch x := n.(type) {
	case *ast.IfStmt:
		cond, body, branch = x.Cond, x.Body, true
	case *ast.ForStmt:
		cond, body = x.Cond, x.Body
	}
	if cond == nil {
		return
	}
	text := s.text(cond)
	left := text
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		left = "(" + text + ")"
	}
	add := func(prior float64, t test) {
		s.replace(prior, cond, t.no+" && "+left)
		if branch {
			s.replace(prior, cond, t.yes+" || "+text)
		}
	}
	used, near := names(cond), names(cond, body)
	for _, t := range s.tests(cond.Pos(), used) {
		switch {
		case branch && used[t.vars[0]]:
			add(.22, t)
		case t.mentions(near):
			add(.2, t)
		default:
			add(.12, t)
		}
	}
	for _, t := range s.hazards(cond) {
		add(.4, t)
	}
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
	exits := s.exits()
	for _, t := range s.hazards(used) {
		for _, x := range exits {
			s.insert(.22, st, "if "+t.yes+" {\n\t"+x+"\n}")
		}
	}
}

// exits returns the statements that leave: with zero values, to the next turn of a
// loop, or with one of the package's own errors.
func (s *mutator) exits() []string {
	var out, zeros []string
	res := s.results()
	for _, t := range res {
		if t != nil && s.zero(t) != "" {
			zeros = append(zeros, s.zero(t))
		}
	}
	whole := len(zeros) == len(res)
	if whole {
		out = append(out, strings.TrimSpace("return "+strings.Join(zeros, ", ")))
	}
	if s.loop() != nil {
		out = append(out, "continue")
	}
	if n := len(zeros); whole && n > 0 && res[n-1].String() == "error" {
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
	in := Indent(s.src, s.m.offset(before.Pos()))
	s.put(prior, before.Pos(), before.Pos(), strings.ReplaceAll(text, "\n", "\n"+in)+"\n"+in)
}

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
			s.put(prior, st.End(), st.End(), "\n"+Indent(s.src, s.m.offset(st.Pos()))+text)
		}
	}
}

// missingUpdate carries a value to the next turn of a loop: a variable from
// outside that the loop never changes.
func missingUpdate(s *mutator, st ast.Stmt) {
	loop := s.loop()
	if loop == nil {
		return
	}
	for _, v := range s.vars(loop.Pos()) {
		prior := .05
		switch {
		case s.assigned(v, loop):
			continue
		case nilable(v.Type()):
			prior = .3
		case s.declared(v):
			prior = .2
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

// missingAppend keeps an element that is in hand.
func missingAppend(s *mutator, st ast.Stmt) {
	for _, v := range s.vars(st.Pos()) {
		for _, w := range s.vars(st.Pos()) {
			switch e := element(v.Type()); {
			case e == nil || w == v:
			case types.Identical(w.Type(), e):
				s.place(.2, st, v.Name()+" = append("+v.Name()+", "+w.Name()+")")
			case types.Identical(w.Type(), v.Type()) && s.declared(v):
				s.place(.08, st, v.Name()+" = append("+v.Name()+", "+w.Name()+"...)")
			}
		}
	}
}

// missingCount counts something up or down, or starts it again.
func missingCount(s *mutator, st ast.Stmt) {
	for _, v := range s.vars(st.Pos()) {
		t, name := v.Type(), v.Name()
		if !s.declared(v) {
			for _, f := range s.fields(t, types.Typ[types.Int]) {
				s.place(.12, st, name+"."+f+"++")
				s.place(.12, st, name+"."+f+"--")
			}
			continue
		}
		if isInt(t) {
			s.place(.12, st, name+"++")
			s.place(.08, st, name+"--")
		}
		if isBool(t) {
			s.place(.1, st, name+" = true")
		}
		if zero := s.zero(t); zero != "" && (s.loop() != nil || isBool(t)) {
			s.place(.08, st, name+" = "+zero)
		}
	}
}

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
			to = []ast.Expr{x.X} // &v
		}
		for _, e := range to {
			id, ok := e.(*ast.Ident)
			found = found || ok && s.info.Uses[id] == v
		}
		return !found
	})
	return found
}

// missingMark adds a key to a set where the function looks it up and never adds it, or
// deletes it from a map.
func missingMark(s *mutator, st ast.Stmt) {
	body := s.text(s.fn.decl.Body)
	ast.Inspect(s.fn.decl.Body, func(n ast.Node) bool {
		ix, ok := n.(*ast.IndexExpr)
		if !ok || s.typ(ix.X) == nil || !s.simple(ix) {
			return true
		}
		set, key := s.text(ix.X), s.text(ix.Index)
		mark := func(prior float64, key string) {
			switch elem := elementOf(s.typ(ix.X)); {
			case elem != nil && isBool(elem):
				s.place(prior, st, set+"["+key+"] = true")
			case elem != nil && s.zero(elem) == "struct{}{}":
				s.place(prior, st, set+"["+key+"] = struct{}{}")
			}
		}
		if !strings.Contains(body, set+"["+key+"] = ") {
			mark(.3, key)
		}
		if m, ok := s.typ(ix.X).Underlying().(*types.Map); ok {
			for _, v := range s.varsOf(st.Pos(), m.Key()) {
				mark(.12, v.Name())
			}
			s.place(.1, st, "delete("+set+", "+key+")")
		}
		return true
	})
}
