package shellsyntax

import (
	"strings"

	"mvdan.cc/sh/v3/expand"
	"mvdan.cc/sh/v3/syntax"
)

// literal collects what is certain of a word.
type literal struct {
	text, blank, prefix strings.Builder
	unknown, glob       bool
}

func (l *literal) add(s string) {
	l.text.WriteString(s)
	l.blank.WriteString(s)
	if !l.unknown && !l.glob {
		l.prefix.WriteString(s)
	}
}

// word returns what is known of a word before the line runs, and records the commands in
// its substitutions with c.
func (w *walker) word(sc *scope, x *syntax.Word, c *Command) Word {
	if x == nil {
		return Word{Known: true}
	}
	var l literal
	for i, p := range x.Parts {
		w.part(&l, p, i == 0, i == len(x.Parts)-1)
	}
	w.substitutions(sc, x, c)
	switch {
	case l.unknown:
		_, proc := x.Parts[0].(*syntax.ProcSubst)
		return Word{Text: w.text(x), Prefix: l.prefix.String(), Blank: l.blank.String(), Proc: proc && len(x.Parts) == 1}
	case l.glob:
		return Word{Text: w.text(x), Glob: true, Prefix: l.prefix.String(), Blank: l.blank.String()}
	}
	return Word{Text: l.text.String(), Known: true}
}

func (w *walker) part(l *literal, p syntax.WordPart, first, last bool) {
	switch p := p.(type) {
	case *syntax.Lit:
		w.bare(l, p.Value, first, last)
	case *syntax.SglQuoted:
		s := p.Value
		if p.Dollar {
			text, _, err := expand.Format(&expand.Config{}, s, nil)
			l.unknown = l.unknown || err != nil || strings.Contains(s, `\c`) || strings.Contains(text, "\x00") // bash reads these differently
			s = text
		}
		l.add(s)
	case *syntax.DblQuoted:
		l.unknown = l.unknown || p.Dollar // it is translated
		for _, q := range p.Parts {
			if lit, ok := q.(*syntax.Lit); ok {
				l.add(doubleQuoted.Replace(lit.Value))
			} else {
				w.part(l, q, false, false)
			}
		}
	case *syntax.ParamExp:
		if home := w.home(p); home != "" {
			l.add(home)
			return
		}
		l.unknown = true
		if p.Exp != nil {
			switch p.Exp.Op {
			case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
				if p.Exp.Word != nil {
					l.blank.WriteString(p.Exp.Word.Lit())
				}
			case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
				l.blank.WriteByte(0) // an empty variable stops the shell
			}
		}
	default:
		l.unknown = true
	}
}

// bare adds text without quotes.
func (w *walker) bare(l *literal, s string, first, last bool) {
	if first && strings.HasPrefix(s, "~") {
		name, rest, _ := strings.Cut(s[1:], "/")
		switch {
		case name != "" || w.opts.Home == "" || len(s) == 1 && !last:
			l.blank.WriteString(s)
			l.unknown = true
			return
		case len(s) == 1:
			s = w.opts.Home
		default:
			s = w.opts.Home + "/" + rest
		}
	}
	for i := 0; i < len(s); i++ {
		switch b := s[i]; {
		case b == '\\' && i+1 < len(s):
			if i++; s[i] != '\n' {
				l.add(s[i : i+1])
			}
		case b == '*' || b == '?' || b == '[' && strings.Contains(s[i:], "]"):
			if i > 0 && s[i-1] == '.' && (i == 1 || s[i-2] == '/') {
				l.unknown = true // it may match ".."
			}
			l.glob = true
			l.add(s[i : i+1])
		case b == '{' && strings.Contains(s[i:], "}") && (strings.Contains(s[i:], ",") || strings.Contains(s[i:], "..")):
			l.unknown = true // it may become several words
			l.add(s[i : i+1])
		default:
			l.add(s[i : i+1])
		}
	}
}

// home returns the value of $HOME, "" for any other expansion, or if the text may change
// it.
func (w *walker) home(p *syntax.ParamExp) string {
	plain := p.Param != nil && p.Param.Value == "HOME" && !p.Excl && !p.Length && !p.Width && p.Index == nil && p.Slice == nil && p.Repl == nil && p.Exp == nil
	if !plain || strings.Count(w.src, "HOME") != strings.Count(w.src, "$HOME")+strings.Count(w.src, "${HOME}") {
		return ""
	}
	return w.opts.Home
}

// substitutions records the commands in the substitutions of a node: they run before c,
// which gets their output. Arithmetic and the like evaluate the values of variables.
func (w *walker) substitutions(sc *scope, n syntax.Node, c *Command) {
	sub := func(list []*syntax.Stmt, piped bool) {
		in, begin := *sc, len(w.out)
		in.piped = in.piped || piped
		if w.enter() {
			w.stmts(&in, list)
		}
		w.leave()
		c.From = append(c.From, w.since(begin)...)
	}
	syntax.Walk(n, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.CmdSubst:
			sub(n.Stmts, false)
			return false
		case *syntax.ProcSubst:
			sub(n.Stmts, n.Op == syntax.CmdOut)
			return false
		case *syntax.ArithmExp:
			c.Evaluates = true
		case *syntax.ParamExp:
			// In double quotes, as in "${x:-'$(date)'}", single quotes are ordinary characters
			// to bash, and quotes to the parser.
			if _, quoted, has := strings.Cut(w.text(n), "'"); has && strings.ContainsAny(quoted, "$`") {
				c.Code = true
			}
			c.Evaluates = c.Evaluates || n.Index != nil || n.Slice != nil || n.Excl || n.Exp != nil && (n.Exp.Op == syntax.OtherParamOps || n.Exp.Op == syntax.AssignUnset || n.Exp.Op == syntax.AssignUnsetOrNull)
		}
		return true
	})
}

// doubleQuoted removes the backslashes of a text in double quotes.
var doubleQuoted = strings.NewReplacer(`\$`, "$", "\\`", "`", `\"`, `"`, `\\`, `\`, "\\\n", "")
