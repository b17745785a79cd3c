package guidance

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/jsonc"
)

// reader is an agent or a tool that obeys files by itself when a person opens the folder, or
// starts or uses it there.
type reader struct {
	who string
	// names are those of the files or folders, in small letters, at any depth: one or two
	// parts of a path. One that ends with * has any ending, one that begins with * any
	// beginning.
	names []string
	// protected ones are written only after a yes (SPEC 16.3). The others a task may be
	// about: the person hears of it when the turn has ended.
	protected bool
	// runs reports whether a change of a file makes it run something else than before; nil:
	// each does. It is set where most changes do not, and the form of the file is known.
	runs func(file, before, after string) bool
}

// readers is the one list of who else than pawl obeys what of a workspace. What a project is
// made of, and runs when a person asks for it (source, tests, build files), is not here.
var readers = []reader{
	// The shell that enters the folder: direnv; mise runs [hooks], _.source and exec(), and
	// trusts a path, not a content.
	{who: "direnv", names: []string{".envrc"}, protected: true},
	{who: "mise", names: []string{"mise.toml", ".mise.toml", "mise.local.toml", ".mise.local.toml", ".mise"}, protected: true},
	{who: "asdf", names: []string{".tool-versions"}}, {who: "devbox", names: []string{"devbox.json"}}, {who: "Nix", names: []string{"flake.nix", "devenv.*"}},
	// Git: submodule.NAME.update = !command. Programs that install themselves as its hooks.
	{who: "git", names: []string{".gitmodules"}, protected: true},
	{who: "git", names: []string{".gitattributes", ".husky", "lefthook*", ".lefthook*", ".pre-commit-config.y*", "prek.toml", "hk.pkl", ".overcommit.yml", ".git-hooks", ".githooks"}},
	{who: "Mercurial", names: []string{".hg"}}, {who: "Jujutsu", names: []string{".jj"}},
	// Editors: tasks of a folder that is opened, file watchers and startup tasks,
	// initializeCommand on the host, commands of language servers, exrc.
	{who: "VS Code", names: []string{".vscode"}, protected: true, runs: runsInVSCode}, {who: "VS Code", names: []string{"*.code-workspace"}},
	{who: "JetBrains", names: []string{".idea"}, protected: true}, {who: "Zed", names: []string{".zed"}, protected: true}, {who: "Helix", names: []string{".helix"}, protected: true},
	{who: "a dev container", names: []string{".devcontainer", ".devcontainer.json"}, protected: true}, {who: "Gitpod", names: []string{".gitpod.yml"}},
	{who: "Vim", names: []string{".exrc", ".nvimrc", ".nvim.lua"}, protected: true}, {who: "Vim", names: []string{".vimrc", ".vim", ".lvimrc", ".lazy.lua"}},
	{who: "Emacs", names: []string{".dir-locals*"}}, {who: "Sublime Text", names: []string{"*.sublime-project"}},
	{who: "a language server", names: []string{".luarc.json", "rust-analyzer.toml", ".rubocop.yml", ".pylintrc", ".latexmkrc", "latexmkrc"}},
	// Other agents: MCP servers and hooks are started, plugins loaded, commands run after
	// each edit.
	{who: "Cursor", names: []string{".cursor"}, protected: true}, {who: "Gemini CLI", names: []string{".gemini"}, protected: true}, {who: "Codex", names: []string{".codex"}, protected: true},
	{who: "opencode", names: []string{".opencode", "opencode.json", "opencode.jsonc"}, protected: true}, {who: "Windsurf", names: []string{".windsurf"}, protected: true}, {who: "aider", names: []string{".aider.conf.yml"}, protected: true},
	// What they must not read.
	{who: "Cursor", names: []string{".cursorignore"}, protected: true}, {who: "Gemini CLI", names: []string{".geminiignore", ".aiexclude"}, protected: true}, {who: "aider", names: []string{".aiderignore"}, protected: true}, {who: "Windsurf", names: []string{".codeiumignore"}, protected: true},
	{who: "Qwen Code", names: []string{".qwen", "qwen.md"}}, {who: "Kiro", names: []string{".kiro"}}, {who: "Roo Code", names: []string{".roo", ".roomodes", ".roorules*"}}, {who: "Kilo Code", names: []string{".kilocode"}},
	{who: "Cline", names: []string{".clinerules"}}, {who: "Amazon Q", names: []string{".amazonq"}}, {who: "Augment", names: []string{".augment"}}, {who: "Continue", names: []string{".continue"}}, {who: "Junie", names: []string{".junie"}},
	{who: "Trae", names: []string{".trae"}}, {who: "Factory", names: []string{".factory"}}, {who: "Goose", names: []string{".goosehints"}}, {who: "Cursor", names: []string{".cursorrules"}}, {who: "Windsurf", names: []string{".windsurfrules"}},
	{who: "Gemini CLI", names: []string{"gemini.md"}}, {who: "Warp", names: []string{"warp.md"}}, {who: "Crush", names: []string{"crush.json", ".crush.json", ".crush"}}, {who: "pi", names: []string{".pi"}},
	{who: "Copilot", names: []string{".github/copilot-instructions.md", ".github/instructions", ".github/prompts", ".github/agents", ".github/hooks"}},
	// What runs without a person.
	{who: "GitHub", names: []string{".github/workflows", ".github/actions"}}, {who: "GitLab", names: []string{".gitlab-ci.yml"}}, {who: "CircleCI", names: []string{".circleci"}}, {who: "CI", names: []string{".travis.yml", "azure-pipelines.yml", "bitbucket-pipelines.yml", ".drone.yml", ".buildkite", "jenkinsfile"}},
	// Package managers and the programs below each command.
	{who: "npm", names: []string{".npmrc"}}, {who: "npm install", names: []string{"package.json"}, runs: scripts("preinstall", "install", "postinstall", "prepublish", "preprepare", "prepare", "postprepare", "dependencies")},
	{who: "Yarn", names: []string{".yarnrc*", ".yarn", ".pnp.*"}}, {who: "pnpm", names: []string{".pnpmfile.*", "pnpm-workspace.yaml"}}, {who: "Bun", names: []string{"bunfig.toml"}}, {who: "nvm", names: []string{".nvmrc"}},
	{who: "Composer", names: []string{"composer.json"}, runs: scripts("pre-install-cmd", "post-install-cmd", "pre-update-cmd", "post-update-cmd", "pre-autoload-dump", "post-autoload-dump", "init", "pre-command-run")},
	{who: "pip install", names: []string{"pyproject.toml"}, runs: lines("build-system", "build-backend", "backend-path", "requires", `\u`)}, {who: "pip install", names: []string{"setup.py"}},
	{who: "Python", names: []string{"sitecustomize.py", "usercustomize.py", "*.pth", ".pypirc"}}, {who: "pip", names: []string{"pip.conf"}}, {who: "uv", names: []string{"uv.toml"}}, {who: "Poetry", names: []string{"poetry.toml"}}, {who: "pyenv", names: []string{".python-version"}}, {who: "conda", names: []string{".condarc"}},
	{who: "Cargo", names: []string{".cargo", "build.rs"}}, {who: "rustup", names: []string{"rust-toolchain*"}}, {who: "go", names: []string{"go.work"}},
	{who: "make -n", names: []string{"makefile", "gnumakefile"}, runs: lines("shell", "!=", "include", "(eval", "{eval", "(file", "{file", "guile", "(make)", "{make}", "recipeprefix", "makefile", "\nload ", "\n-load ", "\n%", "\n\t+")},
	{who: "just", names: []string{"justfile", ".justfile"}}, {who: "task", names: []string{"taskfile.y*"}},
	{who: "Bazel", names: []string{".bazelrc", ".bazeliskrc", ".bazelversion", "tools/bazel"}}, {who: "Buck", names: []string{".buckconfig*"}}, {who: "Maven", names: []string{".mvn"}},
	{who: "Gradle", names: []string{"gradle.properties", "gradle/wrapper", "init.gradle*"}}, {who: "the JVM", names: []string{".jvmopts", ".sbtopts"}},
	{who: "NuGet", names: []string{"nuget.config"}}, {who: "MSBuild", names: []string{"directory.build.*", "directory.packages.props"}}, {who: ".NET", names: []string{"global.json", ".config/dotnet-tools.json"}},
	{who: "Bundler", names: []string{".bundle"}}, {who: "RubyGems", names: []string{".gemrc"}}, {who: "rbenv", names: []string{".ruby-version"}},
	{who: "Terraform", names: []string{".terraformrc", ".terraform"}}, {who: "Ansible", names: []string{"ansible.cfg"}}, {who: "Docker Compose", names: []string{"compose.override.y*", "docker-compose.override.y*"}}, {who: "PHP", names: []string{"php.ini", ".user.ini"}},
	// Programs that read a file of the folder in which they start.
	{who: "irb", names: []string{".irbrc"}}, {who: "pry", names: []string{".pryrc"}}, {who: "R", names: []string{".rprofile", ".renviron"}}, {who: "iex", names: []string{".iex.exs"}}, {who: "OCaml", names: []string{".ocamlinit"}},
	{who: "GHCi", names: []string{".ghci"}}, {who: "psql", names: []string{".psqlrc"}}, {who: "gdb", names: []string{".gdbinit"}}, {who: "lldb", names: []string{".lldbinit"}}, {who: "Octave", names: []string{".octaverc"}},
}

