package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"strconv"
	"strings"
	"unicode"
)

// guardOps add what was not considered: nothing, zero, the end.
func guardOps() []operator {
	return []operator{
		{"missing clause", clause},
		{"missing guard", guard},
		{"missing base case", baseCase},
		{"missing make", made},
		{"error not returned", errorOf},
	}
}

// tests returns conditions that are true when something usual is missing, with
// the reverse.
func (s *mutator) tests(pos token.Pos, used map[string]bool) [][2]string {
	var out [][2]string
	var ints, sized []string
	for _, v := range s.vars(pos) {
		t := v.Type()
		switch {
		case nilable(t):
			out = append(out, [2]string{v.Name() + " == nil", v.Name() + " != nil"})
		case hasLen(t):
			sized = append(sized, v.Name())
			out = append(out, [2]string{"len(" + v.Name() + ") == 0", "len(" + v.Name() + ") > 0"})
		case isInt(t):
			ints = append(ints, v.Name())
			out = append(out, [2]string{v.Name() + " == 0", v.Name() + " != 0"})
			out = append(out, [2]string{v.Name() + " < 0", v.Name() + " >= 0"})
		case isBool(t):
			out = append(out, [2]string{"!" + v.Name(), v.Name()}, [2]string{v.Name(), "!" + v.Name()})
		}
	}
	for _, i := range ints {
		for _, l := range sized {
			if used[i] || used[l] || len(ints)*len(sized) <= 4 {
				out = append(out, [2]string{i + " >= len(" + l + ")", i + " < len(" + l + ")"})
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
	switch x := n.(type) {
	case *ast.IfStmt:
		cond, body = x.Cond, x.Body
	case *ast.ForStmt:
		cond, body = x.Cond, x.Body
	}
	if cond == nil {
		return
	}
	used, inBody := names(cond), names(body)
	left := s.text(cond)
	if b, ok := cond.(*ast.BinaryExpr); ok && b.Op == token.LOR {
		left = "(" + left + ")"
	}
	_, isFor := n.(*ast.ForStmt)
	for _, t := range s.tests(cond.Pos(), used) {
		prior := .12
		for name := range names2(t[0]) {
			if used[name] || inBody[name] {
				prior = .2
			}
		}
		if used[first(t[0])] && !isFor {
			prior = .22
		}
		s.replace(prior, cond, t[1]+" && "+left)
		if !isFor {
			s.replace(prior, cond, t[0]+" || "+s.text(cond))
		}
	}
	// A pointer's field that the condition reads may be missing itself.
	ast.Inspect(cond, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !nilable(s.typ(sel.X)) {
			return true
		}
		x := s.text(sel.X)
		s.replace(.4, cond, x+" == nil || "+s.text(cond))
		s.replace(.4, cond, x+" != nil && "+left)
		return true
	})
	// A field that the body goes through.
	ast.Inspect(body, func(n ast.Node) bool {
		sel, ok := n.(*ast.SelectorExpr)
		if !ok || !nilable(s.typ(sel.X)) {
			return true
		}
		if _, nested := sel.X.(*ast.SelectorExpr); nested {
			s.replace(.25, cond, s.text(sel.X)+" != nil && "+left)
		}
		return true
	})
	ast.Inspect(cond, func(n ast.Node) bool {
		ix, ok := n.(*ast.IndexExpr)
		if ok && isInt(s.typ(ix.Index)) && hasLen(s.typ(ix.X)) {
			s.replace(.4, cond, s.text(ix.Index)+" < len("+s.text(ix.X)+") && "+left)
			s.replace(.3, cond, s.text(ix.Index)+" >= 0 && "+left)
		}
		return true
	})
}

func first(text string) string {
	for name := range names2(text) {
		if name != "len" {
			return name
		}
	}
	return ""
}

// names2 returns the identifiers in the text of a small condition. It has at
// most two besides len.
func names2(text string) map[string]bool {
	out := map[string]bool{}
	word := ""
	for _, r := range text + " " {
		if r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) {
			word += string(r)
			continue
		}
		if _, err := strconv.Atoi(word); word != "" && err != nil && word != "len" && word != "nil" {
			out[word] = true
		}
		word = ""
	}
	return out
}

// guard leaves a function, or a turn of a loop, before it uses what is not
// there.
func guard(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || !s.listed(n) {
		return
	}
	zero := s.zeros()
	var exits []string
	if zero != "" {
		exits = append(exits, zero)
	}
	if s.loop() != nil {
		exits = append(exits, "continue")
	}
	exits = append(exits, s.failures()...)
	var shallow ast.Node = st
	switch x := st.(type) {
	case *ast.IfStmt:
		shallow = x.Cond
	case *ast.ForStmt:
		shallow = x
	case *ast.RangeStmt:
		shallow = x.X
	case *ast.BlockStmt, *ast.SwitchStmt, *ast.TypeSwitchStmt, *ast.SelectStmt:
		return
	}
	var conds []string
	add := func(c string) {
		for _, o := range conds {
			if o == c {
				return
			}
		}
		conds = append(conds, c)
	}
	ast.Inspect(shallow, func(n ast.Node) bool {
		switch x := n.(type) {
		case *ast.FuncLit:
			return false
		case *ast.SelectorExpr:
			if nilable(s.typ(x.X)) && s.simple(x.X) {
				add(s.text(x.X) + " == nil")
			}
		case *ast.StarExpr:
			if s.simple(x.X) && nilable(s.typ(x.X)) {
				add(s.text(x.X) + " == nil")
			}
		case *ast.IndexExpr:
			if !s.simple(x.X) || s.typ(x.X) == nil {
				return true
			}
			if _, isMap := s.typ(x.X).Underlying().(*types.Map); isMap {
				return true
			}
			if hasLen(s.typ(x.X)) {
				add("len(" + s.text(x.X) + ") == 0")
				if s.info.Types[x.Index].Value == nil {
					add(s.text(x.Index) + " >= len(" + s.text(x.X) + ")")
					add(s.text(x.Index) + " < 0")
				}
			}
		case *ast.SliceExpr:
			if s.simple(x.X) && hasLen(s.typ(x.X)) {
				add("len(" + s.text(x.X) + ") == 0")
			}
		case *ast.BinaryExpr:
			if (x.Op == token.QUO || x.Op == token.REM) && s.info.Types[x.Y].Value == nil && s.simple(x.Y) {
				add(s.text(x.Y) + " == 0")
			}
		}
		return true
	})
	for _, c := range conds {
		for _, x := range exits {
			s.insert(.22, st, "if "+c+" {\n\t"+x+"\n}")
		}
	}
}

// failures writes return statements with the package's own errors.
func (s *mutator) failures() []string {
	res := s.results()
	if len(res) == 0 || res[len(res)-1] == nil || res[len(res)-1].String() != "error" {
		return nil
	}
	zero := s.zeros()
	var out []string
	for _, name := range s.globals(res[len(res)-1]) {
		if head, ok := strings.CutSuffix(zero, "nil"); ok && len(out) < 4 {
			out = append(out, head+name)
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

// baseCase ends a function at once for an empty or small argument.
func baseCase(s *mutator, n ast.Node) {
	st, ok := n.(ast.Stmt)
	if !ok || len(s.parents) != 1 || len(s.fn.decl.Body.List) == 0 || s.fn.decl.Body.List[0] != st {
		return
	}
	res := s.results()
	if len(res) == 0 || len(res) > 2 || res[0] == nil {
		return
	}
	rest := ""
	if len(res) == 2 {
		if res[1] == nil || s.zero(res[1]) == "" {
			return
		}
		rest = ", " + s.zero(res[1])
	}
	values := []string{}
	if z := s.zero(res[0]); z != "" {
		values = append(values, z)
	}
	if isBool(res[0]) {
		values = append(values, "true")
	}
	if isInt(res[0]) {
		values = append(values, "1")
	}
	for _, v := range s.vars(st.Pos()) {
		if types.Identical(v.Type(), res[0]) {
			values = append(values, v.Name())
		}
	}
	for _, v := range s.vars(st.Pos()) {
		var conds []string
		switch t := v.Type(); {
		case nilable(t):
			conds = []string{v.Name() + " == nil"}
		case hasLen(t):
			conds = []string{"len(" + v.Name() + ") == 0", "len(" + v.Name() + ") <= 1"}
		case isInt(t):
			conds = []string{v.Name() + " == 0", v.Name() + " <= 1", v.Name() + " < 0"}
		}
		for _, c := range conds {
			for _, val := range values {
				s.insert(.15, st, "if "+c+" {\n\treturn "+val+rest+"\n}")
			}
		}
	}
}

// made makes a map before it is written to.
func made(s *mutator, n ast.Node) {
	a, ok := n.(*ast.AssignStmt)
	if !ok || len(a.Lhs) != 1 || !s.listed(n) {
		return
	}
	ix, ok := a.Lhs[0].(*ast.IndexExpr)
	if !ok {
		return
	}
	t := s.typ(ix.X)
	if t == nil {
		return
	}
	if _, isMap := t.Underlying().(*types.Map); isMap && s.simple(ix.X) {
		x := s.text(ix.X)
		s.insert(.3, a, "if "+x+" == nil {\n\t"+x+" = make("+s.name(t)+")\n}")
	}
}

// errorOf returns an error that was seen and dropped.
func errorOf(s *mutator, n ast.Node) {
	r, ok := n.(*ast.ReturnStmt)
	if !ok || len(r.Results) == 0 {
		return
	}
	last := r.Results[len(r.Results)-1]
	if !isIdent(last, "nil") {
		return
	}
	for _, v := range s.vars(r.Pos()) {
		if v.Type().String() == "error" {
			s.replace(.45, last, v.Name())
		}
	}
}
