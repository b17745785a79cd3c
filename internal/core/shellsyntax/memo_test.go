package shellsyntax

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"

	"mvdan.cc/sh/v3/syntax"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 19: a line is parsed once, however many ask about it, and whoever changes
// what was returned does not change what others get.
func TestParseRemembers(t *testing.T) {
	line := "cd /x && FOO=1 sudo -u me cat a b >out | sort"
	o := Options{Dir: "/w", Home: "/h"}
	want := must.Get(parseLine(line, o, few{}))(t)
	got, err := Parse(line, o, few{})
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Fatalf("first: %v, %v", got, err)
	}
	if _, ok := remembered(memoKey{line, o, few{}}); !ok {
		t.Fatal("it was not remembered")
	}
	for i := range got { // as its owner may
		c := &got[i]
		_ = append(c.Words, Word{Text: "evil"})
		_ = append(c.Via, Word{Text: "evil"})
		_ = append(c.Assigns, "EVIL=1")
		_ = append(c.Redirects, Redirect{Op: ">", Target: Word{Text: "evil"}})
		*c = Command{}
	}
	for range 2 {
		if got, err = Parse(line, o, few{}); err != nil || !reflect.DeepEqual(got, want) {
			t.Fatalf("after the change: %v, %v", got, err)
		}
	}
	for _, other := range []Options{{Dir: "/v", Home: "/h"}, {Dir: "/w", Home: "/i"}, {Dir: "/w", Home: "/h", POSIX: true}} {
		want, wanted := parseLine("cat ~/a", other, few{})
		for range 2 {
			if got, err := Parse("cat ~/a", other, few{}); fmt.Sprint(err) != fmt.Sprint(wanted) || !reflect.DeepEqual(got, want) {
				t.Errorf("%+v: %v, %v, want %v", other, got, err, want)
			}
		}
	}
}

func TestParseRemembersErrors(t *testing.T) {
	for range 2 {
		if got, err := Parse("echo 'open", Options{Dir: "/w"}, few{}); err == nil || got != nil {
			t.Errorf("got %v, %v", got, err)
		}
	}
}

// What is remembered is bounded: in number, in length, in commands.
func TestRememberedIsBounded(t *testing.T) {
	for i := range 3 * memoLines {
		must.Done(t)(Parse(fmt.Sprint("echo ", i), Options{Dir: "/w"}, few{}))
	}
	long, many := "echo "+strings.Repeat("a", memoLength), strings.Repeat("a;", memoResult+1)
	for _, line := range []string{long, many} {
		must.Done(t)(Parse(line, Options{Dir: "/w"}, few{}))
		if _, ok := remembered(memoKey{line, Options{Dir: "/w"}, few{}}); ok {
			t.Errorf("%.20s… was remembered", line)
		}
	}
	memo.Lock()
	defer memo.Unlock()
	if n := len(memo.lines); n > memoLines {
		t.Errorf("%d lines are remembered", n)
	}
}

func TestParseBesideEachOther(t *testing.T) {
	lines := []string{"ls -l", "cat a | sort -u", "cd x && make", "for i in 1 2; do echo $i; done"}
	var want [][]Command
	for _, l := range lines {
		cmds := must.Get(parseLine(l, Options{Dir: "/w"}, few{}))(t)
		want = append(want, cmds)
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for i, l := range slices.Concat(lines, lines, lines) {
				if got, err := Parse(l, Options{Dir: "/w"}, few{}); err != nil || !reflect.DeepEqual(got, want[i%len(lines)]) {
					t.Errorf("%s: %v, %v", l, got, err)
				}
				_, _ = Parse(fmt.Sprint("echo ", i), Options{Dir: "/w"}, few{}) // so that some are forgotten
			}
		})
	}
	wg.Wait()
}

// A parser that failed in the middle of a line parses the next one as a new one would.
func TestParserIsUsedAgain(t *testing.T) {
	t.Parallel()
	const good = "a <<X && b \"$(c `d`)\" | e; for f in 1 2; do g $f; done # h\nbody $(i)\nX\nj &"
	for _, posix := range []bool{false, true} {
		fresh := must.Get(syntax.NewParser(syntax.Variant(variant(posix))).Parse(strings.NewReader(good), ""))(t)
		lang := variant(posix)
		for _, bad := range []string{"", "a <<X", "a <<X <<Y\nb", "\"$(", "`a", "if a; then", "((1", "a | ", "case x in", "f() {", "a $(b <<X", "[[ a", "# only", "a=(b"} {
			for range 3 {
				_, _ = read(lang, bad)
				_, _ = read(variant(!posix), bad)
			}
			again, err := read(lang, good)
			if err != nil {
				t.Fatalf("after %q: %v", bad, err)
			}
			var a, b strings.Builder
			if syntax.DebugPrint(&a, fresh) != nil || syntax.DebugPrint(&b, again) != nil || a.String() != b.String() {
				t.Errorf("after %q:\n%s\nfresh:\n%s", bad, b.String(), a.String())
			}
		}
	}
}

func variant(posix bool) syntax.LangVariant {
	if posix {
		return syntax.LangPOSIX
	}
	return syntax.LangBash
}
