package offline

import (
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// replaceWord replaces a word where it is not part of a longer one.
func replaceWord(text, old, new string) (string, int) {
	var b strings.Builder
	n, done := 0, 0
	for at := range wordsIn(text, old) {
		b.WriteString(text[done:at] + new)
		done = at + len(old)
		n++
	}
	return b.String() + text[done:], n
}

// wordPart reports whether a name can go on with a character, in any script.
func wordPart(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsNumber(r) || unicode.IsMark(r)
}

// notWord matches a character that is not a wordPart. In regular expressions `\b` knows
// ASCII letters only.
const notWord = `[^\p{L}\p{N}\p{M}_]`

// wordPattern returns the regular expression of lines that have a name as a word.
func wordPattern(name string) string {
	return `(^|` + notWord + `)` + regexp.QuoteMeta(name) + `($|` + notWord + `)`
}

// wordsIn yields the positions of a name in a text, where it is a whole word.
func wordsIn(text, name string) iter.Seq[int] {
	return func(yield func(int) bool) {
		for from := 0; name != ""; {
			i := strings.Index(text[from:], name)
			if i < 0 {
				return
			}
			i += from
			from = i + len(name)
			before, n := utf8.DecodeLastRuneInString(text[:i])
			after, m := utf8.DecodeRuneInString(text[from:])
			unreadable := before == utf8.RuneError && n == 1 || after == utf8.RuneError && m == 1 // perhaps a letter of another encoding
			if !unreadable && !wordPart(before) && !wordPart(after) && !yield(i) {
				return
			}
		}
	}
}
