package shellsyntax

import (
	"path"
	"slices"
	"strings"
)

// wrapper describes how a program that runs another program finds it among its
// arguments. Unlisted options may do anything.
type wrapper struct {
	flags string // short options that do not change what is run
	vals  string // short options that take a value
	tail  string // short options whose value, if any, is the rest of the word
	long  string // long options; those that end in "=" take a value
	args  int    // the wrapper's own operands before the command
	vars  bool   // NAME=value operands may come first
	more  bool   // it appends arguments that are known only at run time
	digit bool   // -5 is an option
}

// wrapperOf returns the wrapper of that base name.
func wrapperOf(name string) (wrapper, bool) {
	switch name {
	case "env":
		return wrapper{flags: "iv0", vals: "uC", tail: "S", long: "ignore-environment debug null unset= chdir= split-string=", vars: true}, true
	case "nohup", "builtin", "busybox", "toybox":
		return wrapper{}, true
	case "setsid":
		return wrapper{flags: "cfw", long: "ctty fork wait"}, true
	case "command":
		return wrapper{flags: "p"}, true
	case "exec":
		return wrapper{flags: "c"}, true
	case "time":
		return wrapper{flags: "pvaq", vals: "of", long: "portability verbose append quiet output= format="}, true
	case "nice":
		return wrapper{vals: "n", long: "adjustment=", digit: true}, true
	case "ionice":
		return wrapper{flags: "t", vals: "cn", long: "ignore class= classdata="}, true
	case "chrt":
		return wrapper{flags: "abdfior", vals: "TPD", args: 1}, true
	case "taskset":
		return wrapper{flags: "ac", long: "all-tasks cpu-list", args: 1}, true
	case "timeout":
		return wrapper{flags: "vf", vals: "ks", long: "foreground preserve-status verbose kill-after= signal=", args: 1}, true
	case "stdbuf":
		return wrapper{vals: "ioe", long: "input= output= error="}, true
	case "sudo":
		return wrapper{flags: "ABEHnPSbk", vals: "ughpCTrtU", long: "askpass background preserve-env non-interactive set-home stdin user= group= host= prompt= close-from= command-timeout= role= type= other-user=", vars: true}, true
	case "doas":
		return wrapper{flags: "nL", vals: "u"}, true
	case "xargs":
		return wrapper{
			flags: "0rtxp", vals: "adEILnPs", tail: "eil", more: true,
			long: "null no-run-if-empty verbose exit interactive open-tty eof replace max-lines arg-file= delimiter= max-args= max-procs= max-chars=",
		}, true
	case "caffeinate":
		return wrapper{flags: "dimsu", vals: "tw"}, true
	}
	return wrapper{}, false
}

// option is one option of a wrapper, with the value it was given.
type option struct {
	name  string // "o" or "output"
	value Word
}

// read consumes a wrapper's own words. at is where the command begins; ok is false if a
// word is unknown or no command follows; strange is true for an unlisted option.
func (wr wrapper) read(words []Word) (opts []option, vars []string, at int, strange, ok bool) {
	args := wr.args
	i, many := 1, false
	for ; i < len(words); i++ {
		if !words[i].Known {
			// An option or the command itself, and it is unknown: stop.
			return nil, nil, 0, false, false
		}
		t := words[i].Text
		next := func() Word {
			if i++; i >= len(words) {
				return Word{}
			}
			many = many || !words[i].sole() // then the command's position is not known
			return words[i]
		}
		switch {
		case t == "--":
			i++
			if args > 0 && i < len(words) {
				i += args
			}
		case strings.HasPrefix(t, "--"):
			name, v, has := strings.Cut(t[2:], "=")
			full, takes, known := wr.longOption(name)
			o := option{name: full, value: Word{Text: v, Known: true}}
			if strange = strange || !known; takes && !has {
				o.value = next()
			}
			opts = append(opts, o)
			continue
		case len(t) > 1 && t[0] == '-' && wr.digit && isNumber(t[1:]):
			continue
		case len(t) > 1 && t[0] == '-':
			for j := 1; j < len(t); j++ {
				letter, rest := t[j], t[j+1:]
				o := option{name: t[j : j+1], value: Word{Text: rest, Known: true}}
				takes := strings.IndexByte(wr.vals, letter) >= 0
				if takes && rest == "" {
					o.value = next()
				}
				opts = append(opts, o)
				if takes || strings.IndexByte(wr.tail, letter) >= 0 {
					break
				}
				strange = strange || strings.IndexByte(wr.flags, letter) < 0
			}
			continue
		case wr.vars && strings.Contains(t, "="):
			vars = append(vars, t)
			continue
		case wr.vars && t == "-":
			continue // env - is env -i
		case args > 0:
			args--
			continue
		}
		break
	}
	return opts, vars, i, strange, i < len(words) && !many
}

// longOption finds a long option, which may be abbreviated.
func (wr wrapper) longOption(name string) (full string, takes, ok bool) {
	for l := range strings.FieldsSeq(wr.long) {
		full, takes = strings.CutSuffix(l, "=")
		if full == name {
			return full, takes, true
		}
	}
	found := 0
	for l := range strings.FieldsSeq(wr.long) {
		if strings.HasPrefix(l, name) {
			found++
			full, takes = strings.CutSuffix(l, "=")
		}
	}
	if found != 1 {
		return name, false, false
	}
	return full, takes, true
}

