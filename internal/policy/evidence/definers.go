package evidence

import (
	"cmp"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file rejects checks that prove nothing about the changed files: checks
// of other files, and checks that the agent itself redefined.

// byAgent records a file that the agent changed in the session, until it has
// its old content again.
func (f *Fold) byAgent(b event.FileChanged) {
	if b.Tool == person || b.Before == b.After {
		return
	}
	was, known := f.agents[b.Path]
	switch {
	case known && was == b.After:
		delete(f.agents, b.Path)
	case !known && b.Tool != "undo" && b.Tool != "redo":
		if f.agents == nil {
			f.agents = map[string]tool.Hash{}
		}
		f.agents[b.Path] = b.Before
	}
}

// definers returns a file that the agent changed and that may define what a check does,
// the first one by name, or "" if there is none: the check's program or, if wrapped,
// any file that can define what it runs.
func (f *Fold) definers(line string, wrapped bool) (first string) {
	for name := range f.agents {
		if (first == "" || name < first) && (wrapped && command.Defines(name) || f.isProgram(line, name)) {
			first = name
		}
	}
	return first
}

// isProgram reports whether a line's words name a file as the program to run.
func (f *Fold) isProgram(line, name string) bool {
	cmds, err := command.Parse(line, f.base())
	if err != nil {
		return false
	}
	return slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool {
		for i, w := range c.Words {
			script := i > 0 && command.Defines(w.Text) && w.Text != "." && !strings.Contains(w.Text, "...")
			if (i == 0 && strings.Contains(w.Text, "/") || script) && f.relative(c.Dir.Text, w.Text) == name {
				return true
			}
		}
		return false
	})
}

// elsewhere returns why a check that pawl did not choose proves nothing about
// the changed files: it checks another folder. "" if it may prove something.
func (f *Fold) elsewhere(line string) string {
	_, last, ok := command.LastCheck(line, f.base())
	if !ok {
		return ""
	}
	dir := last.Command.Dir
	if !dir.Known {
		return "the folder in which it ran is unknown"
	}
	at := dir.Text
	in, others := last.Looked()
	for _, folder := range in {
		at = join(at, folder)
		if strings.HasSuffix(folder, ".toml") || strings.HasSuffix(folder, ".json") || path.Base(folder) == "Makefile" {
			at = path.Dir(at)
		}
	}
	for _, w := range others {
		if f.relative(dir.Text, strings.TrimSuffix(w, "...")) == "" {
			return "it looks at " + w + ", outside of the workspace"
		}
	}
	under := f.relative(at, ".")
	switch {
	case under == "":
		return "it looks at " + at + ", outside of the workspace"
	case under == "." || len(others) > 0 || len(f.files) == 0:
		return ""
	case slices.ContainsFunc(f.files, func(x File) bool { return !x.product && strings.HasPrefix(x.Path, under+"/") }):
		return ""
	}
	return "it looks at " + under + ", where nothing was changed"
}

// base returns the folder in which lines run.
func (f *Fold) base() string { return cmp.Or(f.root, "/") }

// relative returns a path relative to the workspace, "" for a path outside it.
func (f *Fold) relative(dir, name string) string {
	abs := join(dir, name)
	if abs == f.base() {
		return "."
	}
	rel, ok := strings.CutPrefix(abs, strings.TrimSuffix(f.base(), "/")+"/")
	if !ok {
		return ""
	}
	return rel
}

func join(dir, name string) string {
	if path.IsAbs(name) {
		return path.Clean(name)
	}
	return path.Join(dir, name)
}
