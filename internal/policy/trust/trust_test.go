package trust

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func check(sources ...Source) Part { return Define(Check, "node in .", []string{"npm test"}, sources) }

func file(name, text string) Source { return Source{Name: name, Text: text} }

// SPEC 16.1: a part is trusted as it was shown, and by nothing else.
func TestJudge(t *testing.T) {
	was := check(file("package.json", `{"scripts": {"test": "jest"}}`))
	now := func(p ...Part) []Part { return p }
	yes := Accept("/p", "1", time.Unix(9, 0), true, now(was))
	no := Accept("/p", "1", time.Unix(9, 0), false, now(was))
	evil := check(file("package.json", `{"scripts": {"test": "curl evil"}}`))
	unread := check(Source{Name: "package.json", Unread: true})
	env := Define(Env, "x", nil, nil)
	for _, c := range []struct {
		name     string
		e        *Entry
		folder   string
		parts    []Part
		want     State
		declined bool
		asks     int
	}{
		{"nobody said", nil, "1", now(was), Untrusted, false, 1},
		{"as it was", &yes, "1", now(was), Trusted, false, 0},
		{"nothing is there any more", &yes, "1", nil, Nothing, false, 0},
		{"changed", &yes, "1", now(evil), Changed, false, 1},
		{"one is new", &yes, "1", now(was, Define(Check, "make in .", nil, nil)), Changed, false, 1},
		{"another kind of that name", &yes, "1", now(Define(Env, was.Name, nil, nil)), Nothing, false, 0},
		{"another folder at the path", &yes, "2", now(was), Changed, false, 1},
		{"unreadable", &yes, "1", now(unread), Changed, false, 1},
		{"what pawl does not run is not asked about", nil, "1", now(env), Nothing, false, 0},
		{"no", &no, "1", now(was), Untrusted, true, 1},
		{"no, and it changed since", &no, "1", now(evil), Untrusted, false, 1},
		{"no, and something came", &no, "1", now(was, evil, Define(Check, "new", nil, nil)), Untrusted, false, 3},
		{"no, to another folder", &no, "2", now(was), Untrusted, false, 1},
		{"an empty entry of old", &Entry{Path: "/p", Folder: "1"}, "1", now(was), Changed, false, 1},
		{"unreadable then and now", func() *Entry { e := Accept("/p", "1", time.Time{}, true, now(unread)); return &e }(), "1", now(unread), Changed, false, 1},
	} {
		v := Assess(c.e, c.folder, c.parts)
		if v.State != c.want || v.Declined != c.declined || len(v.Asks()) != c.asks {
			t.Errorf("%s: %s, declined %v, asks %d; want %s, %v, %d", c.name, v.State, v.Declined, len(v.Asks()), c.want, c.declined, c.asks)
		}
		for _, p := range v.Parts {
			if p.Trusted == (p.Why != "") {
				t.Errorf("%s: %+v", c.name, p)
			}
		}
	}
	if d := Assess(&yes, "1", now(evil)).Asks()[0].Difference(); strings.Join(d, "|") != "- package.json: scripts.test = jest|+ package.json: scripts.test = curl evil" {
		t.Errorf("%q", d)
	}
}

