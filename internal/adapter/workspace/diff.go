package workspace

import (
	"bytes"

	"github.com/rogpeppe/go-internal/diff"
)

// unified is the diff of two contents of a file with three lines of context,
// and how many lines came and went; empty for binary and very large contents.
func unified(from, to string, before, after []byte) (text string, added, removed int) {
	if len(before)+len(after) > diffLimit || Binary(before) || Binary(after) {
		return "", 0, 0
	}
	out := diff.Diff(from, before, to, after)
	if _, rest, ok := bytes.Cut(out, []byte("\n")); ok {
		out = rest // the "diff a b" line says nothing that the next two do not
	}
	for i, line := range bytes.Split(out, []byte("\n")) {
		switch {
		case i < 2 || len(line) == 0:
		case line[0] == '+':
			added++
		case line[0] == '-':
			removed++
		}
	}
	return string(out), added, removed
}
