package claudecode

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/frontmatter"
	"github.com/pawl-agent/pawl/internal/core/golden"
)

// kinds are the kinds of files.
var kinds = []Front{Skill, Command, Agent, Style}

// SPEC 16.17: a key of front matter that nobody knows, and that may forbid something, is
// not passed over.
func TestUnknownInFiles(t *testing.T) {
	for _, kind := range kinds {
		for _, name := range []string{"permissions", "hook", "deny", "sandbox", "permission_mode", "blocked"} {
			if _, err := kind.Read(frontmatter.Fields{name: "x"}); err == nil {
				t.Errorf("%s: %s is passed over", kind, name)
			}
		}
	}
}

// The whole table, for the eye: a changed line needs a reason.
func TestFronts(t *testing.T) {
	var b strings.Builder
	for _, kind := range kinds {
		for _, name := range kind.FrontKeys() {
			k := fronts()[kind][name]
			if k.use == "" || k.use == Unused && k.note == "" {
				t.Errorf("%s: %s has no use, or no reason", kind, name)
			}
			f := Finding{Key: string(kind) + ": " + name, Use: k.use, Note: k.note}
			stops := ""
			if k.stops {
				stops = " (the file is not used)"
			}
			fmt.Fprintf(&b, "%s%s\n", f, stops)
		}
	}
	golden.File(t, filepath.Join("testdata", "fronts.golden"), b.String())
}
