// Package resolve finds where the paths of a command line lead. The words alone do not
// show it: a path may contain a link, or a link that an earlier command of the line
// makes; it may be a pattern; or the command may search a whole folder. The package reads
// the disk and reports places; it judges nothing (SPEC 16.3, 16.8).
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
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Limits for one command line. Paths beyond them are reported as unknown.
const (
	maxSteps   = 16_384 // components of paths
	maxEntries = 50_000 // components of paths followed
	maxLands   = 64     // entries of folders read
	maxLinks   = 40     // places reported
	maxCopies  = 8      // copies of copies that one path may go through
	maxMade    = 512    // places where the line may make a link
)

// pathWalk follows the paths of one command line on the disk, with the changes that the
// line itself makes before it uses a path.
type pathWalk struct {
	files  tool.Files
	root   string
	denied func(path string) bool  // see tool.Env.Denied
	made   map[string][]lineEffect // by place: what the line may create there
	count  int
	// gone are places from which the line removes something, so that a folder may no
	// longer exist there. lost means that it may be any place.
	gone map[string]bool
	lost bool
	// wild is the first command that may make links anywhere, -1 if none. ordered means
	// that the line runs its commands in order, each once.
	wild    int
	ordered bool
	by      string // the program of wild
	// deep means that "**" stands for folders at any depth; globstar that the line makes
	// bash read it so.
	deep, globstar bool

	steps   int
	entries int
	cur     int // the current command
	out     []tool.ResolvedPath
}

// lineEffect is something that the line may create at a place: exactly one of link, hard,
// copy and any is set.
type lineEffect struct {
	link string // a symbolic link with this target
	hard string // another name of this file
	copy string // what is at this place, with everything below it
	any  bool   // unknown
	by   int    // the command that creates it; for that command's own paths it does not exist yet
}

// Line returns where the paths of a line lead. cmds are its parsed commands. A result
// that is not known, or exceeds the limits, has no path. denied is as in tool.Env.
func Line(files tool.Files, line string, cmds []shellsyntax.Command, denied func(path string) bool) []tool.ResolvedPath {
	g := &pathWalk{files: files, root: files.Root(), denied: denied, made: map[string][]lineEffect{}, gone: map[string]bool{}, wild: -1, ordered: sequential(line)}
	for i, c := range cmds {
		g.cur = i
		g.removes(c)
		g.globstar = g.globstar || slices.ContainsFunc(append(slices.Clone(c.Words), c.Via...), func(w shellsyntax.Word) bool { return strings.Contains(w.Text, "globstar") })
	}
	g.deep = g.globstar
	for range 3 { // a link may be in a path that another link of the line leads to
		for i, c := range cmds {
			g.cur = i
			g.makes(i, c)
		}
	}
	for i, c := range cmds {
		g.cur = i
		g.command(i, c, cmds)
	}
	return g.out
}

// sequential reports whether a line certainly runs its commands in their
// written order: no loop, no function, no pipe, nothing in the background.
func sequential(line string) bool {
	if strings.ContainsAny(line, "|({`") {
		return false
	}
	for _, w := range strings.FieldsFunc(line, func(r rune) bool { return strings.ContainsRune(" \t\n;", r) }) {
		if w == "do" || w == "done" {
			return false
		}
	}
	line = strings.NewReplacer("&&", "", "&>", "", ">&", "", "<&", "").Replace(line)
	return !strings.Contains(line, "&")
}

// command adds the places to which the paths of one command lead.
func (g *pathWalk) command(i int, c shellsyntax.Command, line []shellsyntax.Command) {
	for _, r := range c.Redirects {
		g.word(i, c, r.Target, use{write: r.Writes(), follow: true})
	}
	e := command.Effects(c)
	name, _ := c.Program()
	if command.OnlyThere(c) {
		e.Reads = nil // that something exists is no secret, wherever it leads
	}
	for _, w := range e.Reads {
		g.word(i, c, w, use{follow: true, name: !command.ShowsContent(name)})
	}
	for _, w := range e.Writes {
		// A link at the target of ln and mv is replaced, not followed; into
		// handles targets that are folders.
		g.word(i, c, w, use{write: true, follow: !command.ReplacesLink(name)})
	}
	for _, w := range e.Removes {
		g.word(i, c, w, use{write: true})
	}
	switch {
	case e.Kind == command.Reads:
		g.searches(c, line, name)
	case e.Kind == command.Writes:
		g.into(i, c)
	case name != "git" && len(c.Words) > 1: // git follows no link in a path
		g.given(i, c)
	}
}

