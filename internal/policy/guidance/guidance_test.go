package guidance

import (
	"slices"
	"testing"
)

// SPEC 16.16: what somebody else obeys is known by name, at any depth and in any case.
func TestObeyed(t *testing.T) {
	for file, want := range map[string]string{
		".npmrc": "npm", "web/.npmrc": "npm", ".NPMRC": "npm", ".qwen/settings.json": "Qwen Code", ".roorules-code": "Roo Code", "a/b/.kiro/steering/x.md": "Kiro",
		".github/hooks/x.json": "Copilot", ".github/workflows/ci.yml": "GitHub", ".github/CODEOWNERS": "", "Makefile": "make", "rust-toolchain": "rustup", "rust-toolchain.toml": "rustup",
		".yarnrc.yml": "Yarn", "Taskfile.yaml": "task", ".husky/pre-commit": "git", "sub/.vim/coc-settings.json": "Vim", ".dir-locals-2.el": "Emacs",
		"main.go": "", "package.json": "", "docs/npmrc": "", "node_modules/x/.npmrc": "", "vendor/x/Makefile": "", "README.md": "", "makefile.md": "", "": "",
	} {
		if got := Obeyed(file); got != want {
			t.Errorf("%s: %q, want %q", file, got, want)
		}
	}
}

func TestNames(t *testing.T) {
	if got, want := Names(), []string{"AGENTS.md", "CLAUDE.md", ".pawl", ".agent", ".mcp.json", ".agents", ".claude"}; !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}
