package resolve

import (
	"context"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file handles searches of whole folders by a shell command (grep -r, rg, git grep,
// diff -r, and files that find or xargs pass to a reader). It reports the files in them
// that look like secrets, so that a search needs the same permission as reading them
// (SPEC 4.15). It reads folder names once, breadth first, and no file's content. The
// folders of brought are skipped.

// searches adds the files that a command searches and that look like secrets.
func (g *pathWalk) searches(c shellsyntax.Command, line []shellsyntax.Command, name string) {
	s, ok := command.SearchOf(name, c, line)
	if !ok {
		return
	}
	if len(s.Dirs) == 0 {
		s.Dirs = []shellsyntax.Word{{Text: ".", Known: true}}
	}
	for _, d := range s.Dirs {
		named := rawPaths(c, d)
		if !d.Known {
			var all []string
			for _, n := range named {
				ms, ok := g.matches(n, func(e entry) bool { return e.mode.IsDir() || e.link() })
				if !ok {
					g.unknown(d.Text, use{}, "it stands for more folders than are looked at")
				}
				all = append(all, ms...)
			}
			named = all
		}
		for _, n := range named {
			for _, real := range g.holds(n) {
				if slices.ContainsFunc(strings.Split(strings.TrimPrefix(real, g.root), "/"), brought) {
					continue
				}
				g.walk(s, real, d.Text)
			}
		}
	}
}

// walk adds the files that a search finds below a folder and that look like secrets.
func (g *pathWalk) walk(s command.Search, dir, named string) {
	seen := map[string]bool{}
	for queue := []string{dir}; len(queue) > 0; {
		at := queue[0]
		queue = queue[1:]
		if seen[at] {
			continue
		}
		seen[at] = true
		ents, more := g.readDir(at)
		if more {
			g.unknown(named, use{}, "there are more files below it than are looked through for secrets; name a folder, or what to search for it in (--include)")
			return
		}
		for _, e := range ents {
			p := path.Join(at, e.Name())
			switch {
			case !s.Hidden && e.Name()[0] == '.':
			case e.IsDir():
				if !brought(e.Name()) && !s.Prunes(e.Name()) {
					queue = append(queue, p)
				}
			case e.Type()&os.ModeSymlink != 0:
				if s.Follow {
					g.behind(s, p, &queue)
				}
			case g.guarded(p) && s.Reads(e.Name()) && (s.Ignored || !g.ignored(p)):
				g.add(landing(p, named, use{}))
			}
		}
	}
}

// behind adds the files that a search reaches through a link.
func (g *pathWalk) behind(s command.Search, link string, queue *[]string) {
	for _, real := range g.places(link, true) {
		switch {
		case isDir(real) && within(g.root, real):
			*queue = append(*queue, real)
		case within(g.root, real) && !g.guarded(real):
		case s.Reads(path.Base(link)):
			g.add(landing(real, link, use{}))
		}
	}
}

// within reports whether a path is a folder or below it.
func within(root, p string) bool { return p == root || strings.HasPrefix(p, root+"/") }

// brought reports whether a folder is skipped: it has installed packages, git's data or
// test data, and keys in them usually belong to tests.
func brought(name string) bool {
	switch name {
	case "node_modules", "vendor", ".venv", "venv", "site-packages", ".git", "testdata":
		return true
	}
	return false
}

// ignored reports whether git ignores a file; some searches skip such files.
func (g *pathWalk) ignored(p string) bool {
	entries, err := g.files.List(context.Background(), path.Dir(p))
	return err == nil && slices.ContainsFunc(entries, func(e tool.Entry) bool { return e.Name == path.Base(p) && e.Ignored })
}

// Unbroken returns a command.Unbroken for a workspace. It reads the names below a folder
// once, within the limits of a line. Without files it returns nil.
func Unbroken(files tool.Files) command.Unbroken {
	if files == nil {
		return nil
	}
	return func(from shellsyntax.Command, patterns []shellsyntax.Word) bool {
		g := &pathWalk{files: files, root: files.Root(), made: map[string][]lineEffect{}, wild: -1}
		for _, w := range patterns {
			dir, name := path.Split(w.Text)
			if dir == "" {
				dir = "."
			}
			named := rawPaths(from, shellsyntax.Word{Text: dir, Known: true})
			if len(named) == 0 {
				return false
			}
			for _, n := range named {
				if !g.plainBelow(n, command.Wide(name)) {
					return false
				}
			}
		}
		return true
	}
}

// plainBelow reports whether every folder below dir, and every matching file in it, has a
// name that xargs does not split.
func (g *pathWalk) plainBelow(dir, pattern string) bool {
	for queue := []string{dir}; len(queue) > 0; queue = queue[1:] {
		ents, more := g.readDir(queue[0])
		if more {
			return false
		}
		for _, e := range ents {
			if strings.ContainsAny(e.Name(), " \t\r\n\v\f'\"\\") && (e.IsDir() || command.Like(pattern, e.Name())) {
				return false
			}
			if e.IsDir() {
				queue = append(queue, path.Join(queue[0], e.Name()))
			}
		}
	}
	return true
}
