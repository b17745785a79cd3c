package workspace

import "github.com/pawl-agent/pawl/internal/policy/edits"

// unified is the diff of two contents of a file with three lines of context,
// and how many lines came and went; empty for binary and very large contents.
func unified(from, to string, before, after []byte) (text string, added, removed int) {
	if len(before)+len(after) > diffLimit || Binary(before) || Binary(after) {
		return "", 0, 0
	}
	return edits.Diff(from, to, before, after)
}
