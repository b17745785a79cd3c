package shellsyntax

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// subst walks the commands of a substitution and returns their indexes.
func (w *walker) subst(st *state, stmts []*syntax.Stmt, piped bool) []int {
	begin := len(w.out)
	in := st.clone()
	in.piped = in.piped || piped
	if w.enter() {
		w.stmts(in, stmts)
	}
	w.leave()
	return w.span(begin)
}

// counts reports whether a command substitution that was just walked prints a number
// or nothing: its last command does.
func (w *walker) counts(p *syntax.CmdSubst, at []int) bool {
	if len(p.Stmts) != 1 || len(at) == 0 {
		return false
	}
	s := p.Stmts[0]
	for {
		pipe, ok := s.Cmd.(*syntax.BinaryCmd)
		if !ok {
			break
		}
		if pipe.Op != syntax.Pipe || s.Negated || s.Background || len(s.Redirs) > 0 {
			return false
		}
		s = pipe.Y
	}
	if _, ok := s.Cmd.(*syntax.CallExpr); !ok || s.Background || s.Coprocess {
		return false
	}
	c := w.out[at[len(at)-1]]
	for _, r := range s.Redirs {
		// Error messages may contain any text.
		if r.Op != syntax.RdrIn && !(r.N != nil && r.N.Value == "2" && r.Op == syntax.RdrOut && r.Word.Lit() == "/dev/null") {
			return false
		}
	}
	program, plain := c.Program()
	if program == "" || !plain || w.declared[program] || len(c.Wrappers)+len(c.Assigns) > 0 || c.Code {
		return false
	}
	return !slices.ContainsFunc(c.Words, func(a Word) bool { return !a.Known }) && w.programs.Counts(c.Words)
}

// redirects adds the files that a command's redirections open.
func (w *walker) redirects(st *state, c *Command, rs []*syntax.Redirect) (here []Word) {
	for _, r := range rs {
		if r.N != nil && begins(r.N.Value, '{') {
			// {name}> sets the variable to the number of the descriptor.
			n := strings.Trim(r.N.Value, "{}")
			w.put(st, n, value{num: true}, r.N.Value)
			w.note(st, n, value{num: true})
		}
		switch r.Op {
		case syntax.Hdoc, syntax.DashHdoc:
			if r.Hdoc != nil {
				here = append(here, w.document(st, r, &c.From))
			}
		case syntax.WordHdoc:
			here = append(here, w.one(st, r.Word, &c.From))
		case syntax.DplIn, syntax.DplOut:
			t := w.one(st, r.Word, &c.From)
			if t.Known && isFD(t.Text) || t.Num {
				continue
			}
			c.Redirects = append(c.Redirects, Redirect{Op: r.Op.String(), Target: t})
		default:
			// A pattern is expanded here too if it matches one file.
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

// document returns the text of a here-document.
func (w *walker) document(st *state, r *syntax.Redirect, from *[]int) Word {
	for _, p := range r.Word.Parts {
		switch p.(type) {
		case *syntax.Lit, *syntax.SglQuoted, *syntax.DblQuoted:
		default: // bash takes the delimiter as text, and may expand the document
			w.unknownCode(st, w.text(r.Word))
		}
	}
	quoted := r.Word.Lit() == "" || strings.Contains(r.Word.Lit(), `\`)
	var f field
	f.any = true
	e := &expander{w: w, st: st, from: from, cur: &f}
	for _, p := range r.Hdoc.Parts {
		l, ok := p.(*syntax.Lit)
		switch {
		case ok && quoted:
			w.spend(len(l.Value))
			f.add(l.Value)
		case ok:
			w.spend(len(l.Value))
			f.add(unescapeDouble(l.Value))
		default:
			e.dynamic(p, true)
		}
	}
	return f.word("<<" + r.Word.Lit())
}

// follow joins a path with a folder in the way the kernel walks it: the part before
// ".." is kept if it may be a link. below is a folder that is certainly not a link,
// and has no link above it.
func follow(below, dir, p string) string {
	if path.IsAbs(p) {
		dir = "/"
	}
	b := []byte(strings.TrimSuffix(dir, "/"))
	for part := range strings.SplitSeq(p, "/") {
		switch {
		case part == "" || part == ".":
		case part == ".." && len(b) == 0:
		case part == ".." && (string(b) == below || len(b) < len(below) && below[len(b)] == '/' && below[:len(b)] == string(b)):
			for b[len(b)-1] != '/' {
				b = b[:len(b)-1]
			}
			b = b[:len(b)-1]
		default:
			b = append(append(b, '/'), part...)
		}
	}
	if len(b) == 0 {
		return "/"
	}
	return string(b)
}

// stepsBack reports whether a path has ".." after a name. It may then lead elsewhere
// if the name is a link.
func stepsBack(p string) bool {
	back := false
	for part := range strings.SplitSeq(p, "/") {
		switch part {
		case "..":
			back = true
		case "", ".":
		default:
			if back {
				return true
			}
		}
	}
	return false
}
