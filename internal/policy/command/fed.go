package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Resolve puts in place of what find and xargs hand to a command the paths that
// it can be: those below the folders that find is given, with the names that it
// looks for. That is for commands that only read. What cannot be told stays as it is. The commands that are given
// are not changed, and keep their places.
func Resolve(cmds []shellsyntax.Command) []shellsyntax.Command {
	out := slices.Clone(cmds)
	for i, c := range out {
		if len(c.Wrappers) == 0 {
			continue
		}
		var names []shellsyntax.Word
		switch c.Wrappers[len(c.Wrappers)-1] {
		case "find":
			at := lastProgram(c.Via, "find")
			if at >= 0 {
				names, _ = found(c.Via[at+1:])
			}
		case "xargs":
			names = listed(cmds, c)
		default:
			continue
		}
		if len(names) == 0 {
			continue
		}
		var words []shellsyntax.Word
		for _, w := range c.Words {
			if Fed(w) {
				words = append(words, names...)
			} else {
				words = append(words, w)
			}
		}
		if with := c; len(words) > 0 {
			with.Words = words
			if effects(with).Kind == Reads {
				out[i] = with
			}
		}
	}
	return out
}

// Fed reports whether a word is one that xargs or find puts there.
func Fed(w shellsyntax.Word) bool {
	return !w.Known && (w.Text == "…" || w.Text == "{}") && !w.Glob
}

func lastProgram(words []shellsyntax.Word, name string) int {
	for i := len(words) - 1; i >= 0; i-- {
		if words[i].Known && path.Base(words[i].Text) == name {
			return i
		}
	}
	return -1
}

// found returns the paths that find prints or hands on, as patterns, and
// whether they end in NUL; none where they cannot be told.
func found(args []shellsyntax.Word) (names []shellsyntax.Word, null bool) {
	var starts []shellsyntax.Word
	pattern, plain := "", true
	for i := 0; i < len(args); i++ {
		a := args[i]
		switch t := a.Text; {
		case !a.Known && !a.Glob:
			return nil, false
		case t == "-exec" || t == "-execdir" || t == "-ok" || t == "-okdir":
			if t != "-exec" {
				return nil, false
			}
			for i++; i < len(args) && args[i].Text != ";" && args[i].Text != "+"; i++ {
			}
		case t == "-print0":
			null = true
		case t == "-printf" || t == "-ls" || t == "-L" || t == "-follow":
			return nil, false
		case t == "-o" || t == "-or" || t == "!" || t == "-not" || t == ",":
			plain = false
		case (t == "-name" || t == "-iname") && i+1 < len(args):
			if i++; args[i].Known && pattern == "" {
				pattern = args[i].Text
			}
		case len(t) > 0 && t[0] == '-':
			if arg, ok := findWord(t); ok && arg != 0 {
				i++
			}
		case t == "(" || t == ")":
		default:
			starts = append(starts, a)
		}
	}
	if pattern == "" || !plain {
		pattern = "*"
	}
	if len(starts) == 0 {
		starts = []shellsyntax.Word{{Text: ".", Known: true}}
	}
	for _, s := range starts {
		dir := strings.TrimSuffix(s.Text, "/") + "/"
		w := shellsyntax.Word{Text: dir + pattern, Glob: true, Prefix: dir, Blank: dir + pattern}
		if !s.Known {
			w.Prefix, w.Blank = s.Prefix, strings.TrimSuffix(s.Blank, "/")+"/"+pattern
		}
		if mayBeOption(w) {
			return nil, false
		}
		names = append(names, w)
	}
	return names, null
}

// listed returns the paths that xargs is given. A name with a blank in it is
// several words to xargs, and may name any file: so that is told only of names
// that end in NUL, or where the command shows nothing of the files.
func listed(cmds []shellsyntax.Command, c shellsyntax.Command) []shellsyntax.Word {
	at := lastProgram(c.Via, "xargs")
	if at < 0 || len(c.From) != 1 || c.From[0] >= len(cmds) {
		return nil
	}
	null := slices.ContainsFunc(c.Via[at:], func(w shellsyntax.Word) bool {
		return w.Text == "-0" || w.Text == "--null" || len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Trim(w.Text[1:], "0rtx") == "" && strings.Contains(w.Text, "0")
	})
	from := cmds[c.From[0]]
	name, plain := from.Program()
	if !plain || len(from.Wrappers) > 0 || len(from.Words) == 0 || Effects(from).Kind != Reads {
		return nil
	}
	var names []shellsyntax.Word
	ends := false
	switch name {
	case "find":
		names, ends = found(from.Words[1:])
	case "git":
		g := ParseGit(from.Words[1:])
		if g.Sub != "ls-files" || len(g.Dirs) > 0 {
			return nil
		}
		names = []shellsyntax.Word{{Text: "*", Glob: true, Blank: "*"}}
		for _, a := range g.Args {
			if a.Text == "-z" {
				ends = true
			} else if !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, ":") && a.Text != "" {
				names[0].Blank = path.Base(a.Text)
				names[0].Text = names[0].Blank
			}
		}
	}
	inner, _ := c.Program()
	if null != ends || !null && !counts(inner) {
		return nil
	}
	return names
}

// counts names the programs that show of a file only how large it is, or what
// kind of file.
func counts(name string) bool {
	switch name {
	case "wc", "stat", "du", "file", "basename", "dirname", "md5sum", "sha1sum", "sha256sum", "cksum", "echo":
		return true
	}
	return false
}

// fedUnknown returns why a command's effect is not known where find or xargs
// hand it what cannot be told.
func fedUnknown(c shellsyntax.Command, e Effect) string {
	if len(c.Wrappers) == 0 {
		return ""
	}
	for _, words := range [][]shellsyntax.Word{e.Reads, e.Writes, e.Removes} {
		if slices.ContainsFunc(words, Fed) {
			return c.Wrappers[len(c.Wrappers)-1] + " gives it names that cannot be known before: `find … -exec … {} +` or `find … -print0 | xargs -0 …` can be judged"
		}
	}
	return ""
}
