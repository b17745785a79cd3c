package checks

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// ADR 022: what a build makes of source, and source that is only compiled, are
// no definitions: an edit and a run of the check leave trust as it was. What
// could be run instead is one.
func TestEditsAndBuildsKeepTrust(t *testing.T) {
	const elf = "\x7fELF\x02\x01\x01"
	deps := "build/a.o: src/a.c \\\n src/a.h /usr/include/c++/13/vector\nsrc/a.h:\n"
	usual := "SRC := $(wildcard src/*.c)\nOBJ := $(patsubst src/%.c,build/%.o,$(SRC))\nDEP = $(OBJ:.o=.d)\nCFLAGS += -MMD -MP\n-include $(DEP)\nbuild/%.o: src/%.c\n\t$(CC) $(CFLAGS) -c -o $@ $<\nbuild/tests: $(OBJ)\n\t$(CC) -o $@ $^\ncheck: build/tests\n\t./build/tests\n"
	for _, c := range []struct{ what, makefile string }{
		{"usual", usual},
		{"include of objects", "OBJ = build/a.o\n-include $(OBJ:.o=.d)\ncheck: build/tests\n\t./build/tests\nbuild/tests: $(OBJ)\n\t$(CC) -o $@ $^\n"},
		{"include by patsubst", "OBJ = build/a.o\ninclude $(wildcard $(patsubst %.o,%.d,$(OBJ)))\ncheck:\n\ttrue\n"},
		{"include of all", "-include build/*.d\ncheck:\n\ttrue\n"},
		{"include of what a command lists", "SRC := $(shell find src -name '*.c')\n-include $(SRC:src/%.c=build/%.d)\ncheck:\n\ttrue\n"},
		{"programs in a loop", "T = $(wildcard build/test*)\ncheck: $(T)\n\tfor t in $(T); do ./$$t || exit 1; done\n"},
		{"program of a target", "check: build/tests\n\t./$<\nbuild/tests: src/a.c\n\tcc -o $@ $<\n"},
		{"program of a variable", "BIN ?= build/tests\ncheck: $(BIN)\n\tvalgrind $(BIN)\n$(BIN): src/a.c\n\tcc -o $@ $<\n"},
	} {
		t.Run(c.what, func(t *testing.T) {
			dir := t.TempDir()
			goal := &Finder{Root: dir, LookPath: none}
			put(t, dir, "Makefile", c.makefile, "src/a.c", "int a;\n", "build/.keep", "")
			f := &Finder{Root: dir, LookPath: none}
			hash := func() (string, []string) {
				cs, err := f.Here()
				if err != nil || len(cs) != 1 {
					t.Fatal(cs, err)
				}
				p := f.Parts(cs)[0]
				if p.Hash == "" {
					t.Fatalf("%+v", p)
				}
				return p.Hash, p.From
			}
			was, from := hash()
			_, defined, err := goal.Goal("make check")
			must.Do(t, err)
			for _, step := range [][]string{
				{"build/a.o", elf + "1", "build/a.d", deps, "build/tests", elf + "tests"},
				{"src/a.c", "int a = 1;\n", "src/new.h", "int b;\n"},
				{"build/a.o", elf + "2", "build/tests", elf + "tests 2", "build/lib.a", "!<arch>\n1", "build/a.d", deps + "build/a.o: src/new.h\n"},
			} {
				put(t, dir, step...)
				if now, is := hash(); now != was {
					t.Fatalf("%q ended it: %q, %q", step, from, is)
				}
				if _, now, err := goal.Goal("make check"); err != nil || len(defined.Changed(now)) > 0 {
					t.Fatalf("%q changed the goal: %q, %v", step, defined.Changed(now), err)
				}
			}
		})
	}
}

// ADR 022: what a check writes is no definition of it, as far as its line shows that.
func TestReportsKeepTrust(t *testing.T) {
	dir := t.TempDir()
	put(t, dir, "Makefile", "check:\n\tx -o a.json --output=b.json --outputFile c.json > d.json 2>&1 | tee e.sh\n\tpytest --junitxml=f.xml --cov-report xml:g.xml -q\n\ttouch d/stamp; date > h\n")
	f := &Finder{Root: dir, LookPath: none}
	was, _ := parts(t, f)
	for _, name := range []string{"a.json", "b.json", "c.json", "d.json", "e.sh", "f.xml", "g.xml", "d/stamp", "h"} {
		put(t, dir, name, "report")
	}
	if now, _ := parts(t, f); was["make in ."].Hash == "" || now["make in ."].Hash != was["make in ."].Hash {
		t.Errorf("%q", now["make in ."].From)
	}
}
