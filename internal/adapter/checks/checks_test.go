package checks

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// project writes files, each behind its "-- name --", to a new folder.
func project(t *testing.T, archive string) string {
	t.Helper()
	dir := t.TempDir()
	for _, f := range strings.Split("\n"+archive, "\n-- ")[1:] {
		file, text, _ := strings.Cut(f, " --")
		name := filepath.Join(dir, file)
		must.Write(t, name, strings.TrimPrefix(text, "\n")+"\n")
	}
	return dir
}

func installed(names ...string) func(string) (string, error) {
	return func(s string) (string, error) {
		if slices.Contains(names, s) {
			return "/usr/bin/" + s, nil
		}
		return "", errors.New("not found")
	}
}

// lines describes what was found: a line each, narrow ones first.
func lines(f Found) []string {
	var out []string
	for _, c := range slices.Concat(f.Narrow, f.Wide) {
		s := c.Command
		if c.Part {
			s += " (part)"
		}
		out = append(out, s)
	}
	if f.Why != "" {
		out = append(out, "-- "+f.Why)
	}
	return out
}

const goModule = `
-- go.mod --
module example.com/shop // the shop

go 1.26
-- main.go --
package main

import _ "example.com/shop/cart"
-- cart/cart.go --
package cart

import _ "example.com/shop/price"
-- price/price.go --
package price
-- price/price_test.go --
package price
-- price/testdata/one.txt --
1
-- report/report.go --
package report
-- tools/go.mod --
module example.com/shop/tools
-- tools/gen.go --
package main
-- tools/sub/sub.go --
package sub
-- README.md --
hello
`

