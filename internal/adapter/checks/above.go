package checks

import (
	"os"
	"path/filepath"
	"slices"
)

// This file is for a workspace that is a folder of a larger project. Checks
// that work in such a folder as it is are run there: go and the package
// managers look for their project upwards by themselves.

// maxAbove is how many folders above the workspace are looked at.
const maxAbove = 16

// above finds the project that the workspace is a folder of: the nearest
// folder above it with checks, in the same repository. Callers close it.
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
	if at != nil { // in no repository: whose it is can not be told
		at.root.Close()
	}
	return nil, ""
}

// aboveChecks returns the checks for files that no project in the workspace is
// for. Where there is none, why tells whose they are.
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
