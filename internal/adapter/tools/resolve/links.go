package resolve

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file handles links that a command line makes before another of its commands uses
// them: by ln, and by commands that copy links unchanged. It is not known which commands
// run, and how often. So each place may have its present content, and everything that the
// line may create there.

// makes records what a command may create.
func (g *pathWalk) makes(i int, c shellsyntax.Command) {
	if len(c.Words) == 0 {
		return
	}
	if k, ok := command.CopyingOf(c); ok && (k.Symbolic || k.Hard || k.Copies) {
		g.copies(i, c, k)
	}
	if by := command.LinksAnywhere(c); by != "" {
		g.anywhere(i, by)
	}
}

// removes records the places from which a command removes something.
func (g *pathWalk) removes(c shellsyntax.Command) {
	words, anything := command.TakesAway(c)
	g.lost = g.lost || anything
	for _, w := range words {
		for _, p := range rawPaths(c, w) {
			for _, real := range g.places(p, false) {
				g.gone[real] = true
			}
		}
	}
}

// takenAway reports whether the line may remove a path or a folder above it.
func (g *pathWalk) takenAway(p string) bool {
	for _, real := range g.places(strings.TrimRight(p, "/"), false) {
		for ; real != "/" && real != "."; real = path.Dir(real) {
			if g.gone[real] {
				return true
			}
		}
	}
	return false
}

func (g *pathWalk) anywhere(i int, by string) {
	if g.wild < 0 || i < g.wild {
		g.wild, g.by = i, by
	}
}

// copies records what a command that links, copies or moves may create.
func (g *pathWalk) copies(i int, c shellsyntax.Command, k command.Copying) {
	for _, dst := range k.Dst {
		tos := rawPaths(c, dst)
		if !dst.Known || len(tos) == 0 {
			g.anywhere(i, k.Program)
			return
		}
		for _, to := range tos {
			for _, src := range k.Src {
				g.puts(c, k, src, to)
			}
		}
	}
}

// puts records what one operand may create at a target.
func (g *pathWalk) puts(c shellsyntax.Command, k command.Copying, src shellsyntax.Word, to string) {
	if !src.Known {
		for _, from := range rawPaths(c, src) {
			matches, ok := g.matches(from, func(entry) bool { return true })
			if !ok {
				g.put(to, lineEffect{any: true})
			}
			for _, m := range matches {
				g.putAs(to, m, k.Replaces, lineEffect{copy: m})
			}
		}
		if !src.Glob {
			g.put(to, lineEffect{any: true})
		}
		return
	}
	if k.Symbolic {
		g.putAs(to, src.Text, k.Replaces, lineEffect{link: src.Text})
	}
	for _, from := range rawPaths(c, src) {
		lands, known := g.lands(from, false)
		if !known {
			g.putAs(to, src.Text, k.Replaces, lineEffect{any: true})
		}
		for _, real := range lands {
			switch {
			case k.Hard:
				g.putAs(to, src.Text, k.Replaces, lineEffect{hard: real})
			case k.Copies:
				g.putAs(to, src.Text, k.Replaces, lineEffect{copy: real})
			}
		}
	}
}

// putAs records what may be created at a target, or inside it if it is a folder.
func (g *pathWalk) putAs(to, from string, replaces bool, n lineEffect) {
	base := path.Base(from)
	if strings.HasSuffix(from, "/") || base == "." || base == ".." || base == "/" {
		// The source goes into the folder.
		for _, d := range g.places(to, true) {
			g.note(d, n)
		}
		if base == "." || base == ".." || base == "/" {
			return
		}
	}
	folders := g.places(to, true)
	if replaces || g.lost || g.takenAway(to) || !slices.ContainsFunc(folders, isDir) {
		g.put(to, n)
	}
	for _, d := range folders {
		g.note(path.Join(d, base), n)
		if clean := path.Clean(from); !path.IsAbs(clean) && !strings.HasPrefix(clean, "..") {
			g.note(path.Join(d, clean), n) // cp --parents
		}
	}
}

// put records what may be created at exactly the place of a path.
func (g *pathWalk) put(to string, n lineEffect) {
	for _, p := range g.places(to, false) {
		g.note(p, n)
	}
}

func (g *pathWalk) places(p string, follow bool) []string {
	lands, _ := g.lands(p, follow)
	return lands
}

func (g *pathWalk) note(at string, n lineEffect) {
	n.by = g.cur
	if n.copy == at || n.hard == at {
		return
	}
	for _, o := range g.made[at] {
		if o == n {
			return
		}
	}
	if g.count++; g.count > maxMade {
		n = lineEffect{any: true, by: n.by}
	}
	g.made[at] = append(g.made[at], n)
}

// into adds the places to which a command that links, copies or moves writes. In a target
// folder, an entry of that name may be a link. Through a hard link, the original file can
// be changed.
func (g *pathWalk) into(i int, c shellsyntax.Command) {
	k, ok := command.CopyingOf(c)
	if !ok {
		return
	}
	for _, src := range k.Src {
		if k.Hard {
			g.lends(i, c, src)
		}
		for _, dst := range k.Dst {
			for _, to := range rawPaths(c, dst) {
				g.under(c, src, dst, to, k.Follows)
			}
		}
	}
}

// lends adds the file that gets another name by a hard link.
func (g *pathWalk) lends(_ int, c shellsyntax.Command, src shellsyntax.Word) {
	for _, from := range rawPaths(c, src) {
		lands, known := g.lands(from, false)
		if !known {
			g.unknown(src.Text, use{write: true}, "a command of the same line may make it a link")
		}
		for _, real := range lands {
			g.add(landing(real, from, use{write: true}))
		}
	}
}

// under adds the places to which a copy into a folder writes.
func (g *pathWalk) under(c shellsyntax.Command, src, dst shellsyntax.Word, to string, follow bool) {
	if !dst.Known {
		return
	}
	u := use{write: true, follow: follow}
	froms := []string{src.Text}
	if !src.Known {
		froms = nil
		for _, from := range rawPaths(c, src) {
			ms, ok := g.matches(from, func(entry) bool { return true })
			if !ok {
				g.unknown(src.Text, u, "its pattern stands for more files than are looked at")
			}
			froms = append(froms, ms...)
		}
	}
	for _, from := range froms {
		base := path.Base(from)
		for _, d := range g.places(to, true) {
			if isDir(d) {
				g.path(path.Join(d, base), u, true)
			}
		}
	}
}
