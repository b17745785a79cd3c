package plural

import "testing"

// SPEC 20.3: a number and its noun agree.
func TestOf(t *testing.T) {
	for want, got := range map[string]string{
		"0 lines": Of(0, "line"), "1 line": Of(1, "line"), "1 try": Of(1, "try"), "2 tries": Of(2, "try"), "2 days": Of(2, "day"),
		"3 matches": Of(3, "match"), "2 branches": Of(2, "branch"), "2 passes": Of(2, "pass"), "2 model replies": Of(2, "model reply"),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