// exact are the readers by each whole name, wide those of names with a *.
var exact, wide = func() (exact map[string]*reader, wide []pattern) {
	exact = map[string]*reader{}
	for i := range readers {
		for _, n := range readers[i].names {
			if before, after, any := strings.Cut(n, "*"); any {
				wide = append(wide, pattern{before, after, &readers[i]})
			} else {
				exact[n] = &readers[i]
			}
		}
	}
	return exact, wide
}()

type pattern struct {
	before, after string
	by            *reader
}

// Protected returns the names of others that are written only after a yes.
func Protected() []string {
	var out []string
	for _, r := range readers {
		if r.protected {
			out = append(out, r.names...)
		}
	}
	return out
}

// Obeyed returns who obeys a file of the workspace besides pawl, "" if nobody is known to.
func Obeyed(file string) string {
	if r := readerOf(file); r != nil {
		return r.who
	}
	return ""
}

// RunsNext returns who runs or obeys something else than before now that a file has changed,
// "" for nobody. contents returns what is in it and what was, and false if that is not known.
func RunsNext(file string, contents func() (before, after string, ok bool)) string {
	r := readerOf(file)
	if r == nil {
		return ""
	}
	if r.runs != nil {
		if before, after, ok := contents(); ok && !r.runs(strings.ToLower(file), before, after) {
			return ""
		}
	}
	return r.who
}

