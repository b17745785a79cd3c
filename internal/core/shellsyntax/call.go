package shellsyntax

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// call walks one simple command.
func (w *walker) call(sc *scope, x *syntax.CallExpr, rs []*syntax.Redirect) []string {
	var c Command
	if x == nil {
		x = &syntax.CallExpr{}
	}
	for _, a := range x.Args {
		c.Words = append(c.Words, w.word(sc, a, &c))
		if t := w.text(a); strings.HasPrefix(t, "{") && strings.HasSuffix(t, "]}") && strings.Contains(t, "[") {
			c.Evaluates = true // a descriptor in an array, whose subscript is evaluated
		}
	}
	for _, a := range x.Assigns {
		w.assign(sc, a, &c)
	}
	here := w.redirects(sc, &c, rs)
	if len(c.Words) == 0 {
		if len(c.Assigns)+len(c.Redirects) > 0 || c.Evaluates || c.Code {
			w.emit(sc, c)
		}
		return nil
	}
	return w.run(sc, c, here)
}

// run removes wrappers from a command, records it and follows what it runs by its words.
func (w *walker) run(sc *scope, c Command, here []Word) []string {
	for !w.funcs[c.Name()] && w.unwrap(&c) {
		if len(c.Wrappers) > maxDepth {
			w.fail(ErrTooLarge)
			return nil
		}
	}
	if len(c.Words) == 0 {
		w.emit(sc, c)
		return nil
	}
	name, args := base(&c), c.Words[1:]
	own := !slices.ContainsFunc(c.Wrappers, func(n string) bool { return n != "command" && n != "builtin" })
	switch {
	case w.funcs[c.Name()] && len(c.Wrappers) == 0:
		c.Func = true
		if w.emit(sc, c); w.moves {
			sc.dirs = nil
		}
		return nil
	case name == "eval" && own:
		return w.eval(sc, c, args)
	case Shell(name):
		w.shell(sc, c, args, here)
		return nil
	case name == "trap" && own && len(args) > 0 && args[0].Known && !strings.HasPrefix(args[0].Text, "-"):
		in := *sc
		w.source(&in, args[0].Text)
	}
	w.emit(sc, c)
	if !own {
		return nil
	}
	switch name {
	case "cd", "pushd":
		return w.chdir(sc, c, args)
	case "popd":
		sc.dirs = nil
	}
	return nil
}

func (w *walker) eval(sc *scope, c Command, args []Word) []string {
	if len(args) > 0 && args[0].Text == "--" {
		args = args[1:]
	}
	var parts []string
	for _, a := range args {
		c.Code = c.Code || !a.Known
		parts = append(parts, a.Text)
	}
	c.Code = c.Code || len(c.Assigns) > 0 // the text may see them
	if c.Code || len(c.Redirects) > 0 {
		w.emit(sc, c)
	}
	if c.Code {
		sc.dirs = nil
		return nil
	}
	in := *sc
	in.stdin = slices.Concat(sc.stdin, c.From)
	w.source(&in, strings.Join(parts, " "))
	sc.dirs = in.dirs
	return nil
}

// shell walks the code that a child shell gets. The command itself is always recorded
// too, so that rules can name it.
func (w *walker) shell(sc *scope, c Command, args, here []Word) {
	inv := ShellArgs(args)
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
	child := *sc
	child.dirs = slices.Clone(sc.dirs)
	at := w.emit(sc, c)
	if !known || w.err != nil {
		return
	}
	child.stdin = slices.Concat(sc.stdin, w.out[at].From)
	funcs, moves := w.funcs, w.moves
	w.funcs, w.moves = nil, false
	w.source(&child, code)
	w.funcs, w.moves = funcs, moves
}

// chdir applies cd: afterwards the shell is in the new folder if that succeeded, and else
// where it was.
func (w *walker) chdir(sc *scope, c Command, args []Word) []string {
	for len(args) > 0 && args[0].Known && slices.Contains([]string{"-L", "-e", "--"}, args[0].Text) {
		args = args[1:]
	}
	target := Word{Text: w.opts.Home, Known: w.opts.Home != "" && c.Words[0].Text == "cd"}
	if len(args) > 0 {
		target = args[0]
	}
	if len(args) > 1 || !target.Known || target.Text == "" || strings.HasPrefix(target.Text, "-") || sc.dirs == nil || strings.Contains(w.src, "CDPATH") {
		sc.dirs = nil
		return nil
	}
	var to []string
	for _, d := range sc.dirs {
		if path.IsAbs(target.Text) {
			d = "/"
		}
		to = append(to, path.Join(d, target.Text))
	}
	sc.either(to)
	return slices.Compact(to)
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

// Programs tells Parse about programs that are not part of the shell.
type Programs interface {
	// Wraps returns the index in a program's words at which the command begins that it runs
	// with those words and in the same folder, and the variables (NAME=value) that it sets
	// for it. It is 0 if there is none, or if one of the words before it is not understood.
	Wraps(words []Word) (at int, sets []string)
}

// unwrap moves one wrapper from the words to Via.
func (w *walker) unwrap(c *Command) bool {
	if base(c) == "" {
		return false
	}
	at, sets := w.programs.Wraps(c.Words)
	if at == 0 {
		return false
	}
	c.Assigns = append(c.Assigns, sets...)
	c.Via = append(c.Via, c.Words[:at]...)
	c.Wrappers = append(c.Wrappers, base(c))
	c.Words = slices.Clone(c.Words[at:])
	return true
}

// base returns the base name of a command's program, "" if it is unknown.
func base(c *Command) string {
	if n := c.Name(); n != "" {
		return path.Base(n)
	}
	return ""
}
