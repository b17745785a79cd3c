package turn

import (
	"time"
	"unicode/utf8"
)

// defaultTimeout bounds a tool that names no limit of its own.
const defaultTimeout = 2 * time.Minute

// cutHead returns at most n bytes from the start, and never half a rune.
func cutHead(s string, n int) string {
	if len(s) <= n {
		return s
	}
	for n > 0 && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
