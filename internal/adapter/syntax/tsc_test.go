package syntax

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// save writes a file of a workspace.
func save(t *testing.T, root, name, text string) {
	t.Helper()
	file := filepath.Join(root, name)
	must.Do(t, errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(text), 0o644)))
}

// SPEC 12.2, 16.16: a project's own TypeScript is started confined, for the nearest project
// that has a compiler, with what the changed files were; else nothing is started.
func TestTypeScriptIsConfined(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	save(t, root, "web/tsconfig.json", "{}")
	save(t, root, "web/node_modules/typescript/lib/typescript.js", "")
	save(t, root, "other/tsconfig.json", "{}")
	for name, want := range map[string]string{
		"web/a.ts": "web/tsconfig.json", "web/src/deep/b.tsx": "web/tsconfig.json", "web/c.mts": "web/tsconfig.json",
		"other/a.ts": "", "a.ts": "", "web/a.txt": "", "../a.ts": "", "web/served.ts": "",
	} {
		f := &fake{}
		l := &Look{Root: root, Start: f, Limit: time.Hour, TypeLimit: time.Hour, Confine: process.Confine{Level: process.Workspace}, Served: func(p string) bool { return p == "web/served.ts" }}
		if got := look(t, l, name, "let a = 1\n", "let a = 2\n"); got != "" || len(f.starts) > 1 || len(f.starts) == 0 != (want == "") {
			t.Fatalf("%s: %q, %d starts", name, got, len(f.starts))
		}
		if want == "" {
			continue
		}
		p := f.starts[0]
		if !p.Exact || p.Dir != "/" || p.Confine.Level != process.ReadOnly || !slices.Equal(p.Confine.Reads, []string{root}) || !slices.Equal(p.Apart, []string{root}) || !slices.Contains(p.Args, filepath.Join(root, want)) {
			t.Errorf("%s: %+v", name, p)
		}
		var before map[string]*string
		if err := json.NewDecoder(p.Stdin).Decode(&before); err != nil || before[filepath.Join(root, name)] == nil || *before[filepath.Join(root, name)] != "let a = 1\n" {
			t.Errorf("%s: %v, %v", name, before, err)
		}
	}
}
