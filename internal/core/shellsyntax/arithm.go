package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Arithmetic runs code: the value of a variable is itself an expression, and a
// subscript in it may hold a substitution. So a value that this line set and
// that is not known to be harmless makes the command line unknown here.

// arithm checks an arithmetic expression and notes what it assigns.
func (w *walker) arithm(st *state, x syntax.ArithmExpr) {
	if x == nil || w.err != nil {
		return
	}
	for _, v := range st.vars {
		if v.known && runs(v.text) {
			w.unknownCode(st, w.text(x))
			return
		}
	}
	assigned := map[string]bool{}
	bad := false
	check := func(name string) {
		v, ok := st.vars[name]
		if ok && !v.known && !v.num && !assigned[name] || !ok && st.posn && strings.Trim(name, "0123456789@*") == "" {
			bad = true
		}
	}
	syntax.Walk(x, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			bad = true // its output would be evaluated
			return false
		case *syntax.Lit:
			if runs(n.Value) {
				bad = true
			}
			check(n.Value)
		case *syntax.SglQuoted:
			bad = bad || runs(n.Value)
		case *syntax.ParamExp:
			if n.Length {
				return false
			}
			if n.Param != nil {
				check(n.Param.Value)
			}
		case *syntax.BinaryArithm:
			if n.Op >= syntax.Assgn {
				w.assignArithm(n.X, assigned, n.Op == syntax.Assgn)
			}
		case *syntax.UnaryArithm:
			if n.Op == syntax.Inc || n.Op == syntax.Dec {
				w.assignArithm(n.X, assigned, false)
			}
		}
		return true
	})
	if bad {
		w.unknownCode(st, w.text(x))
	}
	for name := range assigned {
		st.set(name, value{num: true, blank: "0"})
	}
}

func (w *walker) assignArithm(x syntax.ArithmExpr, assigned map[string]bool, fresh bool) {
	if word, ok := x.(*syntax.Word); ok && word.Lit() != "" {
		if _, seen := assigned[word.Lit()]; !seen {
			assigned[word.Lit()] = fresh
		}
	}
}

// runs says whether text would run a command if it were evaluated.
func runs(s string) bool {
	return strings.Contains(s, "$(") || strings.Contains(s, "`") || strings.Contains(s, "${")
}

// test checks a [[ … ]]: its number comparisons and -v evaluate.
func (w *walker) test(st *state, x syntax.TestExpr) {
	switch x := x.(type) {
	case *syntax.BinaryTest:
		switch x.Op {
		case syntax.TsEql, syntax.TsNeq, syntax.TsLeq, syntax.TsGeq, syntax.TsLss, syntax.TsGtr:
			for _, side := range []syntax.TestExpr{x.X, x.Y} {
				if word, ok := side.(*syntax.Word); ok {
					w.evaluated(st, word)
				}
			}
		default:
			w.test(st, x.X)
			w.test(st, x.Y)
		}
	case *syntax.UnaryTest:
		if x.Op == syntax.TsVarSet || x.Op == syntax.TsRefVar {
			if word, ok := x.X.(*syntax.Word); !ok || !syntax.ValidName(word.Lit()) {
				w.unknownCode(st, w.text(x))
			}
			return
		}
		w.test(st, x.X)
	case *syntax.ParenTest:
		w.test(st, x.X)
	}
}

// evaluated checks a word whose text is evaluated as arithmetic.
func (w *walker) evaluated(st *state, word *syntax.Word) {
	plain := true
	syntax.Walk(word, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst, *syntax.ProcSubst:
			plain = false
			return false
		case *syntax.ParamExp:
			v, ok := st.vars[paramName(n)]
			if ok && !n.Length && !(v.known && !runs(v.text)) && !v.num || !ok && st.posn && !n.Length && strings.Trim(paramName(n), "0123456789@*") == "" {
				plain = false
			}
		case *syntax.Lit:
			plain = plain && !runs(n.Value)
		case *syntax.SglQuoted:
			plain = plain && !runs(n.Value)
		}
		return true
	})
	if !plain {
		w.unknownCode(st, w.text(word))
	}
}

func paramName(p *syntax.ParamExp) string {
	if p.Param == nil {
		return ""
	}
	return p.Param.Value
}
