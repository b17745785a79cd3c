package gitrepo

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.1: a folder is a repository where git would take it for one.
func TestAbove(t *testing.T) {
	top := must.Dir(t)
	for _, dir := range []string{"r/empty/.git/objects", "r/empty/a/b", "r/linked/a", "r/broken", "r/deep"} {
		must.Do(t, os.MkdirAll(filepath.Join(top, dir), 0o755))
	}
	must.Write(t, filepath.Join(top, "r/.git/HEAD"), "ref: refs/heads/main\n")
	must.Write(t, filepath.Join(top, "r/linked/.git"), "gitdir: ../.git/worktrees/linked\n")
	must.Do(t, os.Symlink("nowhere", filepath.Join(top, "r/broken/.git")))
	must.Do(t, os.Symlink("../.git", filepath.Join(top, "r/deep/.git")))
	for dir, want := range map[string]string{
		"r": "r", "r/empty": "r", "r/empty/a/b": "r", "r/empty/.git/objects": "r", "r/linked/a": "r/linked", "r/broken": "r", "r/deep": "r/deep", "r/none/at/all": "r",
	} {
		if got := Above(filepath.Join(top, dir)); got != filepath.Join(top, want) {
			t.Errorf("%s: %s", dir, got)
		}
	}
	if got := Above(filepath.Join(top, "x")); got != "" && !Is(got) {
		t.Error(got)
	}
}
