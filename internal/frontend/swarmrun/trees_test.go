package swarmrun

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
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
			must.Do(t, os.MkdirAll(filepath.Dir(path), 0o700))
			must.Do(t, os.WriteFile(path, []byte("x"), 0o400))
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
	must.Write(t, home, "x")
	if err := removeTrees(filepath.Join(home, "below a file")); err == nil {
		t.Error("no error")
	}
}

// SPEC 14.6: what a worker left that was killed is removed at the next start; folders of
// workers that live, and others, stay.
func TestCopiesOfDeadWorkers(t *testing.T) {
	data := t.TempDir()
	env := func(name string) string {
		if name == "XDG_DATA_HOME" {
			return data
		}
		return ""
	}
	live, remove, err := makeHome(env)
	must.Do(t, err)
	workers := filepath.Dir(live)
	for _, f := range []string{"w-dead/" + lockFile, "w-dead/swarms/s/git/HEAD", "w-starts/tree", "mine/" + lockFile} {
		must.Do(t, os.MkdirAll(filepath.Dir(filepath.Join(workers, f)), 0o700))
		must.Do(t, os.WriteFile(filepath.Join(workers, f), nil, 0o600))
	}
	_, removeSecond, err := makeHome(env)
	must.Do(t, err)
	for name, there := range map[string]bool{filepath.Base(live): true, "w-dead": false, "w-starts": true, "mine": true} {
		if _, err := os.Stat(filepath.Join(workers, name)); (err == nil) != there {
			t.Errorf("%s: %v", name, err)
		}
	}
	must.Do(t, errors.Join(remove(), removeSecond()))
	if left, _ := filepath.Glob(filepath.Join(workers, "w-*")); len(left) != 1 {
		t.Errorf("left %v", left)
	}
}