// unwrap moves one wrapper from the words to Via. It keeps a wrapper that runs nothing
// (env alone, command -v). Other effects of the wrapper are recorded with the command:
// the folder that it runs in, the files that it opens. An unknown option makes it
// unknown code.
func (w *walker) unwrap(st *state, c *Command) bool {
	name := base(c)
	wr, ok := wrapperOf(name)
	if !ok || name == "command" && len(c.Words) > 1 && strings.Trim(c.Words[1].Text, "pvV") == "-" && strings.ContainsAny(c.Words[1].Text, "vV") {
		return false
	}
	if name == "env" {
		w.splitEnv(c)
	}
	opts, vars, at, strange, ok := wr.read(c.Words)
	if !ok {
		// It is not known which of its words is the command.
		c.Code = c.Code || slices.ContainsFunc(c.Words, func(a Word) bool { return !a.Known })
		return false
	}
	if (name == "sudo" || name == "doas") && strange {
		return false // -s, -i and -e do not run the words as a command
	}
	c.Code = c.Code || strange
	replace := ""
	for _, o := range opts {
		switch name + " " + o.name {
		case "env C", "env chdir":
			w.runIn(st, c, o.value)
		case "env S", "env split-string":
			return false // its words are not plain
		case "time o", "time output":
			c.Redirects = append(c.Redirects, Redirect{Op: ">", Target: o.value})
		case "xargs a", "xargs arg-file":
			c.Redirects = append(c.Redirects, Redirect{Op: "<", Target: o.value})
		case "xargs I":
			if replace = o.value.Text; !o.value.Known {
				c.Code = true
				return false
			}
			wr.more = false
		case "xargs i", "xargs replace":
			if replace = o.value.Text; replace == "" {
				replace = "{}"
			}
			wr.more = false
		}
	}
	c.Assigns = append(c.Assigns, vars...)
	c.Via = append(c.Via, c.Words[:at]...)
	c.Wrappers = append(c.Wrappers, name)
	c.Words = slices.Clone(c.Words[at:])
	if replace != "" {
		replaced(c.Words, replace)
	}
	if wr.more {
		c.Words = append(c.Words, Word{Text: "…"})
	}
	return true
}

// splitEnv splits the one word of env -S if it is plain.
func (w *walker) splitEnv(c *Command) {
	if len(c.Words) < 2 {
		return
	}
	text, at := "", 2
	switch t := c.Words[1].Text; {
	case !c.Words[1].Known:
		return
	case (t == "-S" || t == "--split-string") && len(c.Words) > 2 && c.Words[2].Known:
		text, at = c.Words[2].Text, 3
	case strings.HasPrefix(t, "-S") && len(t) > 2:
		text = t[2:]
	case strings.HasPrefix(t, "--split-string="):
		text = t[len("--split-string="):]
	default:
		return
	}
	if strings.ContainsAny(text, `'"\$#`) {
		return
	}
	words := []Word{c.Words[0]}
	for f := range strings.FieldsSeq(text) {
		words = append(words, Word{Text: f, Known: true})
	}
	c.Words = append(words, c.Words[at:]...)
}

// runIn records that a wrapper changes the folder.
func (w *walker) runIn(st *state, c *Command, dir Word) {
	var in []string
	if c.dirs == nil {
		c.dirs = st.dirs
	}
	if dir.Known && dir.Text != "" && st.dirKnown {
		for _, d := range c.dirs {
			in = append(in, follow(w.opts.Dir, d, dir.Text))
		}
	}
	c.dirs, c.moved = in, true
}

// replaced makes the words unknown in which a program replaces mark by other text.
func replaced(words []Word, mark string) {
	for i, word := range words {
		if before, _, has := strings.Cut(word.Text, mark); has {
			words[i] = Word{Text: word.Text, Prefix: before, Blank: strings.ReplaceAll(word.Text, mark, ""), One: true}
		}
	}
}

// inner records the commands that a command runs by its own options: find -exec.
func (w *walker) inner(st *state, c Command, at int) {
	if base(&c) != "find" {
		return
	}
	for i := 1; i < len(c.Words); i++ {
		switch c.Words[i].Text {
		case "-exec", "-execdir", "-ok", "-okdir":
		default:
			continue
		}
		j := i + 1
		for j < len(c.Words) && c.Words[j].Text != ";" && c.Words[j].Text != "+" {
			j++
		}
		if j == i+1 {
			continue
		}
		in := Command{
			Words:    slices.Clone(c.Words[i+1 : j]),
			Via:      append(slices.Clone(c.Via), c.Words[:i+1]...),
			Wrappers: append(slices.Clone(c.Wrappers), "find"),
			From:     []int{at},
		}
		replaced(in.Words, "{}")
		for w.unwrap(st, &in) {
		}
		if !w.nested(st, &in, nil) {
			w.emit(st, in)
		}
		i = j
	}
}

// base returns the base name of a command's program, "" if it is not known.
func base(c *Command) string {
	if n := c.Name(); n != "" {
		return path.Base(n)
	}
	return ""
}
