package turn

import (
	"strings"
	"time"
	"unicode/utf8"
)

// defaultTimeout bounds a tool that names no limit of its own.
const defaultTimeout = 2 * time.Minute

// cutHead gives at most n bytes from the start, whole lines where the first
// fits, and never half a rune.
func cutHead(s string, n int) string {
	if len(s) <= n {
		return s
	}
	h := s[:n]
	if i := strings.LastIndexByte(h, '\n'); i > n/2 {
		return h[:i]
	}
	for len(h) > 0 && !utf8.RuneStart(s[len(h)]) {
		h = h[:len(h)-1]
	}
	return h
}

// cutTail is cutHead from the end.
func cutTail(s string, n int) string {
	if len(s) <= n {
		return s
	}
	start := len(s) - n
	if i := strings.IndexByte(s[start:], '\n'); i >= 0 && i < n/2 {
		return s[start+i+1:]
	}
	for start < len(s) && !utf8.RuneStart(s[start]) {
		start++
	}
	return s[start:]
}
