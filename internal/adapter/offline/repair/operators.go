package repair

import (
	"go/ast"
	"go/token"
	"go/types"
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
	return append(swaps(), []operator{
		// Conditions.
		{"comparison", on(emptiness)},
		{"negated condition", negated},
		{"returned boolean", on(returnedBool)},
		{"missing clause", clause},
		// Numbers.
		{"constant off by one", on(literal)},
		{"off by one", offByOne},
		{"operand order", on(operands)},
		{"missing or extra term", term},
		{"negated number", minus},
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
		// Slices.
		{"part of a slice", part},
		{"returned slice", on(returnedSlice)},
		// Loops.
		{"missing loop condition", on(endless)},
		{"range of the loop", on(ranged)},
		// Statements: one that was forgotten. None is removed.
		{"missing guard", listed(guard)},
		{"missing update", listed(missingUpdate)},
		{"missing mark", listed(missingMark)},
		{"missing append", listed(missingAppend)},
		{"missing count", listed(missingCount)},
	}...)
}

// on makes a row for one kind of node.
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
assignment operator: += -= .5 = .4 *= .3
assignment operator: -= += .5 = .4
assignment operator: *= /= .5 = .4 += .3
assignment operator: /= *= .5 %= .4
assignment operator: %= /= .5
assignment operator: |= &= .5 ^= .4 &^= .3
assignment operator: &= |= .5 ^= .4 &^= .3
assignment operator: ^= &= .5 |= .4
assignment operator: &^= &= .5 |= .4
assignment operator: <<= >>= .5
assignment operator: >>= <<= .5
assignment operator: = += .45
`

// swaps makes a row for each line of the table.
func swaps() []operator {
	var out []operator
	for line := range strings.Lines(strings.TrimSpace(swapTable)) {
		name, rest, _ := strings.Cut(line, ": ")
		f := strings.Fields(rest)
		out = append(out, operator{name, func(s *mutator, n ast.Node) {
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
		}})
	}
	return out
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

// role returns what an expression is for, by its parent.
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
		if p.Fun != e {
			return "argument"
		}
	case *ast.ReturnStmt:
		return "result"
	case *ast.RangeStmt:
		if p.X == e {
			return "range"
		}
	case *ast.AssignStmt:
		for _, r := range p.Rhs {
			if r == e {
				return "assigned"
			}
		}
	case *ast.KeyValueExpr:
		if p.Value == e {
			return "field"
		}
	case *ast.IfStmt, *ast.ForStmt, *ast.ParenExpr:
		return "condition"
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
