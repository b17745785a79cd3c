//go:build unix

package sandbox

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.12: the temporary folders of dead sessions go at the next start; those of living
// ones, and what only has such a name, stay.
func TestSweepTemps(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	live, drop, err := ownTemp()
	must.Do(t, err)
	elsewhere := t.TempDir()
	keep := filepath.Join(elsewhere, "keep")
	dead, link, file := filepath.Join(os.TempDir(), tempName+"1"), filepath.Join(os.TempDir(), tempName+"2"), filepath.Join(os.TempDir(), tempName+"3")
	for _, dir := range []string{keep, filepath.Join(dead, "a/b"), filepath.Join(os.TempDir(), "other")} {
		must.Do(t, os.MkdirAll(dir, 0o700))
	}
	must.Do(t, os.Symlink(elsewhere, filepath.Join(dead, "a/link")))
	must.Do(t, os.Symlink(elsewhere, link))
	must.Do(t, os.WriteFile(file, nil, 0o600))
	sweepTemps()
	for _, name := range []string{live, keep, link, file, filepath.Join(os.TempDir(), "other")} {
		if _, err := os.Lstat(name); err != nil {
			t.Errorf("%s is gone: %v", name, err)
		}
	}
	if _, err := os.Lstat(dead); err == nil {
		t.Error("what a dead session left is there")
	}
	if err := drop(); err != nil {
		t.Error(err)
	}
	if _, err := os.Lstat(live); err == nil {
		t.Error("what was in use is there after its end")
	}
}
