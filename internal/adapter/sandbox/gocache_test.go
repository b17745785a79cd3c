//go:build linux && (amd64 || arm64)

package sandbox

import (
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// SPEC 16.12: a confined go command builds with what the person built before,
// changes nothing of it, and what it builds itself is in a cache of the
// sandbox's own.
func TestGoCache(t *testing.T) {
	self := must.Get(os.Executable())(t)
	root := folder(t)
	persons, caches := filepath.Join(filepath.Dir(root), "persons"), filepath.Join(filepath.Dir(root), "caches")
	write := func(name, text string) {
		must.Write(t, filepath.Join(root, name), text)
	}
	write("go.mod", "module x.test/x\n\ngo 1.24\n")
	write("x.go", "package x\n\nconst X = 1\n")
	env := map[string]string{"HOME": os.Getenv("HOME"), "GOCACHE": persons, "XDG_CACHE_HOME": caches}
	build := func(cmd *exec.Cmd) *exec.Cmd {
		cmd.Dir, cmd.Env = root, append(os.Environ(), "GOFLAGS=-buildvcs=false", "GOCACHE="+persons, "GOCACHEPROG=")
		return cmd
	}
	if out, err := build(exec.Command("go", "build", ".")).CombinedOutput(); err != nil {
		t.Fatalf("%s %v", out, err)
	}
	outputs := func(dir string) (out []string) {
		_ = filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
			if err == nil && (strings.HasSuffix(p, "-a") || strings.HasSuffix(p, "-d")) {
				st, _ := d.Info()
				out = append(out, p+st.ModTime().String())
			}
			return nil
		})
		return out
	}
	before := outputs(persons)

	boxes := NewBoxes(func(k string) string { return env[k] }, root, filepath.Join(filepath.Dir(root), "state/spill"), filepath.Join(filepath.Dir(root), "state"))
	boxes.Self = self
	t.Cleanup(func() { _ = boxes.Close() })
	confined := func() string {
		cmd := build(exec.Command("go", "build", "-x", "."))
		var out strings.Builder
		cmd.Stdout, cmd.Stderr = &out, &out
		c := must.Get(boxes.Confine(cmd, process.Confine{Level: process.Workspace}, nil))(t)
		if err := c.Wait(); err != nil {
			t.Fatalf("%s %v", out.String(), err)
		}
		return out.String()
	}
	if out := confined(); strings.Contains(out, "/compile ") {
		t.Errorf("it was compiled again: %s", out)
	}
	if n := len(outputs(caches)); n > 2 { // the list of the package's files, at most
		t.Errorf("%d entries of its own for what was there", n)
	}
	write("x.go", "package x\n\nconst X = 2\n")
	if out := confined(); !strings.Contains(out, "/compile ") {
		t.Errorf("it was not compiled: %s", out)
	}
	if out := confined(); strings.Contains(out, "/compile ") {
		t.Errorf("what it built was lost: %s", out)
	}
	if after := outputs(persons); strings.Join(after, "\n") != strings.Join(before, "\n") {
		t.Errorf("the person's cache was changed: %d entries, %d before", len(after), len(before))
	}
	if len(outputs(caches)) == 0 {
		t.Error("it keeps nothing")
	}
}
