package trust

import (
	"maps"
	"path"
	"slices"
)

// This file knows which files decide what a check runs, for each kind of project.

// definition lists the files that define the checks of a kind of project: those
// in the project's folder, and those that its tools also read in each folder
// above.
type definition struct{ tools, here, above []string }

var definitions = map[string]definition{
	"go": {here: []string{"go.mod"}, above: []string{"go.work"}},
	"node": {
		tools: []string{"npm", "npx", "pnpm", "pnpx", "yarn", "bun", "bunx"},
		here: []string{
			"package.json", ".mocharc.js", ".mocharc.cjs", ".mocharc.mjs", ".mocharc.json", ".mocharc.jsonc", ".mocharc.yml", ".mocharc.yaml",
			"jest.config.js", "jest.config.cjs", "jest.config.mjs", "jest.config.ts", "jest.config.json",
			"vitest.config.js", "vitest.config.mjs", "vitest.config.cjs", "vitest.config.ts", "vitest.config.mts", "vitest.workspace.ts", "vitest.workspace.js",
			"vite.config.js", "vite.config.mjs", "vite.config.cjs", "vite.config.ts", "vite.config.mts",
		},
		above: []string{
			"package.json", ".npmrc", ".yarnrc", ".yarnrc.yml", ".pnpmfile.cjs", ".pnpmfile.mjs", "pnpm-workspace.yaml", "bunfig.toml",
			"babel.config.js", "babel.config.cjs", "babel.config.mjs", "babel.config.json", ".babelrc", ".babelrc.js", ".babelrc.json",
			"eslint.config.js", "eslint.config.mjs", "eslint.config.cjs", "eslint.config.ts", ".eslintrc.js", ".eslintrc.cjs", ".eslintrc.json", ".eslintrc.yml", ".eslintrc.yaml", ".eslintrc",
		},
	},
	"python": {
		tools: []string{"pytest", "py.test", "tox", "nox", "poetry", "pdm", "uv", "hatch", "pipenv"},
		here:  []string{"tests/conftest.py", "test/conftest.py", "noxfile.py"},
		above: []string{"conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"},
	},
	"cargo": {
		tools: []string{"cargo"},
		here:  []string{"Cargo.toml", "build.rs"},
		above: []string{"Cargo.toml", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml"},
	},
	"make":    {tools: []string{"make", "gmake", "bmake", "MAKE"}, here: []string{"GNUmakefile", "makefile", "Makefile"}},
	"just":    {tools: []string{"just"}, here: []string{"justfile", "Justfile", ".justfile", ".env"}},
	"ruby":    {tools: []string{"rake", "bundle", "rails"}, here: []string{"Rakefile", "rakefile", "Gemfile"}},
	"jvm":     {tools: []string{"gradle", "gradlew", "mvn", "mvnw", "ant"}, here: []string{"gradlew", "mvnw", "build.gradle", "build.gradle.kts", "settings.gradle", "settings.gradle.kts", "gradle.properties", "pom.xml", "build.xml"}},
	"cmake":   {tools: []string{"cmake", "ctest", "meson"}, here: []string{"CMakeLists.txt", "CMakePresets.json", "meson.build"}},
	"runners": {tools: []string{"turbo", "nx", "task", "lefthook", "pre-commit", "husky", "compose", "docker-compose"}, here: []string{"turbo.json", "nx.json", "Taskfile.yml", "Taskfile.yaml", "lefthook.yml", ".pre-commit-config.yaml", ".huskyrc", "compose.yaml", "compose.yml", "docker-compose.yml", "Dockerfile"}},
	"js":      {tools: []string{"node", "nodejs", "tsx", "ts-node", "deno"}, above: []string{"package.json"}},
}

// BuildFiles returns the names under which make or just search for their file, in their
// order.
func BuildFiles(tool string) []string {
	return slices.DeleteFunc(slices.Clone(definitions[tool].here), func(n string) bool { return n == ".env" })
}

// DefinedFor returns the files that define what tools run, of which a text has the names:
// those in a folder, and those that the tools also read in each folder above.
func DefinedFor(said map[string]bool) (here, above []string) {
	for _, k := range slices.Sorted(maps.Keys(definitions)) {
		if d := definitions[k]; slices.ContainsFunc(d.tools, func(t string) bool { return said[t] }) {
			here, above = append(here, d.here...), append(above, d.above...)
		}
	}
	return here, above
}

// Defining returns the files that decide what a check of a kind of project in a folder
// runs, whether they exist or not. defined are other known files. up are the parent
// folders that tools also search. Names are relative to the folder that dir is relative
// to.
func Defining(kind, dir string, up, defined []string) []string {
	var out []string
	seen := map[string]bool{}
	add := func(names ...string) {
		for _, n := range names {
			if n = path.Clean(n); !seen[n] {
				seen[n] = true
				out = append(out, n)
			}
		}
	}
	for _, k := range kindsOf(kind) {
		for _, n := range definitions[k].here {
			add(path.Join(dir, n))
		}
		for _, at := range append([]string{dir}, up...) {
			for _, n := range definitions[k].above {
				add(path.Join(at, n))
			}
		}
	}
	add(defined...)
	return out
}

// Above returns the files that the tools of a kind of project also read in each parent
// folder.
func Above(kind string) []string {
	var out []string
	for _, k := range kindsOf(kind) {
		out = append(out, definitions[k].above...)
	}
	return out
}

// kindsOf returns the kinds of project that a check may belong to: a person's
// own command may belong to any.
func kindsOf(kind string) []string {
	if _, ok := definitions[kind]; ok {
		return []string{kind}
	}
	return []string{"go", "node", "python", "cargo", "make", "just"}
}
