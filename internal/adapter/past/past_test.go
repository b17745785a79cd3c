package past

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func put(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name, []byte(files[i+1]), 0o600)))
	}
}

// SPEC 13.3: a copy has the files as they were, and nothing in it leads back to the
// folder's own files; the packages that are installed in it are read where they are.
func TestCopy(t *testing.T) {
	dir := must.Dir(t)
	put(t, dir, "a/changed.go", "new", "a/same.go", "same", "new/new.go", "new", ".git/HEAD", "ref", "run.sh", "new",
		"node_modules/dep/x.js", "dep", "node_modules/@own/dep/x.js", "dep", "packages/p/x.js", "new")
	if err := errors.Join(
		os.Symlink("a/changed.go", filepath.Join(dir, "relative")),
		os.Symlink(filepath.Join(dir, "a/changed.go"), filepath.Join(dir, "absolute")),
		os.Symlink("../packages/p", filepath.Join(dir, "node_modules/p")),
		os.Symlink("../../packages/p", filepath.Join(dir, "node_modules/@own/p")),
	); err != nil {
		t.Fatal(err)
	}
	c := must.Get(New(t.Context(), dir, t.TempDir(), []File{
		{Path: "a/changed.go", Data: []byte("old")}, {Path: "new/new.go", Gone: true}, {Path: "gone/deep.go", Data: []byte("old")},
		{Path: "packages/p/x.js", Data: []byte("old")}, {Path: "run.sh", Data: []byte("old"), Mode: 0o755}, {Path: "link", Data: []byte(dir + "/a/changed.go"), Mode: fs.ModeSymlink},
	}))(t)
	for name, want := range map[string]string{
		"a/changed.go": "old", "a/same.go": "same", "gone/deep.go": "old", "relative": "old", "absolute": "old", "link": "old", "run.sh": "old",
		"node_modules/dep/x.js": "dep", "node_modules/@own/dep/x.js": "dep", "node_modules/p/x.js": "old", "node_modules/@own/p/x.js": "old",
	} {
		if b, err := os.ReadFile(filepath.Join(c.Dir, name)); err != nil || string(b) != want {
			t.Errorf("%s: %q, %v", name, b, err)
		}
	}
	for _, name := range []string{"new", ".git"} {
		if _, err := os.Lstat(filepath.Join(c.Dir, name)); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if st, err := os.Stat(filepath.Join(c.Dir, "run.sh")); err != nil || st.Mode().Perm()&0o100 == 0 {
		t.Errorf("%v, %v", st, err)
	}
	if len(c.Reads) != 1 || c.Reads[0] != filepath.Join(dir, "node_modules") {
		t.Errorf("%q", c.Reads)
	}
	must.Do(t, c.Remove())
	if _, err := os.Stat(filepath.Join(dir, "node_modules/dep/x.js")); err != nil {
		t.Error(err)
	}
}

// A path that leads out of the folder is refused, and leaves no copy.
func TestCopyStaysInside(t *testing.T) {
	dir, temp := t.TempDir(), t.TempDir()
	put(t, dir, "x", "x")
	must.Do(t, os.Symlink(t.TempDir(), filepath.Join(dir, "out")))
	for _, p := range []string{"../y", "/etc/y", "out/y"} {
		if _, err := New(t.Context(), dir, temp, []File{{Path: p, Data: []byte("y")}}); err == nil {
			t.Errorf("%s was written", p)
		}
	}
	if left, err := os.ReadDir(temp); err != nil || len(left) > 0 {
		t.Errorf("%v, %v", left, err)
	}
}
