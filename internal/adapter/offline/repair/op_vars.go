package repair

import (
	"go/ast"
	"go/token"
	"go/types"
)

// variableOps put another thing of the same type in a name's place.
func variableOps() []operator {
	return []operator{
		{"wrong variable", wrongVariable},
		{"wrong field or method", wrongField},
		{"wrong function", wrongFunction},
		{"wrong constant", wrongConstant},
		{"another expression of this function", wrongExpression},
		{"shadowed variable", shadowed},
	}
}

// value reports whether an expression is read here, not declared or assigned
// by :=.
func (s *mutator) value(e ast.Expr) bool {
	switch p := s.parent(0).(type) {
	case *ast.AssignStmt:
		for _, l := range p.Lhs {
			if l == e {
				return false
			}
		}
	case *ast.RangeStmt:
		return p.X == e
	case *ast.KeyValueExpr:
		if p.Key == e {
			c, ok := s.parent(1).(*ast.CompositeLit)
			if !ok {
				return false
			}
			t := s.typ(c)
			if t == nil {
				return false
			}
			_, isMap := t.Underlying().(*types.Map)
			return isMap
		}
	case *ast.SelectorExpr:
		return p.X == e
	case *ast.IncDecStmt, *ast.LabeledStmt, *ast.BranchStmt:
		return false
	}
	return true
}

// wrongVariable uses another variable, or a field of one, of the same type.
func wrongVariable(s *mutator, n ast.Node) {
	id, ok := n.(*ast.Ident)
	if !ok {
		return
	}
	obj, isVar := s.info.Uses[id].(*types.Var)
	if !isVar && id.Name != "nil" {
		return
	}
	if isVar && obj.IsField() {
		return
	}
	if !s.value(id) {
		if a, ok := s.parent(0).(*ast.AssignStmt); ok && a.Tok != token.DEFINE {
			for _, v := range s.varsOf(id.Pos(), s.typ(id)) {
				s.replace(.2, id, v.Name())
			}
		}
		return
	}
	t := s.typ(id)
	if id.Name == "nil" {
		if r, ok := s.parent(0).(*ast.ReturnStmt); ok {
			res := s.results()
			for i, e := range r.Results {
				if e == id && i < len(res) && res[i] != nil {
					for _, v := range s.varsOf(id.Pos(), res[i]) {
						s.replace(.35, id, v.Name())
					}
				}
			}
		}
		return
	}
	if t == nil {
		return
	}
	for _, v := range s.varsOf(id.Pos(), t) {
		prior := .5
		if s.beside(id, v.Name()) {
			prior = .15
		}
		s.replace(prior, id, v.Name())
	}
	for _, v := range s.vars(id.Pos()) {
		for _, f := range s.fields(v.Type(), t) {
			s.replace(.12, id, v.Name()+"."+f)
		}
	}
	for _, f := range s.globals(t) {
		s.replace(.12, id, f)
	}
}

// fields returns the fields of a struct, or of a pointer to one, that have a
// type.
func (s *mutator) fields(of, t types.Type) []string {
	if p, ok := of.Underlying().(*types.Pointer); ok {
		of = p.Elem()
	}
	st, ok := of.Underlying().(*types.Struct)
	if !ok {
		return nil
	}
	var out []string
	for f := range st.Fields() {
		if types.Identical(f.Type(), t) && (f.Exported() || f.Pkg() == s.fn.pkg.types) && f.Name() != "_" {
			out = append(out, f.Name())
		}
	}
	return out
}

// globals returns the package's variables and constants of a type.
func (s *mutator) globals(t types.Type) []string {
	var out []string
	sc := s.fn.pkg.types.Scope()
	for _, name := range sc.Names() {
		switch o := sc.Lookup(name).(type) {
		case *types.Var, *types.Const:
			if types.Identical(o.Type(), t) {
				out = append(out, name)
			}
		}
	}
	return out
}

// wrongField selects another field or method of the same type.
func wrongField(s *mutator, n ast.Node) {
	sel, ok := n.(*ast.SelectorExpr)
	if !ok {
		return
	}
	x := s.info.Selections[sel]
	if x == nil {
		return
	}
	recv := x.Recv()
	if x.Kind() == types.FieldVal {
		for _, f := range s.fields(recv, x.Type()) {
			s.replace(.45, sel.Sel, f)
		}
		if _, assigned := s.parent(0).(*ast.AssignStmt); assigned && !s.value(sel) {
			return
		}
		for _, v := range s.varsOf(sel.Pos(), x.Type()) {
			s.replace(.12, sel, v.Name())
		}
		return
	}
	if _, ptr := recv.Underlying().(*types.Pointer); !ptr {
		recv = types.NewPointer(recv)
	}
	set := types.NewMethodSet(recv)
	for m := range set.Methods() {
		f := m.Obj()
		if f.Name() != sel.Sel.Name && types.Identical(m.Type(), x.Type()) && (f.Exported() || f.Pkg() == s.fn.pkg.types) {
			s.replace(.4, sel.Sel, f.Name())
		}
	}
}

