package offline

import (
	"fmt"
	"iter"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/adapter/offline/repair"
)

// renameWord is the textual form, for a file that is not Go.
func renameWord(h *hands, in intent) {
	text, err := h.Read(in.file)
	if err != nil {
		h.Stop(err)
		return
	}
	now, n := replaceWord(text, in.old, in.new)
	if n == 0 {
		h.Decline(fmt.Sprintf("%s does not contain `%s`; nothing was changed.", in.file, in.old))
		return
	}
	old, new := repair.Narrow(text, now)
	if err := h.Edit(in.file, old, new); err != nil {
		h.Stop(err)
		return
	}
	h.settle()
	h.Say(fmt.Sprintf("Renamed the word `%s` to `%s` in %s, %s. This was a textual change, not verified.", in.old, in.new, in.file, count(n, "place")))
}

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
