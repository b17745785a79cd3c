package checks

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// SPEC 16.1: a change of what a definition runs is a change of its part,
// wherever the file is and however it is named; what is not run is none.
func TestPartsReach(t *testing.T) {
	pkg := func(script string) string { return `{"scripts": {"test": "` + script + `", "other": "sh $X"}}` }
	for _, c := range []struct {
		what, main, text, other string
		every                   bool // it covers every file
	}{
		{"include of a variable", "Makefile", "D=mk\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", false},
		{"include of two values", "Makefile", "D=x\nD=mk\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", true},
		{"include of an unknown", "Makefile", "-include $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", true},
		{"include of this folder", "Makefile", "include $(CURDIR)/mk/a.mk\ncheck:\n\tx\n", "mk/a.mk", false},
		{"include of a wildcard", "Makefile", "include $(wildcard mk/*.mk)\ncheck:\n\tx\n", "mk/a.mk", false},
		{"include of a command", "Makefile", "include $(shell cat list)\ncheck:\n\tx\n", "mk/a.mk", true},
		{"include by way of one", "Makefile", "include one.mk\ncheck:\n\tx\n", "mk/a.mk", false},
		{"the folder of the makefile", "Makefile", "include $(dir $(lastword $(MAKEFILE_LIST)))mk/a.mk\ncheck:\n\tx\n", "mk/a.mk", true},
		{"make in a folder", "Makefile", "check:\n\t$(MAKE) -C d\n", "d/Makefile", false},
		{"make after cd", "Makefile", "check:\n\tcd d && make x\n", "d/Makefile", false},
		{"make of a file", "Makefile", "check:\n\tmake -f mk/a.mk x\n", "mk/a.mk", false},
		{"make in listed folders", "Makefile", "check:\n\tfor x in a d; do $(MAKE) -C $$x; done\n", "d/Makefile", false},
		{"make in a variable's", "Makefile", "check:\n\tfor d in $(DIRS); do $(MAKE) -C $$d; done\n", "d/Makefile", true},
		{"make in a target's", "Makefile", "check: d\nd:\n\t$(MAKE) -C $@\n", "d/Makefile", true},
		{"command of a value", "Makefile", "V := $(shell sh d/r.sh)\ncheck:\n\tx\n", "d/r.sh", false},
		{"command of !=", "Makefile", "V != ./d/r.sh\ncheck:\n\tx\n", "d/r.sh", false},
		{"library", "Makefile", "load x.so\ncheck:\n\tx\n", "x.so", true},
		{"eval", "Makefile", "$(eval $(file <d/x))\ncheck:\n\tx\n", "d/x", true},
		{"script after cd", "Makefile", "check:\n\tcd d && ./r.sh\n", "d/r.sh", false},
		{"script without extension after cd", "Makefile", "check:\n\t@cd d && ./run\n", "d/run", false},
		{"pattern", "Makefile", "check:\n\t./s*.sh\n", "s1.sh", false},
		{"module", "Makefile", "check:\n\tpython3 -m s\n", "s.py", false},
		{"package", "Makefile", "check:\n\tpython3 -m s.t\n", "s/t/__main__.py", false},
		{"source of a variable", "Makefile", "check:\n\t. $$X/a\n", "d/a", true},
		{"program of a variable", "Makefile", "check:\n\t$(DIR)/run\n", "d/run", true},
		{"pipe to a shell", "Makefile", "check:\n\tcat d/a | sh\n", "d/a", true},
		{"find", "Makefile", "check:\n\tfind d -name '*.sh' -exec sh {} ';'\n", "d/a.sh", true},
		{"path", "Makefile", "export PATH := $(CURDIR)/bin:$(PATH)\ncheck:\n\tgo test\n", "bin/go", true},
		{"shell", "Makefile", "SHELL = ./sh\ncheck:\n\tx\n", "sh", true},
		{"another tool", "Makefile", "check:\n\trake test\n", "Rakefile", true},
		{"recipe on the line", "Makefile", "check: ; ./d/r\n", "d/r", false},
		{"include after a tab", "Makefile", "include\tmk/a.mk\ncheck:\n\tx\n", "mk/a.mk", false},
		{"value before a comment", "Makefile", "D = mk#no\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", false},
		{"value of a computed name", "Makefile", "D = x\nN = D\n$(N) = mk\ninclude $(D)/a.mk\ncheck:\n\tx\n", "mk/a.mk", true},
		{"folder of python", "Makefile", "check:\n\tpython3 d\n", "d/__main__.py", false},
		{"folder of node", "Makefile", "check:\n\tnode ./d\n", "d/index.js", false},
		{"library of ruby", "Makefile", "check:\n\truby -r./d/x a.rb\n", "d/x.rb", false},
		{"library of ruby by a name", "Makefile", "check:\n\truby -rx a.rb\n", "x.rb", true},
		{"folder of ruby's libraries", "Makefile", "check:\n\truby -Ilib -I test test/a.rb\n", "test/a.rb", false},
		{"library in a folder of ruby's", "Makefile", "check:\n\truby -Ilib -rx test/a.rb\n", "lib/x.rb", true},
		{"folder of perl's libraries", "Makefile", "check:\n\tperl -Ilib t/a.pl\n", "t/a.pl", false},
		{"module of perl", "Makefile", "check:\n\tperl -Ilib -MX t/a.pl\n", "lib/X.pm", true},
		{"python by itself", "Makefile", "check:\n\tpython3 -I t/a.py\n", "t/a.py", false},
		{"library of node", "package.json", pkg("node --import ./d/setup.mjs --test"), "d/setup.mjs", false},
		{"library of node that is not there", "package.json", pkg("node -r ./d/setup.cjs t/a.js"), "t/a.js", true},
		{"library of node without extension", "package.json", pkg("node -r ./d/setup --test"), "d/setup.js", true},
		{"library of node that is not installed", "package.json", pkg("node --import tsx --test"), "tsx.mjs", true},
		{"library of node, known only then", "package.json", pkg("node --import $X --test"), "x.mjs", true},
		{"program of go", "Makefile", "check:\n\tgo test -exec ./d/r ./...\n", "d/r", true},
		{"env in a folder", "Makefile", "check:\n\tenv -C d ./r\n", "d/r", true},
		{"dependency", "Makefile", "check: d/r\n\tsh $<\n", "d/r", true},
		{"script of a script", "Makefile", "check:\n\t./a.sh\n", "d/r", false}, // a.sh runs it
		{"node in a makefile", "Makefile", "check:\n\tcd d && npm test\n", "d/package.json", false},
		{"variable", "package.json", pkg("sh $X"), "d/a", true},
		{"pattern", "package.json", pkg("node scripts/*.js"), "scripts/a.js", false},
		{"another folder", "package.json", pkg("cd x && npm test"), "x/package.json", false},
		{"prefix", "package.json", pkg("npm --prefix x test"), "x/package.json", true},
		{"workspaces", "package.json", pkg("npm test --workspaces"), "x/package.json", true},
		{"by another script", "package.json", pkg("npm run other"), "x/a", true},
		{"runner of lines", "package.json", pkg("concurrently 'cd d && ./r'"), "d/r", false},
		{"gradle", "package.json", pkg("./gradlew test"), "build.gradle", true},
		{"recipe", "justfile", "check:\n  cd d && ./r\n", "d/r", false},
		{"value", "justfile", "check:\n  sh {{x}}\n", "d/r", true},
		{"expression", "justfile", "x := `cat d/r`\ncheck:\n  y\n", "d/r", true},
		{"build script by name", "Cargo.toml", "[package]\nname = \"a\"\nbuild = \"d/b.rs\"\n", "d/b.rs", false},
		{"build script of a member", "Cargo.toml", "[workspace]\nmembers = [\"d\"]\n", "d/build.rs", false},
	} {
		t.Run(c.main+" "+c.what, func(t *testing.T) {
			dir := t.TempDir()
			put(t, dir, "one.mk", "include mk/a.mk\n", "a.sh", "cd d\n./r\n", "d/Cargo.toml", "[package]\nname = \"d\"\n", c.other, "# x\n", "z/source", "", c.main, c.text)
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
