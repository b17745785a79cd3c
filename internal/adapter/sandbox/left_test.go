//go:build linux && (amd64 || arm64)

package sandbox

import (
	"bytes"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 11.1, 11.2: what a confined command itself made, wrote, moved or removed is known,
// whatever program did it, and whether it did anything; what somebody else changed meanwhile is not.
func TestWhatACommandLeft(t *testing.T) {
	t.Parallel()
	const gone, none = "gone", "not by it"
	for name, c := range map[string]struct {
		line string
		want map[string]string // "": it left something
	}{
		"made":                {"echo 1 > new; : > empty; mkdir -p d/e; touch d/e/x", map[string]string{"new": "", "empty": "", "d": "", "d/e": "", "d/e/x": "", "old": none}},
		"written":             {"echo 1 > old; echo 1 >> more; truncate -s 1 cut", map[string]string{"old": "", "more": "", "cut": "", "theirs": none}},
		"by a program":        {"printf 'a:\\n\\techo 1 > old\\n\\tsed -i s/o/p/ more\\n' > M; if command -v make >/dev/null; then make -sf M; else echo 1 > old; sed -i s/o/p/ more; fi", map[string]string{"old": "", "more": "", "M": "", "cut": none}},
		"read":                {"cat old more; ls -la; test -w old", map[string]string{"old": none, "more": none}},
		"removed":             {"rm old; rm -r sub", map[string]string{"old": gone, "sub/f": gone, "sub": gone, "more": none}},
		"moved":               {"mv old further; mv more cut", map[string]string{"old": gone, "further": "", "more": gone, "cut": ""}},
		"made and removed":    {"echo 1 > new; rm new", map[string]string{"new": gone}},
		"removed and made":    {"rm old; echo 1 > old", map[string]string{"old": ""}},
		"linked":              {"ln -s old l; echo 1 > new; ln new hard", map[string]string{"l": "", "hard": "", "old": none}},
		"through a link":      {"ln -s sub s; echo 1 > s/f", map[string]string{"s": "", "sub/f": "", "s/f": none}},
		"by a descriptor":     {"exec 3< old; echo 1 > /proc/self/fd/3", map[string]string{"old": ""}},
		"refused":             {"echo 1 > AGENTS.md; rm .git/config; mkdir .git/hooks/x", map[string]string{"AGENTS.md": none, ".git/config": none, ".git/hooks/x": none}},
		"after the child":     {"(echo 1 > old) & wait; (cd sub && echo 2 > f)", map[string]string{"old": "", "sub/f": ""}},
		"names that are odd":  {"echo 1 > $'a\\nb'; echo 1 > 'ö x'", map[string]string{"a\nb": "", "ö x": ""}},
		"attributes":          {"chmod 600 old; touch -d 2020-01-01 more", map[string]string{"old": "", "more": "", "cut": none}},
		"elsewhere":           {"echo 1 > /dev/null; ls > ${TMPDIR:-/tmp}/pawl-left; rm ${TMPDIR:-/tmp}/pawl-left", map[string]string{"old": none}},
		"in git's folder":     {"echo 1 > .git/index", map[string]string{"old": none}},
		"a folder's own name": {"mv sub sup", map[string]string{"sub": gone, "sup": "", "sup/f": none}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKeeper(t, roomy)
			put := func(name, text string) {
				t.Helper()
				must.Write(t, filepath.Join(k.root, name), text)
			}
			for _, name := range []string{"old", "more", "cut", "theirs", "sub/f", "AGENTS.md", ".git/config", ".git/HEAD", ".git/hooks/y"} {
				put(name, "old\n")
			}
			set := k.Begin()
			var out bytes.Buffer
			cmd := exec.Command("bash", "-c", c.line)
			cmd.Dir, cmd.Stdout, cmd.Stderr = k.root, &out, &out
			ran := must.Get(k.box.start(cmd, holding{keep: set}))(t)
			put("theirs", "new\n") // by somebody else, meanwhile
			_ = ran.Wait()
			touched := false
			for path, want := range c.want {
				touched = touched || want != none
				there, known := set.Left(filepath.Join(k.root, path))
				got := none
				switch {
				case known && there:
					got = ""
				case known:
					got = gone
				}
				if got != want {
					t.Errorf("%s: %q, want %q\n%s", path, got, want, out.String())
				}
			}
			if got := set.Touched(k.root, filepath.Join(k.root, ".git")); got != touched {
				t.Errorf("touched %t\n%s", got, out.String())
			}
			must.Done(t)(set.Finish(nil))
			for path := range c.want {
				if _, known := set.Left(filepath.Join(k.root, path)); known {
					t.Errorf("%s: still known after Finish", path)
				}
			}
		})
	}
}
