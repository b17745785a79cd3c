// Package gitrepo finds git repositories by what lies in a folder, as git does, without
// running it.
package gitrepo

import (
	"os"
	"path/filepath"
)

// Is reports whether a folder is the top of a repository's files: its .git is a file, as in
// linked working trees and submodules, or a folder with a HEAD. Other sandboxes leave empty
// folders of this name behind, also in /tmp, and git looks on above them.
func Is(dir string) bool {
	dot := filepath.Join(dir, ".git")
	st, err := os.Stat(dot)
	if err != nil || !st.IsDir() {
		return err == nil
	}
	_, err = os.Lstat(filepath.Join(dot, "HEAD"))
	return err == nil
}

// Above returns the nearest folder that is one, dir itself or one above it; "" for none.
func Above(dir string) string {
	for !Is(dir) {
		up := filepath.Dir(dir)
		if up == dir {
			return ""
		}
		dir = up
	}
	return dir
}
