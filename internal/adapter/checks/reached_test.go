package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// SPEC 16.1: a change of what a definition runs is a change of its part, wherever the
// file is and however it is named: recipes and scripts, by the file that they reach.
// Where it cannot be told, every file counts.
func TestPartsReach(t *testing.T) {
	pkg := func(script string) string { return `{"scripts": {"test": "` + script + `", "other": "sh $X"}}` }
	check := func(recipe string) string { return "check:\n\t" + recipe + "\n" }
	for _, c := range []struct {
		main, text, other string
		every             bool     // it covers every file
		more              []string // other files, by name and text
	}{
		{"Makefile", "D=x\nD=mk\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", false, nil},
		{"Makefile", "-include $(D)/rules\ncheck:\n\tx\n", "mk/rules", false, nil},
		{"Makefile", "-include $(CONFIG)\ncheck:\n\tx\n", "mk/a.mk", true, nil},
		{"Makefile", "include $(CURDIR)/mk/a.mk\ncheck:\n\tx\n", "mk/a.mk", false, nil},
		{"Makefile", "include $(wildcard mk/*.mk)\ncheck:\n\tx\n", "mk/a.mk", false, nil},
		{"Makefile", "-include conf/*\ncheck:\n\tx\n", "conf/a.inc", false, nil},
		{"Makefile", "include\tmk/a.mk\ncheck:\n\tx\n", "mk/a.mk", false, nil},
		{"Makefile", "include $(shell cat list)\ncheck:\n\tx\n", "mk/a.mk", true, nil},
		{"Makefile", "include one.mk\ncheck:\n\tx\n", "mk/a.mk", false, []string{"one.mk", "include mk/a.mk\n"}},
		{"Makefile", "include $(dir $(lastword $(MAKEFILE_LIST)))mk/a.mk\ncheck:\n\tx\n", "mk/a.mk", false, nil},
		{"Makefile", check("$(MAKE) -C d"), "d/Makefile", false, nil},
		{"Makefile", check("cd d && make x"), "d/Makefile", false, nil},
		{"Makefile", check("make -f mk/a.mk x"), "mk/a.mk", false, nil},
		{"Makefile", check("for d in $(DIRS); do $(MAKE) -C $$d; done"), "d/Makefile", false, nil},
		{"Makefile", "V := $(shell sh d/r.sh)\ncheck:\n\tx\n", "d/r.sh", false, nil},
		{"Makefile", "V != ./d/r.sh\ncheck:\n\tx\n", "d/r.sh", false, nil},
		{"Makefile", "X := $(file < cmd)\ncheck:\n\t$(X)\n", "cmd", true, nil},
		{"Makefile", "run = ./d/$(1)\ncheck:\n\t$(call run,x)\n", "d/x", false, nil},
		{"Makefile", "define run\n./d/x\nendef\ncheck:\n\t$(run)\n", "d/x", false, nil},
		{"Makefile", "N = D\n$(N) = mk\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", false, nil},
		{"Makefile", "load x.so\ncheck:\n\tx\n", "x.so", false, nil},
		{"Makefile", "$(eval $(file <d/x))\ncheck:\n\tx\n", "d/x", true, nil},
		{"Makefile", "check: SHELL = ./d/sh\ncheck:\n\tx\n", "d/sh", false, nil},
		{"Makefile", "export PATH := $(CURDIR)/bin:$(PATH)\ncheck:\n\tgo test\n", "bin/go", true, nil},
		{"Makefile", "export MAKEFILES = d/x\ncheck:\n\t$(MAKE) all\n", "d/x", false, nil},
		{"Makefile", "check: ; ./d/r\n", "d/r", false, nil},
		{"Makefile", "check: d/r\n\tsh $<\n", "d/r", true, nil},
		{"Makefile", "check:\r\n\tsh d/run\r\n", "d/run", false, nil},
		{"Makefile", check("cd d && ./r.sh"), "d/r.sh", false, nil},
		{"Makefile", check("cd a; cd b; ./run"), "a/b/run", false, nil},
		{"Makefile", check("cd $(shell cat x) && ./run"), "d/run", false, nil},
		{"Makefile", check("cd a/b && ../../d/run"), "d/run", false, []string{"a/b/.keep", ""}},
		{"Makefile", check("./s*.sh"), "s1.sh", false, nil},
		{"Makefile", check("python3.12 -B -m s.t"), "s/t/__main__.py", false, nil},
		{"Makefile", check("python3 -m s.t"), "s/__init__.py", false, []string{"s/t.py", ""}},
		{"Makefile", check("python3 d"), "d/__main__.py", false, nil},
		{"Makefile", check("ruby -r./d/x a.rb"), "d/x.rb", false, nil},
		{"Makefile", check("perl -Ilib -MX t/a.pl"), "lib/X.pm", false, nil},
		{"Makefile", check(". ./env && x"), "env", false, nil},
		{"Makefile", check(". $$X/a"), "d/a", false, nil},
		{"Makefile", check("$(DIR)/run"), "d/run", false, nil},
		{"Makefile", check("printf './d/run' | sh"), "d/run", true, nil},
		{"Makefile", check("cat x | python3 -"), "d/run", true, nil},
		{"Makefile", check("find d -name '*.sh' -exec sh {} ';'"), "d/a.sh", true, nil},
		{"Makefile", check("ls d/* | xargs -I% bash %"), "d/run", true, nil},
		{"Makefile", check("parallel bash ::: d/*"), "d/run", false, nil},
		{"Makefile", check("while read x; do sh \"$$x\"; done < list"), "d/run", true, nil},
		{"Makefile", check("for f in d/*; do $$f; done"), "d/run", false, nil},
		{"Makefile", check("$${RUNNER:-./d/run} x"), "d/run", false, nil},
		{"Makefile", check("\"./my dir/run.sh\""), "my dir/run.sh", false, nil},
		{"Makefile", check("./my\\ dir/run.sh"), "my dir/run.sh", false, nil},
		{"Makefile", check("sh 'd'/\"run\""), "d/run", false, nil},
		{"Makefile", check("sh $$'d/r\\x75n'"), "d/run", true, nil},
		{"Makefile", check("sh -c \"bash -c 'sh d/run'\""), "d/run", false, nil},
		{"Makefile", check("x $$(a $$(b \"$$(sh d/run)\"))"), "d/run", false, nil},
		{"Makefile", check("echo '#'; sh d/run"), "d/run", false, nil},
		{"Makefile", check("x --wrapper=d/run"), "d/run", false, nil},
		{"Makefile", check("go test -exec ./d/r ./..."), "d/r", false, nil},
		{"Makefile", check("docker run --rm -v $(PWD):/src img /src/d/run"), "d/run", true, nil},
		{"Makefile", check("cd r && cargo test"), "r/build.rs", false, nil},
		{"Makefile", check("cd py && pytest"), "py/pytest.ini", false, nil},
		{"Makefile", check("bundle exec rake"), "Rakefile", true, nil},
		{"Makefile", check("sh a.sh"), "d/run", false, []string{"a.sh", ". d/lib\n", "d/lib", "helper() { \"$(dirname \"$0\")/d/run\"; }\n"}},
		{"Makefile", check("sh a.sh"), "d/run", false, []string{"a.sh", "A=(d/run x)\n\"${A[@]}\"\n"}},
		{"Makefile", check("sh a.sh"), "d/run", false, []string{"a.sh", "trap 'd/run' EXIT\n"}},
		{"Makefile", check("sh a.sh"), "d/run", false, []string{"a.sh", "eval \"./d/$x\"\n"}},
		{"Makefile", check("sh a.sh"), "d/run", false, []string{"a.sh", "r() { \"$1\"; }\nr d/$x\n"}},
		{"Makefile", check("sh a.sh"), "d/go", true, []string{"a.sh", "PATH=\"$PWD/d:$PATH\"\ngo test\n"}},
		{"Makefile", check("./d"), "e/run.sh", false, []string{"d ->", "e/run.sh"}},
		{"Makefile", check("./d/run.sh"), "e/run.sh", false, []string{"d ->", "e"}},
		{"package.json", `{"scripts": {"test": "jest", "pretest": "node d/prep.js"}}`, "d/prep.js", false, nil},
		{"package.json", `{"scripts": {"test": "run-s test:*", "test:a": "node d/u.js"}}`, "d/u.js", false, nil},
		{"package.json", `{"scripts": {"test": "jest"}, "jest": {"setupFiles": ["./d/setup.js"]}}`, "d/setup.js", false, nil},
		{"package.json", pkg("jest"), "d/sh", false, []string{".npmrc", "script-shell=./d/sh\n"}},
		{"package.json", pkg("jest"), ".yarn/releases/y.cjs", false, []string{".yarnrc.yml", "yarnPath: .yarn/releases/y.cjs\n"}},
		{"package.json", pkg("node --import ./d/setup.mjs --test"), "d/setup.mjs", false, nil},
		{"package.json", pkg("node -r ./d/setup --test"), "d/setup.js", false, nil},
		{"package.json", pkg("node --import $X --test"), "x.mjs", true, nil},
		{"package.json", pkg("npx ts-node -r ./d/reg d/run"), "d/reg.js", false, nil},
		{"package.json", pkg("sh $X"), "d/a", true, nil},
		{"package.json", pkg("cd x && npm test"), "x/package.json", false, nil},
		{"package.json", pkg("npm --prefix x test"), "x/package.json", false, nil},
		{"package.json", pkg("npm test --workspaces"), "x/package.json", false, nil},
		{"package.json", pkg("npm run other"), "x/a", true, nil},
		{"package.json", pkg("concurrently 'cd d && ./r'"), "d/r", false, nil},
		{"package.json", pkg("./gradlew test"), "build.gradle", true, nil},
		{"package.json", pkg("npx turbo run test"), "turbo.json", true, nil},
		{"justfile", "mod d\ncheck:\n  just d::run\n", "d/mod.just", false, nil},
		{"justfile", "set shell := ['./d/sh', '-c']\ncheck:\n  x\n", "d/sh", false, nil},
		{"justfile", "check:\n  {{justfile_directory()}}/d/run\n", "d/run", false, nil},
		{"justfile", "check:\n  sh {{x}}\n", "d/r", true, nil},
		{"justfile", "x := `cat d/r`\ncheck:\n  y\n", "d/r", false, nil},
		{"Cargo.toml", "[package]\nname = \"a\"\nbuild = \"d/b.rs\"\n", "d/b.rs", false, nil},
		{"Cargo.toml", "[workspace]\nmembers = [\"d\"]\n", "d/build.rs", false, []string{"d/Cargo.toml", "[package]\nname = \"d\"\n"}},
		{"pytest.ini", "[pytest]\n", "tests/unit/conftest.py", false, nil},
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
				if err != nil {
					t.Fatal(err)
				}
				ps := f.Parts(cs)
				if len(ps) != 1 || ps[0].Hash == "" {
					t.Fatalf("%+v", ps)
				}
				if got := slices.Contains(ps[0].From, "every file"); got != c.every {
					t.Errorf("every file: %v, want %v: %q", got, c.every, ps[0].Lines)
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
			if (hash() != now) != c.every {
				t.Errorf("a change of source: %v, want %v", !c.every, c.every)
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
		put(t, dir, c.main, c.text, "one.mk", "X = 1\n", "scripts/lint.sh", "#!/bin/sh\nset -eu\ngo vet ./...\n", "scripts/gen.js", "", "d/Makefile", "all:\n\tgo build\n")
		f := &Finder{Root: dir, LookPath: none}
		cs, err := f.Here()
		if err != nil || len(cs) == 0 {
			t.Fatal(cs, err)
		}
		for _, p := range f.Parts(cs) {
			if slices.Contains(p.From, "every file") || p.Hash == "" {
				t.Errorf("%s: %q", c.text, p.Lines)
			}
		}
	}
}

// If not every file of a folder is read, the folder is not trusted, and the reason
// names that.
func TestEveryFileIsBounded(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "Makefile", "include $(X)\ncheck:\n\tx\n")
	for i := range maxFolders {
		put(t, dir, "f"+strings.Repeat("x", i%50)+string(rune('a'+i/50%26))+string(rune('a'+i/1300))+"/.keep", "")
	}
	f := &Finder{Root: dir, LookPath: none}
	cs, _ := f.Here()
	ps := f.Parts(cs)
	if len(ps) != 1 || ps[0].Hash != "" || !strings.Contains(strings.Join(ps[0].Lines, "\n"), "more than 2000 folders") {
		t.Errorf("%+v", ps)
	}
}

// SPEC 16.1: a library of node that is installed is the check's tool: an edit of
// the project's source does not ask again. One that is a link is of the project.
func TestPartsReachInstalled(t *testing.T) {
	for link, every := range map[bool]bool{false: false, true: true} {
		dir := t.TempDir()
		put(t, dir, "package.json", `{"scripts": {"test": "node --import tsx --test"}}`, "packages/tsx/index.mjs", "x", "src/a.js", "x")
		put(t, dir, "node_modules/other/index.js", "x")
		if link {
			if err := os.Symlink("../packages/tsx", filepath.Join(dir, "node_modules/tsx")); err != nil {
				t.Fatal(err)
			}
		} else {
			put(t, dir, "node_modules/tsx/package.json", "{}")
		}
		f := &Finder{Root: dir, LookPath: none}
		cs, err := f.Here()
		if err != nil || len(cs) == 0 {
			t.Fatal(cs, err)
		}
		for _, p := range f.Parts(cs) {
			if got := slices.Contains(p.From, "every file"); got != every || p.Hash == "" {
				t.Errorf("a link: %v, every file: %v: %q", link, got, p.Lines)
			}
		}
	}
}
