//go:build unix

package cli

import (
	"encoding/json"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// lookers are programs of the person that look for code as npx, python3 -m and node do:
// around the folder in which they work, and where a variable points. Each notes where it
// works and what it was given.
var lookers = map[string]string{
	// npm's settings are those of the nearest folder above with a package.json or
	// node_modules, and of the file that a variable names.
	"npx": `d=$PWD
while [ "$d" ] && [ ! -e "$d/package.json" ] && [ ! -d "$d/node_modules" ]; do d=${d%/*}; done
for f in "$d/.npmrc" "$npm_config_userconfig" "$NPM_CONFIG_USERCONFIG"; do [ -f "$f" ] && $(sed -n 's/^script-shell=//p' "$f"); done
d=$PWD
while :; do
	[ -x "$d/node_modules/.bin/$2" ] && exec "$d/node_modules/.bin/$2"
	[ "$d" ] || break
	d=${d%/*}
done`,
	"python3": `IFS=:
for d in "$PWD" $PYTHONPATH; do [ -f "$d/$2.py" ] && exec sh "$d/$2.py"; done`,
	"node": `IFS=:
for d in "$PWD/node_modules" $NODE_PATH; do [ -f "$d/x" ] && exec sh "$d/x"; done`,
}

// SPEC 16.16: a clone that nobody trusts makes none of the person's own MCP servers run
// its code: they work elsewhere, and find nothing through the workspace.
func TestOwnServersInAClone(t *testing.T) {
	t.Parallel()
	top := must.Get(filepath.EvalSymlinks(t.TempDir()))(t)
	clone, home, tools, log := filepath.Join(top, "clone"), filepath.Join(top, "home"), filepath.Join(top, "tools"), filepath.Join(top, "log")
	write := func(name, text string) {
		t.Helper()
		must.Do(t, os.MkdirAll(filepath.Dir(name), 0o700))
		must.WriteMode(t, name, text, 0o700)
	}
	for name, text := range lookers {
		write(filepath.Join(tools, name), "#!/bin/sh\n{ echo "+name+" in $PWD; env; } >>"+log+"\n"+text+"\n")
	}
	planted := "#!/bin/sh\necho planted $0 >>" + log + "\n"
	for _, name := range []string{
		".git/HEAD", "node_modules/.bin/P", "M.py", "node_modules/x", "bin/npx", "bin/python3", "bin/node", "server.sh", "sub/node_modules/.bin/npx", "sub/server.sh", "sub/M.py", "sub/node_modules/x",
	} {
		write(filepath.Join(clone, name), planted)
	}
	write(filepath.Join(home, "keep"), "")
	must.Do(t, os.Symlink(filepath.Join(clone, "bin"), filepath.Join(home, "bin")))
	must.Do(t, os.Symlink(filepath.Join(clone, "server.sh"), filepath.Join(tools, "linked")))
	type server = map[string]any
	outside := map[string]any{
		"npx":    server{"command": "npx", "args": []string{"-y", "P"}},
		"python": server{"command": "python3", "args": []string{"-m", "M"}},
		"node":   server{"command": "node", "args": []string{"-e", "require('x')", clone}}, // the folder as data
		"box":    server{"command": "npx", "args": []string{"-y", "P"}, "sandbox": "workspace"},
	}
	inside := map[string]any{
		"byfolder":   server{"command": "npx", "args": []string{"-y", "P"}, "cwd": clone},
		"byrelative": server{"command": "python3", "args": []string{"-m", "M"}, "cwd": "sub"},
		"byproject":  server{"command": "npx", "args": []string{"-y", "P"}, "cwd": "${PAWL_PROJECT_DIR}"},
		"byname":     server{"command": "./server.sh"},
		"bypath":     server{"command": filepath.Join(clone, "server.sh")},
		"byscript":   server{"command": "sh", "args": []string{filepath.Join(clone, "server.sh")}},
		"byvariable": server{"command": "python3", "args": []string{"-m", "M"}, "env": map[string]string{"PYTHONPATH": clone}},
	}
	srv := httptest.NewServer(&llmtest.Server{Reply: func(int, []byte) llmtest.Turn { return llmtest.Say("done") }})
	defer srv.Close()
	env := []string{
		"PATH=" + strings.Join([]string{filepath.Join(clone, "bin"), "node_modules/.bin", "", filepath.Join(home, "bin"), tools, os.Getenv("PATH")}, ":"),
		"NODE_PATH=" + filepath.Join(clone, "node_modules"), "PYTHONPATH=/elsewhere:" + clone, "NODE_OPTIONS=--require " + clone + "/M.py --no-warnings",
		"RUBYLIB=" + clone + "/lib", "VIRTUAL_ENV=" + clone + "/.venv", "GOFLAGS=-modfile=" + clone + "/x.mod", "PERL5LIB=lib", "npm_config_userconfig=" + clone + "/.npmrc",
		"ANTHROPIC_API_KEY=test-key-000000", "ANTHROPIC_BASE_URL=" + srv.URL, "PAWL_MODEL=anthropic/claude-script",
	}
	run := func(dir string, servers map[string]any, args ...string) (noted, said string) {
		t.Helper()
		raw := must.Get(json.Marshal(map[string]any{"mcpServers": servers}))(t)
		write(filepath.Join(home, ".config/pawl/mcp.json"), string(raw))
		_ = os.Remove(log)
		out, err := pawl(t, dir, home, env, append([]string{"run"}, append(args, "hello")...)...).CombinedOutput()
		if err != nil {
			t.Fatalf("%v: %s", err, out)
		}
		b, _ := os.ReadFile(log) // none: nothing ran
		return string(b), string(out)
	}
	for _, dir := range []string{clone, filepath.Join(clone, "sub")} {
		for _, args := range [][]string{{"--permission-mode", "plan"}, {"--sandbox", "off"}} {
			noted, said := run(dir, outside, args...)
			if strings.Contains(noted, "planted") {
				t.Errorf("code of the clone ran: %s", noted)
			}
			for name := range lookers {
				if !strings.Contains(noted, name+" in "+home) {
					t.Errorf("%s did not run in a folder of pawl's: %s\n%s", name, noted, said)
				}
			}
			if strings.Contains(noted, clone) {
				t.Errorf("a variable leads to the clone: %s", noted)
			}
			if !strings.Contains(noted, "PYTHONPATH=/elsewhere\n") {
				t.Errorf("what leads elsewhere is lost: %s", noted)
			}
		}
	}
	noted, said := run(clone, inside)
	if noted != "" {
		t.Errorf("without trust ran %s", noted)
	}
	for name := range inside {
		if !strings.Contains(said, "the MCP server "+name+" cannot be used: ") {
			t.Errorf("that %s waits for trust is not said: %s", name, said)
		}
	}
	if !strings.Contains(said, "this folder is not trusted; to trust it: pawl trust") {
		t.Error(said)
	}
	for name, s := range inside {
		if noted, said := run(clone, map[string]any{name: s}, "--trust"); !strings.Contains(noted, "planted") {
			t.Errorf("%s does not run in a trusted folder: %s\n%s", name, noted, said)
		}
	}
	// A link of the person's into the clone is no way around trust.
	if noted, _ := run(clone, map[string]any{"bylink": server{"command": "linked"}}); noted != "" {
		t.Errorf("a link ran %s", noted)
	}
}
