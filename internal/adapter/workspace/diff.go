package workspace

import "github.com/pawl-agent/pawl/internal/policy/edits"

// unified returns the diff of two contents of a file with three lines of
// context, and the numbers of added and removed lines; empty for binary and
// very large contents.
func unified(from, to string, before, after []byte) (text string, added, removed int) {
	if len(before)+len(after) > diffLimit || isBinary(before) || isBinary(after) {
		return "", 0, 0
	}
	return edits.Diff(from, to, before, after)
}
