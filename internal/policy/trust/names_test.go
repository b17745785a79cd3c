package trust

import (
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.1, 16.3: every file that names programs for somebody is protected, or it is
// known why not.
func TestFilesAreProtected(t *testing.T) {
	others := map[string]string{
		".env": "asks as a file of secrets", ".env.local": "asks as a file of secrets",
		".git/config": "git's own", ".git/config.worktree": "git's own",
		".pre-commit-config.yaml": "kept where the hook is installed", "lefthook.yml": "kept where the hook is installed",
	}
	for _, name := range Files() {
		top, _, _ := strings.Cut(name, "/")
		if others[name] == "" && !slices.Contains(confine.Protected[:], top) && !slices.Contains(confine.Protected[:], name) {
			t.Errorf("%s names programs, and is not protected", name)
		}
	}
}
