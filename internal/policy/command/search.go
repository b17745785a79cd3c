package command

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
)

// Search is what a command searches.
type Search struct {
	Dirs    []shellsyntax.Word
	Follow  bool // it follows links
	Hidden  bool // it includes names that begin with a dot
	Ignored bool // it includes what git ignores
	only    []string
	without []string // patterns of file names
	Pruned  []string // patterns of folder names
}

// Reads reports whether a search reads a file with this name.
func (s Search) Reads(name string) bool {
	return (len(s.only) == 0 || anyLike(s.only, name)) && !anyLike(s.without, name)
}

func anyLike(patterns []string, name string) bool {
	for _, p := range patterns {
		if Like(p, name) {
			return true
		}
	}
	return false
}

// SearchOf returns what a command searches; ok is false if it searches no folder. line
// contains the commands that c.From refers to. An unknown option limits nothing.
func SearchOf(name string, c shellsyntax.Command, line []shellsyntax.Command) (s Search, ok bool) {
	for _, w := range c.Wrappers {
		row := known(w)
		if !row.has(feeds) {
			continue
		}
		inner := c
		inner.Wrappers = nil
		own, searches := SearchOf(name, inner, nil)
		if row.hands != nil {
			s = row.hands(c.Via[max(0, lastProgram(c.Via, w)):])
		} else {
			s = Search{Hidden: true, Ignored: true}
			if len(c.From) == 1 && c.From[0] >= 0 && c.From[0] < len(line) {
				// The command before it names files below what that command itself
				// searches.
				from := line[c.From[0]]
				by, _ := from.Program()
				if p := known(by); p != nil && p.hands != nil {
					s = p.hands(from.Words)
				} else if lists, ok := SearchOf(by, from, nil); ok {
					s = lists
				}
			}
			// Even without input, it is run once.
			own.Dirs = append(own.Dirs, shellsyntax.Word{Text: ".", Known: true})
		}
		if searches {
			s = deeper(s, own)
		}
		return s, ShowsContent(name)
	}
	if len(c.Words) < 2 {
		return s, false
	}
	p := known(name)
	if p == nil || p.search == nil {
		return s, false
	}
	return p.search(c.Words[1:])
}

func diffSearch(args []shellsyntax.Word) (s Search, ok bool) {
	s = Search{Hidden: true, Ignored: true, Follow: true}
	for _, a := range args {
		ok = ok || a.Known && (a.Text == "--recursive" || strings.HasPrefix(a.Text, "--rec") || cluster(a.Text, "r"))
		if !strings.HasPrefix(a.Text, "-") {
			s.Dirs = append(s.Dirs, a)
		}
	}
	return s, ok
}

// deeper extends s, what find or xargs passes to a command, by own, what that command
// itself searches: everything in a folder that it gets, and what it names besides.
func deeper(s, own Search) Search {
	s.Hidden, s.Ignored, s.Follow = s.Hidden || own.Hidden, s.Ignored || own.Ignored, s.Follow || own.Follow
	s.only, s.without, s.Pruned = nil, nil, nil
	s.Dirs = append(slices.Clone(s.Dirs), own.Dirs...)
	return s
}

// option reports whether a word is an option; its value may contain a pattern.
func option(w shellsyntax.Word) bool {
	return (w.Known || w.Glob && strings.HasPrefix(w.Prefix, "-")) && len(w.Text) > 1 && w.Text[0] == '-'
}

// cluster reports whether a word is a cluster of options that contains one of letters.
func cluster(t, letters string) bool {
	return len(t) > 1 && t[0] == '-' && t[1] != '-' && strings.ContainsAny(t[1:], letters)
}

// patternFirst reports whether the first operand of a search is the pattern: no option
// replaces it, not even one after the operands. valued are the letters that take a
// value.
func patternFirst(args []shellsyntax.Word, valued string) bool {
	for _, w := range args {
		if !option(w) {
			continue
		}
		name, _, _ := strings.Cut(w.Text, "=")
		switch {
		case name == "--":
			return true
		case name == "--file", len(name) > 4 && strings.HasPrefix("--regexp", name):
			return false
		case name[1] != '-':
			if j := strings.IndexAny(name[1:], valued); j >= 0 && (name[j+1] == 'e' || name[j+1] == 'f') {
				return false
			}
		}
	}
	return true
}

