package guidance

import (
	"slices"
	"testing"
)

// SPEC 16.16: what somebody else obeys is known by name, at any depth and in any case.
func TestObeyed(t *testing.T) {
	for file, want := range map[string]string{
		".npmrc": "npm", "web/.npmrc": "npm", ".NPMRC": "npm", ".qwen/settings.json": "Qwen Code", ".roorules-code": "Roo Code", "a/b/.kiro/steering/x.md": "Kiro",
		".github/hooks/x.json": "Copilot", ".github/workflows/ci.yml": "GitHub", ".github/CODEOWNERS": "", "Makefile": "make -n", "rust-toolchain": "rustup", "rust-toolchain.toml": "rustup",
		".yarnrc.yml": "Yarn", "Taskfile.yaml": "task", ".husky/pre-commit": "git", "sub/.vim/coc-settings.json": "Vim", ".dir-locals-2.el": "Emacs", "x/tools/bazel": "Bazel", "a.code-workspace": "VS Code",
		".envrc": "direnv", "lib/a.pth": "Python", "gradle/wrapper/gradle-wrapper.properties": "Gradle", "gradle/libs.versions.toml": "", "tools/bazelx": "", ".idea/runConfigurations/x.xml": "JetBrains",
		"main.go": "", "package.json": "npm install", "docs/npmrc": "", "node_modules/x/.npmrc": "", "vendor/x/Makefile": "", "README.md": "", "makefile.md": "", "conftest.py": "", "": "",
	} {
		if got := Obeyed(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

// SPEC 16.16: a file that a task is often about is told only if what runs by itself changed.
func TestRunsNext(t *testing.T) {
	const mk = "X := 1\ntest:\n\tgo test ./...\n"
	for _, c := range []struct {
		file, before, after string
		want                bool
	}{
		{"package.json", `{"scripts":{"test":"a"}}`, `{"scripts":{"test":"b","build":"c"},"dependencies":{"x":"1"}}`, false},
		{"package.json", `{"scripts":{"prepare":"a"}}`, `{"scripts":{"prepare":"a","test":"b"}}`, false},
		{"package.json", `{"scripts":{"prepare":"a"}}`, `{"scripts":{"prepare":"b"}}`, true},
		{"package.json", "", `{"scripts":{"p\u006fstinstall":"b"}}`, true},
		{"web/package.json", "{", "{", true},
		{"package.json", "", "\ufeff" + `{"scripts":{"preinstall":"b"}}`, true},
		{"composer.json", "{}", `{"scripts":{"post-install-cmd":["x"]}}`, true},
		{"composer.json", "{}", `{"require":{}}`, false},
		{"Makefile", mk, mk + "lint:\n\tgo vet\n", false},
		{"Makefile", mk, mk + "Y := $(shell date)\n", true},
		{"Makefile", mk, mk + "Y != date\n", true},
		{"Makefile", mk, mk + "-include x.mk\n", true},
		{"Makefile", mk, mk + "lint:\n\t@ +date\n", true},
		{"Makefile", mk, mk + "install: all\n\tdownload file; make all\n", false},
		{"Makefile", mk, mk + "  load x.so\n", true},
		{"Makefile", mk + "Y := $(shell date)\n", "# new\n" + mk + "Y := $(shell date)\r\n", false},
		{"pyproject.toml", "[project]\n", "[project]\nversion = \"2\"\n", false},
		{"pyproject.toml", "[project]\n", "[project]\n[build-system]\nbuild-backend = \"own\"\n", true},
		{".vscode/settings.json", "{}", "{ // a comment\n\"editor.tabSize\": 2,}", false},
		{".vscode/settings.json", "{}", `{"python.defaultInterpreterPath": "./x"}`, true},
		{".vscode/settings.json", `{"terminal.integrated.profiles.linux": {"a": {"path": "a"}}}`, `{"terminal.integrated.profiles.linux": {"a": {"path": "b"}}}`, true},
		{".vscode/tasks.json", "{}", `{"tasks":[{"command":"make"}]}`, false},
		{".vscode/tasks.json", "{}", `{"tasks":[{"command":"make","runOptions":{"runOn":"folderOpen"}}]}`, true},
		{".vscode/launch.json", "{}", `{"a":1}`, false},
		{".vscode/mcp.json", "{}", `{"a":1}`, true},
		{".envrc", "a", "b", true},
		{"main.go", "a", "b", false},
	} {
		if got := RunsNext(c.file, func() (string, string, bool) { return c.before, c.after, true }); (got != "") != c.want {
			t.Errorf("%s %q: %q", c.file, c.after, got)
		}
		if got := RunsNext(c.file, func() (string, string, bool) { return "", "", false }); got != Obeyed(c.file) {
			t.Errorf("%s, not known: %q", c.file, got)
		}
	}
}

func TestNames(t *testing.T) {
	if got, want := Names(), []string{"AGENTS.md", "CLAUDE.md", ".claude", "GEMINI.md", "CLAUDE.local.md", ".pawl", ".agent", ".mcp.json", ".cursor", ".agents"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
	for name, r := range exact {
		if Obeyed(name) != r.who {
			t.Errorf("%s is hidden by another name", name)
		}
	}
	for _, r := range readers {
		for _, name := range r.names {
			if r.protected && len(name) > 0 && name[len(name)-1] == '*' {
				t.Errorf("%s: the sandbox protects whole names", name)
			}
		}
	}
}
