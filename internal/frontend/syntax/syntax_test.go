package syntax

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

var names = map[styled.Role]string{
	styled.Keyword: "k", styled.String: "s", styled.Number: "n", styled.Comment: "c", styled.Type: "t", styled.Function: "f",
	styled.Added: "+", styled.Removed: "-", styled.Hunk: "@", styled.Heading: "h",
}

func shown(l styled.Line) string {
	var b strings.Builder
	for _, s := range l {
		if n := names[s.Role]; n != "" {
			fmt.Fprintf(&b, "<%s %s>", n, s.Text)
		} else {
			b.WriteString(s.Text)
		}
	}
	return b.String()
}

// SPEC 18.2
func TestLine(t *testing.T) {
	for _, c := range []struct{ lang, in, want string }{
		{"go", `func add(a int) string { return "x\"y" } // sum`, `<k func> <f add>(a <t int>) <t string> { <k return> <s "x\"y"> } <c // sum>`},
		{"go", "x := `a\nb` + 'c' /* d\ne */ + 0x1f", "x := <s `a>\n<s b`> + <s 'c'> <c /* d>\n<c e */> + <n 0x1f>"},
		{"py", "def f(x): # c\n    \"\"\"doc\n    more\"\"\"\n    return None", "<k def> <f f>(x): <c # c>\n    <s \"\"\"doc>\n<s     more\"\"\">\n    <k return> <k None>"},
		{"bash", `echo "$x" # c; a#b`, `echo <s "$x"> <c # c; a#b>`},
		{"sh", `a#b`, `a#b`},
		{"json", `{"a": "b", "c": [1, true]}`, `{<f "a">: <s "b">, <f "c">: [<n 1>, <k true>]}`},
		{"ts", "const x: Foo = new Foo() // 日本", "<k const> x: <t Foo> = <k new> <f Foo>() <c // 日本>"},
		{"sql", "SELECT a FROM b -- c", "<k SELECT> a <k FROM> b <c -- c>"},
		{"diff", "--- a\n@@ -1 +1 @@\n-x\n+y\n z", "<h --- a>\n<@ @@ -1 +1 @@>\n<- -x>\n<+ +y>\n z"},
		{"", "func x", "func x"},
		{"no such", "func x", "func x"},
		{".rs", "let x = 1;", "<k let> x = <n 1>;"},
	} {
		h := New(c.lang)
		var got []string
		for l := range strings.SplitSeq(c.in, "\n") {
			line := h.Line(l)
			if line.String() != l {
				t.Errorf("%s: the text of %q became %q", c.lang, l, line.String())
			}
			got = append(got, shown(line))
		}
		if g := strings.Join(got, "\n"); g != c.want {
			t.Errorf("%s: %q\ngives %s\nwant  %s", c.lang, c.in, g, c.want)
		}
	}
}

func FuzzLine(f *testing.F) {
	f.Add("go", "a `b\n\"c\\")
	f.Add("py", "'''\n'''x\"\\\n")
	f.Fuzz(func(t *testing.T, lang, text string) {
		h := New(lang)
		for l := range strings.SplitSeq(text, "\n") {
			if got := h.Line(l).String(); got != l {
				t.Fatalf("%q became %q", l, got)
			}
		}
	})
}