// grepSearch parses grep's arguments.
func grepSearch(args []shellsyntax.Word) (s Search, recursive bool) {
	s = Search{Hidden: true, Ignored: true}
	pattern := patternFirst(args, "efmABCdD")
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		name, value, has := strings.Cut(t, "=")
		next := func() string {
			if !has && i+1 < len(args) {
				i++
				value = args[i].Text
			}
			return value
		}
		switch {
		case !option(args[i]):
			if pattern {
				pattern = false
			} else {
				s.Dirs = append(s.Dirs, args[i])
			}
		case t == "--":
			for _, a := range args[i+1:] {
				if pattern {
					pattern = false
				} else {
					s.Dirs = append(s.Dirs, a)
				}
			}
			return s, recursive
		case strings.HasPrefix(name, "--inc"):
			s.only = append(s.only, next())
		case strings.HasPrefix(name, "--exclude-d"):
			s.Pruned = append(s.Pruned, strings.Trim(next(), "/"))
		case name == "--exclude":
			s.without = append(s.without, next())
		case name == "--regexp" || strings.HasPrefix(name, "--reg") || name == "--file":
			next()
			pattern = false
		case strings.HasPrefix(name, "--"):
			recursive = recursive || len(name) > 4 && (strings.HasPrefix("--recursive", name) || strings.HasPrefix("--dereference-recursive", name) || strings.HasPrefix("--directories", name))
			s.Follow = s.Follow || strings.HasPrefix(name, "--der")
		default:
			for j := 1; j < len(t); j++ {
				if strings.IndexByte("efmABCdD", t[j]) < 0 {
					recursive = recursive || t[j] == 'r' || t[j] == 'R'
					s.Follow = s.Follow || t[j] == 'R'
					continue
				}
				recursive = recursive || t[j] == 'd'
				pattern = pattern && t[j] != 'e' && t[j] != 'f'
				if j == len(t)-1 {
					i++
				}
				break
			}
		}
	}
	return s, recursive
}

// rgSearch parses ripgrep's arguments: it searches folders by default, and skips hidden
// and ignored files.
func rgSearch(args []shellsyntax.Word) (s Search, ok bool) {
	if rgReadTwoWays(args) {
		s = Search{Hidden: true, Ignored: true, Follow: true, Dirs: []shellsyntax.Word{{Text: ".", Known: true}}}
		for _, w := range args {
			if !option(w) {
				s.Dirs = append(s.Dirs, w)
			}
		}
		return s, true
	}
	pattern := patternFirst(args, rgValued)
	var types []string
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		name, value, has := strings.Cut(t, "=")
		if len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.IndexByte("gteA", t[1]) >= 0 {
			name, value, has = t[:2], t[2:], true
		}
		next := func() string {
			if !has && i+1 < len(args) {
				i++
				value = args[i].Text
			}
			return value
		}
		switch {
		case !option(args[i]):
			if pattern {
				pattern = false
			} else {
				s.Dirs = append(s.Dirs, args[i])
			}
		case name == "-g" || name == "--glob" || name == "--iglob":
			if v := next(); strings.HasPrefix(v, "!") {
				s.without = append(s.without, path.Base(strings.TrimSuffix(v[1:], "/**")))
				s.Pruned = append(s.Pruned, path.Base(strings.TrimSuffix(strings.TrimSuffix(v[1:], "/**"), "/")))
			} else {
				s.only = append(s.only, globNames(v)...)
			}
		case name == "-t" || name == "--type":
			types = append(types, next())
		case name == "-e" || name == "--regexp" || name == "-f" || name == "--file":
			next()
			pattern = false
		case name == "--files" || name == "--type-list":
			return s, false // names only
		case name == "--hidden" || name == "--no-ignore" || strings.HasPrefix(name, "--unr"), strings.HasPrefix(name, "--no-ignore"):
			s.Hidden, s.Ignored = true, true
		case name == "--follow":
			s.Follow = true
		case name == "-A" || name == "-B" || name == "-C" || name == "-m" || name == "-T" || name == "-d" || name == "-r" || name == "-E" || name == "-M" || name == "-j" ||
			listedOption(name):
			next()
		case len(t) > 1 && t[1] != '-':
			s.Hidden = s.Hidden || strings.ContainsAny(t, "u.")
			s.Ignored = s.Ignored || strings.Contains(t, "u")
			s.Follow = s.Follow || strings.Contains(t, "L")
			if j := strings.IndexAny(t, rgValued); j == len(t)-1 {
				i++ // its value
			}
		}
	}
	for _, t := range types {
		s.only = append(s.only, ofType(t))
	}
	return s, true
}

// rgValued are the letters of ripgrep's options that take a value.
const rgValued = "efgtTABCmdrEMj"

// rgReadTwoWays reports whether an option that takes a value is followed by a word with
// a dash. Some releases take it as the value, others as an option, and then the words
// after it are parsed differently too. A pattern after -e may have a dash in all
// releases.
func rgReadTwoWays(args []shellsyntax.Word) bool {
	for i := 1; i < len(args); i++ {
		before := args[i-1].Text
		if !option(args[i-1]) || !option(args[i]) && !strings.HasPrefix(args[i].Prefix, "-") {
			continue
		}
		switch {
		case before == "--":
			return false
		case before == "-e", before == "--regexp":
			i++ // the pattern
		case strings.HasPrefix(before, "--"):
			// A long option without = may take a value.
			if listedOption(before) || before == "--glob" || before == "--iglob" || before == "--type" || before == "--file" {
				return true
			}
		default:
			if j := strings.IndexAny(before[1:], rgValued); j == len(before)-2 {
				return true
			}
		}
	}
	return false
}

