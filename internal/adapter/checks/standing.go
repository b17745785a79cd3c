package checks

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/reach"
)

// mostFiles is how many files are looked at where a command's own cannot be listed.
const mostFiles = 20_000

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
	add := func(name string) {
		r := permission.Ran{Path: name}
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
		add(program)
		lines = append(lines, "./"+program)
	}
	found := reach.Of(dir.FS(), reach.Ask{Dir: ".", Lines: lines, Root: root})
	for _, f := range found.Files {
		add(f)
	}
	folders := found.Folders
	if found.Unlisted != "" {
		folders = []string{"."}
	}
	for _, f := range folders {
		out = append(out, newest(dir.FS(), f))
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

// newest returns the file of a folder that was changed last.
func newest(fsys fs.FS, folder string) permission.Ran {
	out := permission.Ran{Path: folder}
	left := mostFiles
	_ = fs.WalkDir(fsys, folder, func(name string, d fs.DirEntry, err error) error {
		if left--; err != nil {
			return nil // what cannot be read does not run
		}
		if left < 0 {
			out = permission.Ran{Path: folder, Changed: time.Unix(1<<33, 0)} // it cannot be told
			return fs.SkipAll
		}
		if d.IsDir() {
			if d.Name() == ".git" {
				return fs.SkipDir
			}
			return nil
		}
		if st, err := d.Info(); err == nil && changedAt(st).After(out.Changed) {
			out = permission.Ran{Path: name, Changed: changedAt(st)}
		}
		return nil
	})
	return out
}
