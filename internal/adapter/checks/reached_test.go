package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 16.1: a change of what a definition runs is a change of its part, wherever the
// file is: recipes and scripts, by the file that they reach. A part of a name may be
// computed, or a pattern.
func TestPartsReach(t *testing.T) {
	pkg := func(script string) string { return `{"scripts": {"test": "` + script + `", "other": "sh $X"}}` }
	check := func(recipe string) string { return "check:\n\t" + recipe + "\n" }
	for _, c := range []struct {
		main, text, other string
		more              []string // other files, by name and text
	}{
		{"Makefile", "D=x\nD=mk\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", nil},
		{"Makefile", "include $(CURDIR)/mk/a.mk\ncheck:\n\tx\n", "mk/a.mk", nil},
		{"Makefile", "include $(wildcard mk/*.mk)\ncheck:\n\tx\n", "mk/a.mk", nil},
		{"Makefile", "-include conf/*\ncheck:\n\tx\n", "conf/a.inc", nil},
		{"Makefile", "include\tmk/a.mk\ncheck:\n\tx\n", "mk/a.mk", nil},
		{"Makefile", "include one.mk\ncheck:\n\tx\n", "mk/a.mk", []string{"one.mk", "include mk/a.mk\n"}},
		{"Makefile", "include $(dir $(lastword $(MAKEFILE_LIST)))mk/a.mk\ncheck:\n\tx\n", "mk/a.mk", nil},
		{"Makefile", check("$(MAKE) -C d"), "d/Makefile", nil},
		{"Makefile", check("cd d && make x"), "d/Makefile", nil},
		{"Makefile", check("make -f mk/a.mk x"), "mk/a.mk", nil},
		{"Makefile", check("for d in $(DIRS); do $(MAKE) -C $$d; done"), "d/Makefile", nil},
		{"Makefile", "V := $(shell sh d/r.sh)\ncheck:\n\tx\n", "d/r.sh", nil},
		{"Makefile", "V != ./d/r.sh\ncheck:\n\tx\n", "d/r.sh", nil},
		{"Makefile", "X := $(file < cmd)\ncheck:\n\t$(X)\n", "cmd", nil},
		{"Makefile", "run = ./d/$(1)\ncheck:\n\t$(call run,x)\n", "d/x", nil},
		{"Makefile", "define run\n./d/x\nendef\ncheck:\n\t$(run)\n", "d/x", nil},
		{"Makefile", "N = D\n$(N) = mk\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", nil},
		{"Makefile", "load x.so\ncheck:\n\tx\n", "x.so", nil},
		{"Makefile", "$(eval $(file <d/x))\ncheck:\n\tx\n", "d/x", nil},
		{"Makefile", "check: SHELL = ./d/sh\ncheck:\n\tx\n", "d/sh", nil},
		{"Makefile", "export PATH := $(CURDIR)/bin:$(PATH)\ncheck:\n\tgo test\n", "bin/go", nil},
		{"Makefile", "export MAKEFILES = d/x\ncheck:\n\t$(MAKE) all\n", "d/x", nil},
		{"Makefile", "check: ; ./d/r\n", "d/r", nil},
		{"Makefile", "check: d/r\n\tsh $<\n", "d/r", nil},
		{"Makefile", "check:\r\n\tsh d/run\r\n", "d/run", nil},
		{"Makefile", check("cd d && ./r.sh"), "d/r.sh", nil},
		{"Makefile", check("cd a; cd b; ./run"), "a/b/run", nil},
		{"Makefile", check("cd a/b && ../../d/run"), "d/run", []string{"a/b/.keep", ""}},
		{"Makefile", check("./s*.sh"), "s1.sh", nil},
		{"Makefile", check("ruby -r./d/x a.rb"), "d/x.rb", nil},
		{"Makefile", check(". ./env && x"), "env", nil},
		{"Makefile", check("printf './d/run' | sh"), "d/run", nil},
		{"Makefile", check("find d -name '*.sh' -exec sh {} ';'"), "d/a.sh", nil},
		{"Makefile", check("ls d/* | xargs -I% bash %"), "d/run", nil},
		{"Makefile", check("parallel bash ::: d/*"), "d/run", nil},
		{"Makefile", check("for f in d/*; do $$f; done"), "d/run", nil},
		{"Makefile", check("$${RUNNER:-./d/run} x"), "d/run", nil},
		{"Makefile", check("\"./my dir/run.sh\""), "my dir/run.sh", nil},
		{"Makefile", check("./my\\ dir/run.sh"), "my dir/run.sh", nil},
		{"Makefile", check("sh 'd'/\"run\""), "d/run", nil},
		{"Makefile", check("sh -c \"bash -c 'sh d/run'\""), "d/run", nil},
		{"Makefile", check("x $$(a $$(b \"$$(sh d/run)\"))"), "d/run", nil},
		{"Makefile", check("echo '#'; sh d/run"), "d/run", nil},
		{"Makefile", check("x --wrapper=d/run"), "d/run", nil},
		{"Makefile", check("go test -exec ./d/r ./..."), "d/r", nil},
		{"Makefile", check("cd r && cargo test"), "r/build.rs", nil},
		{"Makefile", check("cd py && pytest"), "py/pytest.ini", nil},
		{"Makefile", check("bundle exec rake"), "Rakefile", nil},
		{"Makefile", check("sh a.sh"), "d/run", []string{"a.sh", ". d/lib\n", "d/lib", "helper() { \"$(dirname \"$0\")/d/run\"; }\n"}},
		{"Makefile", check("sh a.sh"), "d/run", []string{"a.sh", "A=(d/run x)\n\"${A[@]}\"\n"}},
		{"Makefile", check("sh a.sh"), "d/run", []string{"a.sh", "trap 'd/run' EXIT\n"}},
		{"Makefile", check("sh a.sh"), "d/run", []string{"a.sh", "eval \"./d/$x\"\n"}},
		{"Makefile", check("sh a.sh"), "d/run", []string{"a.sh", "r() { \"$1\"; }\nr d/$x\n"}},
		{"Makefile", check("sh a.sh"), "d/go", []string{"a.sh", "PATH=\"$PWD/d:$PATH\"\ngo test\n"}},
		{"Makefile", check("./d"), "e/run.sh", []string{"d ->", "e/run.sh"}},
		{"Makefile", check("./d/run.sh"), "e/run.sh", []string{"d ->", "e"}},
		{"package.json", `{"scripts": {"test": "jest", "pretest": "node d/prep.js"}}`, "d/prep.js", nil},
		{"package.json", `{"scripts": {"test": "run-s test:*", "test:a": "node d/u.js"}}`, "d/u.js", nil},
		{"package.json", `{"scripts": {"test": "jest"}, "jest": {"setupFiles": ["./d/setup.js"]}}`, "d/setup.js", nil},
		{"package.json", pkg("jest"), "d/sh", []string{".npmrc", "script-shell=./d/sh\n"}},
		{"package.json", pkg("jest"), ".yarn/releases/y.cjs", []string{".yarnrc.yml", "yarnPath: .yarn/releases/y.cjs\n"}},
		{"package.json", pkg("node --import ./d/setup.mjs --test"), "d/setup.mjs", nil},
		{"package.json", pkg("node -r ./d/setup --test"), "d/setup.js", nil},
		{"package.json", pkg("npx ts-node -r ./d/reg d/run"), "d/reg.js", nil},
		{"package.json", pkg("cd x && npm test"), "x/package.json", nil},
		{"package.json", pkg("npm --prefix x test"), "x/package.json", nil},
		{"package.json", `{"scripts": {"test": "npm test --workspaces"}, "workspaces": ["x*"]}`, "xs/package.json", nil},
		{"package.json", pkg("concurrently 'cd d && ./r'"), "d/r", nil},
		{"package.json", pkg("./gradlew test"), "build.gradle", nil},
		{"package.json", pkg("npx turbo run test"), "turbo.json", nil},
		{"justfile", "mod d\ncheck:\n  just d::run\n", "d/mod.just", nil},
		{"justfile", "set shell := ['./d/sh', '-c']\ncheck:\n  x\n", "d/sh", nil},
		{"justfile", "check:\n  {{justfile_directory()}}/d/run\n", "d/run", nil},
		{"justfile", "x := `cat d/r`\ncheck:\n  y\n", "d/r", nil},
		{"Cargo.toml", "[package]\nname = \"a\"\nbuild = \"d/b.rs\"\n", "d/b.rs", nil},
		{"Cargo.toml", "[workspace]\nmembers = [\"d\"]\n", "d/build.rs", []string{"d/Cargo.toml", "[package]\nname = \"d\"\n"}},
		{"pytest.ini", "[pytest]\n", "tests/unit/conftest.py", nil},
	} {
		t.Run(c.main+" "+c.text, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, c.other, "# x\n", "z/source", "", c.main, c.text)
			for i := 0; i < len(c.more); i += 2 {
				if name, ok := strings.CutSuffix(c.more[i], " ->"); !ok {
					put(t, dir, c.more[i:i+2]...)
				} else if err := os.Symlink(c.more[i+1], filepath.Join(dir, name)); err != nil {
					t.Fatal(err)
				}
			}
			f := &Finder{Root: dir, LookPath: none}
			hash := func() string {
				cs, err := f.Here()
				must.Do(t, err)
				ps := f.Parts(cs)
				if len(ps) != 1 || ps[0].Hash == "" {
					t.Fatalf("%+v", ps)
				}
				return ps[0].Hash
			}
			was := hash()
			put(t, dir, c.other, "# evil\n")
			now := hash()
			if was == now {
				t.Errorf("a change of %s is none", c.other)
			}
			put(t, dir, "z/source", "changed")
			if hash() != now {
				t.Error("a change of source is one")
			}
		})
	}
}