// SPEC 13.3: what the change can affect first, then all; by the project that is
// nearest above each changed file.
func TestFind(t *testing.T) {
	for _, c := range []struct {
		name, files string
		changed     []string
		want        []string
	}{
		{"go: a package and what imports it", goModule, []string{"price/price.go"}, []string{"go test . ./cart ./price (part)", "go test ./..."}},
		{"go: a test is imported by nobody", goModule, []string{"price/price_test.go"}, []string{"go test ./price (part)", "go test ./..."}},
		{"go: test data belongs to its package", goModule, []string{"price/testdata/one.txt"}, []string{"go test . ./cart ./price (part)", "go test ./..."}},
		{"go: all of it at once", goModule, []string{"price/price.go", "report/report.go"}, []string{"go test ./..."}},
		{"go: go.mod is of all", goModule, []string{"go.mod"}, []string{"go test ./..."}},
		{"go: a nested module", goModule, []string{"tools/sub/sub.go"}, []string{"cd tools && go test ./sub (part)", "cd tools && go test ./..."}},
		{"go: both modules", goModule, []string{"tools/gen.go", "report/report.go"}, []string{
			"cd tools && go test . (part)", "go test ./report (part)", "cd tools && go test ./...", "go test ./...",
		}},
		{"go: a removed package", goModule, []string{"gone/gone.go", "report/report.go"}, []string{"go test . ./report (part)", "go test ./..."}},
		{"documents beside code that no check is for", "-- a.go --\npackage a\n", []string{"README.md", "a.go"}, []string{"-- no check found"}},
		{"documents", goModule, []string{"README.md", "doc/x.png"}, []string{"-- only documents changed, which no check looks at"}},
		{"a document beside code that embeds", goModule + "-- report/embed.go --\npackage report\n\n//go:embed text.md\nvar x string\n", []string{"report/text.md"}, []string{"go test ./report (part)", "go test ./..."}},
		{"documents do not hide code", goModule, []string{"README.md", "report/report.go"}, []string{"go test ./report (part)", "go test ./..."}},
		{"nothing that checks", "-- a.go --\npackage a\n", []string{"a.go"}, []string{"-- no check found"}},
		{"npm: an installed package", "-- package.json --\n{\"scripts\": {\"test\": \"node --test\"}}\n-- node_modules/x/package.json --\n{\"scripts\": {\"test\": \"rm x\"}}\n", []string{"node_modules/x/package.json", "node_modules/x/node_modules/y/y.js"}, []string{"npm test"}},
		{"npm: an installed package of no project", "-- node_modules/x/package.json --\n{\"scripts\": {\"test\": \"rm x\"}}\n", []string{"node_modules/x/x.js"}, []string{"-- no check found"}},
		{"outside", goModule, []string{"/etc/passwd", "../x.go"}, []string{"-- no check found"}},

		{
			"npm: what there is, quick first", `-- package.json --
{"scripts": {"lint": "eslint .", "test": "node --test", "typecheck": "tsc --noEmit", "build": "x"}}`,
			[]string{"src/a.ts"},
			[]string{"npm run typecheck", "npm test", "npm run lint"},
		},
		{"npm: a script that another one runs", `-- package.json --
{"scripts": {"lint": "eslint .", "test": "npm run lint && mocha"}}`, []string{"a.js"}, []string{"npm test"}},
		{"npm: a script that runs before another one", `-- package.json --
{"scripts": {"lint": "eslint .", "pretest": "npm run lint", "test": "mocha"}}`, []string{"a.js"}, []string{"npm test"}},
		{"yarn: a script by its name alone", `-- yarn.lock --
-- package.json --
{"scripts": {"lint": "eslint .", "test": "yarn lint && jest"}}`, []string{"a.js"}, []string{"yarn test"}},
		{"pnpm runs nothing before", `-- pnpm-lock.yaml --
-- package.json --
{"scripts": {"lint": "eslint .", "pretest": "pnpm lint", "test": "jest"}}`, []string{"a.js"}, []string{"pnpm test", "pnpm run lint"}},
		{"npm: a script whose failure is passed over", `-- package.json --
{"scripts": {"lint": "eslint .", "test": "npm run lint || true && mocha"}}`, []string{"a.js"}, []string{"npm test", "npm run lint"}},
		{"npm: a script that another one runs with other arguments", `-- package.json --
{"scripts": {"lint": "eslint .", "test": "npm run lint -- src && mocha"}}`, []string{"a.js"}, []string{"npm test", "npm run lint"}},
		{
			"npm: no test is none", `-- package.json --
{"scripts": {"test": "echo \"Error: no test specified\" && exit 1"}}`,
			[]string{"a.js"},
			[]string{"-- no check found"},
		},
		{
			"pnpm workspace, the nearest package", `-- pnpm-lock.yaml --
-- package.json --
{"scripts": {"test": "pnpm -r test"}}
-- packages/cart/package.json --
{"scripts": {"test": "vitest run"}}
-- packages/docs/package.json --
{}`,
			[]string{"packages/cart/src/a.ts", "packages/docs/b.ts"},
			[]string{"cd packages/cart && pnpm test", "pnpm test"},
		},
		{"yarn by its lock", "-- yarn.lock --\n-- package.json --\n{\"scripts\": {\"test\": \"jest\", \"lint\": \"x\"}}", []string{"a.js"}, []string{"yarn test", "yarn run lint"}},
		{"bun by packageManager", `-- package.json --
{"packageManager": "bun@1.2", "scripts": {"test": "bun test"}}`, []string{"a.js"}, []string{"bun run test"}},
		{"jest: what belongs to the files", "-- package.json --\n{\"scripts\": {\"test\": \"jest\"}}\n-- src/it's.ts --\n", []string{"src/it's.ts"}, []string{`npm test -- --passWithNoTests --findRelatedTests 'src/it'\''s.ts' (part)`, "npm test"}},
		{"vitest: tests by name", "-- package.json --\n{\"scripts\": {\"test\": \"vitest run\"}}\n-- src/cart.ts --\n", []string{"src/cart.ts"}, []string{"npm test -- --passWithNoTests cart (part)", "npm test"}},
		{"a broken package.json", "-- package.json --\n{\"scripts\": ", []string{"a.js"}, []string{"-- no check found"}},

		{
			"pytest: tests named after the module", "-- pyproject.toml --\n[tool.pytest.ini_options]\n-- shop/cart.py --\n-- tests/unit/test_cart.py --\nimport pytest\n-- tests/test_price.py --\n",
			[]string{"shop/cart.py"},
			[]string{"python3 -m pytest tests/unit/test_cart.py (part)", "python3 -m pytest"},
		},
		{"pytest: a changed test", "-- setup.cfg --\n[tool:pytest]\n-- tests/test_a.py --\n-- tests/test_b.py --\n", []string{"tests/test_b.py"}, []string{"python3 -m pytest tests/test_b.py (part)", "python3 -m pytest"}},
		{"python: the project, not its tests folder", "-- shop.py --\n-- tests/test_shop.py --\ndef test_it(): pass\n", []string{"tests/test_shop.py"}, []string{"python3 -m pytest"}},
		{"unittest", "-- test_shop.py --\nimport unittest\n-- shop.py --\n", []string{"shop.py"}, []string{"python3 -m unittest"}},
		{"python beside go", goModule + "-- py/pytest.ini --\n-- py/a.py --\n", []string{"py/a.py"}, []string{"cd py && python3 -m pytest"}},

		{"cargo", "-- Cargo.toml --\n[package]\nname = \"shop\"\n-- src/lib.rs --\n", []string{"src/lib.rs"}, []string{"cargo test"}},
		{
			"cargo workspace", "-- Cargo.toml --\n[workspace]\nmembers = [\"crates/*\"]\n-- crates/cart/Cargo.toml --\n[package]\nname = \"shop-cart\"\n",
			[]string{"crates/cart/src/lib.rs"},
			[]string{"cargo test -p shop-cart (part)", "cargo test --workspace"},
		},

		{"make: check before test", "-- Makefile --\nCC := cc\n.PHONY: all check\nall: x\n\ncc y\ntest:\n\tx\ncheck: test\n", []string{"a.c"}, []string{"make check"}},
		{"make: no such target", "-- Makefile --\nTEST := 1\nall:\n\ttest: x\n", []string{"a.c"}, []string{"-- no check found"}},
		{"just", "-- justfile --\nset shell := [\"sh\"]\ntest arg='x':\n  go test\n", []string{"a.c"}, []string{"just test"}},
		{"a language's own check before make", goModule + "-- Makefile --\ntest:\n\tx\n", []string{"report/report.go"}, []string{"go test ./report (part)", "go test ./..."}},
		{"make where the language has none", goModule + "-- Makefile --\ntest:\n\tx\n", []string{"lib/a.rs"}, []string{"make test"}},
		{"a file of no language", goModule, []string{"deploy.yaml"}, []string{"go test . (part)", "go test ./..."}},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := Finder{Root: project(t, c.files), LookPath: installed("python3", "pytest")}
			got, err := f.Find(c.changed)
			must.Do(t, err)
			if !slices.Equal(lines(got), c.want) {
				t.Errorf("%q\nwant %q", lines(got), c.want)
			}
		})
	}
}

