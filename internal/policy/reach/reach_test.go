package reach

import (
	"io/fs"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// SPEC 16.1: any text is read, and what reading it finds does not depend on chance.
func TestAnyText(t *testing.T) {
	pieces := strings.Split(`$( $$( ${ ) } {{ }} ' " `+"`"+` \ ; | & && || < > << <<E # * ? [ ] { } , : = := += != @ - -c -C -m . .. / ./ ~ % $x $(X) ${X} $@ $< $0 \x00 \x01 \x02 sh python3 make npm cd for in do done call eval include -include define endef X= X A=( read SELF a.sh d/b d e.mk`, " ")
	pieces = append(pieces, " ", "\n", "\t", "\n\t", "\x00", "\x01", "\x02", "$(call ,)", "$(call  )")
	random := rand.New(rand.NewPCG(1, 2))
	text := func() []byte {
		var b strings.Builder
		for range random.IntN(60) {
			b.WriteString(pieces[random.IntN(len(pieces))])
			if random.IntN(2) == 0 {
				b.WriteByte(' ')
			}
		}
		return []byte(b.String())
	}
	for range 100 {
		files := fstest.MapFS{"Makefile": {Data: text()}, "a.sh": {Data: text()}, "d/b": {Data: text()}, "e.mk": {Data: text()}, "justfile": {Data: text()}}
		for _, deep := range []bool{false, true} {
			a := Ask{Dir: ".", Lines: []string{"make x; just x; sh a.sh", string(text())}, Deep: deep}
			was, now := Of(files, a), Of(files, a)
			if !slices.Equal(was.Files, now.Files) || !slices.Equal(was.Packages, now.Packages) {
				t.Fatalf("%+v, then %+v", was, now)
			}
		}
	}
}

// SPEC 16.1: an installed program is its package and what that needs, wherever node finds it,
// and not all that is installed.
func TestInstalled(t *testing.T) {
	text := func(s string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(s)} }
	fsys := fstest.MapFS{
		"node_modules/.bin/tsc":                          {Mode: fs.ModeSymlink, Data: []byte("../@o/ts/bin/tsc")},
		"node_modules/.bin/shim":                         text("#!/bin/sh\nbasedir=$(dirname \"$0\")\nexec node  \"$basedir/../@o/ts/bin/tsc\" \"$@\"\n"),
		"node_modules/.bin/two":                          text("basedir=.\n. ../x.sh\nexec \"$basedir/../@o/ts/bin/tsc\""),
		"node_modules/.bin/other":                        text("exec ../@o/ts/bin/tsc"),
		"node_modules/@o/ts/package.json":                text(`{"dependencies":{"a":"1"},"optionalDependencies":{"absent":"1"},"devDependencies":{"dev":"1"}}`),
		"node_modules/@o/ts/bin/tsc":                     text("require('dev')"),
		"node_modules/@o/ts/node_modules/a/package.json": text(`{"peerDependencies":{"b":"1"}}`),
		"node_modules/a/package.json":                    text(`{"dependencies":{"dev":"1"}}`),
		"node_modules/b/package.json":                    text(`{"dependencies":{"@o/ts":"1"}}`),
		"node_modules/dev/package.json":                  text("{}"),
		"sub/node_modules/x/package.json":                text(`{"dependencies":{"b":"1"}}`),
		"sub/node_modules/x/x.js":                        text(""),
		"tool.js":                                        text(""),
	}
	for program, want := range map[string]string{
		"node_modules/.bin/tsc":      "node_modules/@o/ts node_modules/@o/ts/node_modules/a node_modules/b",
		"node_modules/@o/ts/bin/tsc": "node_modules/@o/ts node_modules/@o/ts/node_modules/a node_modules/b",
		"sub/node_modules/x/x.js":    "node_modules/@o/ts node_modules/@o/ts/node_modules/a node_modules/b sub/node_modules/x",
		"node_modules/.bin/shim":     "node_modules/@o/ts node_modules/@o/ts/node_modules/a node_modules/b",
		"node_modules/.bin/other":    "",
		"node_modules/.bin/two":      "",
		"tool.js":                    "",
	} {
		got, ok := Installed(fsys, program, "none")
		if ok != (want != "") || ok && strings.Join(got.Packages, " ") != want || ok && !slices.Equal(got.Files, []string{program}) {
			t.Errorf("%s: %v, %+v", program, ok, got)
		}
	}
	if got, ok := Installed(fsys, "node_modules/dev/x", "a", "dev"); !ok || strings.Join(got.Packages, " ") != "node_modules/a node_modules/dev" {
		t.Errorf("what it loads beside its package: %v, %+v", ok, got)
	}
}
