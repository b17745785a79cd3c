package shellsyntax

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// field is a word that is being built, with what is known of it until now.
type field struct {
	text, blank []byte // blank is used only once a part is unknown
	prefix      string
	unknown     bool // something other than a glob decides at run time
	glob        bool
	dots        bool // a ".." may come out of a glob, or follows one
	dot         bool // the last path component so far begins with "."
	any         bool // it exists even if empty: it was quoted
	loose       bool // it may become no word or several
	numbers     bool // every unknown part is an integer
}

func (f *field) known() bool { return !f.unknown && !f.glob }

// open begins the unknown part.
func (f *field) open(prefix string) {
	if f.known() {
		f.prefix = string(f.text) + prefix
		f.blank = slices.Clone(f.text)
		f.numbers = true
	}
}

func (f *field) add(s string) {
	if s == "" {
		return
	}
	if i := strings.LastIndexByte(s, '/'); i >= 0 {
		f.dot = begins(s[i+1:], '.')
	} else if len(f.text) == 0 && len(f.blank) == 0 {
		f.dot = s[0] == '.'
	} else if t := f.last(); t == '/' {
		f.dot = s[0] == '.'
	}
	f.text = append(f.text, s...)
	if !f.known() {
		f.blank = append(f.blank, s...)
	}
	f.any = true
}

// last returns the last byte so far.
func (f *field) last() byte {
	t := f.text
	if !f.known() {
		t = f.blank
	}
	if len(t) == 0 {
		return 0
	}
	return t[len(t)-1]
}

func (f *field) addGlob(c string) {
	f.open("")
	// In older shells ".*" also matches "..".
	f.dots = f.dots || f.dot
	f.glob, f.any, f.numbers = true, true, false
	f.text = append(f.text, c...)
	f.blank = append(f.blank, c...)
}

func (f *field) addUnknown(blank, prefix string) {
	f.open(prefix)
	f.blank = append(f.blank, blank...)
	f.unknown, f.any, f.numbers = true, true, false
}

// addNumber adds an integer that is known only at run time.
func (f *field) addNumber() {
	f.open("")
	// After a letter it is part of a name.
	t := f.blank
	for len(t) > 0 && (isDigit(t[len(t)-1], 10) || isLetter(t[len(t)-1])) {
		if t = t[:len(t)-1]; isLetter(f.blank[len(t)]) {
			f.numbers = false
			break
		}
	}
	f.blank = append(f.blank, '0')
	f.unknown, f.any = true, true
}

func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' || c == '_' }

func (f *field) word(src string) Word {
	if f.known() {
		return Word{Text: string(f.text), Known: true}
	}
	w := Word{Text: src, Prefix: f.prefix, Blank: string(f.blank), One: !f.loose && !f.glob}
	w.Num = f.numbers && w.One && isNumber(w.Blank)
	if f.glob && !f.unknown && !f.dots && !hasDots(w.Blank[len(f.prefix):]) {
		w.Glob, w.Text = true, string(f.text)
	}
	return w
}

func hasDots(s string) bool { return slices.Contains(strings.Split(s, "/"), "..") }

// fields expands words as arguments of a command.
func (w *walker) fields(st *state, words []*syntax.Word, from *[]int) []Word {
	var out []Word
	for _, word := range words {
		src := w.text(word)
		if p, ok := procSubst(word); ok {
			*from = append(*from, w.subst(st, p.Stmts, p.Op == syntax.CmdOut)...)
			out = append(out, Word{Text: src, Prefix: "/dev/fd/", Blank: "/dev/fd/", One: true, Proc: true})
			continue
		}
		variants := []*syntax.Word{word}
		if !w.opts.POSIX {
			variants = w.braces(word)
		}
		if variants == nil { // too many to list
			for _, f := range w.expand(st, word, true, from) {
				f.addUnknown("", "")
			}
			out = append(out, Word{Text: src})
		}
		for _, v := range variants {
			for _, f := range w.expand(st, v, true, from) {
				out = append(out, f.word(src))
			}
		}
		if len(out) > maxFields*8 {
			w.fail(ErrTooLarge)
		}
		if w.err != nil {
			return nil
		}
	}
	return out
}

