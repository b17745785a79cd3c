package tools

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// What a command line may make into a link before another of its commands uses
// it: ln, and what takes links along as they are. Which of its commands ran, and
// how often, is not known; so each place may hold what is there and all that
// the line may put there.

// makes notes what a command may put where.
func (g *ground) makes(i int, c shellsyntax.Command) {
	if len(c.Words) == 0 {
		return
	}
	name, _ := c.Program()
	switch name {
	case "ln", "link", "cp", "mv", "rsync", "gcp", "gmv", "gln":
		g.copies(i, c, strings.TrimPrefix(name, "g"))
	case "tar", "bsdtar", "gtar", "unzip", "7z", "7za", "7zr", "cpio", "pax", "patch", "unrar", "stow", "bunzip", "ditto":
		g.anywhere(i, name)
	case "git":
		g.checkouts(i, c)
	}
}

// removes notes which places a command takes something away from.
func (g *ground) removes(c shellsyntax.Command) {
	var words []shellsyntax.Word
	switch name, _ := c.Program(); {
	case len(c.Words) == 0:
	case !c.Words[0].Known, name == "find", name == "git" && command.Effects(c).Kind != command.Reads, name == "rsync":
		g.lost = true
	case name == "mv":
		words = operandsOf(c, name).src
	case name == "rm" || name == "rmdir" || name == "unlink":
		words = c.Words[1:]
	}
	for _, w := range words {
		g.lost = g.lost || !w.Known
		for _, p := range rawPaths(c, w) {
			for _, real := range g.places(p, false) {
				g.gone[real] = true
			}
		}
	}
}

// takenAway reports whether what is at a path, or above it, may be gone.
func (g *ground) takenAway(p string) bool {
	for _, real := range g.places(strings.TrimRight(p, "/"), false) {
		for ; real != "/" && real != "."; real = path.Dir(real) {
			if g.gone[real] {
				return true
			}
		}
	}
	return false
}

func (g *ground) anywhere(i int, by string) {
	if g.wild < 0 || i < g.wild {
		g.wild, g.by = i, by
	}
}

// checkouts: git brings links along where it writes files of another commit.
func (g *ground) checkouts(i int, c shellsyntax.Command) {
	if command.Effects(c).Kind == command.Reads {
		return
	}
	sub := command.ParseGit(c.Words[1:])
	switch sub.Sub {
	case "mv":
		g.copies(i, shellsyntax.Command{Words: append([]shellsyntax.Word{c.Words[0]}, sub.Args...), Dir: c.Dir, Alt: c.Alt}, "mv")
	case "checkout", "switch":
		if len(sub.Args) == 2 && sub.Args[0].Known && (sub.Args[0].Text == "-b" || sub.Args[0].Text == "-c") {
			return // a new branch at the same commit
		}
		g.anywhere(i, "git "+sub.Sub)
	case "stash":
		if len(sub.Args) == 0 || sub.Args[0].Text == "push" || sub.Args[0].Text == "save" {
			return // what comes back is what was committed
		}
		g.anywhere(i, "git stash")
	case "", "pull", "merge", "rebase", "cherry-pick", "revert", "reset", "restore", "apply", "am", "clone", "worktree", "submodule", "read-tree", "checkout-index", "bisect":
		g.anywhere(i, strings.TrimSpace("git "+sub.Sub))
	}
}

// copies notes what ln, cp, mv and rsync put where.
func (g *ground) copies(i int, c shellsyntax.Command, name string) {
	o := operandsOf(c, name)
	if len(o.dst) == 0 && len(o.src) > 0 {
		if name != "ln" || len(o.src) > 1 {
			return
		}
		o.dst = []shellsyntax.Word{{Text: ".", Known: true}}
	}
	for _, dst := range o.dst {
		tos := rawPaths(c, dst)
		if !dst.Known || len(tos) == 0 {
			g.anywhere(i, name)
			return
		}
		for _, to := range tos {
			for _, src := range o.src {
				g.puts(c, o, name, src, to)
			}
		}
	}
}

