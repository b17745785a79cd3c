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
	type set struct {
		name string
		v    value
	}
	var sets []set
	after := st.clone() // each assignment sees those before it
	for _, a := range c.Assigns {
		var from []int
		name, v := w.assign(after, a, &from)
		cmd.From = append(cmd.From, from...)
		if name == "" {
			continue
		}
		cmd.Assigns = append(cmd.Assigns, name+"="+assignText(v, w.text(a)))
		sets = append(sets, set{name, v})
		after.set(name, v)
	}
	here := w.redirects(st, &cmd, rs)
	if len(cmd.Words) == 0 {
		for _, s := range sets {
			st.set(s.name, s.v)
		}
		if len(c.Args) > 0 {
			// The words may still expand to a command: "$X" alone.
			cmd.Words = []Word{{Text: w.text(c)}}
		}
		if len(cmd.Words)+len(cmd.Assigns)+len(cmd.Redirects) > 0 {
			w.emit(st, cmd)
		}
		return nil
	}
	return w.run(st, cmd, here)
}

// assign evaluates one assignment.
func (w *walker) assign(st *state, a *syntax.Assign, from *[]int) (string, value) {
	if a.Name == nil {
		*from = append(*from, w.substs(st, a)...)
		return "", value{}
	}
	name := a.Name.Value
	if a.Index != nil {
		w.arithm(st, a.Index)
	}
	if a.Array != nil || a.Index != nil || a.Append {
		*from = append(*from, w.substs(st, a)...)
		if a.Append && a.Array == nil && a.Index == nil {
			old, ok := w.lookup(st, name)
			add := w.one(st, a.Value, from)
			if ok && old.known && add.Known {
				return name, value{known: true, text: old.text + add.Text, from: old.from}
			}
		}
		return name, value{from: slices.Clone(*from), unsettled: true}
	}
	v := valueOf(w.one(st, a.Value, from), slices.Clone(*from))
	if a.Value != nil && len(a.Value.Parts) == 1 {
		if _, ok := a.Value.Parts[0].(*syntax.ArithmExp); ok {
			v.num = true
		}
	}
	return name, v
}

func assignText(v value, src string) string {
	if v.known {
		return v.text
	}
	_, after, _ := strings.Cut(src, "=")
	return after
}

// declare walks export, declare, local, readonly, typeset and nameref.
func (w *walker) declare(st *state, d *syntax.DeclClause, rs []*syntax.Redirect) {
	cmd := Command{Words: []Word{{Text: d.Variant.Value, Known: true}}}
	exports := d.Variant.Value == "export"
	for _, a := range d.Args {
		if a.Naked {
			switch {
			case a.Name != nil:
				cmd.Words = append(cmd.Words, Word{Text: a.Name.Value, Known: true})
				v := st.vars[a.Name.Value]
				v.exported = v.exported || exports
				if _, set := st.vars[a.Name.Value]; set {
					st.vars[a.Name.Value] = v
				}
				if v, set := st.vars[a.Name.Value]; set && exports {
					cmd.Assigns = append(cmd.Assigns, a.Name.Value+"="+v.text)
				}
			case a.Value != nil:
				fs := w.fields(st, []*syntax.Word{a.Value}, &cmd.From)
				for _, f := range fs {
					if f.Known && strings.HasPrefix(f.Text, "-") && strings.Contains(f.Text, "x") {
						exports = true
					}
					// An assignment or a name that only run time knows, or one
					// with a subscript.
					if !f.Known || !strings.HasPrefix(f.Text, "-") || strings.ContainsAny(f.Text, "in") {
						st.forget(false)
						f.Known = false
					}
					cmd.Words = append(cmd.Words, f)
				}
			}
			continue
		}
		name, v := w.assign(st, a, &cmd.From)
		v.exported = exports
		if name != "" {
			st.set(name, v)
			cmd.Assigns = append(cmd.Assigns, name+"="+assignText(v, w.text(a)))
		}
	}
	w.redirects(st, &cmd, rs)
	w.emit(st, cmd)
}

// run takes wrappers off a command, writes it down and does to the state what
// it would do to the shell.
func (w *walker) run(st *state, c Command, here []Word) *state {
	for !(c.Name() != "" && st.funcs[c.Name()]) {
		if len(c.Wrappers) > maxDepth {
			w.fail(ErrTooLarge)
			return nil
		}
		if !unwrap(&c) {
			break
		}
	}
	name := c.Name()
	if w.declared[name] && name != "" && len(c.Wrappers) == 0 {
		c.Func = st.funcs[name]
		w.emit(st, c)
		st.forget(w.moves)
		return nil
	}
	if w.nested(st, &c, here) {
		return nil
	}
	at := w.emit(st, c)
	w.inner(st, c, at)
	if !ownShell(c.Wrappers) {
		return nil
	}
	return w.builtin(st, c)
}

// ownShell says whether a builtin behind these wrappers changes this shell.
func ownShell(wrappers []string) bool {
	for _, n := range wrappers {
		if n != "command" && n != "builtin" && n != "time" {
			return false
		}
	}
	return true
}

