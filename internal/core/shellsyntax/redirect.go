package shellsyntax

import (
	"path"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// substs walks every substitution inside a node and gives the places of their
// commands.
func (w *walker) substs(st *state, n syntax.Node) []int {
	var out []int
	if n == nil {
		return nil
	}
	sub := func(stmts []*syntax.Stmt, piped bool) {
		begin := len(w.out)
		in := st.clone()
		if piped {
			in.piped = true
		}
		if w.enter() {
			w.stmts(in, stmts)
		}
		w.leave()
		out = append(out, span(begin, len(w.out))...)
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			sub(n.Stmts, false)
			return false
		case *syntax.ProcSubst:
			sub(n.Stmts, n.Op == syntax.CmdOut)
			return false
		case *syntax.ParamExp:
			if n.Exp != nil && n.Exp.Op == syntax.OtherParamOps {
				w.unknownCode(st, w.text(n))
			}
		case *syntax.ArithmExp:
			w.arithm(st, n.X)
		}
		return true
	})
	return out
}

// redirects fills in the files that a command's redirections open.
func (w *walker) redirects(st *state, c *Command, rs []*syntax.Redirect) (here []Word) {
	for _, r := range rs {
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				here = append(here, w.document(st, r, &c.From))
			}
		case syntax.WordHdoc:
			here = append(here, w.one(st, r.Word, &c.From))
		case syntax.DplIn, syntax.DplOut:
			t := w.one(st, r.Word, &c.From)
			if t.Known && isFD(t.Text) {
				continue
			}
			c.Redirects = append(c.Redirects, Redirect{Op: r.Op.String(), Target: t})
		default:
			// A pattern is expanded here too where it gives one file.
			fs := w.fields(st, []*syntax.Word{r.Word}, &c.From)
			t := Word{Text: w.text(r.Word)}
			if len(fs) == 1 {
				t = fs[0]
			}
			c.Redirects = append(c.Redirects, Redirect{Op: r.Op.String(), Target: t})
		}
	}
	return here
}

func isFD(s string) bool {
	s = strings.TrimSuffix(s, "-")
	return strings.Trim(s, "0123456789") == ""
}

// document is the text of a here-document.
func (w *walker) document(st *state, r *syntax.Redirect, from *[]int) Word {
	quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`)
	var f field
	f.any = true
	e := &expander{w: w, st: st, from: from, cur: &f}
	for _, p := range r.Hdoc.Parts {
		l, ok := p.(*syntax.Lit)
		switch {
		case ok && quoted:
			f.add(l.Value)
		case ok:
			f.add(unescapeDouble(l.Value))
		default:
			e.dynamic(p, true)
		}
	}
	return f.word("<<" + r.Word.Lit())
}

// join puts a path behind a folder, lexically.
func join(dir, p string) string {
	if path.IsAbs(p) {
		return path.Clean(p)
	}
	return path.Join(dir, p)
}
