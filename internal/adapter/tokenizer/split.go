package tokenizer

import (
	"unicode"
	"unicode/utf8"
)

// class is a rune's class in the vocabulary's splitting rule.
type class byte

const (
	other class = iota
	upper       // Lu, Lt
	lower       // Ll
	both        // Lm, Lo: fits into both halves of a word
	mark        // M: as both, and may also precede a word
	digit       // N
	space
	line // \r and \n
)

func classOf(r rune) class {
	switch {
	case r >= 'a' && r <= 'z':
		return lower
	case r >= 'A' && r <= 'Z':
		return upper
	case r >= '0' && r <= '9':
		return digit
	case r == '\n' || r == '\r':
		return line
	case r == ' ' || r == '\t':
		return space
	case r < utf8.RuneSelf:
		if unicode.IsSpace(r) {
			return space
		}
		return other
	case unicode.Is(unicode.Ll, r):
		return lower
	case unicode.IsUpper(r), unicode.IsTitle(r):
		return upper
	case unicode.IsLetter(r):
		return both
	case unicode.IsMark(r):
		return mark
	case unicode.IsNumber(r):
		return digit
	case unicode.IsSpace(r):
		return space
	}
	return other
}

// at returns the class of the rune at i and its size in bytes; size 0 at the end.
func at(s string, i int) (class, int) {
	if i >= len(s) {
		return other, 0
	}
	if c := s[i]; c < utf8.RuneSelf {
		return classOf(rune(c)), 1
	}
	r, n := utf8.DecodeRuneInString(s[i:])
	return classOf(r), n
}

// piece returns the length of the first piece of a text: tokens never cross
// pieces. It is this expression, its alternatives in order, by hand:
//
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	[^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//	\p{N}{1,3}
//	 ?[^\s\p{L}\p{N}]+[\r\n/]*
//	\s*[\r\n]+
//	\s+(?!\S)
//	\s+
func piece(s string) int {
	first, size := at(s, 0)
	before := first == other || first == mark || first == space
	for _, word := range [2]func(string, int) int{small, capital} {
		if before {
			if end := word(s, size); end > 0 {
				return end
			}
		}
		if end := word(s, 0); end > 0 {
			return end
		}
	}
	if first == digit {
		end := size
		for range 2 {
			c, n := at(s, end)
			if c != digit || n == 0 {
				break
			}
			end += n
		}
		return end
	}
	if end := signs(s); end > 0 {
		return end
	}
	return blanks(s)
}

// small returns the end of a word at i that ends in a small letter or one without case; 0
// if there is none.
func small(s string, i int) int {
	last := 0 // the end of the last rune that could be in the second half
	for {
		c, n := at(s, i)
		if n == 0 || c != upper && c != both && c != mark {
			if c == lower {
				return suffix(s, seconds(s, i))
			}
			break
		}
		i += n
		if c != upper {
			last = i
		}
	}
	if last == 0 {
		return 0
	}
	return suffix(s, last)
}

// capital returns the end of a word at i that begins with a capital letter or one without
// case; 0 if there is none.
func capital(s string, i int) int {
	start := i
	for {
		c, n := at(s, i)
		if n == 0 || c != upper && c != both && c != mark {
			break
		}
		i += n
	}
	if i == start {
		return 0
	}
	return suffix(s, seconds(s, i))
}

// seconds returns the end of the runes that fit into a word's second half.
func seconds(s string, i int) int {
	for {
		c, n := at(s, i)
		if n == 0 || c != lower && c != both && c != mark {
			return i
		}
		i += n
	}
}

// suffix returns the end of the contraction at i (such as 's); i if there is none.
func suffix(s string, i int) int {
	if i+1 >= len(s) || s[i] != '\'' {
		return i
	}
	a, b := s[i+1]|0x20, byte(0)
	if i+2 < len(s) {
		b = s[i+2] | 0x20
	}
	switch {
	case a == 's', a == 't', a == 'm', a == 'd':
		return i + 2
	case (a == 'r' || a == 'v') && b == 'e', a == 'l' && b == 'l':
		return i + 3
	case s[i+1] == 0xC5 && i+2 < len(s) && s[i+2] == 0xBF: // ſ is an s without regard to case
		return i + 3
	}
	return i
}

// signs returns the end of a run of runes that are neither letter, digit nor blank, with
// line ends and slashes after it; 0 if there is none.
func signs(s string) int {
	i := 0
	if s[0] == ' ' {
		i = 1
	}
	start := i
	for {
		c, n := at(s, i)
		if n == 0 || c != other && c != mark {
			break
		}
		i += n
	}
	if i == start {
		return 0
	}
	for i < len(s) && (s[i] == '\r' || s[i] == '\n' || s[i] == '/') {
		i++
	}
	return i
}

// blanks returns the end of a run of white space: up to its last line end, or without the
// last blank, which belongs to the word after it.
func blanks(s string) int {
	i, lines, last := 0, 0, 0
	for {
		c, n := at(s, i)
		if n == 0 || c != space && c != line {
			break
		}
		last = i
		i += n
		if c == line {
			lines = i
		}
	}
	switch {
	case lines > 0:
		return lines
	case i == len(s) || last == 0:
		return i
	}
	return last
}