// procSubst returns the process substitution if the word is one.
func procSubst(word *syntax.Word) (*syntax.ProcSubst, bool) {
	if len(word.Parts) != 1 {
		return nil, false
	}
	p, ok := word.Parts[0].(*syntax.ProcSubst)
	return p, ok
}

// one expands a word that is not split: in an assignment or a redirection.
func (w *walker) one(st *state, word *syntax.Word, from *[]int) Word {
	if word == nil {
		return Word{Known: true}
	}
	return w.expand(st, word, false, from)[0].word(w.text(word))
}

// expand handles tilde, parameters and quotes of one word. With split, an unquoted
// known variable is split as bash does.
func (w *walker) expand(st *state, word *syntax.Word, split bool, from *[]int) []*field {
	e := &expander{w: w, st: st, split: split, from: from, cur: &field{}}
	for i, p := range word.Parts {
		if w.err == nil {
			e.part(p, i == 0, i == len(word.Parts)-1)
		}
	}
	if e.cur.any || !split {
		e.out = append(e.out, e.cur)
	}
	return e.out
}

type expander struct {
	w     *walker
	st    *state
	split bool
	from  *[]int
	out   []*field
	cur   *field
}

func (e *expander) part(p syntax.WordPart, first, last bool) {
	e.w.spend(1)
	switch p := p.(type) {
	case *syntax.Lit:
		if bareDollar(p.Value) {
			// Bash does not split a word with a "$" that expands nothing.
			e.cur.addUnknown("", "")
		}
		e.lit(p.Value, first, last)
	case *syntax.SglQuoted:
		s := p.Value
		if p.Dollar {
			var ok bool
			if s, ok = ansiC(s); !ok {
				e.cur.addUnknown("", "")
				return
			}
		}
		e.w.spend(len(s))
		e.cur.any = true
		e.cur.add(s)
	case *syntax.DblQuoted:
		e.cur.any = true
		for _, q := range p.Parts {
			if l, ok := q.(*syntax.Lit); ok {
				e.w.spend(len(l.Value))
				e.cur.add(unescapeDouble(l.Value))
				continue
			}
			e.dynamic(q, true)
		}
		if p.Dollar { // translated at run time
			e.cur.addUnknown("", "")
		}
	case *syntax.ExtGlob:
		// The parser keeps the pattern as text; bash expands it.
		if strings.ContainsAny(p.Pattern.Value, "$`<>") {
			e.w.unknownCode(e.st, e.w.text(p))
		}
		e.cur.addGlob(p.Op.String() + p.Pattern.Value + ")")
		e.cur.unknown, e.cur.loose = true, e.cur.loose || e.split
	default:
		e.dynamic(p, false)
	}
}

