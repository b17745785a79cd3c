package shellsyntax

import (
	"path"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// evaluates reports whether one of the shell's builtins runs text that is not known
// to be harmless: a subscript in a name, a callback, an alias. It is called before
// the command is recorded; builtin does the rest afterwards.
func (w *walker) evaluates(st *state, c *Command) bool {
	args := c.Words[1:]
	switch base(c) {
	case "test", "[":
		return !w.plainTest(st, base(c), args)
	case "read":
		return !w.setsNames(st, args, "adinNptu", "ersE", "a")
	case "mapfile", "readarray":
		return !w.setsNames(st, args, "dnOsu", "t", "")
	case "getopts":
		return len(args) < 2 || !args[0].sole() || !w.setsNames(st, args[1:2], "", "", "")
	case "unset":
		return !w.setsNames(st, args, "", "vf", "")
	case "wait":
		return !w.waits(st, args)
	case "printf":
		return !w.prints(st, args)
	case "let":
		return slices.ContainsFunc(args, func(a Word) bool { return !a.Num && !(a.Known && w.let(st, a.Text)) })
	case "export", "declare", "local", "readonly", "typeset":
		d := declaration{variant: base(c)}
		for _, a := range args {
			if a.Known && begins(a.Text, '-') {
				d.flags += a.Text[1:]
			}
		}
		if strings.Contains(d.flags, "i") {
			w.declaresInteger(st)
		}
		for _, a := range args {
			w.declareWord(st, c, d, a)
		}
		return c.Code || d.reference()
	case "alias":
		return slices.ContainsFunc(args, func(a Word) bool { return !a.Known || strings.Contains(a.Text, "=") })
	case "bind", "complete", "compopt", "compgen", "fc":
		return len(args) > 0
	case "enable", "hash", "history":
		return slices.ContainsFunc(args, func(a Word) bool {
			return !a.Known || begins(a.Text, '-') && a.Text != "-t" && a.Text != "-l" && a.Text != "-r"
		})
	case "trap":
		return len(args) > 0 && !args[0].Known
	case "set":
		return !HarmlessSet(args) && len(args) > 0
	case "shopt":
		return !harmlessShopt(args)
	case ".", "source":
		return len(args) > 0 && args[0].Proc
	}
	return false
}

// sole reports whether a word is certainly exactly one word.
func (w Word) sole() bool { return w.Known || w.One }

// options removes the options from a builtin's arguments: vals are the letters that
// take a value, flags the other known letters. ok is false if there is or may be any
// other option.
func options(args []Word, vals, flags string) (values map[byte]Word, rest []Word, ok bool) {
	values = map[byte]Word{}
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a.Num || !a.Known && !begins(a.Prefix, '-') && a.Prefix != "" {
			return values, args[i:], true
		}
		switch {
		case !a.Known:
			return nil, nil, false
		case a.Text == "--":
			return values, args[i+1:], true
		case len(a.Text) < 2 || a.Text[0] != '-':
			return values, args[i:], true
		}
		for j := 1; j < len(a.Text); j++ {
			switch letter := a.Text[j]; {
			case strings.IndexByte(vals, letter) >= 0:
				if j+1 < len(a.Text) {
					values[letter] = Word{Text: a.Text[j+1:], Known: true}
				} else if i++; i < len(args) && args[i].sole() {
					values[letter] = args[i]
				} else {
					return nil, nil, false
				}
				j = len(a.Text)
			case strings.IndexByte(flags, letter) < 0:
				return nil, nil, false
			}
		}
	}
	return values, nil, true
}

// setsNames reports whether a builtin has only known options and plain names. It
// records that the builtin sets these variables to unknown values.
func (w *walker) setsNames(st *state, args []Word, vals, flags, name string) bool {
	values, rest, ok := options(args, vals, flags)
	if !ok {
		return false
	}
	for i := range len(name) {
		if v, has := values[name[i]]; has {
			rest = append(slices.Clip(rest), v)
		}
	}
	for _, a := range rest {
		if !a.Known || !w.reference(st, a.Text) {
			return false
		}
	}
	return true
}

