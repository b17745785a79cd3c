package undo

import (
	"bytes"
	"slices"
	"strings"
	"unicode"
)

// What an agent moves from one file to another is in none of them where only
// one half of that is put back. Lines are compared to see it.

// Gone returns the lines of before that after has not, of those that can be told
// from others: a blank one, a brace, a "1" is nobody's.
func Gone(before, after []byte) map[string]bool {
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

// distinctive reports whether a line is one that two files hardly have both by
// chance.
func distinctive(l []byte) bool {
	const fewest = 4 // of a line without letters
	word := strings.Trim(string(l), "{}()[];:, ")
	switch word {
	case "", "end", "fi", "done", "esac", "else", "then", "do", "begin", "try", "finally", "default", "pass", "break", "continue", "return", "null", "true", "false":
		return false
	}
	return len(word) >= fewest || strings.ContainsFunc(word, unicode.IsLetter)
}

// Meet reports whether two sets of lines have one in common that but has not.
func Meet(a, b, but map[string]bool) bool {
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

// Others returns the newest changes that stand and are not these, of contents
// that are kept: at most n.
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

// Unattributed returns the newest changes that may be somebody else's, also
// those that do not stand: what they brought may have gone on. At most n.
func (f *Fold) Unattributed(n int) []Change {
	var out []Change
	for _, c := range slices.Backward(f.changes) {
		if c.Unattributed && len(out) < n {
			out = append(out, c)
		}
	}
	return out
}
