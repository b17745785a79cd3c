package trees

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

var fixed = time.Unix(0, 0)

// A commit whose names lead out of a tree, or into git's own folder, is checked out
// nowhere.
func TestHostileNames(t *testing.T) {
	for _, name := range []string{".git", ".GIT", "..", ".", "a/b", "../x", "git~1", ".git ", ".g\u200cit"} {
		t.Run(name, func(t *testing.T) {
			s := open(t, project(t, false, map[string]string{"a": "a"}))
			blob := s.blob(t, "text")
			tree := s.tree(t, modeFile, "a", blob, modeFile, name, blob)
			commit := must.Get(s.commitTree(t.Context(), tree, "hostile", fixed))(t)
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
		blob, out := s.blob(t, "text"), t.TempDir()
		tree := s.tree(t, "120000", "l", s.blob(t, out), "40000", "l", s.tree(t, modeFile, "f", blob))
		commit := must.Get(s.commitTree(t.Context(), tree, "hostile", fixed))(t)
		_, _ = s.Checkout(t.Context(), "w", commit)
		if _, err := os.Lstat(filepath.Join(out, "f")); err == nil {
			t.Error("a file was written through a link")
		}
	})
}
