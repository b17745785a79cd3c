package lsp

import (
	"encoding/json"
	"maps"
	"path"
	"slices"
	"strings"
)

// Server describes a language server: how it is started, and for which files.
type Server struct {
	Name string
	// Commands are the forms in which it may be installed, the best one first. The first
	// one whose program exists is used.
	Commands [][]string
	// Files maps a file's extension, or its whole name, to the protocol's name of the
	// language.
	Files map[string]string
	// Roots are names of files, patterns allowed, that mark the root of a project. The
	// nearest one above a file counts. If there is none and Anywhere is set, the
	// workspace is the root.
	Roots []string
	// Outer are roots that contain other roots: the outermost one within the workspace
	// has priority over Roots.
	Outer []string
	// Anywhere means that it is also used for files outside any project.
	Anywhere bool
	// Runs means that it runs code that the project names, such as build scripts,
	// plug-ins or the project's interpreter. It is started in trusted folders only.
	Runs bool
	// Config are the files at its root that decide which code it runs.
	Config []string
	// Install is the command that installs it, shown to the person.
	Install string
	// Options are its initializationOptions. Settings are returned when it requests its
	// configuration.
	Options, Settings map[string]any
	// Pull means that pawl announces that it can pull diagnostics. Some servers then no
	// longer push them.
	Pull bool
	// Group is the name of a group of alternatives: the first one that is installed
	// is used.
	Group string
	// Local is the folder of a project's own copy of the program, below its root. It is
	// used in trusted folders only.
	Local string
	// OpenOnly means that it diagnoses only open files.
	OpenOnly bool
	// OpenUses means that it finds uses in open files only.
	OpenUses bool
	// Edits are commands of its actions that only propose an edit. No other command is
	// ever run.
	Edits []string
}

// Language returns the protocol's name for a file's language, or "" if the server does
// not know the file.
func (s *Server) Language(file string) string {
	base := path.Base(file)
	if l := s.Files[base]; l != "" {
		return l
	}
	return s.Files[strings.ToLower(path.Ext(base))]
}

