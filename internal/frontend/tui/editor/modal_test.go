package editor

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// vi plays a script of vi's keys; ␛ is Esc, ⏎ a new line.
func vi(e *Editor, m *Modal, script string) {
	for _, r := range script {
		switch key := string(r); {
		case r == '␛':
			m.Escape()
		case r == '®':
			m.Redo()
		case m.Normal():
			m.Command(key, 80)
		default:
			m.Insert(func(e *Editor) { e.Type(strings.ReplaceAll(key, "⏎", "\n")) })
		}
	}
}

// What the keys of vi do to a text, as vim 9 does it.
//
// SPEC 18.3
func TestModal(t *testing.T) {
	for _, c := range rows {
		e := New()
		m := NewModal(e)
		vi(e, m, c[0])
		if got := e.text[:e.caret] + "^" + e.text[e.caret:]; got != c[1] {
			t.Errorf("%s:\n got %q\nwant %q", c[0], got, c[1])
		}
	}
}

// Keys in any order keep the text valid and the caret on a character, and Undo
// leads back to where it began.
//
// SPEC 18.3
func TestModalHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		e := New()
		m := NewModal(e)
		text := rapid.StringMatching(`[ab .,\n漢e\x{301}]{0,20}`).Draw(t, "text")
		vi(e, m, strings.ReplaceAll(text, "\n", "⏎")+"␛")
		first := e.Text()
		keys := rapid.SliceOfN(rapid.SampledFrom([]rune("hjklwWbBeEg0^$xXdcyDCsSYJ~iaAIoOpPru.23␛é漢⏎®GftFT;,(\"")), 0, 40).Draw(t, "keys")
		vi(e, m, string(keys))
		for m.Escape() {
		}
		if at := e.caret; at > len(e.text) || at > 0 && at < len(e.text) && e.before(at+clusterLen(e.text[at:])) != at {
			t.Fatalf("the caret is at %d of %q", at, e.text)
		}
		if e.caret > e.lineStart() && e.caret == e.lineEnd() {
			t.Fatalf("the caret stands behind the line: %q", e.text)
		}
		for range 200 {
			e.Undo()
		}
		if e.text != "" {
			t.Fatalf("undone to %q; it began with %q", e.text, first)
		}
	})
}
