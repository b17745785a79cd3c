package normalize

import "strings"

// RateLimited reports whether a failure is a rate limit, so that a later retry is right.
func RateLimited(text string) bool {
	l := strings.ToLower(text[max(0, len(text)-4000):])
	for _, w := range []string{"rate limit", "rate-limit", "ratelimit", "too many requests", "429", "try again later", "overloaded"} {
		if i := strings.Index(l, w); i >= 0 {
			if w != "429" || ends(l, i+3) && (i == 0 || !word(l[i-1])) {
				return true
			}
		}
	}
	return false
}

// Numberless masks the digits in a file's base name: try1.py and try2.py with
// the same content count as one file that is written again. A name without a
// dot may be a hash and is kept.
func Numberless(path string) string {
	base := strings.LastIndexByte(path, '/') + 1
	if !strings.Contains(path[base:], ".") || !strings.ContainsAny(path[base:], "0123456789") {
		return path
	}
	out := []byte(path[:base])
	for i := base; i < len(path); i++ {
		if !isDigit(path[i]) {
			out = append(out, path[i])
		} else if len(out) == base || out[len(out)-1] != '#' {
			out = append(out, '#')
		}
	}
	return string(out)
}