// Known lists the servers that pawl knows. To a server that pushes diagnostics, pawl does
// not announce that it can pull them: most would stop pushing, and errors in files that
// nobody requested would be lost.
func Known() []Server {
	js := map[string]string{
		".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "typescriptreact",
		".js": "javascript", ".mjs": "javascript", ".cjs": "javascript", ".jsx": "javascriptreact",
	}
	c := map[string]string{".c": "c", ".h": "c"}
	for _, ext := range []string{".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx"} {
		c[ext] = "cpp"
	}
	const nodeBin = "node_modules/.bin"
	jsRoots := []string{"tsconfig.json", "jsconfig.json", "package.json"}
	return []Server{
		{
			Name: "gopls", Commands: [][]string{{"gopls", "serve"}},
			Files: map[string]string{".go": "go", "go.mod": "go.mod", "go.work": "go.work"},
			Roots: []string{"go.mod"}, Outer: []string{"go.work"},
			Install: "go install golang.org/x/tools/gopls@v0.23.0",
			// By default the second half of its diagnostics waits a second, because
			// people type; pawl does not.
			Options: map[string]any{"diagnosticsDelay": "0s", "symbolStyle": "Full", "completeUnimported": true},
			Edits:   []string{"gopls.apply_fix", "gopls.add_import"},
		},
		{
			// Without a syntax server, whose answers are incomplete while the project is
			// read.
			Name: "typescript", Group: "typescript", Commands: [][]string{{"typescript-language-server", "--stdio"}}, Local: nodeBin,
			Files: js, Roots: jsRoots, Anywhere: true, Runs: true, OpenOnly: true,
			Config:  []string{"tsconfig.json", "jsconfig.json", "package.json"},
			Install: "npm install -g typescript-language-server typescript@5",
			Options: map[string]any{"disableAutomaticTypingAcquisition": true, "hostInfo": "pawl", "tsserver": map[string]any{"useSyntaxServer": "never"}},
			Edits:   []string{"_typescript.applyWorkspaceEdit", "_typescript.applyRefactoring", "_typescript.organizeImports"},
		},
		{
			// TypeScript 7 has no tsserver: it is a server itself. It pushes no
			// diagnostics.
			Name: "tsc", Group: "typescript", Commands: [][]string{{"tsc", "--lsp", "--stdio"}}, Local: nodeBin,
			Files: js, Roots: jsRoots, Anywhere: true, Runs: true, OpenOnly: true, Pull: true,
			Config:  []string{"tsconfig.json", "jsconfig.json", "package.json"},
			Install: "npm install -g typescript@7",
		},
		{
			Name: "pyright", Commands: [][]string{{"pyright-langserver", "--stdio"}, {"basedpyright-langserver", "--stdio"}}, Local: nodeBin,
			Files: map[string]string{".py": "python", ".pyi": "python"},
			Roots: []string{"pyrightconfig.json", "pyproject.toml", "setup.py", "setup.cfg", "requirements.txt", "Pipfile"}, Anywhere: true, Runs: true,
			Config:   []string{"pyrightconfig.json", "pyproject.toml"},
			Install:  "npm install -g pyright",
			Edits:    []string{"pyright.organizeimports"},
			Settings: map[string]any{"python": map[string]any{"analysis": map[string]any{"autoSearchPaths": true, "diagnosticMode": "workspace", "useLibraryCodeForTypes": true}}},
		},
		{
			Name: "rust-analyzer", Commands: [][]string{{"rust-analyzer"}},
			Files: map[string]string{".rs": "rust"}, Roots: []string{"Cargo.toml"}, Outer: []string{"Cargo.lock"}, Runs: true,
			Config:  []string{"Cargo.toml", "build.rs", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml", "rust-analyzer.toml"},
			Install: "rustup component add rust-analyzer",
		},
		{
			Name: "json", Commands: [][]string{{"vscode-json-language-server", "--stdio"}},
			Files: map[string]string{".json": "json", ".jsonc": "jsonc"}, Anywhere: true,
			Install: "npm install -g vscode-langservers-extracted",
			// Schemas come from the disk only: a file must not make pawl's servers
			// request an address on the network that it names.
			Options:  map[string]any{"provideFormatter": false, "handledSchemaProtocols": []string{"file"}},
			Settings: map[string]any{"json": map[string]any{"validate": map[string]any{"enable": true}, "schemas": []any{}}},
		},
		{
			Name: "clangd", Commands: [][]string{{"clangd", "--background-index=false", "--header-insertion=never", "--use-dirty-headers"}},
			Files: c, Roots: []string{"compile_commands.json", "compile_flags.txt", ".clangd", "CMakeLists.txt", "Makefile"}, Anywhere: true, Runs: true, OpenOnly: true, OpenUses: true,
			Edits:   []string{"clangd.applyFix", "clangd.applyTweak"},
			Config:  []string{".clangd", "compile_flags.txt"},
			Install: "apt-get install clangd   (or: brew install llvm)",
		},
		{
			Name: "bash", Commands: [][]string{{"bash-language-server", "start"}},
			Files: map[string]string{".sh": "shellscript", ".bash": "shellscript"}, Anywhere: true,
			Install: "npm install -g bash-language-server",
		},
		{
			Name: "yaml", Commands: [][]string{{"yaml-language-server", "--stdio"}},
			Files: map[string]string{".yaml": "yaml", ".yml": "yaml"}, Anywhere: true, Runs: true, // it fetches the schemas that a file names
			Install:  "npm install -g yaml-language-server",
			Settings: map[string]any{"yaml": map[string]any{"validate": true, "schemaStore": map[string]any{"enable": false}, "schemas": map[string]any{}}},
		},
		{
			Name: "lua", Commands: [][]string{{"lua-language-server"}},
			Files: map[string]string{".lua": "lua"}, Roots: []string{".luarc.json", ".luarc.jsonc", ".luacheckrc"}, Anywhere: true, Runs: true,
			Config:  []string{".luarc.json", ".luarc.jsonc"},
			Install: "brew install lua-language-server   (or from its releases)",
		},
		{
			Name: "ruby", Commands: [][]string{{"ruby-lsp"}, {"solargraph", "stdio"}},
			Files: map[string]string{".rb": "ruby", "Rakefile": "ruby", "Gemfile": "ruby"}, Roots: []string{"Gemfile", "*.gemspec"}, Anywhere: true, Runs: true,
			Config:  []string{"Gemfile", ".solargraph.yml", ".ruby-lsp/Gemfile"},
			Install: "gem install ruby-lsp",
		},
		{
			Name: "java", Commands: [][]string{{"jdtls"}},
			Files: map[string]string{".java": "java"}, Roots: []string{"pom.xml", "build.gradle", "build.gradle.kts"},
			Outer: []string{"settings.gradle", "settings.gradle.kts", "mvnw", "gradlew"}, Runs: true,
			Config:  []string{"pom.xml", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts"},
			Install: "brew install jdtls   (or from the Eclipse JDT LS downloads)",
		},
		{
			Name: "csharp", Commands: [][]string{{"csharp-ls"}, {"OmniSharp", "-lsp"}},
			Files: map[string]string{".cs": "csharp"}, Roots: []string{"*.csproj"}, Outer: []string{"*.sln"}, Runs: true,
			Config:  []string{"Directory.Build.props", "Directory.Build.targets", "global.json", "omnisharp.json"},
			Install: "dotnet tool install -g csharp-ls",
		},
	}
}

// Setting is a person's configuration of a server. It changes a server that pawl knows,
// and adds any other that has a Command.
type Setting struct {
	Command  []string       `json:"command,omitempty"`  // program and arguments
	Files    []string       `json:"files,omitempty"`    // extensions with their dot, or whole names
	Language string         `json:"language,omitempty"` // the protocol's name; empty: the server's name
	Roots    []string       `json:"roots,omitempty"`
	Options  map[string]any `json:"options,omitempty"`
	Settings map[string]any `json:"settings,omitempty"`
	Disabled bool           `json:"disabled,omitempty"`
}

// Table returns the known servers, changed by a person's configuration by server name.
func Table(conf map[string]Setting) []Server {
	out := Known()
	for _, name := range slices.Sorted(maps.Keys(conf)) {
		set := conf[name]
		i := slices.IndexFunc(out, func(s Server) bool { return s.Name == name })
		if set.Disabled {
			if i >= 0 {
				out = slices.Delete(out, i, i+1)
			}
			continue
		}
		if i < 0 {
			if len(set.Command) == 0 {
				continue
			}
			out = append(out, Server{Name: name, Anywhere: len(set.Roots) == 0, Runs: true, Files: map[string]string{}})
			i = len(out) - 1
		}
		out[i].change(set)
	}
	return out
}

func (s *Server) change(set Setting) {
	if len(set.Command) > 0 {
		s.Commands = [][]string{set.Command}
	}
	if len(set.Roots) > 0 {
		s.Roots, s.Outer = set.Roots, nil
	}
	if len(set.Files) > 0 {
		s.Files = map[string]string{}
		for _, f := range set.Files {
			s.Files[f] = set.Language
			if set.Language == "" {
				s.Files[f] = s.Name
			}
		}
	}
	s.Options, s.Settings = merge(s.Options, set.Options), merge(s.Settings, set.Settings)
}

// merge returns the object under, with the values of over replacing those of the same
// name.
func merge(under, over map[string]any) map[string]any {
	if len(over) == 0 {
		return under
	}
	out := maps.Clone(under)
	if out == nil {
		out = map[string]any{}
	}
	for k, v := range over {
		a, okA := out[k].(map[string]any)
		b, okB := v.(map[string]any)
		if okA && okB {
			v = merge(a, b)
		}
		out[k] = v
	}
	return out
}

// section returns the part of a server's settings that it requests by a name "a.b", or
// all settings for "".
func section(settings map[string]any, name string) any {
	var v any = settings
	if settings == nil {
		v = map[string]any{}
	}
	if name == "" {
		return v
	}
	for part := range strings.SplitSeq(name, ".") {
		m, ok := v.(map[string]any)
		if !ok || m[part] == nil {
			return json.RawMessage("null")
		}
		v = m[part]
	}
	return v
}
