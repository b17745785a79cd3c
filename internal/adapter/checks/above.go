package checks

import (
	"os"
	"path/filepath"
	"slices"
)

// This file handles a workspace that is a subfolder of a larger project. Checks
// that work in such a folder are run there: go and the package managers search
// for their project in the folders above.

// maxAbove is how many folders above the workspace are looked at.
const maxAbove = 16

// above finds the project that contains the workspace: the nearest folder above
// it with checks, in the same repository. Callers close it.
func (f *Finder) above() (at *tree, dir string) {
	if _, err := os.Lstat(filepath.Join(f.Root, ".git")); err == nil {
		return nil, ""
	}
	for up, n := filepath.Dir(f.Root), 0; n < maxAbove && up != filepath.Dir(up); up, n = filepath.Dir(up), n+1 {
		root, err := os.OpenRoot(up)
		if err != nil {
			break
		}
		t := &tree{root: root, look: f.LookPath}
		_, err = root.Lstat(".git")
		if at == nil && len(t.kindsIn(".")) > 0 {
			at, dir = t, up
		} else {
			root.Close()
		}
		if err == nil {
			return at, dir
		}
	}
	if at != nil { // not in a repository: its owner is not known
		at.root.Close()
	}
	return nil, ""
}

// aboveChecks returns the checks for files that belong to no project in the
// workspace. If there is none, why names the project that they belong to.
func (f *Finder) aboveChecks(t *tree, files []string) (wide []Check, why string) {
	at, dir := f.above()
	if at == nil {
		return nil, ""
	}
	defer at.root.Close()
	kinds := at.kindsIn(".")
	for _, kind := range []string{kindGo, kindNode} {
		if !slices.Contains(kinds, kind) || !slices.ContainsFunc(files, func(n string) bool { return language(n) == kind }) {
			continue
		}
		u := unit{dir: ".", kind: kind}
		if kind == kindGo {
			_, cs := t.goChecks(u)
			wide = append(wide, cs...)
			continue
		}
		_, cs := at.nodeChecks(u)
		wide = append(wide, cs...)
	}
	for i := range wide {
		wide[i].Dir = dir
	}
	if len(wide) == 0 {
		why = "no check found in this folder; there are some in " + dir + ", where pawl runs them if it is started there"
	}
	return wide, why
}
