package repair

import (
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"
)

// operator is one row of the table: a kind of change, and what it would write where it
// applies to a node. The order decides between equal scores.
type operator struct {
	name  string
	apply func(s *mutator, n ast.Node)
}

func operators() []operator {
	return slices.Concat(swaps(), forms(), []operator{
		// Conditions.
		{"comparison", on(emptiness)},
		{"negated condition", unsigned(token.NOT, .5)},
		{"returned boolean", on(returnedBool)},
		{"missing clause", clause},
		// Numbers.
		{"constant off by one", on(literal)},
		{"off by one", on(offByOne)},
		{"operand order", on(operands)},
		{"missing or extra term", on(term)},
		{"negated number", unsigned(token.SUB, .35)},
		{"conversion before the division", divided},
		{"clamped value", on(clamped)},
		// Names and expressions.
		{"wrong variable", on(wrongVariable)},
		{"wrong field or method", on(wrongField)},
		{"wrong function", wrongFunction},
		{"another expression of this function", wrongExpression},
		{"shadowed variable", on(shadowed)},
		{"swapped arguments", on(swappedArgs)},
		{"swapped indices", swappedIndices},
		{"call too many", on(unwrapped)},
		{"missing call", wrapped},
		// Slices and loops.
		{"returned slice", on(returnedSlice)},
		{"missing loop condition", on(endless)},
		{"range of the loop", on(ranged)},
		// Statements: one that was forgotten. None is removed.
		{"missing guard", listed(guard)},
		{"missing update", listed(missingUpdate)},
		{"missing mark", listed(missingMark)},
		{"missing append", listed(missingAppend)},
		{"missing count", listed(missingCount)},
	})
}

func on[T ast.Node](f func(*mutator, T)) func(*mutator, ast.Node) {
	return func(s *mutator, n ast.Node) {
		if x, ok := n.(T); ok {
			f(s, x)
		}
	}
}

// listed makes a row for the statements of a list.
func listed(f func(*mutator, ast.Stmt)) func(*mutator, ast.Node) {
	return on(func(s *mutator, st ast.Stmt) {
		for _, x := range Statements(s.parent(0)) {
			if x == st {
				f(s, st)
			}
		}
	})
}

// swapTable has what is written in place of an operator or a keyword, and how often
// that is right.
const swapTable = `
comparison: < <= 1 != .15 == .1
comparison: <= < 1 == .3
comparison: > >= 1 != .15 == .1
comparison: >= > 1 == .3
comparison: == != .5 <= .4 >= .35 < .15 > .15
comparison: != == .5 < .3 > .3
reversed comparison: < > .7 >= .4
reversed comparison: > < .7 <= .4
reversed comparison: <= >= .7 > .4
reversed comparison: >= <= .7 < .4
and, or: && || .6
and, or: || && .6
arithmetic operator: + - .5 * .25
arithmetic operator: - + .5 / .1
arithmetic operator: * + .25 / .35
arithmetic operator: / * .35 % .4
arithmetic operator: % / .4 * .1
arithmetic operator: & | .5 ^ .4 &^ .3
arithmetic operator: | & .5 ^ .4
arithmetic operator: ^ & .5 | .5
arithmetic operator: &^ & .5 | .3
arithmetic operator: << >> .5
arithmetic operator: >> << .5
assignment operator: ++ -- .4
assignment operator: -- ++ .4
assignment operator: = += .45
`

// swaps makes a row for each line of the table, and for the assignment that goes with an
// operator.
func swaps() []operator {
	var out []operator
	for line := range strings.Lines(strings.TrimSpace(swapTable)) {
		name, rest, _ := strings.Cut(line, ": ")
		f := strings.Fields(rest)
		out = append(out, operator{name, swapped(f)})
		if name == "arithmetic operator" {
			f = strings.Fields(rest)
			f[0] += "="
			for i := 1; i < len(f); i += 2 {
				f[i] += "="
			}
			out = append(out, operator{"assignment operator", swapped(append(f, "=", ".4"))})
		}
	}
	return out
}

