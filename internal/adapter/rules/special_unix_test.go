//go:build unix

package rules

import (
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.8: FIFOs and devices are refused, and nothing waits for them.
func TestSpecialFiles(t *testing.T) {
	dir := tree(t, map[string]string{".git/": "", "AGENTS.md": "@pipe.md and @dev"})
	for _, p := range []string{"CLAUDE.md", "pipe.md", ".pawl"} {
		must.Do(t, syscall.Mkfifo(filepath.Join(dir, p), 0o600))
	}
	put(t, dir, map[string]string{"dev": "->/dev/zero"})
	s := load(t, Options{Root: dir})
	if len(s.Warnings) != 2 || !warned(s, "pipe.md, which was not read: it is a named pipe") || !warned(s, "dev, which was not read: it points outside") || !strings.HasSuffix(s.Text, "and @dev") {
		t.Errorf("%q %v", s.Text, s.Warnings)
	}
	dir = tree(t, nil)
	must.Do(t, syscall.Mkfifo(filepath.Join(dir, "AGENTS.md"), 0o600))
	if s := load(t, Options{Root: dir}); s.Text != "" || !warned(s, "AGENTS.md was not read: it is a named pipe") {
		t.Errorf("%q %v", s.Text, s.Warnings)
	}
}
