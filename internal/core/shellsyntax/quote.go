package shellsyntax

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

func unescapeDouble(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+1 < len(s) {
			switch s[i+1] {
			case '$', '`', '"', '\\':
				i++
			case '\n':
				i++
				continue
			}
		}
		b.WriteByte(s[i])
	}
	return b.String()
}

// ansiC decodes $'…'; false for escapes that it does not support.
func ansiC(s string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' {
			b.WriteByte(s[i])
			continue
		}
		if i++; i >= len(s) {
			return "", false
		}
		if j := strings.IndexByte(`abeEfnrtv\'"?`, s[i]); j >= 0 {
			b.WriteByte("\a\b\x1b\x1b\f\n\r\t\v\\'\"?"[j])
			continue
		}
		base, most := 16, 0
		switch s[i] {
		case 'x':
			most = 2
		case 'u':
			most = 4
		case 'U':
			most = 8
		case '0', '1', '2', '3', '4', '5', '6', '7':
			base, most = 8, 3
			i--
		default:
			return "", false // \c, and escapes that bash leaves unchanged
		}
		n := i + 1
		for n < len(s) && n < i+1+most && isDigit(s[n], base) {
			n++
		}
		c, err := strconv.ParseUint(s[i+1:n], base, 32)
		if err != nil || c == 0 {
			return "", false
		}
		if most == 4 || most == 8 {
			b.WriteString(string(utf8.AppendRune(nil, rune(c))))
		} else {
			b.WriteByte(byte(c))
		}
		i = n - 1
	}
	return b.String(), true
}

func isDigit(c byte, base int) bool {
	return c >= '0' && c <= '7' || base > 8 && (c == '8' || c == '9') || base == 16 && (c|0x20 >= 'a' && c|0x20 <= 'f')
}