// swapped writes others in place of the operator that stands first.
func swapped(f []string) func(*mutator, ast.Node) {
	return func(s *mutator, n ast.Node) {
		pos, tok := s.operatorOf(n)
		if tok.String() != f[0] {
			return
		}
		for i := 1; i+1 < len(f); i += 2 {
			prior, err := strconv.ParseFloat(f[i+1], 64)
			if err == nil && s.sensible(n, f[i]) {
				s.put(prior, pos, pos+token.Pos(len(f[0])), f[i])
			}
		}
	}
}

// formTable has what may be written in place of an expression that has no operator of
// its own: for which kind of type, in which roles and how often that is right, and the
// forms. In a form, $ is the expression, @ each variable of its type, # each int.
const formTable = `
negated condition | bool | condition .4 result .4 operand .4 assigned .25 | !$
off by one | int | index .45 bound .5 range .5 ordered .4 argument .4 assigned .4 result .35 field .25 operand .2 | $+1 | $-1
missing or extra term | number | argument .1 assigned .1 result .1 index .1 bound .1 operand .05 ordered .05 | $ - @ | $ + @ | $*$
negated number | number | result .2 assigned .15 argument .1 | -$
part of a slice | list | argument .3 appended .12 assigned .12 result .12 field .12 | $[1:] | $[:len($)-1]
part of a slice | list | argument .18 appended .07 assigned .07 result .07 field .07 | $[#:] | $[:#] | $[#+1:]
range of the loop | list | range .25 | $[1:] | $[:len($)-1] | $[#:] | $[:#] | $[#+1:]
missing call | slice | argument .35 assigned .2 result .2 field .2 | append($[:0:0], $...)
`

// forms makes a row for each line of the table.
func forms() []operator {
	var out []operator
	for line := range strings.Lines(strings.TrimSpace(formTable)) {
		f := strings.Split(strings.TrimSpace(line), " | ")
		priors := map[string]float64{}
		for p := range slices.Chunk(strings.Fields(f[2]), 2) {
			priors[p[0]], _ = strconv.ParseFloat(p[1], 64) // as the table has it
		}
		out = append(out, operator{f[0], func(s *mutator, n ast.Node) {
			e, t, role, ok := s.plain(n)
			if !ok || priors[role] == 0 || !kinds[f[1]](t) {
				return
			}
			for _, form := range f[3:] {
				for _, text := range s.filled(form, e, t) {
					s.fitted(priors[role], e, text)
				}
			}
		}})
	}
	return out
}

// kinds are the kinds of types in the tables.
var kinds = map[string]func(types.Type) bool{
	"bool": isBool, "int": isInt, "number": isNumber,
	"slice": func(t types.Type) bool { return element(t) != nil },
	"list":  func(t types.Type) bool { return element(t) != nil || isString(t) },
}

// filled writes a form for an expression, for each variable that it stands for.
func (s *mutator) filled(form string, e ast.Expr, t types.Type) []string {
	if !strings.ContainsAny(form, "@#") {
		return []string{strings.ReplaceAll(form, "$", s.text(e))}
	}
	if strings.Contains(form, "#") {
		t = types.Typ[types.Int]
	}
	var out []string
	for _, v := range s.varsOf(e.Pos(), t) {
		if v.Name() != s.text(e) {
			out = append(out, strings.NewReplacer("$", s.text(e), "@", v.Name(), "#", v.Name()).Replace(form))
		}
	}
	return out
}

// fitted proposes other text for an operand, in parentheses where it needs them.
func (s *mutator) fitted(prior float64, e ast.Expr, text string) {
	x, _ := parser.ParseExpr(text) // what is no expression does not compile
	p, in := s.parent(0).(*ast.BinaryExpr)
	if b, ok := x.(*ast.BinaryExpr); ok && in && (p.Op.Precedence() > b.Op.Precedence() ||
		p.Y == e && p.Op.Precedence() == b.Op.Precedence() && p.Op != token.ADD && p.Op != token.MUL) {
		text = "(" + text + ")"
	}
	s.replace(prior, e, text)
}

