package window

import (
	"math/rand/v2"
	"strings"
	"testing"
)

// A long text is clipped without being read whole; the result is the same.
func TestClip(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for range 5000 {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString([]string{"a", "é", "漢字", " ", "\n\t", "\u00a0", "\u2003", "word", "\xff", "longer-word"}[r.IntN(10)])
		}
		s, n := b.String(), r.IntN(20)
		want := strings.Join(strings.Fields(s), " ")
		if len(want) > n {
			end := n
			for end > 0 && want[end]&0xC0 == 0x80 {
				end--
			}
			want = want[:end] + "…"
		}
		if got := clip(s, n); got != want {
			t.Fatalf("clip(%q, %d) = %q, want %q", s, n, got, want)
		}
	}
}
