package tool

import (
	"fmt"
	"strings"
)

// Gap is an output whose middle is missing. Code that shortens it further keeps
// the counts and the place of the whole output, so the numbers stay true however
// often it is cut.
type Gap struct {
	Head, Tail   string // what remains, byte for byte
	Bytes, Lines int64  // what is missing: bytes, and newlines among them
	Torn         bool   // Tail begins inside a line
	Where        string // where the whole output is, in words
	File         string // the file with the whole output, if there is one
}

// Text returns Head and Tail with a line between them about what is missing.
// Bytes that are not UTF-8 are replaced.
func (g *Gap) Text() string {
	var b strings.Builder
	b.WriteString(g.Head)
	if g.Head != "" && !strings.HasSuffix(g.Head, "\n") {
		b.WriteString("[… this line goes on]\n")
	}
	b.WriteString("[… ")
	switch g.Lines {
	case 0:
	case 1:
		b.WriteString("1 line, ")
	default:
		fmt.Fprintf(&b, "%d lines, ", g.Lines)
	}
	fmt.Fprintf(&b, "%d bytes left out; %s …]\n", g.Bytes, g.Where)
	if g.Torn && g.Tail != "" {
		b.WriteString("[the end of a line …]")
	}
	b.WriteString(g.Tail)
	return strings.ToValidUTF8(b.String(), "\uFFFD")
}

// Missing returns the number of lines left out, if line is the note that Text
// writes in their place.
func Missing(line string) (lines int64, ok bool) {
	rest, ok := strings.CutPrefix(line, "[… ")
	if !ok || !strings.Contains(rest, " bytes left out; ") {
		return 0, false
	}
	if _, err := fmt.Sscanf(rest, "%d line", &lines); err != nil || !strings.Contains(rest[:min(len(rest), 30)], " line") {
		return 0, true // within one line
	}
	return lines, true
}

// Size returns the size of the whole output in bytes.
func (g *Gap) Size() int64 { return int64(len(g.Head)+len(g.Tail)) + g.Bytes }
