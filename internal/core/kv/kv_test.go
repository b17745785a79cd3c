package kv

import (
	"errors"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// SPEC 14.5
func TestEscape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := string(rapid.SliceOfN(rapid.Byte(), 0, MaxKey).Draw(t, "a")), string(rapid.SliceOfN(rapid.Byte(), 0, MaxKey).Draw(t, "b"))
		if back, ok := Unescape(Escape(a)); !ok || back != a {
			t.Errorf("%q came back as %q, %v", a, back, ok)
		}
		if strings.HasPrefix(a, b) != strings.HasPrefix(Escape(a), Escape(b)) {
			t.Errorf("prefixes of %q and %q", a, b)
		}
		if strings.EqualFold(Escape(a), Escape(b)) != (a == b) {
			t.Errorf("%q and %q are the same to a file system without case", a, b)
		}
	})
	for _, s := range []string{"=", "=4", "=zz", "A", "=61", "a.b", "=4A"} {
		if key, ok := Unescape(s); ok {
			t.Errorf("%q was taken for %q", s, key)
		}
	}
}

func TestCheck(t *testing.T) {
	for key, value := range map[string]int{"": 0, strings.Repeat("k", MaxKey+1): 0, "big": MaxValue + 1} {
		if err := Check(key, make([]byte, value)); !errors.Is(err, ErrLimit) {
			t.Errorf("%.10q with %d bytes: %v", key, value, err)
		}
	}
	if err := Check(strings.Repeat("\x00", MaxKey), make([]byte, MaxValue)); err != nil {
		t.Error(err)
	}
}
