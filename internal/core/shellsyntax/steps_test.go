package shellsyntax

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 13.3, 20.2: what ran follows from what bash told, and where that does not fit the line
// nothing is known.
func TestScript(t *testing.T) {
	// Of each command that was told of: its beginning, and the codes of what ran before it.
	told := func(s string) (out []Told) {
		for _, f := range strings.Fields(s) {
			next, rest, _ := strings.Cut(f, ":")
			var codes []int
			for _, c := range strings.Split(rest, ",") {
				n := must.Get(strconv.Atoi(c))(t)
				codes = append(codes, n)
			}
			out = append(out, Told{Exit: codes[len(codes)-1], Pipe: codes, Next: strings.ReplaceAll(next, "_", " ")})
		}
		return out
	}
	for _, c := range []struct{ line, told, want string }{
		{"make; echo", "make:0 echo:2 :0", "make [2]; echo [0]"},
		{"a | b; c", "a:0 b:0 c:1,0 :0", "a | b [1 0]; c [0]"},
		{"a && b || c; d", "a:0 c:1 d:0 :0", "a [1] handled; c [0]; d [0]"},
		{"a && b; c", "a:0 c:1 :0", "a [1]; c [0]"},
		{"[ a ] && b; c", ":0 c:1 :0", "[ a ] [1] handled; c [0]"},
		{"a; (b; c); d", "a:0 d:3 :0", "a []; (b; c) [3]; d [0]"},
		{"a; b", "a:0 :2", "a [2]"},             // it ended there
		{"a; b", "a:0 b:2 c:0 :0", "not known"}, // more was told of than there is
		{"a; b", "a:0 c:2 :0", "not known"},     // another command
		{"a; b; c", "a:0 b:2 :0", "a [2]; b [0]"},
		{"if a; then b; fi; c", "a:0 c:1 :0", "a [1] handled; c [0]"},
		{"if a; then b; elif c; then d; else e; fi; f", "a:0 c:1 e:1 f:4 :0", "a [1] handled; c [1] handled; e [4]; f [0]"},
		{"if ! a; then b; fi", "a:0 b:1 :5", "! a [1] handled; b [5]"},
		{"for i in x; do a | b; done; c", "for_i_in_x:0 a:0 b:0 for_i_in_x:1,0 a:0 b:0 c:0,2 :0", "a | b [1 0]; a | b [0 2]; c [0]"},
		{"for i in $(x); do a; done; b", "b:0 :0", "b [0]"},
		{"for i in x; do a && break; b; done; c", "for_i_in_x:0 a:0 b:1 for_i_in_x:0 a:0 break:0 c:0 :0", "a [1]; b [0]; a [0]; break [0]; c [0]"},
		{"while a; do b; done; c", "a:0 b:0 a:3 c:1 :0", "a [0] handled; b [3]; a [1] handled; c [0]"},
		{"until a; do b; continue; c; done && d", "a:0 b:1 continue:0 a:0 d:0 :2", "a [1] handled; b [0]; continue [0]; a [0] handled; d [2]"},
		{"f() { a; }; f", "f:0 :3", "f [3]"},
		{"for i in x; do a; done; for i in xy; do b; done", "", "no script"}, // which of them?
		{"case a in a) b ;; esac; c", "", "no script"},
		{"a && (b); c", "", "no script"},
		{"a | b &", "", "no script"},
		{"make", "", "no script"},
		{"'a", "", "no script"},
	} {
		got := "no script"
		if s, ok := ScriptOf(c.line); ok {
			parts, ok := s.Ran(told(c.told), true)
			var out []string
			for _, p := range parts {
				text := fmt.Sprint(p.Text, " ", p.Codes)
				if p.Handled {
					text += " handled"
				}
				out = append(out, text)
			}
			if got = strings.Join(out, "; "); !ok {
				got = "not known"
			}
		}
		if got != c.want {
			t.Errorf("%q told %s: %q, want %q", c.line, c.told, got, c.want)
		}
	}
}