// SPEC 16.1: what decides what runs changes the hash, also where it is dressed
// as what does not; an ordinary edit does not.
func TestExecutable(t *testing.T) {
	const pkg = `{"name": "a", "version": "1.0.0", "scripts": {"test": "jest", "pretest": "x"}, "dependencies": {"a": "1"}}`
	const toml = "[project]\nname = \"a\"\ndependencies = [\n  \"x\",\n]\n[tool.pytest.ini_options]\naddopts = \"-q\"\n[tool.ruff]\nline-length = 1\n"
	const cargo = "[package]\nname = \"a\"\nversion = \"1\"\n[dependencies]\nserde = \"1\"\n"
	for _, c := range []struct {
		file, was, is string
		changes       bool
	}{
		{"package.json", pkg, strings.Replace(pkg, "1.0.0", "1.0.1", 1), false},
		{"package.json", pkg, strings.Replace(pkg, `"a": "1"`, `"a": "2", "b": "1"`, 1), false},
		{"package.json", pkg, strings.ReplaceAll(pkg, " ", "\n"), false},
		{"package.json", `{"scripts":{"a":"1","b":"2"}}`, `{"scripts":{"b":"2","a":"1"}}`, false},
		{"package.json", pkg, strings.Replace(pkg, "jest", "jest;x", 1), true},
		{"package.json", pkg, strings.Replace(pkg, `"x"`, `"y"`, 1), true},
		{"package.json", pkg, strings.Replace(pkg, `{"name`, `{"packageManager": "npm@9 ", "name`, 1), true},
		{"package.json", pkg, strings.Replace(pkg, `{"name`, `{"jest": {"globalSetup": "./e"}, "name`, 1), true},
		{"package.json", pkg, strings.Replace(pkg, `{"name`, `{"config": {"script-shell": "./e"}, "name`, 1), true},
		{"package.json", pkg, strings.Replace(pkg, `{"name`, `{"scripts": {}, "name`, 1), false}, // the last one counts, for npm too
		{"package.json", pkg, pkg[:len(pkg)-1] + `, "scripts": {"test": "evil"}}`, true},
		{"package.json", pkg, pkg[:len(pkg)-1] + `, "scr\u0069pts": {"test": "evil"}}`, true},
		{"package.json", pkg, pkg + "x", true}, // no JSON: whole
		{"package.json", "[1]", "[2]", true},
		{"sub/package.json", pkg, strings.Replace(pkg, "jest", "evil", 1), true},

		{"go.mod", "module a\n\ngo 1.25\n", "module a\n\ngo 1.26\n\nrequire b v1\n", false},
		{"go.mod", "module a\n", "module a\n\ntoolchain go1.26-x\n", true},
		{"go.mod", "module a\n", "module a\n\n\ttoolchain\tgo1.26-x\n", true},
		{"go.work", "go 1.26\n", "go 1.26\ntoolchain default\n", true},

		{"pyproject.toml", toml, strings.Replace(toml, `"x"`, `"y"`, 1), false},
		{"pyproject.toml", toml, strings.Replace(toml, "line-length = 1", "line-length = 2", 1), false},
		{"pyproject.toml", toml, strings.Replace(toml, "-q", "-p evil", 1), true},
		{"pyproject.toml", toml, toml + "[tool.pytest]\na = 1\n", true},
		{"pyproject.toml", toml, toml + "[ tool . pytest . ini_options ]\na = 1\n", true},
		{"pyproject.toml", toml, toml + "[\"tool\".pytest.ini_options]\na = 1\n", true},
		{"pyproject.toml", toml, toml + "[tool.pytest.ini_options] # a=b\naddopts = 1\n", true},
		{"pyproject.toml", toml, toml + "[[tool.pytest.ini_options]]\naddopts = 1\n", true},
		{"pyproject.toml", toml, toml + "[tool.\"pytest#\"]\naddopts = 1\n", true},
		{"pyproject.toml", toml, "[project]\nd = '''\n[project]\n'''\n[tool.pytest.ini_options]\nx=1\n", true},
		{"pyproject.toml", toml, toml + "[project.\"x]\"]\n[tool.pytest.ini_options]\nx=1\n", true},
		{"pyproject.toml", toml, "\ufeff" + toml, true},
		{"setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = b\n", false},
		{"setup.cfg", "[metadata]\nname = a\n", "[metadata]\nname = a\n[tool:pytest]\naddopts = -p e\n", true},
		{"setup.cfg", "[metadata]\nname = \"\"\"\n", "[metadata]\nname = \"\"\"\n[tool:pytest]\naddopts = -p e\n", true},
		{"tox.ini", "[pytest]\n", "[pytest]\naddopts = -p e\n", true},

		{"Cargo.toml", cargo, strings.Replace(cargo, `"1"`, `"2"`, 2), false},
		{"Cargo.toml", cargo, strings.Replace(cargo, "[dep", "build = \"evil.rs\"\n[dep", 1), true},
		{"Cargo.toml", cargo, cargo + "[lib]\nproc-macro = true\n", true},
		{"Cargo.toml", cargo, cargo + "[target.'cfg(unix)'.dependencies]\nx = \"1\"\n", false},
		{"Cargo.toml", cargo, cargo + "[patch.crates-io]\nserde = { path = \"evil\" }\n", true},
		{"Cargo.toml", cargo, "package.build = 'x'\n" + cargo, true},

		{".npmrc", "", "script-shell=./evil\n", true},
		{"conftest.py", "a", "b", true},
		{"Makefile", "check:\n\tx\n", "check:\n\tx\n\ty\n", true},
		{"build.rs", "fn main() {}", "fn main() {evil()}", true},
		{"bin/check", "x", "y", true},
	} {
		a, b := check(file(c.file, c.was)), check(file(c.file, c.is))
		if (a.Hash != b.Hash) != c.changes {
			t.Errorf("%s: %q → %q: changed %v, want %v", c.file, c.was, c.is, !c.changes, c.changes)
		}
	}
	// Where a line ends, which file it is in, and whether the file is there at
	// all is part of it.
	for _, d := range [][2]Part{
		{check(file("a", "x\ny")), check(file("a", "x"), file("y", ""))},
		{check(file("a", "xy")), check(file("a", "x\ny"))},
		{check(), check(file(".npmrc", ""))},
		{check(file("a", "1"), file("b", "")), check(file("a", ""), file("b", "1"))},
	} {
		if d[0].Hash == d[1].Hash || d[0].Hash == "" {
			t.Errorf("the same hash: %+v, %+v", d[0], d[1])
		}
	}
}

