package styled

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

var line = rapid.Custom(func(t *rapid.T) Line {
	var l Line
	for range rapid.IntRange(0, 12).Draw(t, "spans") {
		text := rapid.SampledFrom([]string{"word ", "a", "漢字", "👩‍👧", "e\u0301", "   ", "long-word-that-goes-on-and-on ", "x y"}).Draw(t, "text")
		l = l.Add(Role(rapid.IntRange(0, int(roles)-1).Draw(t, "role")), text)
	}
	return l
})

// No row is wider than it may be, and nothing but blanks is lost; what comes in
// pieces is broken as the whole is.
//
// SPEC 18.5
func TestWrap(t *testing.T) {
	bare := func(s string) string { return strings.ReplaceAll(s, " ", "") }
	rapid.Check(t, func(t *rapid.T) {
		l, columns := line.Draw(t, "line"), rapid.IntRange(4, 40).Draw(t, "columns")
		hang := Of(Text, strings.Repeat(" ", rapid.IntRange(0, 3).Draw(t, "hang")))
		rows := l.Wrap(columns, hang)
		all := ""
		for _, r := range rows {
			if n := Line.Width(Of(Text, strings.TrimRight(r.String(), " "))); n > columns {
				t.Fatalf("%q is %d columns wide, of %d", r.String(), n, columns)
			}
			all += r.String()
		}
		if bare(all) != bare(l.String()) {
			t.Fatalf("%q became %q", l.String(), all)
		}
		w := NewWrapper(columns, nil, hang)
		var pieces []Line
		for _, s := range l {
			w.Add(Line{s})
			pieces = append(pieces, w.Rows()...)
			c := w.Clone() // a copy must not change w
			c.Add(Of(Text, "looked at "))
			_ = c.Close()
		}
		pieces = append(pieces, w.Close()...)
		if l.Width() > columns {
			for i := range rows {
				if i >= len(pieces) || rows[i].String() != pieces[i].String() {
					t.Fatalf("in pieces it is %q, whole %q", pieces, rows)
				}
			}
		}
		if cut := l.Cut(columns); cut.Width() > columns {
			t.Fatalf("cut to %d it is %q", columns, cut.String())
		}
	})
}

// Nothing that a line holds is obeyed, and no style goes on behind it.
//
// SPEC 16.11
func TestRender(t *testing.T) {
	l := Line{{Text: "a\x1b[2Jb\u009bc\x07", Style: Style{Role: Bad, Attr: Bold}}, {Text: "link", Link: "http://a.b/"}}
	for _, theme := range Themes() {
		theme.Links = true
		got := theme.Render(l)
		if strings.Contains(got, "\x1b[2J") || strings.ContainsAny(got, "\u009b\x07") || !strings.HasSuffix(got, "\x1b]8;;\x1b\\") {
			t.Errorf("%s: %q", theme.Name, got)
		}
	}
	if got := Plain.Render(Of(Bad, "x")); got != "x" {
		t.Errorf("without colours: %q", got)
	}
	if got, want := Dark.Render(Of(Good, "x").Add(Text, "y").Add(Bad, "z")), "\x1b[92mx\x1b[my\x1b[91mz\x1b[m"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
