package reach

import (
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
