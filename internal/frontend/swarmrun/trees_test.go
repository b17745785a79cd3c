package swarmrun

import (
	"os"
	"path/filepath"
	"testing"
)

// SPEC 14.2: the trees are removed also where a removal was cut short before, and where
// another process removed them.
func TestRemoveTrees(t *testing.T) {
	home := filepath.Join(t.TempDir(), "swarms", "id")
	for name, there := range map[string][]string{
		"nothing": nil, "whole": {"id/git/store.git/HEAD"}, "cut short": {"id.removed/git/store.git/HEAD"},
		"cut short, and resumed": {"id.removed/git/store.git/HEAD", "id/git/store.git/HEAD"},
	} {
		for _, f := range there {
			path := filepath.Join(filepath.Dir(home), f)
			if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte("x"), 0o400); err != nil {
				t.Fatal(err)
			}
		}
		if err := removeTrees(home); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if left, _ := os.ReadDir(filepath.Dir(home)); len(left) != 0 {
			t.Errorf("%s: left %v", name, left)
		}
	}
}

// A folder that cannot be looked at is an error.
func TestRemoveTreesFails(t *testing.T) {
	home := filepath.Join(t.TempDir(), "id")
	if err := os.WriteFile(home, []byte("x"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := removeTrees(filepath.Join(home, "below a file")); err == nil {
		t.Error("no error")
	}
}
