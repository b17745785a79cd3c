package secrets

import "strings"

// withoutEscapes returns a text without the escape codes of a terminal, and the
// original position of each byte. at is nil if there are no codes.
func withoutEscapes(s string) (bare string, at []int) {
	if strings.IndexByte(s, 0x1b) < 0 && !strings.Contains(s, "\u009b") {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	at = make([]int, 0, len(s))
	for i := 0; i < len(s); {
		if n := code(s[i:]); n > 0 {
			i += n
			continue
		}
		b = append(b, s[i])
		at = append(at, i)
		i++
	}
	return string(b), at
}

// maxCode is the longest escape code that is recognized: one without an end
// must not swallow the rest of the text.
const maxCode = 2048

// code returns the length of the escape code at the beginning of s, 0 if there is none.
func code(s string) int {
	n := 0
	switch {
	case s[0] == 0x1b && len(s) > 1:
		switch s[1] {
		case '[':
			n = 2
		case ']', 'P', '_', '^', 'X': // a string, up to BEL or ESC \
			for i := 2; i < len(s) && i < maxCode; i++ {
				if s[i] == 7 {
					return i + 1
				}
				if s[i] == 0x1b {
					if i+1 < len(s) && s[i+1] == '\\' {
						return i + 2
					}
					return i
				}
			}
			return 2
		case '(', ')', '*', '+', '#', '%', ' ':
			return min(3, len(s))
		default:
			return 2
		}
	case s[0] == 0x1b:
		return 1
	case strings.HasPrefix(s, "\u009b"):
		n = len("\u009b")
	default:
		return 0
	}
	for ; n < len(s) && n < 64; n++ {
		if s[n] >= 0x40 && s[n] <= 0x7e {
			return n + 1
		}
		if s[n] < 0x20 || s[n] > 0x7e {
			return n
		}
	}
	return n
}
