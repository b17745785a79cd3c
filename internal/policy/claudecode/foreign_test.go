package claudecode

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/golden"
)

// The tables, for the eye: a changed line needs a reason.
func TestForeignKeys(t *testing.T) {
	var b strings.Builder
	seen := map[string]bool{}
	for _, f := range Foreigns {
		if id := fmt.Sprint(f.Keys(), f.whole); seen[id] {
			continue
		} else if seen[id] = true; f.whole != "" {
			fmt.Fprintf(&b, "%s: %s\n", f.Path, f.whole)
			continue
		}
		for _, name := range slices.Sorted(maps.Keys(f.keys())) {
			fmt.Fprintf(&b, "%s: %s: %s\n", f.Path, name, f.keys()[name].note)
		}
	}
	golden.File(t, filepath.Join("testdata", "foreign.golden"), b.String())
}
