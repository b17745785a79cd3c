package checks

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 19.2: what is known of a folder is found once, however many of its files changed.
func TestFoldersAreReadOnce(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a/x.txt", "a/tests/y.txt", "go.mod", "a/e.go"} {
		at := filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(at), 0o755))
		must.Do(t, os.WriteFile(at, []byte("package a\n"), 0o644))
	}
	root, err := os.OpenRoot(dir)
	must.Do(t, err)
	defer root.Close()
	f := &Finder{Root: dir, Configured: []Configured{{Name: "own", Command: "./check.sh"}}}
	tr := f.tree(root)
	look := func() string {
		us := tr.unitsOf("a/x.txt")
		return fmt.Sprint(us, tr.embedded("a/x.txt", us), len(tr.list("a")), f.own(tr, "a/x.txt"))
	}
	before := look()
	// What is made now is seen by the next search, not by this one.
	for name, text := range map[string]string{
		"a/go.mod": "module a\n", "a/f.go": "package a\n//go:embed x.txt\n", "a/test_z.py": "def test_z(): pass\n", "check.sh": "./other.sh\n", "other.sh": "\n",
	} {
		must.WriteMode(t, filepath.Join(dir, name), text, 0o755)
	}
	if after := look(); after != before {
		t.Errorf("a folder was read again:\n%s\nbefore:\n%s", after, before)
	}
	tr = f.tree(root)
	if after := look(); after == before {
		t.Error("the next search sees nothing new")
	}
}
