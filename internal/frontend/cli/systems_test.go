package cli

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/core/golden"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// The doctor says on every system what is less there.
func TestLessOnOtherSystems(t *testing.T) {
	if less := lessOn("linux"); len(less) > 0 {
		t.Errorf("Linux: %v", less)
	}
	var b strings.Builder
	for _, system := range []string{"darwin", "windows", "freebsd"} {
		fmt.Fprintf(&b, "== %s\n", system)
		for _, f := range lessOn(system) {
			if f.ok || f.must {
				t.Errorf("%s: %+v", system, f)
			}
			fmt.Fprintln(&b, f)
		}
	}
	golden.File(t, filepath.Join("testdata", "doctor-systems.golden"), b.String())
}

// Of the settings of other agents each is told once, with its use.
func TestOthersAreTold(t *testing.T) {
	dir, home := t.TempDir(), t.TempDir()
	for _, name := range []string{"CLAUDE.md", ".mcp.json", ".cursorrules", ".claude/settings.json", ".claude/skills/x/SKILL.md"} {
		path := filepath.Join(dir, filepath.FromSlash(name))
		must.Write(t, path, "{}")
	}
	must.Do(t, os.Mkdir(filepath.Join(home, ".codex"), 0o700))
	if err := os.Symlink("/dev/zero", filepath.Join(home, ".codex", "config.toml")); err != nil { // it is not opened
		t.Fatal(err)
	}
	got := strings.Join(fromOthers(folder.Others(dir, home)), "\n")
	want := "settings of other agents: 2 used, 1 used if you trust the folder, 2 not used; pawl doctor lists them"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	must.Do(t, os.WriteFile(filepath.Join(dir, "AGENTS.md"), nil, 0o600))
	if got := fromOthers(folder.Others(dir, home)); !strings.Contains(got[len(got)-1], "3 not used") {
		t.Errorf("AGENTS.md is read in place of CLAUDE.md: %s", got)
	}
	if got := fromOthers(folder.Others(t.TempDir(), "")); got != nil {
		t.Errorf("nothing is there: %q", got)
	}
}
