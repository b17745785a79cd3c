package until

import (
	"fmt"
	"strings"
	"unicode"
)

// maxNamed is how many files are named to the model.
const maxNamed = 10

func quoted(names []string) string {
	more := ""
	if len(names) > maxNamed {
		more = fmt.Sprintf(" and %d more", len(names)-maxNamed)
		names = names[:maxNamed]
	}
	out := make([]string, len(names))
	for i, n := range names {
		out[i] = "`" + printable(n) + "`"
	}
	return strings.Join(out, ", ") + more
}

// printable makes texts of files and commands fit into a line of pawl's message.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '`':
			return '\''
		case !unicode.IsPrint(r):
			return ' '
		}
		return r
	}, s)
}
