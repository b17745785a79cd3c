//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// SPEC 13.3, 16.12: a check in a copy of the workspace changes the copy, and can neither
// read nor change the workspace, except what it may read of it.
func TestCopyTakesTheWorkspacesPlace(t *testing.T) {
	root := folder(t)
	other := filepath.Join(filepath.Dir(root), "copy")
	for name, text := range map[string]string{filepath.Join(root, "now"): "now", filepath.Join(root, "node_modules", "dep"): "dep", filepath.Join(other, "then"): "then"} {
		must.Write(t, name, text)
	}
	b := NewBoxes(func(k string) string {
		return map[string]string{"HOME": "/nonexistent", "XDG_CACHE_HOME": filepath.Join(filepath.Dir(root), "cache")}[k]
	}, root, filepath.Join(root, "spill"))
	b.Temporary = true
	t.Cleanup(func() { _ = b.Close() })
	box, _, err := b.box(process.Confine{Level: process.Workspace, Root: other, Reads: []string{filepath.Join(root, "node_modules")}}, other)
	must.Do(t, err)
	out := bash(t, box, other, "cat then; cat "+root+"/node_modules/dep; echo more >> then && cat then; cat "+root+"/now; echo x >> "+root+"/now; echo x > "+root+"/node_modules/dep; mkdir .claude; echo end")
	if !strings.HasPrefix(out, "thendepthenmore\n") || strings.Contains(out, "now\n") || !strings.HasSuffix(out, "end\n") {
		t.Errorf("%q", out)
	}
	for name, want := range map[string]string{filepath.Join(root, "now"): "now", filepath.Join(root, "node_modules", "dep"): "dep"} {
		if got, err := os.ReadFile(name); err != nil || string(got) != want {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
