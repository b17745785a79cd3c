package cut

import (
	"testing"
	"unicode/utf8"
)

func TestCut(t *testing.T) {
	for _, s := range []string{"", "a", "ab", "äö", "a€b", "🙂🙂", "a\xffb"} {
		for n := range 6 {
			if got := Bytes(s, n); len(s) <= n && got != s || len(s) > n && (len(got) > n+len("…") || !utf8.ValidString(got)) {
				t.Errorf("Bytes(%q, %d) = %q", s, n, got)
			}
			if got, r := Runes(s, n), []rune(s); len(r) <= n && got != s || len(r) > n && got != string(r[:n])+"…" {
				t.Errorf("Runes(%q, %d) = %q", s, n, got)
			}
		}
	}
	if got := Bytes("a€b", 3) + Runes("a€b", 2); got != "a…a€…" {
		t.Error(got)
	}
}
