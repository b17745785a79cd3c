package shellsyntax

import (
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"mvdan.cc/sh/v3/syntax"
)

// field is a word on its way: what is known of it so far.
type field struct {
	text, prefix, blank string
	unknown             bool // something but a glob decides at run time
	glob                bool
	dots                bool // a ".." may come out of a glob, or follows one
	any                 bool // it is there even if empty: it was quoted
}

func (f *field) known() bool { return !f.unknown && !f.glob }

func (f *field) add(s string) {
	if f.known() {
		f.prefix += s
	}
	f.text += s
	f.blank += s
	f.any = f.any || s != ""
}

func (f *field) addGlob(c string) {
	// ".*" may stand for ".." in older shells.
	if base := f.blank[strings.LastIndexByte(f.blank, '/')+1:]; strings.HasPrefix(base, ".") {
		f.dots = true
	}
	f.glob = true
	f.text += c
	f.blank += c
	f.any = true
}

func (f *field) addUnknown(blank, prefix string) {
	if f.known() {
		f.prefix += prefix
	}
	f.blank += blank
	f.unknown = true
	f.any = true
}

func (f *field) word(src string) Word {
	if f.known() {
		return Word{Text: f.text, Known: true}
	}
	w := Word{Text: src, Prefix: f.prefix, Blank: f.blank}
	if f.glob && !f.unknown && !f.dots && !hasDots(f.blank[len(f.prefix):]) {
		w.Glob, w.Text = true, f.text
	}
	return w
}

func hasDots(s string) bool { return slices.Contains(strings.Split(s, "/"), "..") }

// value is what a variable is known to hold.
type value struct {
	known               bool
	text                string
	glob, num           bool // of an unknown one: a path out of a glob; an integer
	prefix, blank       string
	from                []int
	exported, unsettled bool
}

func valueOf(w Word, from []int) value {
	return value{known: w.Known, text: w.Text, glob: w.Glob, prefix: w.Prefix, blank: w.Blank, from: from}
}

// fields expands words as arguments of a command.
func (w *walker) fields(st *state, words []*syntax.Word, from *[]int) []Word {
	var out []Word
	for _, word := range words {
		src := w.text(word)
		variants := []*syntax.Word{word}
		if !w.opts.POSIX {
			variants = w.braces(word)
		}
		if variants == nil { // too many to list
			*from = append(*from, w.substs(st, word)...)
			out = append(out, Word{Text: src})
		}
		for _, v := range variants {
			for _, f := range w.expand(st, v, true, from) {
				out = append(out, f.word(src))
			}
		}
		if len(out) > maxFields*8 {
			w.fail(ErrTooLarge)
			return nil
		}
	}
	return out
}

// one expands a word where no splitting happens: an assignment, a redirection.
func (w *walker) one(st *state, word *syntax.Word, from *[]int) Word {
	if word == nil {
		return Word{Known: true}
	}
	fs := w.expand(st, word, false, from)
	if len(fs) == 0 {
		return Word{Known: true}
	}
	return fs[0].word(w.text(word))
}