func (e *expander) lit(s string, first, last bool) {
	e.w.spend(len(s))
	if first && begins(s, '~') {
		s = e.tilde(s, last)
	}
	for s != "" {
		i := strings.IndexAny(s, `\*?[`)
		if i < 0 {
			e.cur.add(s)
			return
		}
		e.cur.add(s[:i])
		c := s[i]
		s = s[i+1:]
		switch {
		case c == '\\' && s == "":
			e.cur.add(`\`)
		case c == '\\':
			if s[0] != '\n' {
				e.cur.add(s[:1])
			}
			s = s[1:]
		// A bracket that nothing closes is literal: the command "[".
		case e.split && (c != '[' || !last || e.w.closes(s)):
			e.cur.addGlob(string(c))
		default:
			e.cur.add(string(c))
		}
	}
}

// closes reports whether an opened bracket is closed.
func (w *walker) closes(s string) bool {
	i := strings.IndexByte(s, ']')
	if i < 0 {
		w.spend(len(s))
	}
	return i >= 0
}

// tilde removes a leading ~.
func (e *expander) tilde(s string, last bool) string {
	name, rest := s[1:], ""
	if i := strings.IndexByte(s, '/'); i >= 0 {
		name, rest = s[1:i], s[i:]
	}
	switch home, ok := e.w.home(e.st); {
	case name == "" && ok && (last || rest != ""):
		e.cur.add(home)
	case name == "+" && e.st.dirKnown && len(e.st.dirs) == 1:
		e.cur.add(e.st.dirs[0])
	default:
		e.cur.addUnknown("~"+name, "")
	}
	return rest
}

// dynamic expands everything that is not literal text.
func (e *expander) dynamic(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.ParamExp:
		e.param(p, quoted)
	case *syntax.ArithmExp:
		e.w.arithm(e.st, p.X, e.from)
		e.number(quoted)
	case *syntax.CmdSubst:
		if p.TempFile || p.ReplyVar { // it runs in this shell
			e.w.unknownCode(e.st, e.w.text(p))
			e.st.forget(true)
		}
		at := e.w.subst(e.st, p.Stmts, false)
		*e.from = append(*e.from, at...)
		if e.w.counts(p, at) {
			e.number(quoted)
			return
		}
		e.unknown("", "", quoted)
	case *syntax.ProcSubst:
		*e.from = append(*e.from, e.w.subst(e.st, p.Stmts, p.Op == syntax.CmdOut)...)
		e.cur.addUnknown("", "")
	default:
		e.w.unknownCode(e.st, e.w.text(p))
		e.unknown("", "", quoted)
	}
}

// number adds an integer. Bash does not split it: IFS has its default.
func (e *expander) number(quoted bool) {
	if e.st.ifs && e.split && !quoted {
		e.unknown("0", "", false)
		return
	}
	e.cur.addNumber()
}

func (e *expander) unknown(blank, prefix string, quoted bool) {
	e.cur.addUnknown(blank, prefix)
	e.cur.loose = e.cur.loose || e.split && !quoted
}

func (e *expander) param(p *syntax.ParamExp, quoted bool) {
	v, blank, ok := e.w.paramValue(e.st, p, e.from)
	e.w.spend(len(v.from) + len(v.text))
	*e.from = append(*e.from, v.from...)
	if many(p) {
		e.cur.loose = e.cur.loose || e.split
	}
	switch {
	case v.num && !v.known:
		e.number(quoted)
	case !ok || !v.known && !v.glob:
		e.unknown(blank, v.prefix, quoted)
	case v.glob: // one of the paths that a glob stood for
		e.cur.open(v.prefix)
		e.cur.glob, e.cur.any, e.cur.numbers = true, true, false
		e.cur.text = append(e.cur.text, v.text...)
		e.cur.blank = append(e.cur.blank, v.blank...)
	case quoted || !e.split:
		e.cur.any = e.cur.any || quoted
		e.cur.add(v.text)
	case e.st.ifs:
		e.unknown(v.text, "", false)
	default:
		e.splitText(v.text)
	}
}

// many reports whether an expansion produces a word for each of several values.
func many(p *syntax.ParamExp) bool {
	if p.Param == nil || p.Length {
		return p.Param == nil
	}
	word, ok := p.Index.(*syntax.Word)
	return p.Param.Value == "@" || p.Param.Value == "*" || p.Names != 0 || p.Excl || ok && (word.Lit() == "@" || word.Lit() == "*")
}

// splitText adds a known value that bash splits at blanks and globs. A backslash in it
// is kept, but it quotes a glob character.
func (e *expander) splitText(s string) {
	for s != "" && e.w.err == nil {
		i := strings.IndexAny(s, " \t\n*?[")
		if i < 0 {
			e.cur.add(s)
			return
		}
		e.cur.add(s[:i])
		switch c := s[i]; c {
		case '*', '?', '[':
			e.cur.addGlob(s[i : i+1])
		default:
			if e.cur.any {
				e.out = append(e.out, e.cur)
				e.cur = &field{}
			}
		}
		if s = s[i+1:]; len(e.out) > maxFields*8 {
			e.w.fail(ErrTooLarge)
		}
	}
}

// lookup returns the value of a variable that this line or Options set.
func (w *walker) lookup(st *state, name string) (value, bool) {
	if v, ok := st.get(name); ok {
		return v, true
	}
	switch {
	case counted(name):
		return value{num: !st.trapped && !(st.wild && syntax.ValidName(name)), blank: "0"}, false
	case name == "HOME":
		if h, ok := w.home(st); ok {
			return value{known: true, text: h}, true
		}
		return value{blank: "~"}, false
	case name == "PWD" && st.dirKnown && len(st.dirs) == 1 && !st.wild:
		return value{known: true, text: st.dirs[0]}, true
	}
	return value{}, false
}

func (w *walker) home(st *state) (string, bool) {
	if v, ok := st.get("HOME"); ok {
		return v.text, v.known
	}
	return w.opts.Home, w.opts.Home != "" && !st.wild
}
