package sandbox

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.12: every cache that a command writes is the sandbox's own, whatever
// the person's environment says, and what is copied from it is no hard link.
func TestOwnCaches(t *testing.T) {
	own := filepath.Join(real(t.TempDir()), "own")
	f := confine.Facts{Root: "/w", Home: "/home/u"}
	set := must.Get(ownCaches(&f, func(k string) string {
		return map[string]string{"YARN_CACHE_FOLDER": "/y", "UV_LINK_MODE": "symlink"}[k]
	}, own))(t)
	if !slices.Contains(f.Writes, own) {
		t.Errorf("writes: %v", f.Writes)
	}
	for _, want := range []string{
		"UV_CACHE_DIR=" + own + "/uv", "UV_LINK_MODE=copy", "PNPM_CONFIG_STORE_DIR=" + own + "/pnpm-store", "PNPM_CONFIG_PACKAGE_IMPORT_METHOD=copy",
		"PNPM_HOME=" + own + "/pnpm", "XDG_CACHE_HOME=" + own + "/xdg",
	} {
		if !slices.Contains(set, want) {
			t.Errorf("no %s", want)
		}
	}
	seen := map[string]bool{}
	for _, kv := range set {
		name, value, _ := strings.Cut(kv, "=")
		if seen[name] {
			t.Errorf("%s is set twice", name)
		}
		if seen[name] = true; filepath.IsAbs(value) && !confine.Within(own, value) {
			t.Errorf("%s is not the sandbox's own", kv)
		}
	}
}

// SPEC 16.12: the folder of a workspace's caches stays, is another for each
// workspace, and nobody who knows the workspace's path knows it.
func TestOwnFolder(t *testing.T) {
	dir := t.TempDir()
	first, again := ownFolder(dir, "aa"), ownFolder(dir, "aa")
	if first == again || !strings.HasPrefix(filepath.Base(first), "aa-") {
		t.Errorf("before it is made: %s, %s", first, again)
	}
	must.Do(t, os.MkdirAll(first, 0o700))
	if got := ownFolder(dir, "aa"); got != first {
		t.Errorf("%s, want %s", got, first)
	}
	if got := ownFolder(dir, "a"); strings.HasPrefix(got, first) || filepath.Base(got)[:2] != "a-" {
		t.Errorf("another workspace: %s", got)
	}
}