// puts notes what one operand may become at a target.
func (g *ground) puts(c shellsyntax.Command, o operands, name string, src shellsyntax.Word, to string) {
	if !src.Known {
		for _, from := range rawPaths(c, src) {
			matches, ok := g.matches(from, func(entry) bool { return true })
			if !ok {
				g.put(to, node{any: true})
			}
			for _, m := range matches {
				g.putAs(to, m, o.replaces, node{copy: m})
			}
		}
		if !src.Glob {
			g.put(to, node{any: true})
		}
		return
	}
	if name == "ln" && o.symbolic || name == "cp" && o.symbolic {
		g.putAs(to, src.Text, o.replaces, node{link: src.Text})
	}
	for _, from := range rawPaths(c, src) {
		lands, known := g.lands(from, false)
		if !known {
			g.putAs(to, src.Text, o.replaces, node{any: true})
		}
		for _, real := range lands {
			switch {
			case name == "ln" && !o.symbolic, name == "link", o.hard:
				g.putAs(to, src.Text, o.replaces, node{hard: real})
			case name != "ln":
				g.putAs(to, src.Text, o.replaces, node{copy: real})
			}
		}
	}
}

// putAs notes what may come to a target, or into the folder that it is.
func (g *ground) putAs(to, from string, replaces bool, n node) {
	base := path.Base(from)
	if strings.HasSuffix(from, "/") || base == "." || base == ".." || base == "/" {
		// What is in it comes into the folder.
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

// put notes what may come to the very place that a path names.
func (g *ground) put(to string, n node) {
	for _, p := range g.places(to, false) {
		g.note(p, n)
	}
}

func (g *ground) places(p string, follow bool) []string {
	lands, _ := g.lands(p, follow)
	return lands
}

func (g *ground) note(at string, n node) {
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
		n = node{any: true, by: n.by}
	}
	g.made[at] = append(g.made[at], n)
}

// operands are what ln, cp and mv are given.
type operands struct {
	src, dst       []shellsyntax.Word
	symbolic, hard bool
	replaces       bool // a folder, or a link to one, where it goes is replaced
}

func operandsOf(c shellsyntax.Command, name string) operands {
	var o operands
	rest := c.Words[1:]
	ended := false
	for i := 0; i < len(rest); i++ {
		w := rest[i]
		t := w.Text
		switch {
		case ended || !w.Known || t == "" || t == "-" || t[0] != '-':
			o.src = append(o.src, w)
		case t == "--":
			ended = true
		case strings.HasPrefix(t, "--t"):
			if _, v, ok := strings.Cut(t, "="); ok {
				o.dst = append(o.dst, shellsyntax.Word{Text: v, Known: true})
			} else if i+1 < len(rest) {
				i++
				o.dst = append(o.dst, rest[i])
			}
		case strings.HasPrefix(t, "--"):
			o.symbolic = o.symbolic || strings.HasPrefix("--symbolic-link", t) && len(t) > 3
			o.hard = o.hard || strings.HasPrefix("--link", t) && name == "cp"
			o.replaces = o.replaces || strings.HasPrefix(t, "--no")
		default:
			letters, v, t := cutLetter(t[1:], 't')
			o.symbolic = o.symbolic || strings.Contains(letters, "s")
			o.hard = o.hard || strings.Contains(letters, "l") && name == "cp"
			o.replaces = o.replaces || strings.ContainsAny(letters, "Tnh")
			if t && v != "" {
				o.dst = append(o.dst, shellsyntax.Word{Text: v, Known: true})
			} else if t && name != "rsync" && i+1 < len(rest) {
				i++
				o.dst = append(o.dst, rest[i])
			}
		}
	}
	if len(o.dst) == 0 && len(o.src) > 1 {
		last := len(o.src) - 1
		o.src, o.dst = o.src[:last], o.src[last:]
	}
	return o
}

// cutLetter cuts a cluster of options at one that takes a value.
func cutLetter(cluster string, letter byte) (before, value string, found bool) {
	i := strings.IndexByte(cluster, letter)
	if i < 0 {
		return cluster, "", false
	}
	return cluster[:i], cluster[i+1:], true
}

// into adds where cp, mv and ln write: into a folder, what is there of that
// name may be a link. A hard link lends the right to change what it names.
func (g *ground) into(i int, c shellsyntax.Command, name string) {
	switch name {
	case "cp", "mv", "ln", "install":
	default:
		return
	}
	o := operandsOf(c, name)
	for _, src := range o.src {
		if name == "ln" && !o.symbolic || o.hard {
			g.lends(i, c, src)
		}
		for _, dst := range o.dst {
			for _, to := range rawPaths(c, dst) {
				g.under(c, src, dst, to, name == "cp")
			}
		}
	}
}

// lends adds the file that a hard link will be a further name of.
func (g *ground) lends(_ int, c shellsyntax.Command, src shellsyntax.Word) {
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

// under adds what a copy into a folder writes.
func (g *ground) under(c shellsyntax.Command, src, dst shellsyntax.Word, to string, follow bool) {
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
