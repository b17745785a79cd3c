package folder

import (
	"encoding/json"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func write(t *testing.T, dir string, files ...string) {
	t.Helper()
	for i := 0; i < len(files); i += 2 {
		name := filepath.Join(dir, files[i])
		must.Write(t, name, files[i+1])
	}
}

// reaching are command lines with a file that they run. Others are there too:
// text has the files that lead there, by name and content.
var reaching = []struct {
	line, file string
	text       []string
}{
	{line: "./check.sh", file: "check.sh"},
	{line: "sh d/r", file: "d/r"},
	{line: "cd d && ./r", file: "d/r"},
	{line: "cd d; exec ./r --now", file: "d/r"},
	{line: "(cd d && sh r)", file: "d/r"},
	{line: "bash -c './d/r'", file: "d/r"},
	{line: "bash -c 'cd d && ./r'", file: "d/r"},
	{line: `bash -c "$(cat d/r)"`, file: "d/r"},
	{line: "bash -lc 'source d/r'", file: "d/r"},
	{line: "cat d/r | sh", file: "d/r"},
	{line: "sh < d/r", file: "d/r"},
	{line: "eval \"$(cat d/r)\"", file: "d/r"},
	{line: "python tool.py", file: "tool.py"},
	{line: "python3 -u d/tool", file: "d/tool"},
	{line: "python3 -m d.tool", file: "d/tool.py"},
	{line: "python3 -m d", file: "d/__main__.py"},
	{line: "python tool.py", file: "helper.py", text: []string{"tool.py", "import helper\n"}},
	{line: "python tool.py", file: "lib/deep.py", text: []string{"tool.py", "from lib.deep import x\n"}},
	{line: "python d/tool.py", file: "d/helper.py", text: []string{"d/tool.py", "from . import helper\n"}},
	{line: "python tool.py", file: "lib/__init__.py", text: []string{"tool.py", "import lib\n"}},
	{line: "python tool.py", file: "d/r.sh", text: []string{"tool.py", "subprocess.run(['sh', 'd/r.sh'])\n"}},
	{line: "python tool.py", file: "lib/m.py", text: []string{"tool.py", "sys.path.insert(0, 'lib')\nimport m\n"}},
	{line: "python hooks/tool.py", file: "src/m.py", text: []string{"hooks/tool.py", "sys.path.append(str(Path(__file__).parent.parent / 'src'))\nimport m\n"}},
	{line: "python tool.py", file: "helper.cpython-311-x86_64-linux-gnu.so", text: []string{"tool.py", "import helper\n", "helper.py", ""}},
	{line: "python tool.py", file: "json.py", text: []string{"tool.py", "import json\n"}},
	{line: "PYTHONPATH=lib python tool.py", file: "lib/m.py", text: []string{"tool.py", "import m\n"}},
	{line: "python -X pycache_prefix=d tool.py", file: "d/any", text: []string{"tool.py", ""}},
	{line: "perl x.pl", file: "lib/M.pm", text: []string{"x.pl", "use lib 'lib'; use M;\n"}},
	{line: "ruby x.rb", file: "lib/m.rb", text: []string{"x.rb", "$LOAD_PATH.unshift 'lib'\nrequire 'm'\n"}},
	{line: "node x.js", file: "lib/y.js", text: []string{"x.js", "require('#y')\n", "package.json", `{"imports": {"#y": "./lib/y.js"}}`}},
	{line: "node x.js", file: "package.json", text: []string{"x.js", "1\n"}},
	{line: "python -c 'import helper'", file: "helper.py"},
	{line: "python -c 'exec(open(\"d/r\").read())'", file: "d/r"},
	{line: "node -e 'require(\"./d/r.js\")'", file: "d/r.js"},
	{line: "node x.js", file: "x.js"},
	{line: "node ./x", file: "x.js"},
	{line: "node x.js", file: "lib/y.js", text: []string{"x.js", "const y = require('./lib/y')\n"}},
	{line: "node x.mjs", file: "lib/y.mjs", text: []string{"x.mjs", "import y from './lib/y.mjs'\n"}},
	{line: "node x.js", file: "rules.json", text: []string{"x.js", "const r = require('./rules.json')\n"}},
	{line: "node x.js", file: "node_modules/p/lib/z.js", text: []string{"x.js", "require('p')\n", "node_modules/p/package.json", "{}"}},
	{line: "node x.js", file: "node_modules/q/z.js", text: []string{"x.js", "require('p')\n", "node_modules/p/package.json", `{"dependencies": {"q": "1"}}`}},
	{line: "node --require ./pre.js x.js", file: "pre.js"},
	{line: "npx p", file: "node_modules/p/cli.js"},
	{line: "npx tsx x.ts", file: "x.ts"},
	{line: "uv run tool.py", file: "tool.py"},
	{line: "ruby x.rb", file: "lib/y.rb", text: []string{"x.rb", "require_relative 'lib/y'\n"}},
	{line: "perl x.pl", file: "y.pl", text: []string{"x.pl", "do './y.pl';\n"}},
	{line: "make hook", file: "Makefile"},
	{line: "make hook", file: "mk/a.mk", text: []string{"Makefile", "include mk/a.mk\nhook:\n\tx\n"}},
	{line: "make hook", file: "d/r", text: []string{"Makefile", "hook:\n\tcd d && ./r\n"}},
	{line: "make -C d hook", file: "d/Makefile"},
	{line: "cd d && make", file: "d/Makefile"},
	{line: "just hook", file: "d/r", text: []string{"justfile", "hook:\n  ./d/r\n"}},
	{line: "npm run hook", file: "d/h.js", text: []string{"package.json", `{"scripts": {"hook": "node d/h.js"}}`}},
	{line: "./a.sh", file: "b.sh", text: []string{"a.sh", ". ./b.sh\n"}},
	{line: "./a", file: "b.sh", text: []string{"a", "#!/usr/bin/env bash\nsource b.sh\n"}},
	{line: "./d/a", file: "d/b", text: []string{"d/a", "#!/bin/sh\n. \"$(dirname \"$0\")/b\"\n"}},
	{line: "d/a.sh", file: "d/b", text: []string{"d/a.sh", "HERE=\"$(cd \"$(dirname \"${BASH_SOURCE[0]}\")\" && pwd)\"\n\"$HERE/b\"\n"}},
	{line: "d/a.sh", file: "d/b", text: []string{"d/a.sh", "cd \"${0%/*}\"\n./b\n"}},
	{line: "sh d/a", file: "d/c", text: []string{"d/a", "sh d/b\n", "d/b", "sh d/c\n"}},
	{line: "./a.sh", file: "t.py", text: []string{"a.sh", "exec python3 t.py\n"}},
	{line: `"$CLAUDE_PROJECT_DIR"/hooks/a`, file: "hooks/a"},
	{line: `cd "$CLAUDE_PROJECT_DIR" && hooks/a`, file: "hooks/a"},
	{line: `bash "$CLAUDE_PROJECT_DIR/hooks/a"`, file: "hooks/lib", text: []string{"hooks/a", ". \"$CLAUDE_PROJECT_DIR/hooks/lib\"\n"}},
	{line: `python3 "${PAWL_PROJECT_DIR}/hooks/a.py"`, file: "hooks/a.py"},
	{line: "ROOT/hooks/a", file: "hooks/a"},
	{line: "$(git rev-parse --show-toplevel)/hooks/a", file: "hooks/a"},
	{line: "env X=1 timeout 5 ./d/r", file: "d/r"},
	{line: "PATH=./bin:$PATH x", file: "bin/x"},
	{line: "NODE_OPTIONS='--require ./p.js' node x.js", file: "p.js"},
	{line: "BASH_ENV=d/r bash -c true", file: "d/r"},
	{line: "if true; then ./d/r; fi", file: "d/r"},
	{line: "find d -name '*.sh' -exec sh {} ';'", file: "d/a.sh"},
	{line: "ls d | xargs -n1 sh", file: "d/r"},
	{line: "go run ./d", file: "d/main.go"},
	{line: "tox -e hook", file: "tox.ini"},
	{line: "awk -f d/r.awk", file: "d/r.awk"},
	{line: "f() { ./d/r; }; f", file: "d/r"},
	{line: "./d/*.sh", file: "d/a.sh"},
}

// SPEC 16.1: a change of a file that a hook runs, wherever and however it is
// named, ends trust in the hook and names the file; one that it does not run
// is none.
func TestHooksReach(t *testing.T) {
	for _, c := range reaching {
		t.Run(c.line+" "+c.file, func(t *testing.T) {
			dir := t.TempDir()
			line := strings.ReplaceAll(c.line, "ROOT", dir)
			command, _ := json.Marshal(line)
			write(t, dir, ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": `+string(command)+`}]}]}}`, "z/source.c", "")
			if !slices.Contains(c.text, c.file) {
				write(t, dir, c.file, "x\n")
			}
			write(t, dir, c.text...)
			part := func() (hash string, from []string) {
				_, parts, err := Hooks(dir)
				if err != nil || len(parts) != 1 || parts[0].Hash == "" {
					t.Fatalf("%+v %v", parts, err)
				}
				return parts[0].Hash, parts[0].From
			}
			was, from := part()
			if !slices.ContainsFunc(from, func(n string) bool { return n == c.file || strings.HasSuffix(n, "/") && strings.HasPrefix(c.file, n) }) {
				t.Errorf("%s is not named: %q", c.file, from)
			}
			write(t, dir, c.file, "# evil\n")
			now, _ := part()
			if was == now {
				t.Errorf("a change of %s is none", c.file)
			}
			write(t, dir, "z/source.c", "changed")
			if then, _ := part(); then != now {
				t.Error("a change of a file that is not run is one")
			}
		})
	}
}

// SPEC 16.1: each of several hooks has the files of its own command, also where two hooks
// have the same one and a third asks a model.
func TestHooksOfManyCommands(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "sh a.sh"}, {"type": "command", "command": "sh b.sh"}, {"type": "prompt", "prompt": "sh a.sh"}]}],
		"SessionEnd": [{"hooks": [{"type": "command", "command": "sh a.sh"}]}]}}`, "a.sh", "x", "b.sh", "x")
	rules, parts, err := Hooks(dir)
	if err != nil || len(parts) != 4 {
		t.Fatal(parts, err)
	}
	for i, r := range rules {
		for _, name := range []string{"a.sh", "b.sh"} {
			if slices.Contains(parts[i].From, name) != strings.HasPrefix(r.Command, "sh "+name) {
				t.Errorf("%q comes from %q", r.Command, parts[i].From)
			}
		}
	}
}

// SPEC 16.1: a change of a file that a folder's MCP server runs ends trust in
// the server.
func TestServersReach(t *testing.T) {
	for _, c := range []struct {
		server, file string
		text         []string
	}{
		{server: `{"command": "./serve"}`, file: "serve"},
		{server: `{"command": ["node", "d/s.js"]}`, file: "d/s.js"},
		{server: `{"command": "node", "args": ["d/s.js"], "cwd": "."}`, file: "d/s.js"},
		{server: `{"command": "node", "args": ["s.js"], "cwd": "d"}`, file: "d/s.js"},
		{server: `{"command": "node", "args": ["s.js"]}`, file: "tools/t.js", text: []string{"s.js", "import './tools/t.js'\n"}},
		{server: `{"command": "python3", "args": ["-m", "srv"]}`, file: "srv/__main__.py"},
		{server: `{"command": "sh", "args": ["-c", "cd d && exec ./r"]}`, file: "d/r"},
		{server: `{"command": "sh", "args": ["${X:-d/r}"]}`, file: "d/r"},
		{server: `{"command": "${CLAUDE_PROJECT_DIR}/d/r"}`, file: "d/r"},
		{server: `{"command": "make", "args": ["-C", "d", "serve"]}`, file: "d/Makefile"},
		{server: `{"command": "npx", "args": ["-y", "srv"]}`, file: "node_modules/srv/i.js"},
		{server: `{"command": "uv", "args": ["run", "--directory", "d", "s.py"]}`, file: "d/s.py"},
		{server: `{"command": "uvx", "args": ["--from", "./d", "srv"]}`, file: "d/srv.py"},
		{server: `{"command": "node", "args": ["s.js"], "env": {"NODE_OPTIONS": "--require ./d/r.js"}}`, file: "d/r.js"},
		{server: `{"command": "srv", "env": {"PATH": "./bin"}}`, file: "bin/srv"},
		{server: `{"command": "go", "args": ["run", "./cmd/srv"]}`, file: "cmd/srv/main.go"},
	} {
		t.Run(c.server, func(t *testing.T) {
			dir := t.TempDir()
			write(t, dir, ".mcp.json", `{"mcpServers": {"s": `+c.server+`}}`, "z/source.c", "", "d/x", "")
			if !slices.Contains(c.text, c.file) {
				write(t, dir, c.file, "x\n")
			}
			write(t, dir, c.text...)
			hash := func() string {
				s, there := Servers(dir)
				parts, err := ServerParts(dir, s)
				if !there || err != nil || len(parts) != 1 || parts[0].Hash == "" {
					t.Fatalf("%+v %v", parts, err)
				}
				return parts[0].Hash
			}
			was := hash()
			write(t, dir, c.file, "# evil\n")
			now := hash()
			if was == now {
				t.Errorf("a change of %s is none", c.file)
			}
			write(t, dir, "z/source.c", "changed")
			if hash() != now {
				t.Error("a change of a file that is not run is one")
			}
		})
	}
}

// A person configures a server outside the folder: what runs is not of it.
func TestServersElsewhere(t *testing.T) {
	dir := t.TempDir()
	write(t, dir, ".mcp.json", `{"mcpServers": {"s": {"command": "/usr/bin/srv", "args": ["--x"]}, "r": {"url": "https://x"}, "n": {"command": "npx", "args": ["-y", "@scope/srv@1.2"]}}}`)
	s, _ := Servers(dir)
	parts, err := ServerParts(dir, s)
	if err != nil || len(parts) != 3 {
		t.Fatal(parts, err)
	}
	for _, p := range parts {
		if !slices.Equal(p.From, []string{".mcp.json"}) || p.Hash == "" {
			t.Errorf("%+v", p)
		}
	}
}

// Hooks as people write them are listed, so that an edit of another file does
// not end them.
func TestUsualHooksAreListed(t *testing.T) {
	for _, line := range []string{
		"cat >> commands.log",
		"if grep -q '\"file_path\":\"[^\"]*/go.sum\"'; then echo 'go.sum is written by go mod tidy' >&2; exit 2; fi",
		`f=$(sed -n 's/.*"file_path":"\([^"]*\)".*/\1/p'); tr -d '\r' <"$f" >"$f.new" && mv "$f.new" "$f"`,
		"cat NOTES",
		`jq -r '"\(.tool_input.command) - \(.tool_input.description // "No description")"' >> ~/.claude/bash-command-log.txt`,
		`jq -r '.tool_input.file_path' | { read file_path; if echo "$file_path" | grep -q '\.ts$'; then npx prettier --write "$file_path"; fi; }`,
		`python3 -c "import json, sys; data=json.load(sys.stdin); path=data.get('tool_input',{}).get('file_path',''); sys.exit(2 if any(p in path for p in ['.env', 'package-lock.json', '.git/']) else 0)"`,
		"notify-send 'Claude Code' 'Awaiting your input'",
		"gofmt -w $(jq -r .tool_input.file_path)",
		"cargo fmt", "black .", "ruff check --fix .", "prettier --write .", "eslint --fix src/",
		"echo done", "git add -A && git commit -qm wip", "git status --short",
	} {
		dir := t.TempDir()
		command, _ := json.Marshal(line)
		write(t, dir, ".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": `+string(command)+`}]}]}}`, "src/a.ts", "", "main.py", "")
		_, parts, err := Hooks(dir)
		if err != nil || len(parts) != 1 || !slices.Equal(parts[0].From, []string{".claude/settings.json"}) {
			t.Errorf("%s: %+v %v", line, parts, err)
		}
	}
}
