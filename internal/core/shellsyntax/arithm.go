package shellsyntax

import (
	"bytes"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Arithmetic runs code: the value of a variable is itself an expression, and a
// subscript in it may contain a substitution. So an expression is harmless only if
// it is known to consist of numbers, operators and names whose values are harmless
// too. Everything else makes the command line unknown.

// arithm walks an arithmetic expression and records its assignments.
func (w *walker) arithm(st *state, x syntax.ArithmExpr, from *[]int) {
	if x == nil || w.err != nil {
		return
	}
	a := arithmetic{w: w, st: st, from: from}
	a.sure = a.cannotFail(x)
	w.shaky = w.shaky || !a.sure
	if !a.expr(x, false) {
		w.unknownCode(st, w.text(x))
	}
}

// arithmetic is the state of walking one expression.
type arithmetic struct {
	w    *walker
	st   *state
	from *[]int
	sure bool // nothing in it fails, so its assignments happen
}

// expr reports whether an expression is harmless. maybe: it may be skipped.
func (a *arithmetic) expr(x syntax.ArithmExpr, maybe bool) bool {
	if a.w.err != nil || !a.w.enter() {
		a.w.leave()
		return false
	}
	defer a.w.leave()
	switch x := x.(type) {
	case nil:
		return true
	case *syntax.Word:
		return a.leaf(x)
	case *syntax.ParenArithm:
		return a.expr(x.X, maybe)
	case *syntax.UnaryArithm:
		ok := a.expr(x.X, maybe)
		if x.Op == syntax.Inc || x.Op == syntax.Dec {
			a.assign(x.X, ok, maybe)
		}
		return ok
	case *syntax.BinaryArithm:
		if assigns(x.Op) {
			ok := x.Op == syntax.Assgn && name(x.X) != "" || a.expr(x.X, maybe)
			ok = a.expr(x.Y, maybe) && ok
			a.assign(x.X, ok, maybe)
			return ok
		}
		left := a.expr(x.X, maybe || x.Op == syntax.TernColon)
		right := a.expr(x.Y, maybe || x.Op == syntax.AndArit || x.Op == syntax.OrArit || x.Op == syntax.TernQuest || x.Op == syntax.TernColon)
		return left && right
	}
	return false
}

// assigns reports whether an operator sets its left side.
func assigns(op syntax.BinAritOperator) bool {
	switch op {
	case syntax.Assgn, syntax.AddAssgn, syntax.SubAssgn, syntax.MulAssgn, syntax.QuoAssgn, syntax.RemAssgn,
		syntax.AndAssgn, syntax.OrAssgn, syntax.XorAssgn, syntax.ShlAssgn, syntax.ShrAssgn:
		return true
	}
	return op > syntax.Assgn // operators of other shells
}

func name(x syntax.ArithmExpr) string {
	if word, ok := x.(*syntax.Word); ok && syntax.ValidName(word.Lit()) {
		return word.Lit()
	}
	return ""
}

func (a *arithmetic) assign(x syntax.ArithmExpr, ok, maybe bool) {
	n := name(x)
	if n == "" {
		return // an element: the content of an array is not tracked
	}
	v := value{num: ok, blank: "0"}
	if maybe || !a.sure {
		if old, set := a.st.get(n); set {
			v = either(old, v)
		} else if !a.w.plainName(a.st, n) {
			v.num = false
		}
	}
	a.st.set(n, v)
	a.w.note(a.st, n, v)
}

// cannotFail reports whether an expression has no part that may end it early:
// a division, a value that is not a number.
func (a *arithmetic) cannotFail(x syntax.ArithmExpr) bool {
	ok, nodes := true, 0
	var target *syntax.Word // the target of "=": its old value does not matter
	syntax.Walk(x, func(n syntax.Node) bool {
		nodes++
		switch n := n.(type) {
		case *syntax.BinaryArithm:
			switch n.Op {
			case syntax.Quo, syntax.Rem:
				word, lit := n.Y.(*syntax.Word)
				ok = ok && lit && strings.Trim(word.Lit(), "123456789") == "" && word.Lit() != ""
			case syntax.Pow, syntax.QuoAssgn, syntax.RemAssgn:
				ok = false
			case syntax.Assgn:
				if word, lit := n.X.(*syntax.Word); lit && syntax.ValidName(word.Lit()) {
					target = word
				}
			}
		case *syntax.Word:
			if n != target {
				ok = ok && a.integer(n)
			}
			return false
		}
		return ok
	})
	a.w.spend(nodes)
	return ok
}

// integer reports whether an operand is surely an integer, before its
// expansions are walked.
func (a *arithmetic) integer(word *syntax.Word) bool {
	if len(word.Parts) != 1 {
		return false
	}
	switch p := word.Parts[0].(type) {
	case *syntax.Lit:
		v, _ := a.w.lookup(a.st, p.Value)
		return isNumber(p.Value) && (p.Value[0] != '0' || p.Value == "0") || syntax.ValidName(p.Value) && v.decimal()
	case *syntax.ParamExp:
		if p.Param == nil || p.Excl || p.Index != nil || p.Slice != nil || p.Repl != nil || p.Exp != nil {
			return false
		}
		v, _ := a.w.lookup(a.st, p.Param.Value)
		return p.Length || v.decimal()
	}
	return false
}

// leaf reports whether one operand is harmless, after its own expansions.
func (a *arithmetic) leaf(word *syntax.Word) bool {
	if len(word.Parts) == 1 {
		if p, ok := word.Parts[0].(*syntax.ParamExp); ok && p.Short && !p.Dollar.IsValid() && p.Index != nil {
			a.w.index(a.st, p.Index, a.from)
			v, set := a.st.get(p.Param.Value)
			return set && v.integer() || !set && a.w.plainName(a.st, p.Param.Value)
		}
	}
	f := a.w.expand(a.st, word, false, a.from)[0]
	switch {
	case f.known():
		return a.w.evalText(a.st, string(f.text))
	case f.numbers:
		return a.w.evalText(a.st, string(f.blank))
	}
	return false
}

// evalText reports whether text is harmless when it is evaluated: numbers,
// signs, and names whose values are harmless again.
func (w *walker) evalText(st *state, s string) bool {
	return w.harmless(st, s, map[string]bool{})
}

func (w *walker) harmless(st *state, s string, seen map[string]bool) bool {
	w.spend(len(s))
	if strings.Contains(s, "++") || strings.Contains(s, "--") || len(seen) > maxDepth {
		return false
	}
	for i := 0; i < len(s); {
		j := i
		for j < len(s) && (isLetter(s[j]) || isDigit(s[j], 10)) {
			j++
		}
		switch {
		case j > i && isLetter(s[i]):
			n := s[i:j]
			if v, set := st.get(n); set && v.known && !seen[n] {
				seen[n] = true
				if !w.harmless(st, v.text, seen) {
					return false
				}
			} else if set && !v.known && !v.num || !set && !w.plainName(st, n) {
				return false
			}
		case j > i:
			if digits := s[i:j]; !isNumber(digits) && !isHex(digits) {
				return false
			}
			if j < len(s) && s[j] == '#' { // the base of the number
				for j++; j < len(s) && (isLetter(s[j]) || isDigit(s[j], 10)); {
					j++
				}
			}
		case strings.IndexByte(" \t\n+-*/%()<>!&|^~?:,", s[i]) >= 0:
			j = i + 1
		default:
			return false
		}
		i = j
	}
	return true
}

func isHex(s string) bool {
	return len(s) > 2 && (s[:2] == "0x" || s[:2] == "0X") && strings.Trim(s[2:], "0123456789abcdefABCDEF") == ""
}

// plainName reports whether a variable that the line did not set is harmless to
// evaluate: it comes from the environment, or bash keeps it an integer.
func (w *walker) plainName(st *state, name string) bool {
	if st.wild || st.trapped {
		return false
	}
	return counted(name) || !filled(name)
}

// isNumber reports whether s is a decimal integer.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	return s != "" && strings.Trim(s, "0123456789") == ""
}

