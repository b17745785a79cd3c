package tool

import (
	"fmt"
	"strings"
)

// Gap is an output whose middle is missing. Whoever shortens it further keeps
// the counts and where the whole is: what the reader is told is true
// however often it is cut.
type Gap struct {
	Head, Tail   string // what is left of it, byte for byte
	Bytes, Lines int64  // what is missing: bytes, and line ends among them
	Torn         bool   // Tail begins inside a line
	Where        string // where the whole is, in words
	File         string // and as a file, where it is in one
}

// Text is head and tail, with what is missing between them. Bytes that are no
// UTF-8 are replaced.
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

// Size is how many bytes the whole output has.
func (g *Gap) Size() int64 { return int64(len(g.Head)+len(g.Tail)) + g.Bytes }