// operatorOf returns a node's operator or keyword.
func (s *mutator) operatorOf(n ast.Node) (token.Pos, token.Token) {
	switch x := n.(type) {
	case *ast.BinaryExpr:
		return x.OpPos, x.Op
	case *ast.IncDecStmt:
		return x.TokPos, x.Tok
	case *ast.AssignStmt:
		if t := s.typ(x.Lhs[0]); len(x.Lhs) == 1 && (x.Tok != token.ASSIGN || isNumber(t) || isString(t)) {
			return x.TokPos, x.Tok
		}
	}
	return token.NoPos, token.ILLEGAL
}

// sensible reports whether another operator can be meant: equality becomes an order of
// numbers and texts only, a text is only put together, and nobody means x - x.
func (s *mutator) sensible(n ast.Node, op string) bool {
	b, ok := n.(*ast.BinaryExpr)
	if !ok {
		return true
	}
	t := s.typ(b.X)
	switch b.Op {
	case token.EQL, token.NEQ:
		return strings.HasSuffix(op, "=") && op[0] != '<' && op[0] != '>' || isNumber(t) || isString(t)
	case token.ADD:
		return !isString(t) && (op == "*" || s.text(b.X) != s.text(b.Y))
	case token.SUB, token.MUL, token.QUO, token.REM, token.AND, token.OR, token.XOR, token.AND_NOT, token.SHL, token.SHR:
		return op == "+" || op == "*" || s.text(b.X) != s.text(b.Y)
	}
	return true
}

// role returns what an expression is for, by its parent; "" if it is a mere name.
func (s *mutator) role(e ast.Expr) string {
	switch p := s.parent(0).(type) {
	case *ast.IndexExpr:
		if p.Index == e {
			return "index"
		}
	case *ast.SliceExpr:
		if p.X != e {
			return "bound"
		}
	case *ast.BinaryExpr:
		switch p.Op {
		case token.LSS, token.LEQ, token.GTR, token.GEQ:
			return "ordered"
		}
		return "operand"
	case *ast.CallExpr:
		switch {
		case p.Fun == e, isLen(p):
		case isIdent(p.Fun, "append"):
			return "appended"
		default:
			return "argument"
		}
	case *ast.ReturnStmt:
		return "result"
	case *ast.RangeStmt:
		return when(p.X == e, "range")
	case *ast.AssignStmt:
		if slices.Contains(p.Rhs, e) {
			return "assigned"
		}
		return when(p.Tok != token.DEFINE, "stored")
	case *ast.KeyValueExpr:
		return when(p.Value == e, "field")
	case *ast.SelectorExpr:
		return when(p.X == e, "read")
	case *ast.IfStmt, *ast.ForStmt, *ast.ParenExpr:
		return "condition"
	case *ast.IncDecStmt, *ast.LabeledStmt, *ast.BranchStmt:
		return ""
	}
	return "read"
}

func when(is bool, role string) string {
	if is {
		return role
	}
	return ""
}

// plain returns an expression that has no operator of its own and no constant value,
// with its type and role; false for anything else.
func (s *mutator) plain(n ast.Node) (e ast.Expr, t types.Type, role string, ok bool) {
	switch n.(type) {
	case *ast.Ident, *ast.CallExpr, *ast.SelectorExpr, *ast.IndexExpr:
		e = n.(ast.Expr)
	default:
		return nil, nil, "", false
	}
	tv := s.info.Types[e]
	if t = s.typ(e); t == nil || !tv.IsValue() || tv.Value != nil || tv.IsNil() {
		return nil, nil, "", false
	}
	return e, t, s.role(e), true
}