// test walks a [[ … ]]: its numeric comparisons and -v evaluate code.
func (w *walker) test(st *state, x syntax.TestExpr, from *[]int) {
	if w.err != nil || !w.enter() {
		w.leave()
		return
	}
	defer w.leave()
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				w.operand(st, side, from)
			}
			return
		}
		w.test(st, x.X, from)
		w.test(st, x.Y, from)
	case *syntax.UnaryTest:
		if word, ok := x.X.(*syntax.Word); ok && (x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar) {
			if v := w.one(st, word, from); !v.Known || !w.reference(st, v.Text) {
				w.unknownCode(st, w.text(x))
			}
			return
		}
		w.test(st, x.X, from)
	case *syntax.ParenTest:
		w.test(st, x.X, from)
	case *syntax.Word:
		w.one(st, x, from)
	default:
		w.unknownCode(st, w.text(x))
	}
}

// operand walks a side of a numeric comparison.
func (w *walker) operand(st *state, x syntax.TestExpr, from *[]int) {
	word, ok := x.(*syntax.Word)
	if !ok {
		w.unknownCode(st, w.text(x))
		return
	}
	a := arithmetic{w: w, st: st, from: from}
	if !a.leaf(word) {
		w.unknownCode(st, w.text(word))
	}
}

// reference reports whether text names a variable, or an element of one whose
// subscript is harmless.
func (w *walker) reference(st *state, s string) bool {
	n, sub, has := strings.Cut(s, "[")
	if !has {
		return syntax.ValidName(s)
	}
	sub, closed := strings.CutSuffix(sub, "]")
	return closed && syntax.ValidName(n) && (sub == "@" || sub == "*" || w.evalText(st, sub))
}

// let walks the text of an argument of let.
func (w *walker) let(st *state, s string) bool {
	w.spend(len(s))
	if !plainArithmetic(s) {
		return false
	}
	x, err := syntax.NewParser().Arithmetic(bytes.NewReader([]byte(s)))
	if err != nil {
		return false
	}
	old := w.src
	w.src = s
	var from []int
	a := arithmetic{w: w, st: st, from: &from}
	ok := a.expr(x, true)
	w.src = old
	return ok
}

// plainArithmetic reports whether text is made of names, numbers and operators.
func plainArithmetic(s string) bool {
	return !strings.ContainsAny(s, "$`'\"\\[]{}#")
}
