package markdown

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

func text(ls []styled.Line) string {
	var b strings.Builder
	for _, l := range ls {
		b.WriteString(strings.TrimRight(l.String(), " ") + "\n")
	}
	return b.String()
}

// SPEC 18.2, 18.5
func TestLines(t *testing.T) {
	for _, c := range []struct {
		name, in, want string
		width          int
	}{
		{"paragraph", "one two three four", "one two\nthree four\n", 11},
		{"soft break", "one\ntwo", "one two\n", 20},
		{"hard break", "one  \ntwo\\\nthree", "one\ntwo\nthree\n", 20},
		{"emphasis", "a **bold** and *thin* ~~gone~~ `x*y*` a_b_c 5 * 3 * 2", "a bold and thin gone x*y* a_b_c 5 * 3 * 2\n", 80},
		{"unclosed", "a **bold and *thin", "a **bold and *thin\n", 80},
		{"heading", "# One\ntext\n## Two #\nmore", "One\n\ntext\n\nTwo\n\nmore\n", 80},
		{"no heading", "#tag and #5", "#tag and #5\n", 80},
		{"list", "- one\n- two\n  more\n  - three\n- [x] done\n- [ ] open", "• one\n• two more\n  • three\n☑ done\n☐ open\n", 80},
		{"list wraps", "1. one two three\n2. four", "1. one two\n   three\n2. four\n", 11},
		{"loose list", "- one\n\n  more\n\n- two\n\nafter", "• one\n\n  more\n\n• two\n\nafter\n", 80},
		{"list with code", "1. do\n\n   ```sh\n   ls -l\n   ```\n2. done", "1. do\n\n   sh\nls -l\n\n2. done\n", 80},
		{"code", "see\n```go\nfunc main() {\n\tx := 1\n}\n```\nend", "see\n\ngo\nfunc main() {\n    x := 1\n}\n\nend\n", 80},
		{"code is not broken", "```\naaa bbb ccc ddd\n```", "aaa bbb ccc ddd\n", 8},
		{"longer fence", "````\n```\nx\n````\ny", "```\nx\n\ny\n", 80},
		{"quote", "> one\n> two\n\nx", "│ one two\n\nx\n", 80},
		{"quoted list", "> - one\n> - two three\n>   - four\n", "│ • one\n│ • two\n│   three\n│   • four\n", 10},
		{"quoted code", "> ```\n> x\n> ```\ny", "│ x\n\ny\n", 80},
		{"rule", "a\n\n---\nb", "a\n\n────────────────────\nb\n", 80},
		{"table", "| a | b |\n|---|--:|\n| 1 | 2 |\n| long | `x` |", "a    │ b\n─────┼──\n1    │ 2\nlong │ x\n", 80},
		{"table wraps", "| a | b |\n|---|---|\n| one | two three four |", "a   │ b\n────┼───────────\none │ two three\n    │ four\n", 16},
		{"table as list", "| aaaaaa | bbbbbb |\n|---|---|\n| one two | three four five |", "aaaaaa: one\n  two\nbbbbbb: three\n  four five\n", 14},
		{"no table", "| a | b |\nx", "| a | b |\nx\n", 80},
		{"link", "see [the page](https://a.example/x) now", "see the page (https://a.example/x) now\n", 80},
		{"link in brackets", "a [x] b [y](z) ![pic](p.png)", "a [x] b y (z) pic (p.png)\n", 80},
		{"address", "see https://a.example/x_y_z. End", "see https://a.example/x_y_z. End\n", 80},
		{"html stays", "a <b>x</b>\n<div>", "a <b>x</b>\n<div>\n", 80},
		{"a stray sign far ahead", "*a " + strings.Repeat("bb ", 338) + "`c d` e **f g** h", "*a " + strings.Repeat("bb ", 338) + "c d e f g h\n", 0},
		{"entities", "a &lt;b&gt; &amp; &nosuch; &#27;[2J", "a <b> & &nosuch; &#27;[2J\n", 80},
		{"escapes", `\*no\* \# x`, "*no* # x\n", 80},
		{"wide", "漢字漢字漢字", "漢字漢\n字漢字\n", 6},
		{"long word", "abcdefghijkl", "abcd\nefgh\nijkl\n", 4},
		{"numbers", "2024 was good\n10.5 too\n3) three", "2024 was good 10.5 too 3) three\n", 80},
	} {
		if got := text(Lines(c.in, Options{Width: c.width})); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// source makes Markdown of all that the package reads, and of broken pieces.
var source = rapid.Custom(func(t *rapid.T) string {
	parts := rapid.SliceOfN(rapid.SampledFrom([]string{
		"word ", "**bold** ", "*", "**", "`", "`code` ", "[link](http://x.y/z) ", "[", "](", "\n", "\n\n", "- ", "1. ", "  - ", "    ", "# ", "## x\n", "```go\n", "```\n",
		"| a | b |\n", "|---|:-:|\n", "| `x` | **y** |\n", "> ", "---\n", "漢字", "é", "👩‍👧 ", "_em_ ", "~~s~~ ", "\\", "<b>", "&amp;", "https://a.b/c ", "- [ ] ", "x | y", "  \n", "\t",
	}), 0, 40).Draw(t, "parts")
	return strings.Join(parts, "")
})

// What is shown depends on the text and not on how it comes, and a line that
// was given stays.
//
// SPEC 18.1, 18.4
func TestPiecesDoNotMatter(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, width := source.Draw(t, "source"), rapid.IntRange(10, 60).Draw(t, "width")
		want := text(Lines(src, Options{Width: width}))
		s := New(Options{Width: width})
		var got []styled.Line
		for rest := src; rest != ""; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			got = append(got, s.Write(rest[:n])...)
			rest = rest[n:]
			if p := s.Pending(); rest == "" {
				if whole := text(append(got, p...)); whole != want {
					t.Fatalf("pending is not what is left of %q:\n%s\nwant\n%s", src, whole, want)
				}
			}
		}
		if got := text(append(got, s.Close()...)); got != want {
			t.Fatalf("%q in pieces:\n%s\nwant\n%s", src, got, want)
		}
	})
}

