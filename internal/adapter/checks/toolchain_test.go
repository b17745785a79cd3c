package checks

import (
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 13.3: the doctor knows the kinds of projects that have checks.
func TestToolchains(t *testing.T) {
	for _, c := range []struct{ file, text, program string }{
		{"go.mod", "", "go"}, {"Cargo.toml", "", "cargo"}, {"package.json", "", "node"}, {"pyproject.toml", "", "python3"},
		{"test_m.py", "", "python3"}, {"m_test.py", "", "python3"}, {"tests/test_m.py", "", "python3"}, {"setup.cfg", "", "python3"},
		{"Makefile", "all:\n\ntest: all\n\t./t\n", "make"}, {"makefile", "check:\n", "make"},
		{"Makefile", "all:\ntests = 1\ntest := 2\n", ""}, {"m.py", "", ""}, {"README", "", ""},
	} {
		dir := filepath.Join(t.TempDir(), "a [b]*")
		must.Write(t, filepath.Join(dir, c.file), c.text)
		got := ""
		for _, k := range Toolchains(dir) {
			got += k.Program
		}
		if got != c.program {
			t.Errorf("%s: %q, want %q", c.file, got, c.program)
		}
	}
}