// SPEC 16.2, 16.4: what a person configured stands in place of what would be
// found, for the files that it names; the files that it runs define it.
func TestFindConfigured(t *testing.T) {
	dir := project(t, goModule+"-- ci/check.sh --\nexit 0\n")
	f := Finder{Root: dir, Configured: []Configured{
		{Name: "ours", Command: "sh ci/check.sh --fast", Paths: []string{"cart/**", "*.go"}},
		{Name: "elsewhere", Command: "false", In: filepath.Join(filepath.Dir(dir), "elsewhere")},
	}}
	for _, c := range []struct{ changed, want string }{
		{"cart/cart.go", "sh ci/check.sh --fast"},
		{"main.go", "sh ci/check.sh --fast"},
		{"report/report.go", "go test ./report (part), go test ./..."},
	} {
		got, err := f.Find([]string{c.changed})
		if err != nil || strings.Join(lines(got), ", ") != c.want {
			t.Errorf("%s: %q, %v", c.changed, lines(got), err)
		}
	}
	got, err := f.Find([]string{"cart/cart.go", "report/report.go"})
	if err != nil || len(got.Wide) != 2 || !got.Wide[0].Own || !slices.Equal(got.Wide[0].Defined, []string{"ci/check.sh"}) || got.Wide[1].Own {
		t.Errorf("%+v, %v", got, err)
	}
	f.Configured = []Configured{{Name: "here", Command: "true", In: filepath.Dir(dir)}}
	if got, err := f.Find([]string{"README.md"}); err != nil || len(got.Wide) != 1 || got.Wide[0].Name != "here" {
		t.Errorf("%+v, %v", got, err)
	}
}

