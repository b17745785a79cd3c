package evidence

import (
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file is what keeps a check from proving something of other files than
// those that were changed, or of what the agent itself made of the check.

// byAgent notes a file that the agent changed in the session, until it is as it
// was.
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

// definers names a file that the agent changed and that may say what a check
// does, "" where there is none: the program itself, and where other files say
// what it runs, each that can.
func (f *Fold) definers(line string, wrapped bool) string {
	var out []string
	for name := range f.agents {
		if wrapped && defines(name) || f.isProgram(line, name) {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return slices.Min(out)
}

// defines reports whether a file is of those that say what runners run.
func defines(name string) bool {
	base := strings.ToLower(path.Base(name))
	switch base {
	case "makefile", "gnumakefile", "justfile", ".justfile", "package.json", ".npmrc", ".yarnrc.yml", "pnpm-workspace.yaml", "tox.ini", "noxfile.py",
		"rakefile", "composer.json", "build.zig", "cmakelists.txt", "dockerfile":
		return true
	}
	switch base {
	case "license", "readme", "changelog", "notice", "authors", "copying", "codeowners", "version":
		return false
	}
	switch path.Ext(base) {
	case ".sh", ".bash", ".zsh", ".fish", ".mk", ".just", ".cmake", ".awk", ".pl", ".ps1", ".bat", ".cmd":
		return true
	}
	return path.Ext(base) == "" // a script without an extension
}

// isProgram reports whether a line's words name a file as what is run.
func (f *Fold) isProgram(line, name string) bool {
	cmds, err := shellsyntax.Parse(line, f.base())
	if err != nil {
		return false
	}
	return slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool {
		for i, w := range c.Words {
			script := i > 0 && defines(w.Text) && w.Text != "." && !strings.Contains(w.Text, "...")
			if (i == 0 && strings.Contains(w.Text, "/") || script) && f.relative(c.Dir.Text, w.Text) == name {
				return true
			}
		}
		return false
	})
}

// elsewhere says of a check that somebody else than pawl chose why it says
// nothing of the changed files: it looks at another folder. "" where it may.
func (f *Fold) elsewhere(line string) string {
	_, last, ok := lastCheckIn(line, f.base())
	if !ok {
		return ""
	}
	dir := last.command.Dir
	if !dir.Known {
		return "it can not be told in which folder it ran"
	}
	at, up := dir.Text, false
	for i, w := range last.words[1:] {
		if name, value, has := strings.Cut(w, "="); folderFlag(name) {
			if !has && i+2 < len(last.words) {
				value = last.words[i+2]
			}
			at = join(at, value)
			if strings.HasSuffix(value, ".toml") || strings.HasSuffix(value, ".json") || path.Base(value) == "Makefile" {
				at = path.Dir(at)
			}
			continue
		}
		if strings.HasPrefix(w, "..") || strings.HasPrefix(w, "/") {
			up = true
			if f.relative(dir.Text, strings.TrimSuffix(w, "...")) == "" {
				return "it looks at " + w + ", outside of the workspace"
			}
		}
	}
	under := f.relative(at, ".")
	switch {
	case under == "":
		return "it looks at " + at + ", outside of the workspace"
	case under == "." || up || len(f.files) == 0:
		return ""
	case slices.ContainsFunc(f.files, func(x File) bool { return !x.product && strings.HasPrefix(x.Path, under+"/") }):
		return ""
	}
	return "it looks at " + under + ", where nothing was changed"
}

// folderFlag reports whether a flag says in which folder a check looks.
func folderFlag(name string) bool {
	switch name {
	case "-C", "--directory", "--prefix", "--cwd", "--dir", "--manifest-path", "--project", "--rootDir", "--root", "--rootdir":
		return true
	}
	return false
}

// base is the folder that lines run in.
func (f *Fold) base() string {
	if f.root == "" {
		return "/"
	}
	return f.root
}

// relative gives a path as files of the workspace are named, "" for one outside
// of it.
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