// use is what a command does with a path.
type use struct {
	write, maybe bool
	follow       bool // follow a link at the end of the path too
	name         bool // only its existence is shown
}

// word adds the places to which one word leads.
func (g *pathWalk) word(i int, c shellsyntax.Command, w shellsyntax.Word, u use) {
	if w.Known && harmlessDevice(w.Text, u.write) {
		return
	}
	if w.Known && w.Text != "" && w.Text != "-" && g.wildAt(i) && !u.maybe {
		g.unknown(w.Text, u, g.by+" in the same line may make it a link")
		return
	}
	for _, named := range rawPaths(c, w) {
		if !w.Known {
			g.pattern(named, u)
			continue
		}
		g.path(named, u, false)
	}
}

func (g *pathWalk) wildAt(i int) bool { return g.wild >= 0 && (!g.ordered || g.wild < i) }

// path adds the places to which one path leads. matched means that the line has only a
// pattern for it, so the path's name is not in the line.
func (g *pathWalk) path(named string, u use, matched bool) {
	lands, known := g.lands(named, u.follow)
	if !known {
		g.unknown(named, u, "a command of the same line may make it a link, or it has too many")
		return
	}
	for _, real := range lands {
		if harmlessDevice(real, u.write) {
			continue
		}
		if real != path.Clean(named) || matched {
			g.add(landing(real, named, u))
		}
		if u.write && u.follow && !u.maybe && linked(real) {
			g.unknown(named, u, "the same file has other names too, and all of them change")
		}
	}
}

func landing(real, named string, u use) tool.ResolvedPath {
	return tool.ResolvedPath{Path: real, Named: named, Write: u.write, Maybe: u.maybe, Name: u.name}
}

func (g *pathWalk) unknown(named string, u use, why string) {
	g.add(tool.ResolvedPath{Named: named, Write: u.write, Maybe: u.maybe, Why: why})
}

func (g *pathWalk) add(l tool.ResolvedPath) {
	for _, o := range g.out {
		if o.Path == l.Path && o.Write == l.Write && o.Maybe == l.Maybe && o.Name == l.Name && (l.Path != "" || o.Named == l.Named) {
			return
		}
	}
	switch {
	case len(g.out) < maxLands:
		g.out = append(g.out, l)
	case len(g.out) == maxLands:
		g.out = append(g.out, tool.ResolvedPath{Named: l.Named, Write: true, Why: "it names more such places than are looked at"})
	}
}

// rawPaths joins a word with every folder in which its command may run. As in the kernel,
// ".." is not resolved.
func rawPaths(c shellsyntax.Command, w shellsyntax.Word) []string {
	t := w.Text
	if !w.Known && !w.Glob || t == "" {
		return nil
	}
	if path.IsAbs(t) {
		return []string{t}
	}
	var out []string
	if c.Dir.Known {
		for _, d := range append([]string{c.Dir.Text}, c.Alt...) {
			out = append(out, d+"/"+t)
		}
	}
	return out
}

// linked reports whether a regular file has several hard links.
func linked(real string) bool {
	info, err := os.Lstat(real)
	return err == nil && info.Mode().IsRegular() && hardLinks(info) > 1
}

// spot is a position in the walk. For paths below at, the content on the disk is below
// of.
type spot struct {
	cur    string
	at, of string // of is "" if the content is nowhere on the disk
	links  int
	copies int
}

// disk returns where a path's content is on the disk.
func (s spot) disk(p string) string {
	if s.at == "" {
		return p
	}
	if rest, ok := strings.CutPrefix(p, s.at); ok && (rest == "" || rest[0] == '/') {
		return s.of + rest
	}
	return p
}

