package checks

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/reach"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// This file describes checks for a person's trust (SPEC 16.1): what they run, and which
// files define that.

// maxDefinition is the longest file that may define a check, in bytes. A longer one
// cannot be trusted.
const maxDefinition = 4 << 20

// Limits of the search for projects in a workspace.
const (
	maxFolders  = 2000
	maxProjects = 200
)

// PartName returns the name of a check's trusted part: its project, or the command for a
// person's own check.
func (c Check) PartName() string {
	if c.Own {
		return "your own check: " + c.Command
	}
	return c.Kind + " in " + cmp.Or(c.Dir, ".")
}

// Here returns the checks that changes in the workspace's root folder could trigger:
// those of a person's configuration and of the projects there; if there are none, those
// of the larger project that contains the workspace.
func (f *Finder) Here() ([]Check, error) {
	var out []Check
	err := f.inTree(func(t *tree) {
		for _, c := range f.Configured {
			if c.In == "" || within(f.Root, c.In) {
				out = append(out, f.ownCheck(t, c))
			}
		}
		for _, kind := range t.kindsIn(".") {
			out = append(out, t.project(".", kind)...)
		}
		if len(out) == 0 {
			out, _ = f.aboveChecks(t, []string{"x.go", "x.js"})
		}
	})
	return out, err
}

// Promised returns those of Here's checks that a change of the project's own sources
// triggers: a configured check for every file, or else the project's; a target only where
// nothing else checks.
func (f *Finder) Promised(here []Check) []Check {
	owns := slices.ContainsFunc(f.Configured, func(c Configured) bool { return len(c.Paths) == 0 && (c.In == "" || within(f.Root, c.In)) })
	target := func(c Check) bool { return !c.Own && (c.Kind == kindMake || c.Kind == kindJust) }
	first := slices.IndexFunc(here, target)
	return slices.DeleteFunc(slices.Clone(here), func(c Check) bool {
		return owns && !c.Own || target(c) && (c.Kind != here[first].Kind || slices.ContainsFunc(here, func(o Check) bool { return !o.Own && !target(o) }))
	})
}

// Everywhere returns the checks of Here and of the projects in the subfolders, the
// nearest first. whole reports whether all folders were read: at most maxFolders folders
// are read, and the search stops at maxProjects projects.
func (f *Finder) Everywhere() (found []Check, whole bool, err error) {
	if found, err = f.Here(); err != nil {
		return nil, false, err
	}
	whole, projects := true, 0
	err = f.inTree(func(t *tree) {
		folders := []string{"."}
		for i := 0; i < len(folders); i++ {
			if i > 0 {
				for _, kind := range t.kindsIn(folders[i]) {
					found = append(found, t.project(folders[i], kind)...)
					projects++
				}
			}
			if projects >= maxProjects {
				whole = false
				return
			}
			for _, e := range t.list(folders[i]) {
				if !e.IsDir() || hidden(e.Name()) {
					continue
				}
				if len(folders) >= maxFolders {
					whole = false
					break
				}
				folders = append(folders, path.Join(folders[i], e.Name()))
			}
		}
	})
	return found, whole, err
}

func (f *Finder) inTree(do func(*tree)) error {
	root, err := os.OpenRoot(f.Root)
	if err != nil {
		return err
	}
	defer root.Close()
	do(f.tree(root))
	return nil
}

// project returns the wide checks of a project, without searching for what a change could
// affect.
func (t *tree) project(dir, kind string) []Check {
	_, wide := t.checks(unit{dir: dir, kind: kind})
	for i := range wide {
		wide[i].Unit, wide[i].Dir = kind+" "+dir, dir
	}
	return wide
}

// Parts returns the trusted parts of checks, one for each project.
func (f *Finder) Parts(cs []Check) []trust.Part {
	var names []string
	by := map[string][]Check{}
	for _, c := range cs {
		name := c.PartName()
		if by[name] == nil {
			names = append(names, name)
		}
		by[name] = append(by[name], c)
	}
	var out []trust.Part
	for _, name := range names {
		var runs, defined []string
		for _, c := range by[name] {
			runs = append(runs, c.Command)
			for _, d := range c.Defined {
				if !slices.Contains(defined, d) {
					defined = append(defined, d)
				}
			}
		}
		out = append(out, trust.Define(trust.Check, name, runs, f.sources(by[name][0], defined)))
	}
	return out
}

// runs finds the files that command lines in a folder are made of.
func (t *tree) runs(dir string, lines ...string) []string {
	files := reach.Of(t.root.FS(), reach.Ask{Dir: dir, Lines: lines, Root: t.root.Name()}).Files
	// A cache that a command line names, as with eslint's --cache-location, is written by each
	// run: it defines nothing.
	return slices.DeleteFunc(files, func(f string) bool { return strings.Contains("/"+f, "/node_modules/.cache/") })
}

// sources reads the files that define a check, in the project's folder, in the folders
// above it, and in those above the workspace within its repository.
func (f *Finder) sources(c Check, defined []string) []trust.Source {
	at, dir, above := f.Root, cmp.Or(c.Dir, "."), []string(nil)
	if filepath.IsAbs(dir) { // the larger project that contains the workspace
		at, dir = dir, "."
	}
	if dir != "." {
		above = up(dir)
	}
	out := sourcesIn(at, trust.Defining(c.Kind, dir, above, defined))
	for i := range out {
		if at != f.Root && !filepath.IsAbs(out[i].Name) {
			out[i].Name = path.Join(at, out[i].Name)
		}
	}
	for _, folder := range foldersAbove(at) {
		for _, s := range sourcesIn(folder, trust.Above(c.Kind)) {
			s.Name = path.Join(folder, s.Name)
			out = append(out, s)
		}
	}
	return out
}

func sourcesIn(folder string, names []string) []trust.Source {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return []trust.Source{{Name: folder, Unread: true}}
	}
	defer root.Close()
	var out []trust.Source
	for _, name := range names {
		if s, there := source(root, name); there {
			out = append(out, s)
		}
	}
	return out
}

// foldersAbove returns the folders above dir that belong to its repository: tools search
// for their configuration there, too. Outside a repository it returns nil: files above
// are not the project's.
func foldersAbove(dir string) []string {
	var out []string
	for n := 0; n <= maxAbove; n++ {
		if gitrepo.Is(dir) {
			return out
		}
		if dir == filepath.Dir(dir) {
			break
		}
		dir = filepath.Dir(dir)
		out = append(out, dir)
	}
	return nil
}

// source reads a file that defines a check. A file that exists but cannot be read
// completely, is outside the folder or is not a regular file is Unread. A folder with
// that name defines nothing.
func source(root *os.Root, name string) (s trust.Source, there bool) {
	s = trust.Source{Name: name, Unread: true}
	st, err := root.Lstat(name)
	switch {
	case errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR):
		return s, false
	case err != nil:
		return s, true
	case st.IsDir():
		return s, false
	}
	if st, err = root.Stat(name); err != nil || !st.Mode().IsRegular() || st.Size() > maxDefinition {
		return s, err != nil || !st.IsDir()
	}
	if text, err := plainfile.ReadIn(root, name, maxDefinition); err == nil {
		s.Text, s.Unread = string(text), false
	}
	return s, true
}