// SPEC 16.4: a makefile and the shell scripts that it calls define its targets.
func TestScriptsOfTargets(t *testing.T) {
	f := &Finder{Root: project(t, "-- Makefile --\ntest: main.c\n\tsh ./ci/t.sh --all\n-- ci/t.sh --\nexit 0\n-- main.c --\n")}
	found, err := f.Find([]string{"main.c"})
	if err != nil || len(found.Wide) != 1 || !slices.Equal(found.Wide[0].Defined, []string{"Makefile", "ci/t.sh"}) {
		t.Errorf("%+v, %v", found, err)
	}
}

// What cannot be read, or is not a file, is not looked into.
func TestFindInHostileFolder(t *testing.T) {
	dir := project(t, "-- a/b.go --\npackage b\n")
	for _, name := range []string{"go.mod", "package.json", "Makefile", "pyproject.toml"} {
		must.Do(t, os.Mkdir(filepath.Join(dir, name), 0o700))
	}
	outside := project(t, "-- package.json --\n{\"scripts\": {\"test\": \"rm -rf /\"}}\n")
	must.Do(t, os.Symlink(filepath.Join(outside, "package.json"), filepath.Join(dir, "a", "package.json")))
	must.Write(t, filepath.Join(dir, "a", "Makefile"), strings.Repeat("test:\n", 1<<18))
	f := Finder{Root: dir}
	got, err := f.Find([]string{"a/b.go", "a/x.js", "a/y.py"})
	if err != nil || got.Why != "no check found" {
		t.Errorf("%q, %v", lines(got), err)
	}
}

// SPEC 13.3: where a change can affect too many packages, the changed ones are checked
// before the whole, which may not come to its end. A change of too many is checked whole.
func TestFindInLargeModule(t *testing.T) {
	var b strings.Builder
	b.WriteString("-- go.mod --\nmodule x\n-- base/base.go --\npackage base\n")
	for i := range maxAffected + 1 {
		fmt.Fprintf(&b, "-- p%d/p.go --\npackage p\n\nimport _ \"x/base\"\n", i)
	}
	b.WriteString("-- alone/a.go --\npackage alone\n")
	f := Finder{Root: project(t, b.String())}
	got, err := f.Find([]string{"base/base.go"})
	if err != nil || len(got.Narrow) != 1 || got.Narrow[0].Command != "go test ./base" || !got.Narrow[0].Direct || len(got.Wide) != 1 {
		t.Errorf("%q, %v", lines(got), err)
	}
	if got, err = f.Find([]string{"p1/p.go", "alone/a.go"}); err != nil || len(got.Narrow) != 1 || got.Narrow[0].Direct {
		t.Errorf("few: %q, %v", lines(got), err)
	}
	var many []string
	for i := range maxAffected + 1 {
		many = append(many, fmt.Sprintf("p%d/p.go", i))
	}
	if got, err = f.Find(many); err != nil || len(got.Narrow) != 0 || len(got.Wide) != 1 {
		t.Errorf("many: %q, %v", lines(got), err)
	}
}