func readerOf(file string) *reader {
	parts := strings.Split(strings.ToLower(file), "/")
	if slices.ContainsFunc(parts, func(n string) bool { return n == "node_modules" || n == "vendor" }) {
		return nil
	}
	for i, name := range parts {
		if r := exact[name]; r != nil {
			return r
		}
		if i+1 < len(parts) {
			if r := exact[name+"/"+parts[i+1]]; r != nil {
				return r
			}
		}
		for _, p := range wide {
			if strings.HasPrefix(name, p.before) && strings.HasSuffix(name, p.after) {
				return p.by
			}
		}
	}
	return nil
}

// lines returns what reports whether a line is new that has one of some words, in small
// letters. A line begins with \n, without the spaces after it and what make takes away before
// a recipe.
func lines(words ...string) func(file, before, after string) bool {
	return func(_, before, after string) bool {
		had := map[string]bool{}
		for l := range strings.Lines(before) {
			had[strings.TrimRight(l, "\r\n")] = true
		}
		for l := range strings.Lines(after) {
			l = strings.TrimRight(l, "\r\n")
			text := "\n" + strings.TrimLeft(strings.ToLower(l), " ")
			if recipe, ok := strings.CutPrefix(text, "\n\t"); ok {
				text = "\n\t" + strings.TrimLeft(recipe, " \t@-")
			}
			if !had[l] && slices.ContainsFunc(words, func(w string) bool { return strings.Contains(text, w) }) {
				return true
			}
		}
		return false
	}
}

// scripts returns what reports whether one of some scripts of a package is new or another.
func scripts(names ...string) func(file, before, after string) bool {
	of := func(text string) (map[string]json.RawMessage, bool) {
		var p struct {
			Scripts map[string]json.RawMessage `json:"scripts"`
		}
		err := json.Unmarshal([]byte(strings.TrimPrefix(text, "\ufeff")), &p)
		return p.Scripts, err == nil
	}
	return func(_, before, after string) bool {
		was, _ := of(before) // none in what cannot be read
		is, ok := of(after)
		return !ok || slices.ContainsFunc(names, func(n string) bool { return is[n] != nil && string(is[n]) != string(was[n]) })
	}
}

// runsInVSCode reports whether a folder that is opened there runs something else: a task
// that starts with it, or a setting that names a program.
func runsInVSCode(file, before, after string) bool {
	of := func(text string) (out map[string]json.RawMessage, ok bool) {
		err := json.Unmarshal(jsonc.Plain([]byte(text)), &out)
		return out, err == nil
	}
	is, ok := of(after)
	switch was, _ := of(before); path.Base(file) {
	case "tasks.json":
		return !ok || strings.Contains(after, "folderOpen") || strings.Contains(after, `\u`)
	case "launch.json", "extensions.json": // what the person starts, and what is offered to them
		return false
	case "settings.json":
		return !ok || slices.ContainsFunc(slices.Collect(maps.Keys(is)), func(key string) bool {
			return string(is[key]) != string(was[key]) && slices.ContainsFunc([]string{"path", "exec", "interpreter", "command", "arg", "server", "env", "shell", "terminal", "task", "sdk", "plugin", "script", "run", "program", "java", "git", "tool"}, func(w string) bool {
				return strings.Contains(strings.ToLower(key), w)
			})
		})
	}
	return true
}
