package secrets

import (
	"strings"
	"testing"
)

// SPEC 16.7: of a key that was cut before anybody looked for it no piece is kept
// either, however much of it is left, and what is no key stays.
func TestTornKeys(t *testing.T) {
	const held = "correct-horse-7-battery"
	m := New(held)
	for n := tornHeld; n < len(held); n++ {
		for _, before := range []string{"", "echo ", "x=", "é"} {
			if got := m.String(before + held[:n] + "…"); strings.Contains(got, held[:n]) || !strings.HasPrefix(got, before) || !strings.HasSuffix(got, "…") {
				t.Errorf("%q", got)
			}
		}
	}
	for in, want := range map[string]string{
		"bash curl -H x:ghp_aB3dE5fG7h…":          "bash curl -H x:[masked:cut]…",
		"a ghp_aB3dE5fG7h… b ghp_aB3dE5fG7h… c":   "a [masked:cut]… b [masked:cut]… c",
		"correct-horse-7-b… and correct…":         "[masked:cut]… and correct…", // too little to tell
		"correct-horse-7-b … goes on":             "correct-horse-7-b … goes on",
		"the correct-horse-8…":                    "the correct-horse-8…",
		"read internal/policy/secrets/secrets.g…": "read internal/policy/secrets/secrets.g…",
		"https://example.com/a/long/path1234567…": "https://example.com/a/long/path1234567…",
		"sk-learn-is-a-package…":                  "sk-learn-is-a-package…",
		"…":                                       "…",
	} {
		if got := m.String(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
		if again := m.String(m.String(in)); again != m.String(in) {
			t.Errorf("%q is masked twice: %q", in, again)
		}
	}
}