func (w *walker) waits(st *state, args []Word) bool {
	values, rest, ok := options(args, "p", "nf")
	if !ok {
		return false
	}
	v, has := values['p']
	return (!has || v.Known && w.reference(st, v.Text)) && !slices.ContainsFunc(rest, func(a Word) bool { return !a.Known && !a.Num })
}

// prints reports whether printf certainly sets no variable, or a plain one.
func (w *walker) prints(st *state, args []Word) bool {
	if len(args) == 0 {
		return true
	}
	if a := args[0]; !a.Known {
		return a.Num || a.Prefix != "" && a.Prefix[0] != '-'
	}
	name, is := strings.CutPrefix(args[0].Text, "-v")
	if is && name == "" && len(args) > 1 {
		return args[1].Known && w.reference(st, args[1].Text)
	}
	return !is || w.reference(st, name)
}

// HarmlessSet reports whether the arguments of set change no variable and not the
// parsing of what follows: set -euo pipefail, and set -- with any words.
func HarmlessSet(args []Word) bool {
	for i, a := range args {
		if !a.Known {
			return false
		}
		if a.Text == "--" {
			return true
		}
		if i > 0 && strings.HasSuffix(args[i-1].Text, "o") && (a.Text == "pipefail" || a.Text == "errexit" || a.Text == "nounset" || a.Text == "xtrace") {
			continue
		}
		if len(a.Text) < 2 || a.Text[0] != '-' && a.Text[0] != '+' || strings.Trim(a.Text[1:], "euxvo") != "" {
			return false
		}
	}
	return len(args) > 0
}

// harmlessShopt reports whether all options only change which files a pattern matches.
func harmlessShopt(args []Word) bool {
	for _, a := range args {
		switch a.Text {
		case "-s", "-u", "-q", "-p", "nullglob", "globstar", "nocaseglob", "nocasematch", "dotglob", "inherit_errexit":
		default:
			return false
		}
	}
	return true
}

// plainTest reports whether test or [ certainly evaluates nothing: no operand can be
// the operator -v or -R, or the operand of that operator is a plain name.
func (w *walker) plainTest(st *state, name string, args []Word) bool {
	if name == "[" && len(args) > 0 && args[len(args)-1].Known && args[len(args)-1].Text == "]" {
		args = args[:len(args)-1]
	}
	if !slices.ContainsFunc(args, mayEvaluate) {
		return true
	}
	if slices.ContainsFunc(args, func(a Word) bool { return !a.sole() }) {
		return false
	}
	text := func(i int) string {
		if i < len(args) && args[i].Known {
			return args[i].Text
		}
		return ""
	}
	if len(args) == 1 {
		return true
	}
	// Read the terms as bash does.
	for i := 0; i < len(args); {
		switch {
		case !args[i].Known && len(args)-i == 1:
			return true
		case i+2 < len(args) && binaryTest(text(i+1)):
			i += 3
		case !args[i].Known:
			return false
		case text(i) == "!" || text(i) == "(":
			i++
			continue
		case text(i) == "-v" || text(i) == "-R":
			if i+1 < len(args) && (!args[i+1].Known || !w.reference(st, text(i+1))) {
				return false
			}
			i += 2
		case len(text(i)) == 2 && text(i)[0] == '-':
			i += 2
		default:
			i++
		}
		for text(i) == ")" {
			i++
		}
		if i < len(args) && text(i) != "-a" && text(i) != "-o" {
			// Bash stops here, or parses it differently.
			return !slices.ContainsFunc(args[i:], mayEvaluate)
		}
		i++
	}
	return true
}

// mayEvaluate reports whether a word may be -v or -R.
func mayEvaluate(a Word) bool {
	switch {
	case a.Known:
		return a.Text == "-v" || a.Text == "-R"
	case a.Num:
		return false
	case a.Glob:
		return len(strings.Trim(a.Text, "*?")) < 3 || strings.ContainsAny(a.Text, "[")
	case !a.One:
		return true // x$y may be many words
	}
	return a.Prefix == "" || a.Prefix == "-" || strings.HasPrefix(a.Prefix, "-v") || strings.HasPrefix(a.Prefix, "-R")
}

func binaryTest(op string) bool {
	switch op {
	case "=", "==", "!=", "<", ">", "-eq", "-ne", "-lt", "-le", "-gt", "-ge", "-nt", "-ot", "-ef", "-a", "-o":
		return true
	}
	return false
}