func listedOption(name string) bool {
	switch name {
	case "--max-count", "--after-context", "--before-context", "--context", "--type-not", "--replace", "--threads", "--max-columns", "--max-depth", "--sort", "--sortr", "--color", "--colors", "--encoding", "--engine", "--type-add", "--path-separator", "--ignore-file":
		return true
	}
	return false
}

// globNames returns the patterns of file names in a glob such as src/**/*.{ts,tsx}.
func globNames(g string) []string {
	g = path.Base(g)
	before, rest, ok := strings.Cut(g, "{")
	in, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{Wide(g)}
	}
	var out []string
	for alt := range strings.SplitSeq(in, ",") {
		out = append(out, Wide(before+alt+after))
	}
	return out
}

// ofType returns a pattern that matches at least the files of one of ripgrep's types.
func ofType(t string) string {
	switch t {
	case "go", "rust", "py", "python", "js", "ts", "java", "c", "cpp", "ruby", "php", "md", "markdown", "html", "css", "sh", "kotlin", "swift", "scala", "lua", "sql", "proto":
		return "\x00" // no file of secrets has such a type
	}
	return "*"
}

// gitSearch parses git grep's arguments: it searches tracked files, unless an option
// changes that.
func gitSearch(args []shellsyntax.Word) (s Search, ok bool) {
	sub := ParseGit(args)
	if sub.Sub != "grep" {
		return s, false
	}
	args, s.Hidden = sub.Args, true
	pattern, paths := patternFirst(args, "efABCmO"), false
	for i := 0; i < len(args); i++ {
		t := args[i].Text
		switch {
		case t == "--":
			paths = true
		case !paths && len(t) > 2 && t[0] == '-' && t[1] != '-' && strings.IndexAny(t, "efABCm") == len(t)-1:
			i++ // the value of the last of its letters
		case paths || args[i].Known && t != "" && t[0] != '-' && !pattern:
			if strings.HasPrefix(t, ":") {
				v := strings.TrimPrefix(strings.TrimPrefix(strings.TrimPrefix(t, ":(exclude)"), ":!"), ":^")
				s.without = append(s.without, path.Base(v))
			} else if strings.ContainsAny(t, "*?[") {
				s.only = append(s.only, Wide(path.Base(t)))
			} else {
				s.Dirs = append(s.Dirs, args[i])
			}
		case t == "--no-index" || t == "--untracked":
			s.Ignored = t == "--no-index"
		case t == "-e" || t == "-f":
			i++
			pattern = false
		case t == "-A" || t == "-B" || t == "-C" || t == "-m" || t == "-O":
			i++
		case t == "" || t[0] != '-':
			pattern = false
		}
	}
	return s, true
}

// findHands returns what find passes to a reader: files below find's folders, with the
// names that it looks for.
func findHands(find []shellsyntax.Word) Search {
	s := Search{Hidden: true, Ignored: true}
	narrow := true
	for i, w := range find[1:] {
		switch t := w.Text; {
		case !w.Known || t == "" || t[0] != '-' && t != "(" && t != "!":
			if !slices.ContainsFunc(find[1:i+1], func(w shellsyntax.Word) bool { return strings.HasPrefix(w.Text, "-") || w.Text == "(" || w.Text == "!" }) {
				s.Dirs = append(s.Dirs, w)
			}
		case (t == "-name" || t == "-iname") && i+2 < len(find):
			s.only = append(s.only, Wide(find[i+2].Text))
		case t == "-o" || t == "-or" || t == "!" || t == "-not" || t == ",":
			narrow = false // the name may not be the only one that is looked for
		}
	}
	if !narrow {
		s.only = nil
	}
	return s
}

// Wide returns a pattern of "*" and "?" that matches at least what a part of a shell's
// pattern does: a bracket or an escape may stand for anything.
func Wide(part string) string {
	i := strings.IndexAny(part, `[(\`)
	if i < 0 {
		return part
	}
	if part[i] == '(' && i > 0 {
		i--
	}
	return part[:i] + "*"
}

// Like reports whether a name matches a pattern of "*" and "?", ignoring case.
func Like(pat, name string) bool {
	p, s := []rune(strings.ToLower(pat)), []rune(strings.ToLower(name))
	pi, si, starP, starS := 0, 0, -1, 0
	for si < len(s) {
		switch {
		case pi < len(p) && p[pi] == '*':
			starP, starS = pi, si
			pi++
		case pi < len(p) && (p[pi] == '?' || p[pi] == s[si]):
			pi++
			si++
		case starP >= 0:
			starS++
			pi, si = starP+1, starS
		default:
			return false
		}
	}
	return strings.Trim(string(p[pi:]), "*") == ""
}

// Prunes reports whether a search skips a folder with this name.
func (s Search) Prunes(name string) bool { return anyLike(s.Pruned, name) }
