package editdistance

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// SPEC 4.4: how far a name is from what was meant.
func TestDistance(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{
		{"", "", 0},
		{"", "abc", 3},
		{"read", "raed", 1}, // a swap
		{"read", "rea", 1},
		{"grep", "grop", 1},
		{"kitten", "sitting", 3},
		{"größe", "grösse", 2},
		{"ab", "ba", 1},
		{strings.Repeat("x", 1000), strings.Repeat("x", 2000), 0},
		{strings.Repeat("x", 1000), "", maxName},
	} {
		if got := Distance(c.a, c.b); got != c.want {
			t.Errorf("%.20q, %.20q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

// It is symmetric, 0 for the same alone, and no more than the longer name.
func TestDistanceIsOne(t *testing.T) {
	name := rapid.StringMatching(`[ab√]{0,12}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b := name.Draw(t, "a"), name.Draw(t, "b")
		d := Distance(a, b)
		if d != Distance(b, a) || (d == 0) != (a == b) || d > max(len([]rune(a)), len([]rune(b))) {
			t.Fatalf("%q, %q: %d and %d", a, b, d, Distance(b, a))
		}
	})
}

// What is near is found, and what is not is not guessed.
func TestNearest(t *testing.T) {
	names := []string{"help", "model", "mode", "permissions", "rules", "why", "undo"}
	for name, want := range map[string]string{
		"hepl": "help", "modle": "model", "Modle": "model", "permisions": "permissions", "rule": "rules", "wyh": "why", "udno": "undo",
		"agents": "", "x": "", "": "", "review": "", "mcp": "", "init": "",
	} {
		if got := Nearest(name, names); got != want {
			t.Errorf("Nearest(%q) = %q, want %q", name, got, want)
		}
	}
}
