package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Unbroken reports whether xargs would split none of the matching file names below the
// folders of patterns, that is, whether none has a blank, a quote or a backslash.
// Patterns are relative to the folder of from.
type Unbroken func(from shellsyntax.Command, patterns []shellsyntax.Word) bool

// Resolve replaces the words that find and xargs pass to a command by the paths that
// these can be: those below find's folders, with the names that it looks for. It does
// so only for commands that only read. What cannot be determined stays unchanged. If
// unbroken is nil, nothing is known of the names on disk. The given commands are not
// changed, and the order is the same.
func Resolve(cmds []shellsyntax.Command, unbroken Unbroken) []shellsyntax.Command {
	if !slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool { return len(c.Wrappers) > 0 }) {
		return cmds
	}
	out := slices.Clone(cmds)
	for i, c := range out {
		if len(c.Wrappers) == 0 {
			continue
		}
		wrapper := c.Wrappers[len(c.Wrappers)-1]
		row, at := known(wrapper), lastProgram(c.Via, wrapper)
		if !row.has(feeds) || at < 0 {
			continue
		}
		var names []shellsyntax.Word
		if row.lists != nil {
			names, _ = row.lists(shellsyntax.Command{Words: c.Via[at:]}, nil)
		} else {
			names = listed(cmds, c, c.Via[at:], unbroken)
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

// Fed reports whether a word stands for what xargs or find inserts.
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

// findLists returns, as patterns, the paths that find prints or passes on, and whether
// they end in NUL; none if they cannot be determined.
func findLists(c shellsyntax.Command, _ []shellsyntax.Command) (names []shellsyntax.Word, null bool) {
	args := c.Words[1:]
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

// listed returns the paths that another command pipes to xargs, whose own words are
// given. To xargs, a name with a blank is several words, which may name any file. So
// the paths are known only if names end in NUL, if the command shows nothing of the
// files' contents, or if no file has such a name and the line creates none.
func listed(cmds []shellsyntax.Command, c shellsyntax.Command, own []shellsyntax.Word, unbroken Unbroken) []shellsyntax.Word {
	if len(c.From) != 1 || c.From[0] >= len(cmds) {
		return nil
	}
	null := slices.ContainsFunc(own, func(w shellsyntax.Word) bool {
		return w.Text == "-0" || w.Text == "--null" || len(w.Text) > 2 && w.Text[0] == '-' && w.Text[1] != '-' && strings.Trim(w.Text[1:], "0rtx") == "" && strings.Contains(w.Text, "0")
	})
	from := cmds[c.From[0]]
	name, plain := from.Program()
	if !plain || len(from.Wrappers) > 0 || len(from.Words) == 0 || Effects(from).Kind != Reads {
		return nil
	}
	var names []shellsyntax.Word
	ends := false
	if p := known(name); p != nil && p.lists != nil {
		names, ends = p.lists(from, cmds)
	}
	if null && ends {
		return names
	}
	inner, _ := c.Program()
	if null != ends || !known(inner).has(counts) && (unbroken == nil || !onlyReads(cmds) || !unbroken(from, names)) {
		return nil
	}
	return names
}

// matchLists returns the names of files with a match: those below what is searched.
func matchLists(c shellsyntax.Command, line []shellsyntax.Command) (names []shellsyntax.Word, null bool) {
	if !slices.ContainsFunc(c.Words[1:], func(w shellsyntax.Word) bool {
		return w.Text == "-l" || w.Text == "--files-with-matches" || w.Text == "--files" || cluster(w.Text, "l")
	}) {
		return nil, false
	}
	name, _ := c.Program()
	s, ok := SearchOf(name, c, line)
	if !ok || s.Follow {
		return nil, false
	}
	if len(s.Dirs) == 0 {
		s.Dirs = []shellsyntax.Word{{Text: ".", Known: true}}
	}
	for _, d := range s.Dirs {
		if !d.Known {
			return nil, false
		}
		dir := strings.TrimSuffix(d.Text, "/") + "/"
		names = append(names, shellsyntax.Word{Text: dir + "*", Glob: true, Prefix: dir, Blank: dir + "*"})
	}
	return names, false
}

// gitLists returns the paths that git ls-files prints.
func gitLists(c shellsyntax.Command, _ []shellsyntax.Command) (names []shellsyntax.Word, null bool) {
	g := ParseGit(c.Words[1:])
	if g.Sub != "ls-files" || len(g.Dirs) > 0 {
		return nil, false
	}
	w := shellsyntax.Word{Text: "*", Glob: true, Blank: "*"}
	for _, a := range g.Args {
		if a.Text == "-z" {
			null = true
		} else if !strings.HasPrefix(a.Text, "-") && !strings.HasPrefix(a.Text, ":") && a.Text != "" {
			w.Blank = path.Base(a.Text)
			w.Text = w.Blank
		}
	}
	return []shellsyntax.Word{w}, null
}

// onlyReads reports whether no command of a line is known to do more than read. It
// ignores commands with fed words: their effect is to be determined.
func onlyReads(cmds []shellsyntax.Command) bool {
	for _, c := range cmds {
		if !slices.ContainsFunc(c.Wrappers, passesOn) && effects(c).Kind != Reads || slices.ContainsFunc(c.Redirects, func(r shellsyntax.Redirect) bool {
			return r.Writes() && !(r.Target.Known && SafeDevice(r.Target.Text))
		}) {
			return false
		}
	}
	return true
}

// passesOn reports whether a program passes its input to another as arguments.
func passesOn(name string) bool { return known(name).has(feeds) && known(name).lists == nil }

// fedUnknown returns why a command's effect is unknown, if find or xargs passes it
// words that cannot be determined.
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
