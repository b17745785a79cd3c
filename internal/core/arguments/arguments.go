// Package arguments splits what a person typed after a command of pawl. It is no shell: it
// knows quotes, and no escapes or expansions.
package arguments

import "strings"

// Split splits at any of the given blanks; quotes keep blanks together.
func Split(s, blanks string) []string {
	var out []string
	var b strings.Builder
	quote, in := rune(0), false
	for _, r := range s {
		switch {
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, in = r, true
		case quote == 0 && strings.ContainsRune(blanks, r):
			if in {
				out = append(out, b.String())
				b.Reset()
				in = false
			}
		default:
			b.WriteRune(r)
			in = true
		}
	}
	if in {
		out = append(out, b.String())
	}
	return out
}
