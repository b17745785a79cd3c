package repair

import (
	"go/ast"
	"go/token"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// wrongVariable uses another variable or constant of the same type.
func wrongVariable(s *mutator, id *ast.Ident) {
	obj, isVar := s.info.Uses[id].(*types.Var)
	switch t := s.typ(id); {
	case id.Name == "nil":
		r, ok := s.parent(0).(*ast.ReturnStmt)
		for i, t := range s.results() {
			if ok && i < len(r.Results) && r.Results[i] == id && t != nil {
				for _, v := range s.varsOf(id.Pos(), t) {
					s.replace(map[bool]float64{true: .45, false: .35}[t.String() == "error"], id, v.Name())
				}
			}
		}
	case !isVar || obj.IsField() || t == nil:
		if c, ok := s.info.Uses[id].(*types.Const); ok && c.Pkg() == s.fn.pkg.types {
			for _, name := range s.globals(c.Type()) {
				s.replace(.35, id, name)
			}
		}
	case s.role(id) == "stored":
		for _, v := range s.varsOf(id.Pos(), t) {
			s.replace(.2, id, v.Name())
		}
	case s.role(id) != "":
		for _, v := range s.varsOf(id.Pos(), t) {
			s.replace(map[bool]float64{true: .15, false: .5}[s.beside(id, v.Name())], id, v.Name())
		}
	}
}

// beside reports whether a name is already the other operand of an operator or another
// argument: f(a, a) and a < a are rarely meant.
func (s *mutator) beside(e ast.Expr, name string) bool {
	var others []ast.Expr
	switch p := s.parent(0).(type) {
	case *ast.BinaryExpr:
		others = []ast.Expr{p.X, p.Y}
	case *ast.CallExpr:
		others = p.Args
	case *ast.AssignStmt:
		others = p.Lhs
	}
	return slices.ContainsFunc(others, func(o ast.Expr) bool { return o != e && isIdent(o, name) })
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
func wrongField(s *mutator, sel *ast.SelectorExpr) {
	x := s.info.Selections[sel]
	if x == nil {
		return
	}
	if x.Kind() == types.FieldVal {
		for _, f := range s.fields(x.Recv(), x.Type()) {
			s.replace(.45, sel.Sel, f)
		}
		return
	}
	recv := x.Recv()
	if _, ptr := recv.Underlying().(*types.Pointer); !ptr {
		recv = types.NewPointer(recv)
	}
	for m := range types.NewMethodSet(recv).Methods() {
		if f := m.Obj(); types.Identical(m.Type(), x.Type()) && (f.Exported() || f.Pkg() == s.fn.pkg.types) {
			s.replace(.4, sel.Sel, f.Name())
		}
	}
}

// twins are functions of the standard library that are taken for each other; each pair
// is tried both ways.
const twins = `HasPrefix HasSuffix, TrimPrefix TrimSuffix, TrimLeft TrimRight, Index LastIndex, ToUpper ToLower,
Floor Ceil, Round Floor, Round Ceil, Trunc Floor, Max Min, Sin Cos, IndexByte LastIndexByte, IndexAny LastIndexAny,
Before After, Contains ContainsAny, Contains HasPrefix, Contains HasSuffix, IsUpper IsLower, IsLetter IsDigit,
IsSpace IsPunct, TrimRight TrimSuffix, TrimLeft TrimPrefix, MaxInt MinInt, MaxInt64 MinInt64, MaxInt32 MinInt32,
All Any, Trim TrimLeft, Trim TrimRight, PushBack PushFront, Front Back, Next Prev, MoveToFront MoveToBack, Lock RLock,
Title ToUpper, EqualFold Contains`

// wrongFunction calls a function of the same signature: one of this package,
// or its twin in the standard library.
func wrongFunction(s *mutator, n ast.Node) {
	switch x := n.(type) {
	case *ast.SelectorExpr:
		for pair := range strings.SplitSeq(twins, ",") {
			if t := strings.Fields(pair); x.Sel.Name == t[0] {
				s.replace(.35, x.Sel, t[1])
			} else if x.Sel.Name == t[1] {
				s.replace(.35, x.Sel, t[0])
			}
		}
	case *ast.Ident:
		if other := map[string]string{"min": "max", "max": "min"}[x.Name]; other != "" && s.called(x) {
			s.replace(.6, x, other)
			return
		}
		f, ok := s.info.Uses[x].(*types.Func)
		if !ok || f.Pkg() != s.fn.pkg.types || f.Signature().Recv() != nil {
			return
		}
		sc := s.fn.pkg.types.Scope()
		for _, name := range sc.Names() {
			if g, ok := sc.Lookup(name).(*types.Func); ok && types.Identical(g.Type(), f.Type()) {
				s.replace(.35, x, name)
			}
		}
	}
}

// wrongExpression uses an expression that the function has elsewhere. Much
// wrong code is right code in the wrong place.
func wrongExpression(s *mutator, n ast.Node) {
	e, t, _, ok := s.plain(n)
	if sel, is := n.(*ast.SelectorExpr); !ok || is && s.info.Selections[sel] == nil || s.called(e) || s.role(e) == "" {
		return
	}
	for _, text := range slices.Sorted(maps.Keys(s.fragments())) {
		if types.Identical(s.frags[text], t) {
			s.replace(.12, e, text)
		}
	}
	if _, ident := e.(*ast.Ident); ident {
		return
	}
	for _, v := range s.varsOf(e.Pos(), t) {
		s.replace(.2, e, v.Name())
	}
}

// shadowed makes := an assignment to the variables of an outer block.
func shadowed(s *mutator, a *ast.AssignStmt) {
	sc := s.fn.pkg.types.Scope().Innermost(a.Pos())
	if a.Tok != token.DEFINE || sc == nil {
		return
	}
	for _, l := range a.Lhs { // where one has no outer variable, it does not compile
		id, ok := l.(*ast.Ident)
		if !ok || s.info.Defs[id] == nil {
			continue
		}
		if _, o := sc.Parent().LookupParent(id.Name, a.Pos()); o != nil {
			s.put(.5, a.TokPos, a.TokPos+2, "=")
		}
	}
}

// fragments returns the function's index and selector expressions, each text once.
func (s *mutator) fragments() map[string]types.Type {
	if s.frags == nil {
		s.frags = map[string]types.Type{}
		ast.Inspect(s.fn.decl.Body, func(n ast.Node) bool {
			switch e := n.(type) {
			case *ast.IndexExpr, *ast.SelectorExpr:
				if t := s.typ(e.(ast.Expr)); t != nil && s.info.Types[e.(ast.Expr)].IsValue() {
					s.frags[s.text(e)] = t
				}
			}
			return true
		})
	}
	return s.frags
}
