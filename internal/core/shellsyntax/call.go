package shellsyntax

import (
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks one simple command.
func (w *walker) call(st *state, c *syntax.CallExpr, rs []*syntax.Redirect) *state {
	var cmd Command
	if c == nil {
		c = &syntax.CallExpr{}
	}
	cmd.Words = w.fields(st, c.Args, &cmd.From)
	for _, a := range c.Args {
		for _, r := range rs {
			if a.End() == r.OpPos && descriptor(w.text(a)) {
				w.unknownCode(st, w.text(a)) // bash evaluates its subscript
			}
		}
	}
	after := st.clone() // each assignment sees those before it
	for _, a := range c.Assigns {
		var from []int
		name, v := w.assign(after, a, &from)
		cmd.From = append(cmd.From, from...)
		if name == "" {
			continue
		}
		cmd.Assigns = append(cmd.Assigns, name+"="+assignText(v, w.text(a)))
		w.put(after, name, v, w.text(a))
		if len(cmd.Words) > 0 && w.plain() {
			st.set(name, value{from: v.from}) // before some builtins the assignment stays
		}
	}
	here := w.redirects(st, &cmd, rs)
	if len(cmd.Words) == 0 {
		if len(c.Args) > 0 {
			// The words may still expand to a command: "$X" alone.
			cmd.Words = []Word{{Text: w.text(c)}}
		}
		if len(cmd.Words)+len(cmd.Assigns)+len(cmd.Redirects) > 0 {
			w.emit(st, cmd)
		}
		stdin, piped := st.stdin, st.piped
		*st = *after
		st.stdin, st.piped = stdin, piped
		return nil
	}
	return w.run(st, cmd, here)
}

// descriptor reports whether text before a redirection is {name[…]}.
func descriptor(s string) bool {
	return begins(s, '{') && strings.HasSuffix(s, "]}") && strings.Contains(s, "[")
}

// assign evaluates one assignment.
func (w *walker) assign(st *state, a *syntax.Assign, from *[]int) (string, value) {
	if a.Name == nil {
		if a.Value != nil {
			w.one(st, a.Value, from)
		}
		return "", value{}
	}
	name := a.Name.Value
	old, set := w.lookup(st, name)
	if a.Index != nil {
		w.index(st, a.Index, from)
	}
	if a.Array != nil {
		num := !a.Append || old.integer()
		for _, el := range a.Array.Elems {
			if el.Index != nil {
				w.index(st, el.Index, from)
			}
			if el.Value == nil {
				continue
			}
			if el.Index != nil {
				num = w.one(st, el.Value, from).number() && num
				continue
			}
			for _, f := range w.fields(st, []*syntax.Word{el.Value}, from) {
				num = num && f.number()
			}
		}
		return name, value{num: num, from: tidy(slices.Clone(*from))}
	}
	word := w.one(st, a.Value, from)
	v := valueOf(word, tidy(slices.Clone(*from)))
	switch {
	case a.Index != nil:
		return name, value{num: word.number() && (old.integer() || !set && w.plainName(st, name)), from: union(v.from, old.from)}
	case a.Append && w.plain():
		v = value{from: union(v.from, old.from)} // a plain sh has no +=
	case a.Append:
		w.spend(len(old.text)/64 + len(word.Text))
		if set && old.known && word.Known && len(old.text) < maxAppended {
			v = value{known: true, text: old.text + word.Text, from: old.from}
		} else {
			v = value{num: old.integer() && word.number() && !begins(word.Text, '-'), from: union(v.from, old.from)}
		}
	case a.Value != nil && colonTilde(a.Value):
		v = value{from: v.from} // a home folder behind ":"
	}
	return name, v
}

// number reports whether a word is surely an integer.
func (w Word) number() bool { return w.Num || w.Known && isNumber(w.Text) }

func colonTilde(word *syntax.Word) bool {
	return slices.ContainsFunc(word.Parts, func(p syntax.WordPart) bool {
		l, ok := p.(*syntax.Lit)
		return ok && strings.Contains(l.Value, ":~")
	})
}

func assignText(v value, src string) string {
	if v.known {
		return v.text
	}
	_, after, _ := strings.Cut(src, "=")
	return after
}

// declFlags are the letters of a declaration's options.
func declFlags(d *syntax.DeclClause) string {
	var flags strings.Builder
	for _, a := range d.Args {
		if a.Naked && a.Value != nil && begins(a.Value.Lit(), '-') {
			flags.WriteString(a.Value.Lit()[1:])
		}
	}
	if d.Variant.Value == "nameref" {
		flags.WriteByte('n')
	}
	return flags.String()
}

// declare walks export, declare, local, readonly, typeset and nameref.
func (w *walker) declare(st *state, d *syntax.DeclClause, rs []*syntax.Redirect) {
	cmd := Command{Words: []Word{{Text: d.Variant.Value, Known: true}}}
	dec := declaration{variant: d.Variant.Value, flags: declFlags(d)}
	for _, a := range d.Args {
		switch {
		case a.Naked && a.Index != nil: // bash evaluates the subscript
			w.index(st, a.Index, &cmd.From)
			cmd.Code = true
			st.forget(false)
		case a.Naked && a.Name != nil:
			cmd.Words = append(cmd.Words, Word{Text: a.Name.Value, Known: true})
			w.declareName(st, &cmd, dec, a.Name.Value)
		case a.Naked && a.Value != nil:
			for _, f := range w.fields(st, []*syntax.Word{a.Value}, &cmd.From) {
				cmd.Words = append(cmd.Words, f)
				w.declareWord(st, &cmd, dec, f)
			}
		default:
			name, v := w.assign(st, a, &cmd.From)
			if name == "" {
				continue
			}
			if a.Array == nil {
				w.compound(st, name, v, strings.ContainsAny(dec.flags, "aA"), w.text(a))
			}
			w.declareValue(st, &cmd, dec, name, v, w.text(a))
		}
	}
	cmd.Code = cmd.Code || dec.reference()
	w.redirects(st, &cmd, rs)
	w.emit(st, cmd)
}

// declaration is how names are declared.
type declaration struct{ variant, flags string }

func (d declaration) exports() bool { return d.variant == "export" || strings.Contains(d.flags, "x") }

func (d declaration) readonly() bool {
	return d.variant == "readonly" || d.variant != "export" && strings.Contains(d.flags, "r")
}

// reference reports whether a declared name refers to another variable, or to an
// element of one, whose subscript is evaluated.
func (d declaration) reference() bool { return d.variant != "export" && strings.Contains(d.flags, "n") }

func (w *walker) declareName(st *state, cmd *Command, d declaration, name string) {
	v, set := st.get(name)
	if d.variant == "local" && st.function {
		v, set = value{known: true}, true // it begins empty
	}
	if !set && !d.readonly() {
		return
	}
	v.exported, v.readonly = v.exported || d.exports(), v.readonly || d.readonly()
	st.vars = st.vars.with(name, v)
	if d.exports() {
		cmd.Assigns = append(cmd.Assigns, name+"="+v.text)
	}
}

func (w *walker) declareValue(st *state, cmd *Command, d declaration, name string, v value, src string) {
	v.exported = d.exports()
	if w.plain() && (d.variant == "declare" || d.variant == "typeset") {
		v = value{from: v.from} // a plain sh has no such command
	}
	w.put(st, name, v, src)
	if d.readonly() {
		v, _ = st.get(name)
		v.readonly = true
		st.vars = st.vars.with(name, v)
	}
	cmd.Assigns = append(cmd.Assigns, name+"="+assignText(v, src))
}

// declareWord handles an argument that is not written as an assignment: an option, or
// text that may become one at run time.
func (w *walker) declareWord(st *state, cmd *Command, d declaration, f Word) {
	name, text, assigned := strings.Cut(f.Text, "=")
	switch {
	case f.Known && (begins(f.Text, '-') || begins(f.Text, '+')):
	case f.Known && !assigned && syntax.ValidName(f.Text):
		w.declareName(st, cmd, d, f.Text)
	case f.Known && assigned && syntax.ValidName(name):
		v := value{known: true, text: text}
		w.compound(st, name, v, strings.ContainsAny(d.flags, "aA"), f.Text)
		w.declareValue(st, cmd, d, name, v, f.Text)
	default: // a name that is known only at run time, or one with a subscript
		cmd.Code = true
		st.forget(false)
	}
}

// run removes wrappers from a command, records it and applies its effects on the
// shell to the state.
func (w *walker) run(st *state, c Command, here []Word) *state {
	for !w.isFunc(st, c) {
		if len(c.Wrappers) > maxDepth {
			w.fail(ErrTooLarge)
			return nil
		}
		if !w.unwrap(st, &c) {
			break
		}
	}
	name := c.Name()
	if w.declared[name] && name != "" && len(c.Wrappers) == 0 {
		c.Func = w.isFunc(st, c)
		w.emit(st, c)
		st.forget(w.moves)
		return nil
	}
	if w.nested(st, &c, here) {
		return nil
	}
	own := ownShell(c.Wrappers)
	if own && base(&c) == "read" {
		// Only this read uses IFS.
		c.Assigns = slices.DeleteFunc(c.Assigns, func(a string) bool { return strings.HasPrefix(a, "IFS=") })
	}
	c.Code = c.Code || own && w.evaluates(st, &c)
	at := w.emit(st, c)
	w.inner(st, c, at)
	if !own {
		return nil
	}
	return w.builtin(st, c)
}

// plain reports whether the shell may be a plain sh.
func (w *walker) plain() bool { return w.opts.POSIX || w.either }

// isFunc reports whether a command surely calls a function.
func (w *walker) isFunc(st *state, c Command) bool {
	_, ok := st.funcs.get(c.Name())
	return ok && c.Name() != ""
}

// ownShell reports whether a builtin after these wrappers changes this shell.
func ownShell(wrappers []string) bool {
	for _, n := range wrappers {
		if n != "command" && n != "builtin" {
			return false
		}
	}
	return true
}

// nested walks text that is itself a command line: eval, sh -c, trap, a here-document
// read by a shell. It reports whether that covers everything that c does.
func (w *walker) nested(st *state, c *Command, here []Word) bool {
	name := base(c)
	args := c.Words[1:]
	switch {
	case name == "eval" && ownShell(c.Wrappers):
		if len(args) > 0 && args[0].Known && args[0].Text == "--" {
			args = args[1:]
		}
		text, ok := joined(args)
		if !ok {
			c.Code = true
			w.emit(st, *c)
			st.forget(true)
			st.funcs.root = nil
			return true
		}
		switch outer := (Command{Redirects: c.Redirects, From: c.From}); {
		case len(c.Assigns) > 0: // the text may see them
			c.Code = true
			w.emit(st, *c)
		case len(c.Redirects) > 0:
			w.emit(st, outer)
		}
		inner := st.clone()
		inner.stdin = union(st.stdin, tidy(c.From))
		w.source(inner, text)
		stdin := st.stdin
		*st = *inner
		st.stdin = stdin
		return true
	case name == "trap" && ownShell(c.Wrappers):
		if len(args) > 0 && args[0].Known && args[0].Text == "--" {
			args = args[1:]
		}
		if len(args) > 0 && args[0].Known && !begins(args[0].Text, '-') {
			inner := st.clone()
			inner.forget(true)
			inner.posn = true
			inner.dirs, inner.dirKnown = st.dirs, st.dirKnown && !w.moves
			w.source(inner, args[0].Text)
		}

	case Shell(name):
		return w.shell(st, c, args, here)
	}
	return false
}

func joined(args []Word) (string, bool) {
	var parts []string
	for _, a := range args {
		if !a.Known {
			return "", false
		}
		parts = append(parts, a.Text)
	}
	return strings.Join(parts, " "), true
}

// shell walks the code that a child shell gets. The command itself is always recorded
// too, so that rules can name it.
func (w *walker) shell(st *state, c *Command, args []Word, here []Word) bool {
	inv := ShellArgs(args)
	child := &state{vars: newTree[value](st.vars.seed), funcs: newTree[struct{}](st.vars.seed)}
	child.dirs, child.dirKnown = st.dirs, st.dirKnown
	child.stdin, child.piped, child.posn = st.stdin, st.piped, true
	child.wild = st.wild || st.trapped
	if env := st.vars; st.env == nil {
		child.env = &env
	} else {
		child.inherit(st)
	}
	child.ifs = false
	for _, a := range c.Assigns {
		if n, text, ok := strings.Cut(a, "="); ok {
			child.set(n, value{blank: text})
		}
	}
	if len(c.Wrappers) > 0 {
		child.forget(c.strays)
	}
	code, known := "", false
	switch {
	case inv.Code != nil && inv.Code.Known:
		code, known = inv.Code.Text, true
	case inv.Code != nil || inv.Unknown:
		c.Code = true
	case inv.Stdin && len(here) > 0 && here[len(here)-1].Known:
		code, known = here[len(here)-1].Text, true
	case inv.Stdin || inv.Script != nil && inv.Script.Proc:
		c.Code = true
	}
	at := w.emit(st, *c)
	if known {
		if w.err != nil {
			return true
		}
		child.stdin = union(child.stdin, w.out[at].From)
		old := *w
		w.declared, w.moves = nil, false
		w.integers, w.arrays, w.evaluable, w.bracketed = false, nil, false, nil
		if n := base(c); n == "sh" || n == "dash" || n == "ash" {
			// If sh is bash, it accepts more syntax; both parse the rest alike.
			w.opts.POSIX, w.either = false, true
		}
		w.source(child, code)
		w.either = old.either
		w.declared, w.moves, w.opts = old.declared, old.moves, old.opts
		w.integers, w.arrays, w.evaluable, w.bracketed = old.integers, old.arrays, old.evaluable, old.bracketed
	}
	return true
}

// Shell reports whether a program of that base name reads shell code.
func Shell(base string) bool {
	switch base {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash", "csh", "tcsh":
		return true
	}
	return false
}

// Invocation describes how a shell was called.
type Invocation struct {
	Code    *Word // of -c
	Script  *Word // a file of code
	Stdin   bool  // it reads code from its standard input
	Unknown bool  // an unknown word decides
}

// ShellArgs parses a shell's arguments, without its own name.
func ShellArgs(args []Word) Invocation {
	var inv Invocation
	code := false
	for i := 0; i < len(args); i++ {
		a := &args[i]
		if !a.Known && (a.Prefix == "" || a.Prefix[0] == '-' || a.Prefix[0] == '+') {
			inv.Unknown = true
			return inv
		}
		t := a.Text
		if !a.Known || len(t) < 2 || t[0] != '-' && t[0] != '+' {
			if t == "-" {
				inv.Stdin = !code
				continue
			}
			if code {
				inv.Code = a
			} else {
				inv.Script = a
				inv.Stdin = t == "/dev/stdin" || t == "/dev/fd/0" || t == "/proc/self/fd/0"
			}
			return inv
		}
		switch {
		case t == "--":
		case t == "--rcfile" || t == "--init-file":
			i++
		case strings.HasPrefix(t, "--"):
		default:
			code = code || strings.Contains(t, "c") && t[0] == '-'
			if t[0] == '-' && strings.Contains(t, "s") && !code {
				inv.Stdin = true
				return inv
			}
			if strings.HasSuffix(t, "o") || strings.HasSuffix(t, "O") {
				i++
			}
		}
	}
	inv.Stdin = !code
	return inv
}
