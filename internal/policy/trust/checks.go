package trust

import "path"

// This file knows which files decide what a check runs, by the kind of project.

// definition is what defines the checks of a kind of project: files beside the
// project's, and files that its tools also look for in each folder above.
type definition struct{ here, above []string }

var definitions = map[string]definition{
	"go": {here: []string{"go.mod"}, above: []string{"go.work"}},
	"node": {
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
		here:  []string{"tests/conftest.py", "test/conftest.py"},
		above: []string{"conftest.py", "pytest.ini", ".pytest.ini", "pyproject.toml", "setup.cfg", "tox.ini"},
	},
	"cargo": {
		here:  []string{"Cargo.toml", "build.rs"},
		above: []string{"Cargo.toml", ".cargo/config.toml", ".cargo/config", "rust-toolchain", "rust-toolchain.toml"},
	},
	"make": {here: []string{"GNUmakefile", "makefile", "Makefile"}},
	"just": {here: []string{"justfile", "Justfile", ".justfile", ".env"}},
}

// Defining lists the files that decide what a check runs of a kind of project
// in a folder, whether they are there or not; defined are those that are known
// besides. up are the folders above, in which tools look too. Names are
// relative to where dir is.
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

// Above lists the files that the tools of a kind of project also look for in
// each folder above it.
func Above(kind string) []string {
	var out []string
	for _, k := range kindsOf(kind) {
		out = append(out, definitions[k].above...)
	}
	return out
}

// kindsOf are the kinds of project that a check is of: a person's own command
// may be of any.
func kindsOf(kind string) []string {
	if _, ok := definitions[kind]; ok {
		return []string{kind}
	}
	return []string{"go", "node", "python", "cargo", "make", "just"}
}
