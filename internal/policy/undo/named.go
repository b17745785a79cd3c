package undo

import (
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// NamedPaths are the paths that a command changes: those that the words of its line name, by
// command, and those that the sandbox saw it change.
type NamedPaths struct {
	by []named
	// Left reports what the command's own last act at a path left there, as
	// tool.Keeping.Left does; nil: nothing watches it.
	Left func(path string) (there, known bool)
}

// named is what a command, or a redirection, names in the workspace.
type named struct {
	paths  map[string]bool // relative to the workspace
	bases  map[string]bool // base names under which it puts files into the folders among paths
	globs  []string
	writes bool // it may give what it names any content
	takes  bool // what it names may go, or get the content of what goes
}

// Workspace has the paths by which command lines name the workspace's files.
type Workspace struct {
	Dir string // its absolute path
	// Resolve follows the links in a path. It returns the path relative to the workspace,
	// and whether it is inside.
	Resolve func(path string) (clean string, inside bool, err error)
}

// Inside returns an absolute path relative to the workspace.
func (p Workspace) Inside(abs string) (string, bool) {
	rel, ok := strings.CutPrefix(abs, strings.TrimSuffix(p.Dir, "/")+"/")
	return rel, ok && rel != ""
}

// Paths are the paths that a journal of a large workspace must watch.
func (n NamedPaths) Paths() []string {
	var out []string
	for _, x := range n.by {
		out = slices.AppendSeq(out, maps.Keys(x.paths))
	}
	return out
}

// Covers reports whether the command changed a file: the sandbox saw it, or its words name
// the change.
func (n NamedPaths) Covers(e tool.Effect, gone map[tool.Hash]bool) bool {
	if n.Left != nil {
		if there, known := n.Left(e.Path); known && there == (e.After != "") {
			return true
		}
	}
	return n.Names(e, gone)
}

// Names reports whether the words name the change of a file. gone are the contents of
// files that no longer exist: any other content at a path that is removed or moved may
// have been saved by somebody at that moment.
func (n NamedPaths) Names(e tool.Effect, gone map[tool.Hash]bool) bool {
	return slices.ContainsFunc(n.by, func(x named) bool {
		at := x.paths[e.Path] || x.paths[path.Dir(e.Path)] && x.bases[path.Base(e.Path)] ||
			slices.ContainsFunc(x.globs, func(g string) bool { ok, err := path.Match(g, e.Path); return ok && err == nil })
		if at && x.writes || !x.takes {
			return at && x.writes
		}
		below := false
		for up := path.Dir(e.Path); up != "." && !below; up = path.Dir(up) {
			below = x.paths[up]
		}
		return (at || below) && e.After == "" || (at || below && e.Before == "") && gone[e.After]
	})
}

// Programs that take away what they name, and those that put files into folders.
const (
	takers  = " git mv rm rmdir unlink "
	putters = " cp install ln mv "
)

// PathsNamedBy collects the paths that commands name: the files to which they redirect,
// and, unless a command only reads, each of its words that may be a path.
func (p Workspace) PathsNamedBy(cmds []shellsyntax.Command) NamedPaths {
	var n NamedPaths
	for _, c := range cmds {
		program, _ := c.Program()
		for _, r := range c.Redirects {
			if r.Writes() {
				x := named{writes: true, paths: map[string]bool{}}
				p.add(&x, c, r.Target)
				n.by = append(n.by, x)
			}
		}
		if c.Redirects = nil; command.ReadOnly(c) {
			continue
		}
		x := named{takes: command.Listed(takers, program), writes: !command.Listed(takers, program) || program == "git", paths: map[string]bool{}, bases: map[string]bool{}}
		foreign := false // it names what is outside, unknown, or made by the line
		for _, w := range operands(c) {
			foreign = !p.add(&x, c, w) || foreign
			if command.Listed(putters, program) && w.Known {
				x.bases[path.Base(w.Text)] = true
			}
		}
		// What is moved has the content of its source, which the line may have made.
		if program == "mv" {
			for at := range x.paths {
				foreign = foreign || slices.ContainsFunc(n.by, func(o named) bool { return o.writes && o.paths[at] })
			}
			x.writes = foreign
		}
		n.by = append(n.by, x)
	}
	return n
}

// operands returns the words of a command that may be paths, also values of options.
func operands(c shellsyntax.Command) []shellsyntax.Word {
	var out []shellsyntax.Word
	for _, w := range c.Words[min(1, len(c.Words)):] {
		option, value, has := strings.Cut(w.Text, "=")
		switch {
		case has && w.Known && (strings.HasPrefix(w.Text, "-") || option == "of"):
			w.Text = value
		case strings.HasPrefix(w.Text, "-"):
			continue
		}
		out = append(out, w)
	}
	return out
}

// add adds a word's paths. ok is false if one of them is not in the workspace, or
// unknown.
func (p Workspace) add(x *named, c shellsyntax.Command, w shellsyntax.Word) (ok bool) {
	paths, glob, ok := pathsOfWord(c, w)
	for _, at := range paths {
		rel, inside := p.Inside(at)
		ok = ok && inside
		switch {
		case glob && inside:
			x.globs = append(x.globs, rel)
		case !glob:
			if inside {
				x.paths[rel] = true
			}
			// Also add the target of a link in the path.
			if clean, in, err := p.Resolve(at); err == nil && in && clean != rel {
				x.paths[clean] = true
			}
		}
	}
	return ok
}

// pathsOfWord returns the paths that a word of a command names; glob: they are patterns of the
// kind that path.Match supports. ok is false if one of them is not known.
func pathsOfWord(c shellsyntax.Command, w shellsyntax.Word) (paths []string, glob, ok bool) {
	glob = w.Glob && !strings.ContainsAny(w.Text, "\\'\"$")
	if !w.Known && !glob || w.Text == "" {
		return nil, false, false
	}
	w.Known = true
	paths, ok = c.Paths(w)
	return paths, glob, ok
}

// DestroyedPath is a path, or a pattern of paths, that a command removes or overwrites.
type DestroyedPath struct {
	Path    string // relative to the workspace
	Glob    bool   // the last part of Path is a pattern
	Folders bool   // it may be a folder, which is removed with everything in it
}

// Destroys lists what the words of a command that is known to remove or overwrite files
// name in the workspace. Files that it moves still exist, so they are not listed.
func (p Workspace) Destroys(c shellsyntax.Command) []DestroyedPath {
	program, _ := c.Program()
	words, folders := operands(c), false
	switch {
	case command.Listed(" rm rmdir unlink ", program):
		folders = true
	case command.Listed(" cp install mv ", program):
		words = words[max(0, len(words)-1):]
	case program == "git" && len(words) > 0 && command.Listed(" checkout clean restore rm ", words[0].Text):
		words = words[1:]
	case program == "sed" && slices.ContainsFunc(c.Words, func(w shellsyntax.Word) bool {
		return strings.HasPrefix(w.Text, "-i") || strings.HasPrefix(w.Text, "--in-place")
	}):
	case !command.Listed(" dd shred tee truncate ", program):
		words = nil
	}
	var out []DestroyedPath
	add := func(w shellsyntax.Word, folders bool) {
		paths, glob, _ := pathsOfWord(c, w)
		for _, at := range paths {
			if rel, ok := p.Inside(path.Clean(at)); ok {
				out = append(out, DestroyedPath{Path: rel, Glob: glob, Folders: folders})
			}
		}
	}
	for _, w := range words {
		add(w, folders)
	}
	for _, r := range c.Redirects {
		if r.Writes() && r.Op != ">>" && r.Op != "&>>" {
			add(r.Target, false)
		}
	}
	return out
}