// No word is lost, and none of the text is broken where it need not be.
//
// SPEC 18.4
func TestNoWordIsLost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		src, width := source.Draw(t, "source"), rapid.IntRange(20, 60).Draw(t, "width")
		var b strings.Builder
		for i, part := range strings.SplitAfter(src, "word ") {
			if i > 0 {
				b.WriteString("w" + strings.Repeat("q", i) + "k ")
			}
			b.WriteString(part)
		}
		got := text(Lines(b.String(), Options{Width: width}))
		for i := range strings.Count(src, "word ") {
			if w := "w" + strings.Repeat("q", i+1) + "k"; strings.Count(got, w) != 1 && len(w) < width/3 {
				t.Fatalf("%q of %q is shown %d times:\n%s", w, b.String(), strings.Count(got, w), got)
			}
		}
		for _, l := range Lines(src, Options{Width: width}) {
			for _, s := range l {
				if strings.Contains(s.Text, "\n") {
					t.Fatalf("a line holds a newline: %q", s.Text)
				}
			}
		}
	})
}

// Work grows as the text does.
//
// SPEC 18.4
func TestLinear(t *testing.T) {
	for _, seed := range []string{"[", "*", "**a ", "`", "``` ", "> ", "- ", "| a ", "|a|\n", "a", "*a _b ", "[a](b", "<", "&", " ", "\n", "1. ", "漢", "https://a"} {
		s := New(Options{Width: 80})
		long := strings.Repeat(seed, 20_000/len(seed))
		for i := 0; i < len(long); i += 7 {
			s.Write(long[i:min(i+7, len(long))])
		}
		if len(s.Close()) == 0 && strings.Trim(seed, " \n`") != "" {
			t.Errorf("%q gives nothing", seed)
		}
	}
}
