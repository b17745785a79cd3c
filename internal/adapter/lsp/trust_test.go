package lsp

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.1: a language server of the project's own is what its package is: a
// change of any file of the package ends trust in it, and of what it needs.
func TestOwnProgramIsPartOfTrust(t *testing.T) {
	dir := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	write := func(name, text string) {
		name = filepath.Join(dir, name)
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.WriteMode(t, name, text, 0o700)
	}
	write("tsconfig.json", "{}")
	write("a.ts", "")
	write("node_modules/typescript-language-server/package.json", `{"dependencies": {"typescript": "5"}}`)
	write("node_modules/typescript-language-server/lib/cli.mjs", "#!/usr/bin/env node\n")
	write("node_modules/typescript/lib/tsserver.js", "")
	write("node_modules/other/x.js", "")
	write("node_modules/.bin/.keep", "")
	must.Do(t, os.Symlink("../typescript-language-server/lib/cli.mjs", filepath.Join(dir, "node_modules/.bin/typescript-language-server")))
	hash := func() string {
		for _, p := range Parts(dir, Table(nil), func(string) (string, error) { return "", os.ErrNotExist }) {
			if p.Name == "typescript" && p.Hash != "" && slices.ContainsFunc(p.Runs, func(s string) bool { return strings.Contains(s, dir) }) {
				return p.Hash
			}
		}
		t.Fatal("no part for the server")
		return ""
	}
	was := hash()
	for name, changes := range map[string]bool{
		"a.ts": false, "node_modules/other/x.js": false,
		"node_modules/typescript-language-server/lib/cli.mjs": true,
		"node_modules/typescript/lib/tsserver.js":             true,
	} {
		write(name, "#!/usr/bin/env node\n// evil\n")
		now := hash()
		if (now != was) != changes {
			t.Errorf("%s: changed %v, want %v", name, now != was, changes)
		}
		was = now
	}
}
