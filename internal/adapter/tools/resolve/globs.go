package resolve

import (
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// This file finds the files that a pattern matches on this disk. Of the matches it
// reports only those that need judgement: links, and files that look like secrets.

// entry is an entry of a folder.
type entry struct {
	at    string // with the folder's path
	mode  fs.FileMode
	moved bool // the real path of the folder differs from its path
}

func (e entry) link() bool { return e.mode&fs.ModeSymlink != 0 }

// protected reports whether a part of a path has a name that is protected in every folder.
func protected(at string) bool {
	for name := range strings.SplitSeq(at, "/") {
		if strings.EqualFold(name, ".git") || slices.ContainsFunc(confine.Protected[:], func(n string) bool { return strings.EqualFold(n, name) }) {
			return true
		}
	}
	return false
}

// wide reports whether a path is a pattern that matches every name in its last part.
func wide(p string) bool {
	last := path.Base(p)
	return strings.Contains(last, "*") && strings.Trim(last, "*") == ""
}

// pattern adds the places to which the matches of a pattern lead.
func (g *pathWalk) pattern(named string, u use) {
	matches, ok := g.matches(named, func(e entry) bool {
		return e.link() || e.moved || !u.name && g.guarded(e.at) || u.write && (linked(e.at) || e.mode == 0 || protected(e.at))
	})
	if !ok {
		g.unknown(named, u, "it stands for more files than are looked at")
		return
	}
	for _, m := range matches {
		g.path(m, u, !u.name && g.guarded(m) || u.write && protected(m))
	}
}

// matches lists the matches of a pattern that want accepts. ok is false if there are too
// many to read. A pattern matches everything that it would match under any shell option.
func (g *pathWalk) matches(named string, want func(entry) bool) (out []string, ok bool) {
	parts := strings.Split(strings.Trim(named, "/"), "/")
	var into func(dir string, i int) bool
	into = func(dir string, i int) bool {
		for i < len(parts) && !strings.ContainsAny(parts[i], `*?[(\`) {
			dir = dir + "/" + parts[i]
			i++
		}
		if i == len(parts) {
			if g.single(dir, want) {
				out = append(out, dir)
			}
			return len(out) <= maxLands*4
		}
		pat, last := command.Wide(parts[i]), i == len(parts)-1
		list, ok := g.list(dir)
		if !ok {
			return false
		}
		if parts[i] == "**" && !last && !into(dir, i+1) {
			return false
		}
		for _, e := range list {
			base := path.Base(e.at)
			if base[0] == '.' && pat[0] != '.' && pat[0] != '*' || !command.Like(pat, base) || base[0] == '.' && pat[0] == '*' && parts[i][0] != '[' && parts[i][0] != '(' {
				continue
			}
			switch {
			case parts[i] == "**" && g.deep && e.mode.IsDir() && !into(e.at, i):
				return false
			case last && want(e):
				out = append(out, e.at)
			case !last && (e.mode.IsDir() || e.link()) && !into(e.at, i+1):
				return false
			}
			if len(out) > maxLands*4 {
				return false
			}
		}
		return true
	}
	return out, into("", 0)
}

// single reports whether want accepts a path without a pattern. A path that does not
// exist may be one that a command creates: its mode is 0, as that of a file.
func (g *pathWalk) single(p string, want func(entry) bool) bool {
	e := entry{at: p}
	if info, err := os.Lstat(p); err == nil {
		e.mode = info.Mode()
	}
	for _, real := range g.places(path.Dir(p), true) {
		e.moved = e.moved || real != path.Clean(path.Dir(p))
	}
	return want(e)
}

// list returns the entries of a folder: the existing ones, and those that the line may
// create.
func (g *pathWalk) list(dir string) (out []entry, ok bool) {
	ends, known := g.ends(dir+"/", true)
	for _, end := range ends {
		real := end.cur
		ents, more := g.readDir(end.disk(real))
		if more {
			return nil, false
		}
		moved := real != path.Clean(dir) && dir != ""
		for _, e := range ents {
			out = append(out, entry{dir + "/" + e.Name(), e.Type(), moved})
		}
		for at := range g.made {
			if path.Dir(at) == real {
				out = append(out, entry{dir + "/" + path.Base(at), fs.ModeSymlink, moved})
			}
		}
	}
	return out, known
}

// readDir reads a folder's names, without opening the files. more is true if the folder,
// or the total so far, is too large.
func (g *pathWalk) readDir(dir string) (ents []fs.DirEntry, more bool) {
	f, err := os.OpenFile(dir, openFolder, 0)
	if err != nil {
		return nil, false // then the command finds nothing there either
	}
	defer f.Close()
	ents, _ = f.ReadDir(maxEntries - g.entries + 1)
	g.entries += len(ents) + 1
	return ents, g.entries > maxEntries
}

// given adds the arguments of a command that may do anything.
func (g *pathWalk) given(i int, c shellsyntax.Command) {
	for _, w := range c.Words[1:] {
		u := use{write: true, maybe: true, follow: true}
		if !w.Known {
			g.word(i, c, w, u)
		}
		for _, s := range partsOf(w.Text) {
			if w.Known {
				g.word(i, c, shellsyntax.Word{Text: s, Known: true}, u)
			}
			if (w.Known || w.Glob) && wide(s) { // it may be a pattern for the program
				g.deep = true
				g.word(i, c, shellsyntax.Word{Text: s, Glob: true}, u)
				g.deep = g.globstar
			}
		}
	}
}

// Dashless returns the commands of a line with the patterns marked of which no match on
// the disk begins with a dash, so that none can be an option. Where the line itself may
// have made such a file before, nothing is marked.
func Dashless(files tool.Files, line string, cmds []shellsyntax.Command) []shellsyntax.Command {
	if files == nil {
		return cmds
	}
	g := &pathWalk{files: files, root: files.Root(), made: map[string][]lineEffect{}, wild: -1}
	out, last := slices.Clone(cmds), -1
	for i, c := range cmds {
		for j, w := range c.Words {
			if w.Known || !w.Glob || w.Prefix != "" || !g.dashless(c, w) {
				continue
			}
			if last != i {
				out[i].Words, last = slices.Clone(c.Words), i
			}
			out[i].Words[j].NoDash = true
		}
	}
	if last < 0 {
		return cmds
	}
	// In a line that runs in order only the commands before the last pattern matter.
	if !sequential(line) {
		last = len(out)
	}
	for _, c := range out[:last] {
		if command.Effects(c).Kind != command.Reads || slices.ContainsFunc(c.Redirects, func(r shellsyntax.Redirect) bool {
			return r.Writes() && !(r.Target.Known && harmlessDevice(r.Target.Text, true))
		}) {
			return cmds
		}
	}
	return out
}

func (g *pathWalk) dashless(c shellsyntax.Command, w shellsyntax.Word) bool {
	first, _, _ := strings.Cut(w.Text, "/")
	named := rawPaths(c, shellsyntax.Word{Text: first, Glob: true})
	for _, n := range named {
		found, ok := g.matches(n, func(e entry) bool { return strings.HasPrefix(path.Base(e.at), "-") })
		if !ok || len(found) > 0 {
			return false
		}
	}
	return len(named) > 0
}

// partsOf returns the parts of a word that may be a path: the word, the part after "="
// and the like, and the part after the letter of an option.
func partsOf(t string) []string {
	if strings.ContainsAny(t, " \n\t") || len(t) > 4096 {
		return nil
	}
	out := []string{t}
	for i := 0; i+1 < len(t) && len(out) < 8; i++ {
		if strings.IndexByte("=@:,", t[i]) >= 0 {
			out = append(out, t[i+1:])
		}
	}
	if len(t) > 2 && t[0] == '-' && t[1] != '-' {
		out = append(out, t[2:])
	}
	return out
}
