package checks

import (
	"os"
	"slices"
)

// This file handles a workspace that is a subfolder of a larger project. Checks that work
// in a subfolder run there: go and the package managers search for their project in the
// folders above.

// maxAbove is how many folders above the workspace are searched.
const maxAbove = 16

// above returns the project that contains the workspace: the nearest folder above it with
// checks, in the same repository. The caller closes its root.
func (f *Finder) above() (at *tree, dir string) {
	// The repository is found first. Most workspaces are the top of their repository or
	// in none; then no folder above is read, such as /tmp with its thousands of names.
	for _, up := range foldersAbove(f.Root) {
		root, err := os.OpenRoot(up)
		if err != nil {
			return nil, ""
		}
		t := &tree{root: root, look: f.LookPath}
		if len(t.kindsIn(".")) > 0 {
			return t, up
		}
		root.Close()
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
