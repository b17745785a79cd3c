package checks

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 13.3: in a folder of a project, pawl runs the checks that work there unchanged,
// and names the folder of the others.
func TestWorkspaceInsideAProject(t *testing.T) {
	for name, c := range map[string]struct {
		project, file, want, git string
	}{
		"go":         {"-- go.mod --\nmodule m\n-- a/b/x.go --\npackage b", "x.go", "go test ./...", ""},
		"go-work":    {"-- go.mod --\nmodule m\n-- Makefile --\ntest:\n-- a/b/x.go --\npackage b", "x.go", "go test ./...", ""},
		"node":       {"-- pnpm-lock.yaml --\n-- package.json --\n{\"scripts\": {\"test\": \"t\", \"lint\": \"l\"}}\n-- a/b/x.js --\n", "x.js", "pnpm test|pnpm run lint", ""},
		"make":       {"-- Makefile --\ntest:\n-- a/b/x.c --\n", "x.c", "-- no check found in this folder; there are some in ROOT, where pawl runs them if it is started there", ""},
		"nothing":    {"-- a/b/x.c --\n", "x.c", "-- no check found", ""},
		"document":   {"-- Makefile --\ntest:\n-- a/b/x.md --\n", "x.md", "-- only documents changed, which no check looks at", ""},
		"other repo": {"-- Makefile --\ntest:\n-- a/b/x.c --\n", "x.c", "-- no check found", "a/b/.git"},
		"repo above": {"-- Makefile --\ntest:\n-- a/b/x.c --\n", "x.c", "-- no check found", "a/.git"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.git == "" {
				c.git = ".git"
			}
			root := project(t, c.project+"\n-- "+c.git+"/HEAD --")
			f := &Finder{Root: filepath.Join(root, "a/b")}
			found, err := f.Find([]string{c.file})
			must.Do(t, err)
			if got := strings.ReplaceAll(strings.Join(lines(found), "|"), root, "ROOT"); got != c.want {
				t.Errorf("%s, want %s", got, c.want)
			}
		})
	}
}