// SPEC 16.1: an ordinary project's part is a list of files, and an edit of
// source is not a change.
func TestPartsOfOrdinaryProjects(t *testing.T) {
	for _, c := range []struct{ main, text string }{
		{"Makefile", "GO ?= go\nQ = @\nVERSION := $(shell git describe --tags 2>/dev/null || echo dev)\nLDFLAGS = -X main.v=$(VERSION)\nSRC := $(wildcard *.c)\nOBJ := $(SRC:.c=.o)\n.PHONY: check all\ninclude one.mk\n\nall: app\napp: $(OBJ)\n\t$(CC) $(CFLAGS) -o $@ $^ $(LDLIBS)\n%.o: %.c\n\t$(CC) -c $< -o $@\ncheck: vet\n\t$(Q)$(GO) test ./...\n\t@echo \"done in $$(date)\"\nvet:\n\tgo vet ./... && cd d && $(GO) vet ./...\nclean:\n\t-$(RM) $(OBJ)\n\tfind . -name '*.o' -delete\nall-d:\n\t$(MAKE) -C d all\nhelp:\n\t@grep -E '^[a-z]+:' Makefile | sort | awk '{print $$1}'\n"},
		{"Makefile", "ifeq ($(OS),Windows_NT)\nEXE = .exe\nendif\ntest:\n\tpython -m pytest -q tests\n\t./scripts/lint.sh\n\tdocker build -t x .\n\tnpm ci && npm test\n"},
		{"package.json", `{"scripts": {"test": "tsc --noEmit && jest --coverage", "lint": "eslint src/**/*.ts", "pretest": "node scripts/gen.js", "deploy": "sh $X"}}`},
		{"package.json", `{"scripts": {"test": "NODE_OPTIONS=--experimental-vm-modules node --test test/*.js"}}`},
		{"justfile", "test *args:\n  cargo test {{args}}\n  @echo {{args}}\n"},
	} {
		dir := t.TempDir()
		put(t, dir, c.main, c.text, "one.mk", "X = 1\n", "scripts/lint.sh", "#!/bin/sh\nset -eu\ngo vet ./...\n", "scripts/gen.js", "", "main.c", "", "src/a.ts", "", "d/Makefile", "all:\n\tgo build\n")
		f := &Finder{Root: dir, LookPath: none}
		cs, err := f.Here()
		if err != nil || len(cs) == 0 {
			t.Fatal(cs, err)
		}
		for _, p := range f.Parts(cs) {
			if p.Hash == "" || slices.Contains(p.From, "main.c") || slices.Contains(p.From, "src/a.ts") {
				t.Errorf("%s: %q", c.text, p.Lines)
			}
		}
	}
}