// builtin applies the effects of a builtin to the state. It returns the state after
// success if that differs.
func (w *walker) builtin(st *state, c Command) *state {
	args := c.Words[1:]
	switch name := base(&c); name {
	case "cd", "pushd":
		return w.chdir(st, c, args)
	case "popd":
		st.dirKnown, st.dirs = false, nil
	case "read", "mapfile", "readarray", "getopts", "unset", "printf", "wait":
		w.sets(st, name, c, args)
	case "set", "shift":
		st.posn = true
		if name == "set" && !HarmlessSet(args) && len(args) > 0 {
			st.forget(false)
		}
	case "shopt", "alias", "enable":
		st.forget(false)
	case "trap":
		st.trapped = true
		st.forget(w.moves)
	case ".", "source":
		st.forget(true)
		st.funcs.root = nil
	}
	return nil
}

// sets records the variables that a builtin sets by name.
func (w *walker) sets(st *state, name string, c Command, args []Word) {
	if name == "printf" && (len(args) == 0 || !strings.HasPrefix(args[0].Text, "-v")) {
		return
	}
	if c.Code {
		st.forget(false)
		st.funcs.root = nil
		return
	}
	set := func(n string) {
		n, _, element := strings.Cut(n, "[")
		whole := !element
		if !syntax.ValidName(n) {
			return
		}
		v := value{from: tidy(slices.Clone(c.From))}
		if name == "unset" {
			// A special variable no longer has its default. In a function, an outer
			// variable of that name may become visible again.
			st.funcs = st.funcs.without(n)
			st.set(n, value{known: whole && !st.wild && !slices.ContainsFunc(args, func(a Word) bool { return strings.HasPrefix(a.Text, "-f") })})
		} else {
			w.put(st, n, v, c.String())
		}
		w.note(st, n, v)
	}
	names := slices.ContainsFunc(args, func(a Word) bool { return syntax.ValidName(a.Text) })
	switch name {
	case "read":
		if !names {
			st.set("REPLY", value{from: tidy(slices.Clone(c.From))})
		}
	case "mapfile", "readarray":
		st.set("MAPFILE", value{})
	case "getopts":
		st.set("OPTIND", value{num: true})
		st.set("OPTARG", value{})
		set(args[1].Text)
		return
	case "printf":
		if n := strings.TrimPrefix(args[0].Text, "-v"); n != "" {
			set(n)
			return
		}
		set(args[1].Text)
		return
	}
	for _, a := range args {
		set(strings.TrimPrefix(strings.TrimPrefix(a.Text, "-a"), "-p"))
	}
}

func (w *walker) chdir(st *state, c Command, args []Word) *state {
	target, physical := Word{}, false
	count := 0
	for _, a := range args {
		if a.Known && (a.Text == "-P" || a.Text == "-L" || a.Text == "-e" || a.Text == "--") && count == 0 {
			physical = a.Text == "-P" || physical && a.Text != "-L"
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
	_, cdpath := st.get("CDPATH")
	if count != 1 || !target.Known || begins(target.Text, '-') || begins(target.Text, '+') || !st.dirKnown || st.wild || cdpath {
		st.dirKnown, st.dirs = false, nil
		return nil
	}
	if target.Text == "" {
		return nil
	}
	ok := st.clone()
	ok.dirs = nil
	to := func(d string) {
		if !slices.Contains(ok.dirs, d) {
			ok.dirs = append(ok.dirs, d)
		}
	}
	for _, d := range st.dirs {
		kernel := follow(w.opts.Dir, d, target.Text)
		if physical || strings.Contains(kernel, "/..") && strings.Contains(d, "/..") {
			to(kernel)
			continue
		}
		// Bash takes the path as it is written; if that folder does not exist, it
		// tries the path as the kernel resolves it.
		if stepsBack(target.Text) {
			to(kernel)
		}
		to(path.Clean(join(d, target.Text)))
	}
	st.merge(ok)
	return ok
}

// join appends a path to a folder.
func join(dir, p string) string {
	if path.IsAbs(p) {
		return p
	}
	return dir + "/" + p
}