// twins returns functions of the standard library that are taken for each other.
// Each pair is tried both ways.
func twins() [][2]string {
	return [][2]string{
		{"HasPrefix", "HasSuffix"},
		{"TrimPrefix", "TrimSuffix"},
		{"TrimLeft", "TrimRight"},
		{"Index", "LastIndex"},
		{"ToUpper", "ToLower"},
		{"Floor", "Ceil"},
		{"Round", "Floor"},
		{"Round", "Ceil"},
		{"Trunc", "Floor"},
		{"Max", "Min"},
		{"Sin", "Cos"},
		{"IndexByte", "LastIndexByte"},
		{"IndexAny", "LastIndexAny"},
		{"Before", "After"},
		{"Contains", "ContainsAny"},
		{"Contains", "HasPrefix"},
		{"Contains", "HasSuffix"},
		{"IsUpper", "IsLower"},
		{"IsLetter", "IsDigit"},
		{"IsSpace", "IsPunct"},
		{"TrimRight", "TrimSuffix"},
		{"TrimLeft", "TrimPrefix"},
		{"MaxInt", "MinInt"},
		{"MaxInt64", "MinInt64"},
		{"MaxInt32", "MinInt32"},
		{"All", "Any"},
		{"Trim", "TrimLeft"},
		{"Trim", "TrimRight"},
		{"PushBack", "PushFront"},
		{"Front", "Back"},
		{"Next", "Prev"},
		{"MoveToFront", "MoveToBack"},
		{"Lock", "RLock"},
		{"Title", "ToUpper"},
		{"Atoi", "Itoa"},
		{"EqualFold", "Contains"},
	}
}

// wrongFunction calls a function of the same signature: one of this package,
// or its twin in the standard library.
func wrongFunction(s *mutator, n ast.Node) {
	switch x := n.(type) {
	case *ast.SelectorExpr:
		for _, t := range twins() {
			switch x.Sel.Name {
			case t[0]:
				s.replace(.35, x.Sel, t[1])
			case t[1]:
				s.replace(.35, x.Sel, t[0])
			}
		}
	case *ast.Ident:
		if x.Name == "min" || x.Name == "max" {
			if c, ok := s.parent(0).(*ast.CallExpr); ok && c.Fun == x {
				s.replace(.6, x, map[string]string{"min": "max", "max": "min"}[x.Name])
			}
			return
		}
		f, ok := s.info.Uses[x].(*types.Func)
		if !ok || f.Pkg() != s.fn.pkg.types || f.Signature().Recv() != nil {
			return
		}
		sc := s.fn.pkg.types.Scope()
		for _, name := range sc.Names() {
			g, ok := sc.Lookup(name).(*types.Func)
			if ok && g != f && types.Identical(g.Type(), f.Type()) {
				s.replace(.35, x, name)
			}
		}
	}
}

// wrongConstant uses another constant of the package of the same type.
func wrongConstant(s *mutator, n ast.Node) {
	id, ok := n.(*ast.Ident)
	if !ok {
		return
	}
	c, ok := s.info.Uses[id].(*types.Const)
	if !ok || c.Pkg() != s.fn.pkg.types {
		return
	}
	sc := s.fn.pkg.types.Scope()
	for _, name := range sc.Names() {
		if o, ok := sc.Lookup(name).(*types.Const); ok && o != c && types.Identical(o.Type(), c.Type()) {
			s.replace(.35, id, name)
		}
	}
}

// wrongExpression uses an expression that the function has elsewhere. Much
// wrong code is right code in the wrong place.
func wrongExpression(s *mutator, n ast.Node) {
	e, ok := n.(ast.Expr)
	if !ok {
		return
	}
	switch x := e.(type) {
	case *ast.IndexExpr, *ast.CallExpr:
	case *ast.Ident:
		if _, ok := s.info.Uses[x].(*types.Var); !ok {
			return
		}
	case *ast.SelectorExpr:
		if s.info.Selections[x] == nil {
			return
		}
	default:
		return
	}
	t := s.typ(e)
	if t == nil || !s.info.Types[e].IsValue() {
		return
	}
	if p, ok := s.parent(0).(*ast.SelectorExpr); ok && p.Sel == e {
		return
	}
	if c, ok := s.parent(0).(*ast.CallExpr); ok && c.Fun == e {
		return
	}
	if !s.value(e) {
		a, ok := s.parent(0).(*ast.AssignStmt)
		if !ok || a.Tok == token.DEFINE {
			return
		}
	}
	for _, f := range s.fragments() {
		if types.Identical(f.typ, t) {
			s.replace(.12, e, f.text)
		}
	}
	if _, ident := e.(*ast.Ident); ident {
		return
	}
	for _, v := range s.varsOf(e.Pos(), t) {
		s.replace(.2, e, v.Name())
	}
}

// shadowed makes := an assignment to the variable of an outer block.
func shadowed(s *mutator, n ast.Node) {
	a, ok := n.(*ast.AssignStmt)
	if !ok || a.Tok != token.DEFINE {
		return
	}
	file := s.fn.pkg.types.Scope()
	sc := file.Innermost(a.Pos())
	if sc == nil {
		return
	}
	outer := 0
	for _, l := range a.Lhs {
		id, ok := l.(*ast.Ident)
		if !ok {
			return
		}
		if id.Name == "_" {
			continue
		}
		if d := s.info.Defs[id]; d == nil {
			continue
		}
		if _, o := sc.Parent().LookupParent(id.Name, a.Pos()); o == nil {
			return
		}
		outer++
	}
	if outer > 0 {
		s.put(.5, a.TokPos, a.TokPos+2, "=")
	}
}

// beside reports whether a name is already the other operand of an operator or another
// argument: f(a, a) and a < a are rarely meant.
func (s *mutator) beside(e ast.Expr, name string) bool {
	switch p := s.parent(0).(type) {
	case *ast.BinaryExpr:
		return p.X != e && isIdent(p.X, name) || p.Y != e && isIdent(p.Y, name)
	case *ast.CallExpr:
		for _, a := range p.Args {
			if a != e && isIdent(a, name) {
				return true
			}
		}
	case *ast.AssignStmt:
		for _, l := range p.Lhs {
			if isIdent(l, name) {
				return true
			}
		}
	}
	return false
}
