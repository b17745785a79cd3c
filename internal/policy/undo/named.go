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

// NamedPaths are the paths that a command line's words name as targets of changes, relative
// to the workspace.
type NamedPaths struct {
	exact          map[string]bool
	removed        map[string]bool // files that are removed or moved; new files in their place are not covered
	removedFolders map[string]bool // folders that are removed or moved with everything in them
	// movedFrom maps the targets of moves to their sources. After a move, the
	// target has the source's content, or what another command made of it; any
	// other content was saved by somebody at that moment. An empty source is
	// outside the workspace.
	movedFrom    map[string][]string
	globs        []string
	removedGlobs []string
	known        []string
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

// Known are the paths that programs are known to write or remove. Arguments of unknown
// programs are not among them.
func (n NamedPaths) Known() []string { return n.known }

// Paths are the paths that a journal of a large workspace must watch.
func (n NamedPaths) Paths() []string {
	return slices.Concat(slices.Collect(maps.Keys(n.exact)), slices.Collect(maps.Keys(n.removed)), slices.Collect(maps.Keys(n.movedFrom)))
}

// Covers reports whether the words name the change of a file. gone are the contents of
// files that no longer exist: any other new file in a removed or moved folder may have
// been saved by somebody at that moment.
func (n NamedPaths) Covers(e tool.Effect, gone map[tool.Hash]bool) bool {
	p := e.Path
	if n.exact[p] || n.removed[p] && e.After == "" {
		return true
	}
	if from, ok := n.movedFrom[p]; ok && (len(from) == 0 || e.After == "" || gone[e.After] || slices.ContainsFunc(from, func(f string) bool { return n.exact[f] })) {
		return true
	}
	for up := path.Dir(p); up != "."; up = path.Dir(up) {
		if n.removedFolders[up] && (e.After == "" || e.Before == "" && gone[e.After]) {
			return true
		}
	}
	globs := n.globs
	if e.After == "" {
		globs = slices.Concat(globs, n.removedGlobs)
	}
	for _, g := range globs {
		if ok, err := path.Match(g, p); ok && err == nil {
			return true
		}
	}
	return false
}

// PathsNamedBy collects the paths that commands name. A program that only reads changes none of
// them. For a program that is known to write, its targets count; for any other program,
// every argument that is a path.
func (p Workspace) PathsNamedBy(cmds []shellsyntax.Command) NamedPaths {
	n := NamedPaths{exact: map[string]bool{}, removed: map[string]bool{}, removedFolders: map[string]bool{}, movedFrom: map[string][]string{}}
	for _, c := range cmds {
		e := command.Effects(c)
		for _, r := range c.Redirects {
			if r.Writes() {
				p.add(&n, c, r.Target, false, r.Op != ">>" && r.Op != "&>>")
			}
		}
		switch e.Kind {
		case command.Writes:
			p.addWrites(&n, c, e)
		case command.Other:
			p.addArguments(&n, c)
		}
	}
	return n
}

// addWrites adds what a program is known to write and remove.
func (p Workspace) addWrites(n *NamedPaths, c shellsyntax.Command, e command.Effect) {
	program, _ := c.Program()
	deep := e.Recursive || program == "mv"
	for _, x := range e.Removes {
		p.addRemoved(n, c, x, deep)
	}
	if program == "mv" {
		p.addMoveTargets(n, c, e)
		return
	}
	moved := e.Removes
	if program == "cp" || program == "ln" {
		moved = e.Reads
	}
	for _, x := range e.Writes {
		p.add(n, c, x, deep && program != "cp", true)
		for _, m := range moved { // into a folder
			if x.Known && m.Known {
				m.Text = path.Join(x.Text, path.Base(m.Text))
				p.add(n, c, m, deep, true)
			}
		}
	}
}

// addArguments adds each argument of a program of which no writes are known.
func (p Workspace) addArguments(n *NamedPaths, c shellsyntax.Command) {
	if len(c.Words) < 2 {
		return
	}
	program, _ := c.Program()
	args := c.Words[1:]
	put, deep := command.GitPaths(program, args)
	for _, x := range args {
		if strings.HasPrefix(x.Text, "-") {
			continue
		}
		p.add(n, c, x, deep, put)
	}
}

// addRemoved adds a path that is removed or moved away.
func (p Workspace) addRemoved(n *NamedPaths, c shellsyntax.Command, x shellsyntax.Word, deep bool) {
	t := NamedPaths{exact: n.removed, removedFolders: n.removedFolders}
	p.add(&t, c, x, deep, true)
	n.known, n.removedGlobs = append(n.known, t.known...), append(n.removedGlobs, t.globs...)
}

// addMoveTargets adds the targets of a move.
func (p Workspace) addMoveTargets(n *NamedPaths, c shellsyntax.Command, e command.Effect) {
	from := NamedPaths{exact: map[string]bool{}, removedFolders: map[string]bool{}}
	to := NamedPaths{exact: map[string]bool{}, removedFolders: n.removedFolders}
	for _, m := range e.Removes {
		p.add(&from, c, m, false, false)
	}
	for _, x := range e.Writes {
		p.add(&to, c, x, true, true)
		for _, m := range e.Removes { // into a folder
			if x.Known && m.Known {
				m.Text = path.Join(x.Text, path.Base(m.Text))
				p.add(&to, c, m, true, true)
			}
		}
	}
	for at := range to.exact {
		n.movedFrom[at] = append(n.movedFrom[at], slices.Collect(maps.Keys(from.exact))...)
	}
	n.known, n.globs = append(n.known, to.known...), append(n.globs, to.globs...)
}

// add adds a path. known: the program is known to change it.
func (p Workspace) add(n *NamedPaths, c shellsyntax.Command, x shellsyntax.Word, deep, known bool) {
	if isGlob(x) {
		x.Known = true
		paths, _ := c.Paths(x)
		for _, at := range paths {
			if rel, ok := p.Inside(at); ok {
				n.globs = append(n.globs, rel)
			}
		}
		return
	}
	if !x.Known || x.Text == "" {
		return
	}
	paths, _ := c.Paths(x)
	for _, at := range paths {
		rel, ok := p.Inside(at)
		// Also add the target of a link in the path.
		if clean, in, err := p.Resolve(at); err == nil && in && clean != rel {
			n.exact[clean] = true
			if known {
				n.known = append(n.known, clean)
			}
		}
		if !ok {
			continue
		}
		n.exact[rel] = true
		if deep {
			n.removedFolders[rel] = true
		}
		if known {
			n.known = append(n.known, rel)
		}
	}
}

// isGlob reports whether a word is a pattern of the kind that path.Match supports.
func isGlob(x shellsyntax.Word) bool { return x.Glob && !strings.ContainsAny(x.Text, "\\'\"$") }

// DestroyedPath is a path, or a pattern of paths, that a command removes or overwrites.
type DestroyedPath struct {
	Path    string // relative to the workspace
	Glob    bool   // the last part of Path is a pattern
	Folders bool   // it may be a folder, which is removed with everything in it
}

// Destroys lists what a command is known to remove or overwrite in the workspace. Files
// that it moves still exist, so they are not listed.
func (p Workspace) Destroys(c shellsyntax.Command) []DestroyedPath {
	e := command.Effects(c)
	program, _ := c.Program()
	gone, over := e.Removes, []shellsyntax.Word(nil)
	if e.Kind != command.Writes || program == "mv" {
		gone = nil
	}
	switch program {
	case "mv", "cp", "install", "tee", "truncate", "dd", "shred":
		over = slices.Clone(e.Writes)
	}
	for _, r := range c.Redirects {
		if r.Writes() && r.Op != ">>" && r.Op != "&>>" {
			over = append(over, r.Target)
		}
	}
	var out []DestroyedPath
	for i, w := range slices.Concat(gone, over) {
		glob := isGlob(w)
		if !w.Known && !glob || w.Text == "" {
			continue
		}
		w.Known = true
		paths, _ := c.Paths(w)
		for _, at := range paths {
			if rel, ok := p.Inside(path.Clean(at)); ok {
				out = append(out, DestroyedPath{Path: rel, Glob: glob, Folders: i < len(gone)})
			}
		}
	}
	return out
}