// builtin does to the state what a builtin does to the shell; it returns the
// state of success where that is another one.
func (w *walker) builtin(st *state, c Command) *state {
	args := c.Words[1:]
	switch name := base(&c); name {
	case "cd", "pushd":
		return w.chdir(st, c, args)
	case "popd":
		st.dirKnown, st.dirs = false, nil
	case "read", "mapfile", "readarray", "getopts", "unset", "printf":
		if name == "printf" && (len(args) == 0 || args[0].Known && args[0].Text != "-v") {
			return nil
		}
		for _, a := range args {
			if !a.Known {
				st.forget(false)
				return nil
			}
			if name == "unset" && strings.HasPrefix(a.Text, "-f") {
				clear(st.funcs)
			}
			if syntax.ValidName(a.Text) {
				st.set(a.Text, value{from: c.From, unsettled: true})
				if name == "unset" {
					delete(st.funcs, a.Text)
				}
			}
		}
	case "let", "set", "shift", "shopt", "alias", "enable", "trap", "wait":
		if name == "set" && HarmlessSet(args) {
			return nil
		}
		st.forget(name == "trap" && w.moves)
	case ".", "source":
		st.forget(true)
		clear(st.funcs)
	case "exec":
		// Only redirections, or the shell is gone: nothing more to know.
	}
	return nil
}

// HarmlessSet says that arguments of set change nothing that is read later: set -euo pipefail and the like change no variable.
func HarmlessSet(args []Word) bool {
	for i, a := range args {
		if !a.Known {
			return false
		}
		if i > 0 && strings.HasSuffix(args[i-1].Text, "o") && (a.Text == "pipefail" || a.Text == "errexit" || a.Text == "nounset" || a.Text == "xtrace") {
			continue
		}
		if len(a.Text) < 2 || a.Text[0] != '-' && a.Text[0] != '+' || strings.Trim(a.Text[1:], "euxvo") != "" {
			return false
		}
	}
	return true
}

func (w *walker) chdir(st *state, c Command, args []Word) *state {
	target := Word{}
	count := 0
	for _, a := range args {
		if a.Known && (a.Text == "-P" || a.Text == "-L" || a.Text == "-e" || a.Text == "--") && count == 0 {
			continue
		}
		target = a
		count++
	}
	if count == 0 && c.Words[0].Text == "cd" {
		if h, ok := w.home(st); ok {
			target = Word{Text: h, Known: true}
			count = 1
		}
	}
	_, cdpath := st.vars["CDPATH"]
	if count != 1 || !target.Known || strings.HasPrefix(target.Text, "-") || strings.HasPrefix(target.Text, "+") || !st.dirKnown || st.wild || cdpath {
		st.dirKnown, st.dirs = false, nil
		return nil
	}
	ok := st.clone()
	ok.dirs = nil
	for _, d := range st.dirs {
		if n := join(d, target.Text); !slices.Contains(ok.dirs, n) {
			ok.dirs = append(ok.dirs, n)
		}
	}
	if target.Text == "" {
		return nil
	}
	st.merge(ok)
	return ok
}

// nested walks text that is itself a command line: eval, sh -c, trap, a
// here-document read by a shell. It says true where c is wholly told by that.
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
			clear(st.funcs)
			return true
		}
		inner := st.clone()
		inner.stdin = append(slices.Clone(st.stdin), c.From...)
		w.source(inner, text)
		*st = *inner
		return true
	case name == "trap" && len(args) > 0 && args[0].Known && !strings.HasPrefix(args[0].Text, "-") && len(c.Wrappers) == 0:
		inner := st.clone()
		inner.forget(true)
		inner.dirs, inner.dirKnown = st.dirs, st.dirKnown && !w.moves
		w.source(inner, args[0].Text)

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

// shell walks what a child shell is given. The command itself is always
// written down too, so that rules may name it.
func (w *walker) shell(st *state, c *Command, args []Word, here []Word) bool {
	inv := ShellArgs(args)
	child := newState("")
	child.dirs, child.dirKnown = slices.Clone(st.dirs), st.dirKnown
	child.stdin, child.piped, child.posn = st.stdin, st.piped, true
	for n, v := range st.vars {
		if v.exported {
			child.vars[n] = v
		}
	}
	for _, a := range c.Assigns {
		if n, text, ok := strings.Cut(a, "="); ok {
			child.set(n, value{known: false, blank: text})
		}
	}
	if len(c.Wrappers) > 0 {
		child.forget(slices.ContainsFunc(c.Wrappers, func(n string) bool { return n != "timeout" && n != "nohup" && n != "nice" && n != "time" }))
	}
	code, known := "", false
	switch {
	case inv.Code != nil && inv.Code.Known:
		code, known = inv.Code.Text, true
	case inv.Code != nil || inv.Unknown:
		c.Code = true
	case inv.Stdin && len(here) > 0 && here[len(here)-1].Known:
		code, known = here[len(here)-1].Text, true
	case inv.Stdin:
		c.Code = true
	}
	at := w.emit(st, *c)
	if known {
		child.stdin = append(slices.Clone(child.stdin), w.out[at].From...)
		oldDecl, oldMoves, oldOpts := w.declared, w.moves, w.opts
		w.declared, w.moves = nil, false
		if n := base(c); n == "sh" || n == "dash" || n == "ash" {
			// Where sh is bash it reads more; both readings agree on the rest.
			w.opts.POSIX = false
		}
		w.source(child, code)
		w.declared, w.moves, w.opts = oldDecl, oldMoves, oldOpts
	}
	return true
}

// Shell says whether a program of that base name reads shell code.
func Shell(base string) bool {
	switch base {
	case "sh", "bash", "dash", "zsh", "ksh", "ash", "mksh", "fish", "rbash", "csh", "tcsh":
		return true
	}
	return false
}

// Invocation is how a shell was called.
type Invocation struct {
	Code    *Word // of -c
	Script  *Word // a file of code
	Stdin   bool  // it reads code from its standard input
	Unknown bool  // a word that cannot be known decides
}

// ShellArgs reads a shell's arguments, its own name not among them.
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
