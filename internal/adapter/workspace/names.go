package workspace

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// decompositions maps characters to their canonical decomposition. It is built
// at first use: only names that are not ASCII and not found as they are need it.
var decompositions = sync.OnceValue(func() map[rune]string {
	m := make(map[rune]string, 1100)
	for entry := range strings.SplitSeq(nfdTable, " ") {
		r, n := utf8.DecodeRuneInString(entry)
		m[r] = entry[n:]
	}
	return m
})

// nfd decomposes a name, so that é typed as one character and é stored as e
// with an accent compare equal. Compatibility ideographs are left as they are.
func nfd(s string) string {
	if isASCII(s) {
		return s
	}
	table := decompositions()
	var b strings.Builder
	for i, r := range s {
		switch d, ok := table[r]; {
		case ok:
			b.WriteString(d)
		case r >= hangulBase && r < hangulBase+hangulCount:
			hangul(&b, r)
		case r == utf8.RuneError:
			b.WriteByte(s[i]) // an invalid byte stands for itself
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// Hangul syllables decompose by arithmetic (Unicode 3.12).
const (
	hangulBase, hangulCount      = 0xAC00, 11172
	jamoL, jamoV, jamoT          = 0x1100, 0x1161, 0x11A7
	jamoVCount, jamoTCount  rune = 21, 28
)

func hangul(b *strings.Builder, r rune) {
	i := r - hangulBase
	b.WriteRune(jamoL + i/(jamoVCount*jamoTCount))
	b.WriteRune(jamoV + i%(jamoVCount*jamoTCount)/jamoTCount)
	if t := i % jamoTCount; t != 0 {
		b.WriteRune(jamoT + t)
	}
}
