package undo

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// Lines that an agent moved from one file to another would be in neither file if only one
// half of the move were undone. The functions here compare lines to detect that.

// removedLines returns the distinctive lines of before that are not in after. Lines such as a
// blank one, a brace or a "1" are not distinctive.
func removedLines(before, after []byte) map[string]bool {
	out := map[string]bool{}
	for l := range bytes.Lines(before) {
		if distinctive(bytes.TrimSpace(l)) {
			out[string(bytes.TrimRight(l, "\r\n"))] = true
		}
	}
	for l := range bytes.Lines(after) {
		delete(out, string(bytes.TrimRight(l, "\r\n")))
	}
	return out
}

// distinctive reports whether a line is unlikely to be in two files by chance.
func distinctive(l []byte) bool {
	const fewest = 4 // of a line without letters
	word := strings.Trim(string(l), "{}()[];:, ")
	switch word {
	case "", "end", "fi", "done", "esac", "else", "then", "do", "begin", "try", "finally", "default", "pass", "break", "continue", "return", "null", "true", "false":
		return false
	}
	return len(word) >= fewest || strings.ContainsFunc(word, unicode.IsLetter)
}

// intersect reports whether two sets have a line in common that is not in but.
func intersect(a, b, but map[string]bool) bool {
	if len(b) < len(a) {
		a, b = b, a
	}
	for l := range a {
		if b[l] && !but[l] {
			return true
		}
	}
	return false
}

// Others returns the newest changes that are in effect, have kept contents and are not
// among these; at most n.
func (f *Fold) Others(seqs []int64, n int) []Change {
	var out []Change
	for _, c := range slices.Backward(f.changes) {
		if len(out) == n {
			break
		}
		if !c.undone && c.Before != "" && c.Kept && c.Before != c.After && !slices.Contains(seqs, c.Seq) {
			out = append(out, c)
		}
	}
	return out
}

// Unattributed returns the newest unattributed changes, also undone ones, since the lines
// that they added may have been moved on. At most n.
func (f *Fold) Unattributed(n int) []Change {
	var out []Change
	for _, c := range slices.Backward(f.changes) {
		if c.Unattributed && len(out) < n {
			out = append(out, c)
		}
	}
	return out
}
