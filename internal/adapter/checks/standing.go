package checks

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/reach"
)

// Runs returns the files of a workspace that a command line is made of, each with when it
// was last changed, for permission.Config.Runs: the programs that PATH finds there, and
// what package reach finds, as for a check. Who renames or writes a file cannot keep the
// time of its last change, which the kernel sets.
func Runs(root, programs, line string) []permission.Ran {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil // nothing of it can run either
	}
	defer dir.Close()
	var out []permission.Ran
	add := func(name string, loaded bool) {
		r := permission.Ran{Path: name, Loaded: loaded}
		later := func(st fs.FileInfo, err error) {
			if err == nil && changedAt(st).After(r.Changed) {
				r.Changed = changedAt(st)
			}
		}
		later(dir.Lstat(name)) // a link, and where it leads
		later(dir.Stat(name))
		for at := path.Dir(name); at != "." && at != "/"; at = path.Dir(at) { // another folder may have been moved there
			later(dir.Lstat(at))
		}
		out = append(out, r)
	}
	lines := []string{line}
	for _, program := range programsIn(root, programs, line) {
		add(program, false)
		lines = append(lines, "./"+program)
	}
	ask := reach.Ask{Dir: ".", Lines: lines, Root: root}
	named := reach.Of(dir.FS(), ask).Files
	for _, f := range named {
		add(f, false)
	}
	ask.Deep = true
	for _, f := range reach.Of(dir.FS(), ask).Files {
		if !slices.Contains(named, f) {
			add(f, true)
		}
	}
	return out
}

// programsIn returns the programs of a line that PATH finds in the workspace.
func programsIn(root, folders, line string) (out []string) {
	cmds, err := command.Parse(line, root)
	if err != nil {
		return nil // such a line is never allowed by a rule
	}
	for _, c := range cmds {
		for _, w := range c.Words {
			if w.Text == "" || strings.ContainsAny(w.Text, "/\x00") {
				continue // reach finds it by its path
			}
			for _, folder := range filepath.SplitList(folders) {
				if !filepath.IsAbs(folder) {
					folder = filepath.Join(root, folder)
				}
				st, err := os.Stat(filepath.Join(folder, w.Text))
				if err != nil || !st.Mode().IsRegular() || st.Mode()&0o111 == 0 {
					continue
				}
				if rel, ok := inFolder(root, filepath.Join(folder, w.Text)); ok && !slices.Contains(out, rel) {
					out = append(out, rel)
				}
				break
			}
		}
	}
	return out
}

// inFolder returns a path relative to a folder that contains it, by name or really.
func inFolder(root, name string) (string, bool) {
	if dir, err := filepath.EvalSymlinks(filepath.Dir(name)); err == nil {
		name = filepath.Join(dir, filepath.Base(name))
	}
	rel, err := filepath.Rel(root, name)
	return filepath.ToSlash(rel), err == nil && filepath.IsLocal(rel)
}
