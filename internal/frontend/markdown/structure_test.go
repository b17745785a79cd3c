package markdown

import (
	"fmt"
	"strings"
	"testing"
	"unicode"

	"pgregory.net/rapid"
)

// drawn writes blocks so that a test can compare them.
func drawn(bs []Block) string {
	var out []string
	for _, b := range bs {
		s := strings.Repeat(">", b.Quote) + strings.Repeat("-", b.List)
		if b.Sign != "" {
			s += "[" + b.Sign + "]"
		}
		s += fmt.Sprintf("%s ", [...]string{"p", "h", "code", "table", "rule"}[b.Kind])
		if b.Level > 0 {
			s += fmt.Sprint(b.Level, " ")
		}
		if b.Info != "" {
			s += b.Info + ": "
		}
		for i, l := range b.Lines {
			if i > 0 {
				s += "/"
			}
			s += l.String()
		}
		for i, r := range b.Rows {
			if i > 0 {
				s += "/"
			}
			for j, c := range r {
				if j > 0 {
					s += ","
				}
				s += c.String()
			}
		}
		out = append(out, strings.TrimRight(s, " "))
	}
	return strings.Join(out, "\n")
}

// SPEC 18.2: the structure of what models write.
func TestBlocks(t *testing.T) {
	for _, c := range []struct{ name, in, want string }{
		{"paragraphs", "one\ntwo\n\nthree  \nfour", "p one two\np three/four"},
		{"headings", "# One\ntext\n### Two", "h 1 One\np text\nh 3 Two"},
		{"list", "- one\n- two\n  more\n  - three\n- [x] done\n\nend", "-[•]p one\n-[•]p two more\n--[•]p three\n-[☑]p done\np end"},
		{"loose entry", "1. one\n\n   more\n2. two", "-[1.]p one\n-p more\n-[2.]p two"},
		{"lists in a line", "- - x\n- \n", "-[•]p\n--[•]p x\n-[•]p"},
		{"code", "see\n```go x\nfunc a() {\n\n}\n```\nend", "p see\ncode go x: func a() {//}\np end"},
		{"open code", "```\nx", "code x"},
		{"empty code", "```\n```\nx", "code\np x"},
		{"code in a list", "1. do\n\n   ```sh\n   ls\n   ```", "-[1.]p do\n-code sh: ls"},
		{"entry of code", "- ```sh\n  ls\n  ```", "-[•]code sh: ls"},
		{"indented code", "a\n\n    x\n     y\n\n    z", "p a\ncode x/ y\ncode z"},
		{"quote", "> one\n> - two\n>\n> ```\n> x\n> ```\nend", ">p one\n>-[•]p two\n>code x\np end"},
		{"table", "| a | b |\n|---|--:|\n| 1 | `x` |\nend", "table a,b/1,x\np end"},
		{"table in an entry", "- | a |\n  |---|\n  | 1 |", "-[•]p\n-table a/1"},
		{"bars", "| a | b |\nx", "p | a | b |\np x"},
		{"rule", "a\n\n---\nb", "p a\nrule\np b"},
		{"tags", "<div>\nx", "p <div>\np x"},
		{"nothing", "", ""},
	} {
		if got := drawn(Blocks(c.in)); got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", c.name, got, c.want)
		}
	}
}

// No word is lost: blocks have what lines have, in the same order.
//
// SPEC 18.1
func TestBlocksLoseNothing(t *testing.T) {
	bare := func(s string) string {
		return strings.Map(func(r rune) rune {
			if unicode.IsSpace(r) || strings.ContainsRune("│─┼", r) {
				return -1
			}
			return r
		}, s)
	}
	rapid.Check(t, func(t *rapid.T) {
		src := source.Draw(t, "source")
		want := ""
		for _, l := range Lines(src, Options{Links: true}) {
			want += l.String()
		}
		got := ""
		for _, b := range Blocks(src) {
			got += b.Sign + b.Info
			for _, l := range b.Lines {
				got += l.String()
			}
			for _, r := range b.Rows {
				for _, c := range r {
					got += c.String()
				}
			}
		}
		if bare(got) != bare(want) {
			t.Fatalf("%q\n got %s\nwant %s", src, bare(got), bare(want))
		}
	})
}
