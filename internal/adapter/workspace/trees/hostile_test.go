package trees

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var fixed = time.Unix(0, 0)

// A commit whose names lead out of a tree, or into git's own folder, is checked out
// nowhere: not here, and not by git.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{".git", ".GIT", "..", ".", "a/b", "../x", "git~1", ".git ", ".g\u200cit"} {
		t.Run(name, func(t *testing.T) {
			s := open(t, project(t, false, map[string]string{"a": "a"}))
			blob := must[string](t)(s.write("blob", []byte("text")))
			es := []entry{{"a", modeFile, blob}, {name, modeFile, blob}}
			if err := s.keep("", es); err == nil && strings.Contains(name, "/") {
				t.Error("a name with a slash is taken")
			}
			s.folders = nil
			tree := must[string](t)(s.write("tree", rawTree(es)))
			commit := must[string](t)(s.commitTree(tree, "hostile", fixed))
			if files, err := s.files(tree); err == nil {
				t.Errorf("%+v is taken for plain", files)
			}
			// Git refuses it, leaves it out, or takes what is harmless on this system.
			_, err := s.Checkout(t.Context(), "w", commit)
			text, rerr := os.ReadFile(filepath.Join(s.Path("w"), ".git"))
			if rerr != nil || !strings.HasPrefix(string(text), "gitdir: ") {
				t.Errorf("git's own file is %q, %v after %v", text, rerr, err)
			}
			if _, err := os.Lstat(filepath.Join(filepath.Dir(s.Path("w")), "x")); err == nil {
				t.Error("a file was written outside")
			}
		})
	}
	t.Run("two of a name", func(t *testing.T) { // a link, and a folder that would be written through it
		s := open(t, project(t, false, map[string]string{"a": "a"}))
		blob, out := must[string](t)(s.write("blob", []byte("text"))), t.TempDir()
		to := must[string](t)(s.write("blob", []byte(out)))
		sub := must[string](t)(s.write("tree", rawTree([]entry{{"f", modeFile, blob}})))
		tree := must[string](t)(s.write("tree", rawTree([]entry{{"l", modeLink, to}, {"l", modeDir, sub}})))
		commit := must[string](t)(s.commitTree(tree, "hostile", fixed))
		_, _ = s.Checkout(t.Context(), "w", commit)
		if _, err := os.Lstat(filepath.Join(out, "f")); err == nil {
			t.Error("a file was written through a link")
		}
	})
}