// expand does tilde, parameter and quote work on one word. With split, an
// unquoted known variable is split as bash would.
func (w *walker) expand(st *state, word *syntax.Word, split bool, from *[]int) []*field {
	e := &expander{w: w, st: st, split: split, from: from, cur: &field{}}
	for i, p := range word.Parts {
		e.part(p, i == 0, i == len(word.Parts)-1)
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
	switch p := p.(type) {
	case *syntax.Lit:
		if bareDollar(p.Value) {
			// Bash does not split a word that holds a "$" which expands nothing.
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
		e.cur.any = true
		e.cur.add(s)
	case *syntax.DblQuoted:
		e.cur.any = true
		for _, q := range p.Parts {
			if l, ok := q.(*syntax.Lit); ok {
				e.cur.add(unescapeDouble(l.Value))
				continue
			}
			e.dynamic(q, true)
		}
		if p.Dollar { // translated at run time
			e.cur.addUnknown("", "")
		}
	case *syntax.ExtGlob:
		e.cur.addGlob(p.Op.String() + p.Pattern.Value + ")")
		e.cur.unknown = true
	default:
		e.dynamic(p, false)
	}
}

func (e *expander) lit(s string, first, last bool) {
	if first && strings.HasPrefix(s, "~") {
		s = e.tilde(s, last)
	}
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case '\\':
			if i+1 < len(s) {
				i++
				if s[i] != '\n' {
					e.cur.any = true
					e.cur.add(s[i : i+1])
				}
			} else {
				e.cur.add(`\`)
			}
		case '*', '?', '[':
			// A bracket that nothing closes is itself: the command "[".
			if e.split && (c != '[' || !last || strings.IndexByte(s[i:], ']') > 0) {
				e.cur.addGlob(s[i : i+1])
			} else {
				e.cur.add(s[i : i+1])
			}
		default:
			e.cur.add(s[i : i+1])
		}
	}
}

// tilde takes a leading ~ off.
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

// dynamic expands what is not literal text.
func (e *expander) dynamic(p syntax.WordPart, quoted bool) {
	switch p := p.(type) {
	case *syntax.ParamExp:
		e.param(p, quoted)
		return
	case *syntax.ArithmExp:
		*e.from = append(*e.from, e.w.substs(e.st, p)...)
		e.cur.addUnknown("0", "")
		return
	}
	*e.from = append(*e.from, e.w.substs(e.st, p)...)
	e.cur.addUnknown("", "")
}

func (e *expander) param(p *syntax.ParamExp, quoted bool) {
	v, blank, ok := e.w.paramValue(e.st, p, e.from)
	*e.from = append(*e.from, v.from...)
	switch {
	case !ok || !v.known && !v.glob:
		e.cur.addUnknown(blank, v.prefix)
	case v.glob: // one of the paths that a glob stood for
		if e.cur.known() {
			e.cur.prefix += v.prefix
		}
		e.cur.glob, e.cur.any = true, true
		e.cur.text += v.text
		e.cur.blank += v.blank
	case quoted || !e.split:
		e.cur.any = e.cur.any || quoted
		e.cur.add(v.text)
	case e.st.ifs:
		e.cur.addUnknown(v.text, "")
	default:
		e.splitText(v.text)
	}
}

// splitText adds a known value that bash splits at blanks and globs.
func (e *expander) splitText(s string) {
	for i := 0; i < len(s); i++ {
		switch c := s[i]; c {
		case ' ', '\t', '\n':
			if e.cur.any {
				e.out = append(e.out, e.cur)
				e.cur = &field{}
			}
		case '*', '?', '[':
			e.cur.addGlob(s[i : i+1])
		case '\\': // kept, but it quotes a glob character
			e.cur.add(`\`)
		default:
			e.cur.add(s[i : i+1])
		}
	}
}

// paramValue says what a parameter expansion gives. blank is what stands for
// it where the variable is empty.
func (w *walker) paramValue(st *state, p *syntax.ParamExp, from *[]int) (v value, blank string, ok bool) {
	if p.Param == nil || p.Exp != nil && p.Exp.Op == syntax.OtherParamOps {
		// ${x@P} runs what x holds.
		w.unknownCode(st, w.text(p))
		*from = append(*from, w.substs(st, p)...)
		return value{}, "", false
	}
	if p.Index != nil {
		w.arithm(st, p.Index)
	}
	if p.Slice != nil {
		w.arithm(st, p.Slice.Offset)
		w.arithm(st, p.Slice.Length)
	}
	name := p.Param.Value
	v, ok = w.lookup(st, name)
	plain := !p.Excl && !p.Length && !p.Width && !p.IsSet && p.NestedParam == nil && p.Index == nil &&
		len(p.Modifiers) == 0 && p.Slice == nil && p.Repl == nil && p.Names == 0 && p.Flags == nil
	if plain && p.Exp == nil {
		return v, v.blank, ok
	}
	*from = append(*from, w.substs(st, p)...)
	if p.Length {
		return value{num: true}, "0", false
	}
	if plain && p.Exp != nil {
		switch p.Exp.Op {
		case syntax.DefaultUnset, syntax.DefaultUnsetOrNull, syntax.AssignUnset, syntax.AssignUnsetOrNull:
			if ok && v.known && v.text != "" {
				return v, "", true
			}
			var ignored []int
			d := w.one(st, p.Exp.Word, &ignored)
			if p.Exp.Op == syntax.AssignUnset || p.Exp.Op == syntax.AssignUnsetOrNull {
				st.set(name, value{})
			}
			if d.Known {
				return value{from: v.from}, d.Text, false
			}
			return value{from: v.from}, d.Blank, false
		case syntax.ErrorUnset, syntax.ErrorUnsetOrNull:
			if ok && v.known && v.text != "" {
				return v, "", true
			}
			// It is not empty, or the command does not run.
			return value{from: v.from}, "\x00", false
		}
	}
	return value{from: v.from}, "", false
}

// lookup gives a variable that this line set, or that Options give.
func (w *walker) lookup(st *state, name string) (value, bool) {
	if v, ok := st.vars[name]; ok {
		return v, true
	}
	switch name {
	case "?", "#", "$", "!", "PPID", "UID", "EUID", "RANDOM", "SECONDS", "LINENO":
		return value{num: true, blank: "0"}, false
	case "HOME":
		if h, ok := w.home(st); ok {
			return value{known: true, text: h}, true
		}
		return value{blank: "~"}, false
	case "PWD":
		if st.dirKnown && len(st.dirs) == 1 && !st.wild {
			return value{known: true, text: st.dirs[0]}, true
		}
	}
	return value{}, false
}

func (w *walker) home(st *state) (string, bool) {
	if v, ok := st.vars["HOME"]; ok {
		return v.text, v.known
	}
	return w.opts.Home, w.opts.Home != "" && !st.wild
}

func unescapeDouble(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes $'…'; false for what it would rather not decode.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i >= len(s) {
			return "", false
		}
		if j := strings.IndexByte(`abeEfnrtv\'"?`, s[i]); j >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[j])
			continue
		}
		base, most := 16, 0
		switch s[i] {
		case 'x':
			most = 2
		case 'u':
			most = 4
		case 'U':
			most = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, most = 8, 3
			i--
		default:
			return "", false // \c and what bash keeps as it is
		}
		n := i + 1
		for n < len(s) && n < i+1+most && isDigit(s[n], base) {
			n++
		}
		c, err := strconv.ParseUint(s[i+1:n], base, 32)
		if err != nil || c == 0 {
			return "", false
		}
		if most == 4 || most == 8 {
			b.WriteString(string(utf8.AppendRune(nil, rune(c))))
		} else {
			b.WriteByte(byte(c))
		}
		i = n - 1
	}
	return b.String(), true
}

func isDigit(c byte, base int) bool {
	return c >= '0' && c <= '7' || base == 16 && (c >= '8' && c <= '9' || c|0x20 >= 'a' && c|0x20 <= 'f')
}
