//go:build linux && (amd64 || arm64)

package sandbox

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.14: a folder elsewhere with folders in it is removed after a yes.
func TestHeldRemovalOfFolders(t *testing.T) {
	for _, line := range []string{"rm -rf OUT/build", "rm -r OUT/build/", "cd OUT && rm -rf build", "find OUT/build -delete", "chmod -R 700 OUT/build && rm -rf OUT/build"} {
		root, out := must.Dir(t), must.Dir(t)
		must.Write(t, filepath.Join(out, "build/d/e/x"), "x")
		must.Write(t, filepath.Join(out, "build/y"), "y")
		p := answering(func(process.Refusal) (string, process.Answer) { return out, process.Allowed })
		said, _ := heldRun(t, open(t, confine.Workspace, root), root, strings.ReplaceAll(line, "OUT", out), p)
		if _, err := os.Stat(filepath.Join(out, "build")); err == nil {
			t.Errorf("%s: %q, asked %q", line, said, p.list())
		}
	}
}
