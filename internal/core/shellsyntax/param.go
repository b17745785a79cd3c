package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// paramValue returns the value of a parameter expansion. blank is its value if the
// variable is empty. The content of the braces is walked once; a form that is not
// known to be harmless is unknown code.
func (w *walker) paramValue(st *state, p *syntax.ParamExp, from *[]int) (v value, blank string, ok bool) {
	if p.Param == nil || p.Flags != nil || p.Width || p.IsSet || p.NestedParam != nil || len(p.Modifiers) > 0 {
		w.unknownCode(st, w.text(p))
		return value{}, "", false
	}
	name := p.Param.Value
	w.index(st, p.Index, from)
	if p.Excl || p.Names != 0 {
		w.shaky = true
		if !w.namesOnly(st, p) {
			w.unknownCode(st, w.text(p))
		}
		w.inside(st, p, from)
		return value{}, "", false
	}
	if p.Length {
		return value{num: true}, "0", false
	}
	v, ok = w.lookup(st, name)
	if p.Index != nil {
		// An element; the value of an array describes all its elements.
		v, ok = value{num: v.num, from: v.from}, false
	}
	if p.Slice != nil || p.Repl != nil || p.Exp == nil {
		w.inside(st, p, from)
		if p.Slice != nil || p.Repl != nil {
			return value{from: v.from}, "", false
		}
		return v, v.blank, ok
	}
	if p.Index != nil && p.Exp.Op != syntax.OtherParamOps {
		w.inside(st, p, from)
		return value{from: v.from}, "", false
	}
	full := ok && v.known && v.text != ""
	switch p.Exp.Op {
	case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
		if full {
			w.inside(st, p, from)
			return v, "", true
		}
		// The new value is used only if the variable was empty.
		d := w.one(st, p.Exp.Word, from)
		if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
			set := valueOf(d, v.from)
			w.put(st, name, set, w.text(p))
			w.note(st, name, set)
			st.set(name, value{from: v.from})
		}
		if d.Known {
			return value{from: v.from}, d.Text, false
		}
		return value{from: v.from}, d.Blank, false
	case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
		w.inside(st, p, from)
		if full {
			return v, "", true
		}
		// It is not empty, or the command does not run.
		return value{from: v.from}, "\x00", false
	case syntax.OtherParamOps:
		// All operators only show the value, except ${x@P}, which runs it.
		if op := p.Exp.Word.Lit(); len(op) != 1 || strings.IndexByte("QEAaKkUuL", op[0]) < 0 {
			w.unknownCode(st, w.text(p))
		}
	}
	w.inside(st, p, from)
	return value{from: v.from}, "", false
}

// inside walks the parts of a parameter expansion other than its name and index.
func (w *walker) inside(st *state, p *syntax.ParamExp, from *[]int) {
	if p.Slice != nil {
		w.arithm(st, p.Slice.Offset, from)
		w.arithm(st, p.Slice.Length, from)
	}
	if p.Repl != nil {
		w.one(st, p.Repl.Orig, from)
		w.one(st, p.Repl.With, from)
	}
	if p.Exp != nil && p.Exp.Op != syntax.OtherParamOps {
		w.one(st, p.Exp.Word, from)
	}
}

// namesOnly reports whether an expansion with "!" expands to names, or to the value of
// a variable that is known. Otherwise the variable's value is used as a name with a
// subscript, which is evaluated.
func (w *walker) namesOnly(st *state, p *syntax.ParamExp) bool {
	if p.Exp != nil || p.Slice != nil || p.Repl != nil {
		return false
	}
	if p.Names != 0 {
		return true
	}
	if word, ok := p.Index.(*syntax.Word); ok && (word.Lit() == "@" || word.Lit() == "*") {
		return true
	}
	v, ok := st.get(p.Param.Value)
	return p.Index == nil && ok && v.known && syntax.ValidName(v.text)
}

// index walks a subscript, which is evaluated.
func (w *walker) index(st *state, x syntax.ArithmExpr, from *[]int) {
	if word, ok := x.(*syntax.Word); ok && (word.Lit() == "@" || word.Lit() == "*") {
		return
	}
	if word, ok := x.(*syntax.Word); !ok || !isNumber(word.Lit()) {
		w.shaky = w.shaky || x != nil // it may be negative
	}
	w.arithm(st, x, from)
}
