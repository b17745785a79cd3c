package lsp

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// SPEC 12.2: positions are 1-based and in characters outside, and in the
// server's units inside.
func TestPositions(t *testing.T) {
	const s = "a🐾b\r\n漢字x\n\tλ\rlast"
	tx := newText(s)
	if tx.lines() != 4 {
		t.Fatalf("%d lines", tx.lines())
	}
	for _, c := range []struct {
		line, col   int
		char8, ch16 int
		rest        string // of the text from there
	}{
		{1, 1, 0, 0, "a🐾b"},
		{1, 2, 1, 1, "🐾b"},
		{1, 3, 5, 3, "b"},
		{1, 4, 6, 4, ""},
		{1, 99, 6, 4, ""}, // behind the end is the end
		{2, 1, 0, 0, "漢字x"},
		{2, 3, 6, 2, "x"},
		{3, 2, 1, 1, "λ"},
		{3, 3, 3, 2, ""},
		{4, 5, 4, 4, ""},
	} {
		for enc, want := range map[encoding]int{utf8Units: c.char8, utf16Units: c.ch16} {
			p := tx.at(c.line, c.col, enc)
			if p.Line != c.line-1 || p.Character != want {
				t.Errorf("%d:%d in %s is %v, want %d", c.line, c.col, enc, p, want)
			}
			line := tx.line(p.Line)
			if got := line[tx.offset(p, enc)-tx.starts[p.Line]:]; got != c.rest {
				t.Errorf("%d:%d in %s stands before %q, want %q", c.line, c.col, enc, got, c.rest)
			}
			if col := tx.column(p, enc); c.col < 99 && col != c.col {
				t.Errorf("%d:%d in %s comes back as column %d", c.line, c.col, enc, col)
			}
		}
	}
	// Inside a character is its begin, behind the text its end.
	if got := tx.offset(position{0, 2}, utf16Units); got != 1 {
		t.Errorf("half a pair: %d", got)
	}
	if got := tx.offset(position{0, 3}, utf8Units); got != 1 {
		t.Errorf("inside of a character: %d", got)
	}
	if got := tx.offset(position{99, 0}, utf8Units); got != len(s) {
		t.Errorf("behind the end: %d", got)
	}
	if got := tx.offset(position{-1, -1}, utf8Units); got != 0 {
		t.Errorf("before the begin: %d", got)
	}
}

var someText = rapid.StringOfN(rapid.RuneFrom([]rune("ab \t\n\r🐾漢é")), 0, 40, -1)

// SPEC 12.2: every offset comes back, in both encodings.
func TestPositionsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tx := newText(someText.Draw(t, "text"))
		enc := rapid.SampledFrom([]encoding{utf8Units, utf16Units}).Draw(t, "encoding")
		for i := range tx.s {
			if p := tx.position(i, enc); tx.s[i] != '\n' && tx.s[i] != '\r' && tx.offset(p, enc) != i {
				t.Fatalf("%q: byte %d is %v, which is byte %d", tx.s, i, p, tx.offset(p, enc))
			}
		}
	})
}

// SPEC 12.2: an edit that a server is sent makes the new text of the old one.
func TestChangeIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := someText.Draw(t, "from"), someText.Draw(t, "to")
		if rapid.Bool().Draw(t, "near") {
			i := rapid.IntRange(0, len([]rune(from))).Draw(t, "at")
			r := []rune(from)
			to = string(r[:i]) + to + string(r[min(len(r), i+2):])
		}
		enc := rapid.SampledFrom([]encoding{utf8Units, utf16Units}).Draw(t, "encoding")
		e := newText(from).change(to, enc)
		got, err := newText(from).apply([]textEdit{{*e.Range, e.Text}}, enc)
		if err != nil || got != to {
			t.Fatalf("%q to %q: %+v makes %q, %v", from, to, e, got, err)
		}
	})
}

// Invalid UTF-8 keeps its bytes where it is not edited.
func TestApplyKeepsBytes(t *testing.T) {
	const s = "a\xff\xfeb\nc🐾\xf0\x9fd\n"
	for _, enc := range []encoding{utf8Units, utf16Units} {
		tx := newText(s)
		i := strings.Index(s, "d\n")
		p := tx.position(i, enc)
		got, err := tx.apply([]textEdit{{textRange{p, position{p.Line, p.Character + 1}}, "D"}}, enc)
		if want := s[:i] + "D" + s[i+1:]; err != nil || got != want {
			t.Errorf("%s: %q, %v", enc, got, err)
		}
	}
}

// SPEC 12.2: edits of a rename are made together, or not at all.
func TestApply(t *testing.T) {
	at := func(l, c, l2, c2 int, s string) textEdit {
		return textEdit{textRange{position{l, c}, position{l2, c2}}, s}
	}
	for _, c := range []struct {
		name, in string
		edits    []textEdit
		want     string // "": refused
	}{
		{"none", "ab", nil, "ab"},
		{"in any order", "one two\n", []textEdit{at(0, 4, 0, 7, "2"), at(0, 0, 0, 3, "1")}, "1 2\n"},
		{"inserts at one place, as given", "x", []textEdit{at(0, 0, 0, 0, "a"), at(0, 0, 0, 0, "b")}, "abx"},
		{"insert before a replacement", "x", []textEdit{at(0, 0, 0, 1, "y"), at(0, 0, 0, 0, "a")}, "ay"},
		{"side by side", "abc", []textEdit{at(0, 0, 0, 1, "A"), at(0, 1, 0, 2, "B")}, "ABc"},
		{"over lines", "a\r\nb\r\nc", []textEdit{at(0, 1, 2, 0, "")}, "ac"},
		{"at the end of all", "a\n", []textEdit{at(5, 0, 5, 0, "b\n")}, "a\nb\n"},
		{"overlap", "abc", []textEdit{at(0, 0, 0, 2, "x"), at(0, 1, 0, 3, "y")}, ""},
		{"backwards", "abc", []textEdit{at(0, 2, 0, 1, "x")}, ""},
	} {
		got, err := newText(c.in).apply(c.edits, utf16Units)
		if (err != nil) != (c.want == "") || got != c.want {
			t.Errorf("%s: %q, %v", c.name, got, err)
		}
	}
}

func TestAddresses(t *testing.T) {
	for _, p := range []string{"/a/b.go", "/with space/ü🐾.ts", "/a%20b/c#d?e", "/a:b/c"} {
		got, ok := fromURI(toURI(p))
		if !ok || got != p {
			t.Errorf("%s comes back as %q", p, got)
		}
	}
	for uri, want := range map[string]string{
		"file:///a%3Ab/c.ts": "/a:b/c.ts", "file://localhost/x": "/x", "file:///a/../b": "/b",
	} {
		if got, ok := fromURI(uri); !ok || got != want {
			t.Errorf("%s is %q", uri, got)
		}
	}
	for _, uri := range []string{"", "untitled:1", "http://x/y", "file://host/share", "jdt://contents/rt.jar", "://", "file:"} {
		if got, ok := fromURI(uri); ok {
			t.Errorf("%q is taken for %q", uri, got)
		}
	}
}
