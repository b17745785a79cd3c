package editor

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// vi does what a script says with the keys of vi; ␛ is Esc, ⏎ a new line.
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

// What the keys of vi do to a text, as vim 9 does it. Each row was checked with
// vim itself.
//
// SPEC 18.3
func TestModal(t *testing.T) {
	for _, c := range [][2]string{
		{"abc", "abc^"},
		{"abc␛", "ab^c"},
		{"abc␛␛", "ab^c"},
		{"abc␛ix", "abx^c"},
		{"abc␛hhax", "ax^bc"},
		{"abc␛0ix", "x^abc"},
		{"  abc␛^", "  ^abc"},
		{"  abc␛Ix", "  x^abc"},
		{"abc␛0Ax", "abcx^"},
		{"abc␛ox", "abc\nx^"},
		{"abc␛Ox", "x^\nabc"},
		{"abc␛0llllx", "a^b"},
		{"abc␛x", "a^b"},
		{"abc␛xx", "^a"},
		{"abc␛xxx", "^"},
		{"abcdef␛03x", "^def"},
		{"abcdef␛X", "abcd^f"},
		{"one two  three␛0w", "one ^two  three"},
		{"one two  three␛02w", "one two  ^three"},
		{"one two  three␛09w", "one two  thre^e"},
		{"foo.bar baz␛0w", "foo^.bar baz"},
		{"foo.bar baz␛03w", "foo.bar ^baz"},
		{"one⏎⏎two␛0kkw", "one\n^\ntwo"},
		{"one two␛b", "one ^two"},
		{"one two␛2b", "^one two"},
		{"one⏎⏎two␛0b", "one\n^\ntwo"},
		{"foo.bar␛bb", "foo^.bar"},
		{"one two␛0e", "on^e two"},
		{"one two␛0ee", "one tw^o"},
		{"one⏎two␛k0ee", "one\ntw^o"},
		{"one two three␛0dw", "^two three"},
		{"one two three␛02dw", "^three"},
		{"one two three␛0d2w", "^three"},
		{"one two three␛02d2w", "^"},
		{"one two␛dw", "one t^w"},
		{"one two␛bdw", "one^ "},
		{"one two⏎three␛k0wdw", "one^ \nthree"},
		{"one two three␛0de", "^ two three"},
		{"one two three␛db", "one two ^e"},
		{"one two three␛0wd0", "^two three"},
		{"one two three␛0wd$", "one^ "},
		{"one two three␛0wD", "one^ "},
		{"one⏎two⏎three␛kdd", "one\n^three"},
		{"one⏎two⏎three␛dd", "one\n^two"},
		{"one␛dd", "^"},
		{"one⏎two␛2dd", "one\ntw^o"},
		{"one⏎two⏎three␛k5dd", "^one"},
		{"one⏎  two␛kdd", "  ^two"},
		{"one⏎two⏎three␛kk2dd", "^three"},
		{"one⏎two⏎three␛kkdj", "^three"},
		{"one⏎two⏎three␛dk", "^one"},
		{"one⏎two␛dj", "one\ntw^o"}, // there is no line below
		{"one two three␛0cwx␛", "^x two three"},
		{"one two three␛0c2wx␛", "^x three"},
		{"one two␛bcwx", "one x^"},
		{"a b␛0cwxx", "xx^ b"},
		{"one⏎two⏎three␛kccx", "one\nx^\nthree"},
		{"one two␛bCx", "one x^"},
		{"one two␛0ywP", "one^ one two"},
		{"one⏎two␛kyyjp", "one\ntwo\n^one"},
		{"one⏎two␛kyyP", "^one\none\ntwo"},
		{"one⏎two␛kddp", "two\n^one"},
		{"abc␛0xp", "b^ac"},
		{"ab␛0x3p", "baa^a"},
		{"one⏎two␛kyy2p", "one\n^one\none\ntwo"},
		{"one two three␛0dw.", "^three"},
		{"a b c d e␛0dw2.", "^d e"},
		{"one two three␛0cwx␛w.", "x ^x three"},
		{"abc␛0ix␛.", "^xxabc"},
		{"a⏎b⏎c␛Ax␛k.", "a\nb^x\ncx"},
		{"a␛oxy␛.", "a\nxy\nx^y"},
		{"a␛3ix␛", "xx^xa"},
		{"a␛2oxy␛", "a\nxy\nx^y"},
		{"abc␛0rx", "^xbc"},
		{"abc␛02rx", "x^xc"},
		{"abc␛2rx", "ab^c"}, // there are not as many
		{"abc␛0xu", "^abc"},
		{"abc␛0xu®", "^bc"},
		{"one two␛0dwdwu", "^two"},
		{"one two␛0dwdw2u", "^one two"},
		{"one two␛0cwxyz ab␛u", "^one two"}, // one change, though several words
		{"one two␛0ixyz ab␛u", "^one two"},
		{"abc␛0d␛x", "^bc"},          // Esc drops the d
		{"abc␛03␛x", "^bc"},          // and a count
		{"abc␛dqx", "a^b"},           // a key that is no movement drops it
		{"a e\u0301 b␛0wx", "a ^ b"}, // a letter with its accent is one
		{"漢字 かな␛0x", "^字 かな"},
		{"שלום עולם␛0dw", "^עולם"},
	} {
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
		keys := rapid.SliceOfN(rapid.SampledFrom([]rune("hjklwbe0^$xXdcyDCiaAIoOpPru.23␛é漢⏎®G")), 0, 40).Draw(t, "keys")
		vi(e, m, string(keys))
		for m.Escape() {
		}
		if at := e.caret; at > len(e.text) || at > 0 && at < len(e.text) && e.before(at+next(e.text[at:])) != at {
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
