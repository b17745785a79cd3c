package plain

import (
	"regexp"
	"strings"
	"testing"
)

// SPEC 16.11: a diff is sanitised before it is coloured, and nothing in it can
// pass for another line's colour.
func TestDiff(t *testing.T) {
	in := "2 files\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n--- x\n+++ y\n-\x1b[32m+evil\x1b]0;t\x07\u202e\n+\x1b[2Jb\rc\n c\n+ not in a hunk\n"
	for theme, want := range map[Theme]string{
		None:  "2 files\n--- a/f\n+++ b/f\n@@ -1,4 +1,4 @@\n a\n--- x\n+++ y\n-+evil\\u{202E}\n+b\nc\n c\n+ not in a hunk\n",
		Dark:  "2 files\n<1>--- a/f<0>\n<1>+++ b/f<0>\n<96>@@ -1,4 +1,4 @@<0>\n a\n<91>--- x<0>\n<92>+++ y<0>\n<91>-+evil\\u{202E}<0>\n<92>+b<0>\n<92>c<0>\n c\n+ not in a hunk\n",
		Light: "2 files\n<1>--- a/f<0>\n<1>+++ b/f<0>\n<36>@@ -1,4 +1,4 @@<0>\n a\n<31>--- x<0>\n<32>+++ y<0>\n<31>-+evil\\u{202E}<0>\n<32>+b<0>\n<32>c<0>\n c\n+ not in a hunk\n",
	} {
		got := regexp.MustCompile("\x1b\\[([0-9]+)m").ReplaceAllString(Diff(in, theme), "<$1>")
		if got != want {
			t.Errorf("theme %d:\n%q\nwant\n%q", theme, got, want)
		}
		if strings.Contains(got, "\x1b") {
			t.Errorf("a sequence came through: %q", got)
		}
	}
}

func TestThemeOf(t *testing.T) {
	for _, c := range []struct {
		terminal bool
		env      string
		want     Theme
	}{
		{true, "TERM=xterm", Dark},
		{false, "TERM=xterm", None},
		{true, "TERM=xterm NO_COLOR=1", None},
		{true, "TERM=dumb", None},
		{true, "", None},
		{true, "TERM=xterm COLORFGBG=0;15", Light},
		{true, "TERM=xterm COLORFGBG=15;0", Dark},
		{true, "TERM=xterm COLORFGBG=0;default;7", Light},
	} {
		env := map[string]string{}
		for _, kv := range strings.Fields(c.env) {
			k, v, _ := strings.Cut(kv, "=")
			env[k] = v
		}
		if got := ThemeOf(c.terminal, func(k string) string { return env[k] }); got != c.want {
			t.Errorf("%v %s: %d, want %d", c.terminal, c.env, got, c.want)
		}
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("--- a\n+++ b\n@@ -1,2 +1 @@\n-x\n+y\n\\ No newline\n")
	f.Fuzz(func(t *testing.T, s string) {
		got := regexp.MustCompile("\x1b\\[[0-9]+m").ReplaceAllString(Diff(s, Dark), "")
		for _, c := range got {
			if c < ' ' && c != '\n' && c != '\t' || c >= 0x7f && c < 0xa0 {
				t.Errorf("%q came through %q", c, s)
			}
		}
	})
}