// lands follows a path component by component, as the kernel does. It returns every place
// to which the path may lead, and whether that is known.
func (g *pathWalk) lands(named string, follow bool) (out []string, known bool) {
	ends, known := g.ends(named, follow)
	for _, e := range ends {
		if !slices.Contains(out, e.cur) {
			out = append(out, e.cur)
		}
	}
	return out, known
}

// holds returns the folders on the disk whose content may be at a path.
func (g *pathWalk) holds(named string) (out []string) {
	ends, _ := g.ends(named, true)
	for _, e := range ends {
		if d := e.disk(e.cur); !slices.Contains(out, d) {
			out = append(out, d)
		}
	}
	return out
}

// ends returns the positions at which a path may end, and whether that is known.
func (g *pathWalk) ends(named string, follow bool) (out []spot, known bool) {
	known = true
	var walk func(s spot, rest []string)
	walk = func(s spot, rest []string) {
		for len(rest) > 0 {
			name := rest[0]
			rest = rest[1:]
			switch name {
			case "", ".":
				continue
			case "..":
				s.cur = path.Dir(s.cur)
				continue
			}
			last := len(rest) == 0 // "l/" is not the last: the kernel follows it
			if g.steps++; g.steps > maxSteps || s.copies > maxCopies {
				known = false
				return
			}
			if s.links > maxLinks {
				return // the kernel stops here too: nothing exists there
			}
			dir, next := s.cur, path.Join(s.cur, name)
			places := g.made[next]
			if d := s.disk(next); d != next {
				places = append(places[:len(places):len(places)], g.made[d]...)
			}
			enter := func(target string) {
				t := s
				t.cur, t.links = dir, s.links+1
				if path.IsAbs(target) {
					t.cur = "/"
				}
				walk(t, append(strings.Split(target, "/"), rest...))
			}
			for _, n := range g.behindCopies(places) {
				if last && !follow {
					break
				}
				if n.by == g.cur {
					continue
				}
				switch {
				case n.any:
					known = false
				case n.link != "":
					enter(n.link)
				case n.hard != "":
					walk(spot{cur: n.hard, links: s.links, copies: s.copies + 1}, rest)
				case n.copy != "" && !strings.HasPrefix(s.at+"/", next+"/"):
					t := spot{cur: next, at: next, of: n.copy, links: s.links, copies: s.copies + 1}
					if to, err := os.Readlink(n.copy); err == nil {
						enter(to)
					} else {
						walk(t, rest)
					}
				}
			}
			if to, err := os.Readlink(s.disk(next)); err == nil && !(last && !follow) {
				enter(to)
				return
			}
			s.cur = next
		}
		out = append(out, s)
	}
	if rest, ok := strings.CutPrefix(named, g.root+"/"); ok && g.root != "" {
		walk(spot{cur: g.root}, strings.Split(rest, "/")) // real itself
	} else {
		walk(spot{cur: "/"}, strings.Split(named, "/"))
	}
	return out, known
}

// behindCopies adds, for places that may be copies, what may exist at their sources.
func (g *pathWalk) behindCopies(nodes []lineEffect) []lineEffect {
	for i := 0; i < len(nodes) && len(nodes) < maxMade; i++ {
		if nodes[i].copy == "" {
			continue
		}
		for _, n := range g.made[nodes[i].copy] {
			if !slices.Contains(nodes, n) {
				nodes = append(nodes[:len(nodes):len(nodes)], n)
			}
		}
	}
	return nodes
}

// harmlessDevice reports whether a path is a device that anyone may read or write without
// loss or disclosure of data.
func harmlessDevice(p string, write bool) bool {
	return command.SafeDevice(p) || !write && command.SafeSource(p)
}

// isDir reports whether a path is a folder; links are followed.
func isDir(p string) bool {
	info, err := os.Stat(p)
	return err == nil && info.Mode()&fs.ModeType == fs.ModeDir
}

// guarded reports whether showing a file needs a decision about it: it looks like a
// secret, or a rule is about it.
func (g *pathWalk) guarded(p string) bool {
	return secrets.LooksSecret(p) || g.denied != nil && g.denied(p)
}
