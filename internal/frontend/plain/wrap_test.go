package plain

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestWidth(t *testing.T) {
	for s, want := range map[string]int{
		"": 0, "abc": 3, "日本": 4, "e\u0301": 1, "🙂": 2, "👩\u200d👩": 4, "\x1b[31mred\x1b[0m": 3, "a\tb": 9, "ａ": 2, "→": 1,
	} {
		if got := Width(s); got != want {
			t.Errorf("%q: %d, want %d", s, got, want)
		}
	}
}

// Words are not cut where they fit on a line. SPEC 18.1
func TestWrap(t *testing.T) {
	for _, c := range []struct {
		text    string
		columns int
		hang    bool
		want    string
	}{
		{"one two three", 0, false, "one two three"},
		{"one two three", 8, false, "one two\nthree"},
		{"one two\n\nthree four\n", 8, false, "one two\n\nthree\nfour\n"},
		{"  one two three", 9, false, "  one two\n  three"},
		{"a verylongwordthatfitsnowhere b", 10, false, "a\nverylongwordthatfitsnowhere b"},
		{"日本語日本語", 7, false, "日本語\n日本語"},
		{"ab 日本語 cd", 6, false, "ab 日\n本語\ncd"},
		{"x 👩\u200d👩yz", 5, false, "x\n👩\u200d👩\nyz"},
		{"\x1b[31mred red\x1b[0m red", 7, false, "\x1b[31mred red\x1b[0m\nred"},
		{"  -f, --flag  what it is for here", 28, true, "  -f, --flag  what it is for\n              here"},
		{"      --a-long-flag string  what it does", 24, true, "      --a-long-flag\n      string  what it\n      does"},
		{"why: ", 40, false, "why: "},
	} {
		if got := Wrap(c.text, c.columns, c.hang); got != c.want {
			t.Errorf("%q in %d:\n%q, want\n%q", c.text, c.columns, got, c.want)
		}
	}
}

// Whatever the text, its pieces and the width: nothing but blanks and line
// ends changes, the pieces wrap like the whole text, and no line is wider than the
// terminal unless one word is.
func TestWrapKeeps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(rapid.SampledFrom([]string{"word", " ", "  ", "日本", "e\u0301", "\n", "🙂", "👩\u200d👩", "longerwordhere", "\x1b[1m", "→", "\t"})).Draw(t, "text"), "")
		columns := rapid.IntRange(4, 30).Draw(t, "columns")
		bare := func(s string) string { return strings.Join(strings.Fields(s), "") }
		got := Wrap(text, columns, rapid.Bool().Draw(t, "hang"))
		if bare(got) != bare(text) {
			t.Fatalf("%q became %q", text, got)
		}
		var w Wrapper
		var b strings.Builder
		for rest := []rune(text); len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			b.WriteString(w.Add(string(rest[:n]), columns))
			rest = rest[n:]
		}
		b.WriteString(w.Flush(columns))
		if bare(b.String()) != bare(text) {
			t.Fatalf("in pieces %q became %q", text, b.String())
		}
		for line := range strings.Lines(b.String()) {
			line = strings.TrimRight(line, "\n \t")
			if fields := strings.Fields(line); Width(line) > columns && len(fields) > 1 {
				longest := 0
				for _, f := range fields {
					longest = max(longest, Width(f))
				}
				// A line's own indentation is kept, also one that leaves no room.
				indent := Width(line[:len(line)-len(strings.TrimLeft(line, " \t"))])
				if longest <= columns/2 && indent <= columns/2 {
					t.Fatalf("%q is wider than %d", line, columns)
				}
			}
		}
	})
}