// What is kept for people to compare is bounded, and a change beyond it told.
func TestLinesAreBounded(t *testing.T) {
	long := strings.Repeat("x\n", 10_000) + strings.Repeat("y", 10_000)
	a, b := check(file("Makefile", long)), check(file("Makefile", long+"evil"))
	if len(a.Lines) > maxLines || a.Hash == b.Hash {
		t.Errorf("%d lines", len(a.Lines))
	}
	e := Accept("/p", "1", time.Time{}, true, []Part{a})
	if d := Assess(&e, "1", []Part{b}).Asks()[0].Difference(); len(d) != 1 || !strings.Contains(d[0], "beyond the lines") {
		t.Errorf("%q", d)
	}
	if l := check(file("Makefile", strings.Repeat("é", 10_000)+"\xff")).Lines[0]; len([]rune(l)) > maxLine+20 || !strings.HasSuffix(l, "…") {
		t.Errorf("%q", l)
	}
}

// SPEC 16.1: the files in which tools let a folder name programs are told of,
// each in the words that would run.
func TestParts(t *testing.T) {
	for _, c := range []struct{ file, text, want string }{
		{".mcp.json", `{"mcpServers": {"b": {"command": "npx", "args": ["-y", "evil"]}, "a": {"url": "http://x"}}}`, "mcp a (.mcp.json) http://x|mcp b (.mcp.json) npx -y evil"},
		{".mcp.json", "// x\n{\"mcpServers\": {},}", ""},
		{".mcp.json", "not json", "mcp .mcp.json"},
		{".mcp.json", `{"mcpServers": [1]}`, "mcp .mcp.json"},
		{".mcp.json", `{"mcpServers": {"a": 5}}`, "mcp a (.mcp.json) of an unknown form"},
		{".vscode/mcp.json", `{"servers": {"a": {"command": "x"}}}`, "other MCP server a (.vscode/mcp.json) x"},
		{"opencode.json", `{"mcp": {"a": {"type": "local", "command": ["x", "y"]}}, "lsp": {"go": {"command": ["evil"]}}}`, "other MCP server a (opencode.json) x y|other lsp (opencode.json)"},
		{".claude/settings.json", `{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "a"}, {"type": "prompt"}]}], "PreToolUse": [{"matcher": "Bash", "hooks": [{"command": "b"}]}]}, "apiKeyHelper": "c", "env": {"A": "b"}}`,
			`hook PreToolUse 1 (.claude/settings.json) b|hook Stop 1 (.claude/settings.json) a|other hook Stop 2 (.claude/settings.json) {"type": "prompt"}|other apiKeyHelper (.claude/settings.json) "c"|env env (.claude/settings.json)`},
		{".claude/settings.json", `{"hooks": "x"}`, "other hooks (.claude/settings.json)"},
		{".claude/settings.json", `{"permissions": {"allow": ["Bash"]}}`, ""},
		{".gemini/settings.json", `{"mcpServers": {"g": {"httpUrl": "http://g"}}}`, "other MCP server g (.gemini/settings.json) http://g"},
		{".codex/config.toml", "model = 'x'\n[mcp_servers.a]\ncommand = 'x'\n[other]\n", "other MCP server a (.codex/config.toml)"},
		{".codex/config.toml", "mcp_servers = {a = {command = 'x'}}\n", "other MCP server .codex/config.toml"},
		{".envrc", "export A=1", "env .envrc"},
		{".vscode/tasks.json", "{}", "editor .vscode/tasks.json"},
		{".git/hooks/pre-commit", "#!/bin/sh\nevil", "git .git/hooks/pre-commit"},
		{".husky/pre-commit", "x", "git .husky/pre-commit"},
		{".git/config", "[core]\n\trepositoryformatversion = 0\n\tbare = false\n[remote \"origin\"]\n\turl = https://x/y\n\tfetch = +refs/*\n[branch \"main\"]\n\tremote = origin\n[user]\n\tname = x\n", ""},
		{".git/config", "[core] fsmonitor = evil\n", "git .git/config core.fsmonitor = evil"},
		{".git/config", "[CORE]\n\tHooksPath = x\n", "git .git/config core.HooksPath = x"},
		{".git/config", "[filter \"x\"]\n\tclean = evil\n[alias]\n\ts = !evil\n[include]\n\tpath = e\n", "git .git/config filter.clean = evil alias.s = !evil include.path = e"},
		{".git/config", "[remote \"origin\"]\n\turl = ext::sh -c evil\n", "git .git/config remote.url = ext::sh -c evil"},
		{".git/config", "[remote \"origin\"]\n\tuploadpack = evil\n", "git .git/config remote.uploadpack = evil"},
		{"README.md", "x", ""},
	} {
		var got []string
		for _, p := range Parts(file(c.file, c.text)) {
			if p.Kind.Runs() != (c.file == ServersFile || p.Kind == Hook) {
				t.Errorf("%s: whether pawl runs %s is wrong", c.file, p.Name)
			}
			got = append(got, strings.TrimSpace(string(p.Kind)+" "+p.Name+" "+strings.Join(p.Runs, " ")))
		}
		if strings.Join(got, "|") != c.want {
			t.Errorf("%s %s:\n%s\nwant\n%s", c.file, c.text, strings.Join(got, "|"), c.want)
		}
	}
	for _, name := range Files() {
		if ps := Parts(Source{Name: name, Unread: true}); len(ps) != 1 || ps[0].Hash != "" {
			t.Errorf("%s that cannot be read: %+v", name, ps)
		}
	}
}

// Files of a tool's that also lie above are looked for there; what is not known
// may be any.
func TestDefining(t *testing.T) {
	got := Defining("node", "a/b", []string{"a", "."}, []string{"a/b/ci.sh"})
	for _, want := range []string{"a/b/package.json", "a/package.json", "package.json", ".npmrc", "a/b/jest.config.js", "a/b/ci.sh"} {
		if !slices.Contains(got, want) {
			t.Errorf("no %s in %v", want, got)
		}
	}
	if slices.Contains(got, "jest.config.js") || slices.Contains(got, "a/b/Makefile") {
		t.Errorf("%v", got)
	}
	own := Defining("own", ".", nil, nil)
	for _, want := range []string{"package.json", "Makefile", "conftest.py", ".cargo/config.toml", "justfile", "go.work"} {
		if !slices.Contains(own, want) {
			t.Errorf("no %s for a command of one's own", want)
		}
	}
}
