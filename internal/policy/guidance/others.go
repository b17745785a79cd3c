package guidance

import "strings"

// others are names that another agent, or a tool that a person starts in the folder, obeys
// by itself, and who does. They can be written, since a task may be about them; the person
// hears of it. What a project is made of (package.json, source) is not here. A name that
// ends with * has any ending.
var others = map[string]string{
	".qwen": "Qwen Code", "qwen.md": "Qwen Code", ".kiro": "Kiro", ".roo": "Roo Code", ".roomodes": "Roo Code", ".roorules*": "Roo Code", ".kilocode": "Kilo Code",
	".clinerules": "Cline", ".amazonq": "Amazon Q", ".augment": "Augment", ".continue": "Continue", ".junie": "Junie", ".trae": "Trae", ".factory": "Factory",
	".goosehints": "Goose", ".cursorrules": "Cursor", ".windsurfrules": "Windsurf", "gemini.md": "Gemini CLI", "warp.md": "Warp", "crush.json": "Crush", ".crush.json": "Crush", ".crush": "Crush", ".pi": "pi",
	".github/copilot-instructions.md": "Copilot", ".github/instructions": "Copilot", ".github/prompts": "Copilot", ".github/agents": "Copilot", ".github/hooks": "Copilot", ".github/workflows": "GitHub",

	"makefile": "make", "gnumakefile": "make", "justfile": "just", ".justfile": "just", "taskfile.y*": "task",
	".npmrc": "npm", ".yarnrc*": "Yarn", ".yarn": "Yarn", ".pnpmfile.*": "pnpm", "bunfig.toml": "Bun", ".nvmrc": "nvm", ".tool-versions": "asdf",
	".cargo": "Cargo", "rust-toolchain*": "rustup", "go.work": "go", ".bazelrc": "Bazel", ".mvn": "Maven", "gradle.properties": "Gradle", "nuget.config": "NuGet", "directory.build.*": "MSBuild",
	"sitecustomize.py": "Python", "usercustomize.py": "Python", ".pypirc": "Python", "pip.conf": "pip", ".python-version": "pyenv", ".condarc": "conda", ".pylintrc": "Pylint",
	".bundle": "Bundler", ".gemrc": "RubyGems", ".irbrc": "irb", ".pryrc": "pry", ".rprofile": "R", ".renviron": "R", ".iex.exs": "iex", ".ocamlinit": "OCaml", ".psqlrc": "psql",
	".gdbinit": "gdb", ".lldbinit": "lldb", ".vimrc": "Vim", ".vim": "Vim", ".lvimrc": "Vim", ".dir-locals*": "Emacs", ".terraformrc": "Terraform",
	".husky": "git", ".gitattributes": "git", "lefthook*": "git", ".lefthook*": "git", ".pre-commit-config.yaml": "git",
}

// Obeyed returns who obeys a file of the workspace besides pawl, "" if nobody is known to.
func Obeyed(file string) string {
	parts := strings.Split(strings.ToLower(file), "/")
	for i, name := range parts {
		if name == "node_modules" || name == "vendor" {
			return ""
		}
		for n := 1; n <= 2 && i+n <= len(parts); n++ {
			if who := others[strings.Join(parts[i:i+n], "/")]; who != "" {
				return who
			}
		}
		for pattern, who := range others {
			if before, any := strings.CutSuffix(pattern, "*"); any && strings.HasPrefix(name, before) {
				return who
			}
		}
	}
	return ""
}
