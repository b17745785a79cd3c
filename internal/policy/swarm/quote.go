package swarm

import (
	"strings"
	"unicode"

	"github.com/pawl-agent/pawl/internal/core/cut"
)

// How much of a text of a worker enters a prompt, in bytes.
const (
	maxLine  = 300
	maxBlock = 4 << 10
)

// Line returns a text that came from a worker or a machine as part of one line of a
// prompt: without line breaks and what is not seen, and cut. Such a text may be hostile:
// it must not look like a part of the prompt itself.
func Line(s string) string { return visible(s, maxLine, false) }

// block is the same for a text of several lines. Each is indented, so none can be a
// heading of the prompt.
func block(s string) string {
	return "    " + strings.ReplaceAll(visible(strings.TrimRight(s, "\n"), maxBlock, true), "\n", "\n    ")
}

func visible(s string, most int, lines bool) string {
	s = strings.Map(func(r rune) rune {
		switch {
		case r == '\n' && lines:
			return r
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r), r == unicode.ReplacementChar:
			return -1
		}
		return r
	}, strings.ToValidUTF8(s, ""))
	return cut.Bytes(strings.TrimSpace(s), most)
}
