package secrets

import "strings"

// This file masks the beginning of a key whose end was cut off before the text
// was masked: in a title, a message, or an output that is kept in part. All code
// that cuts a text puts "…" there, so a key before that mark is not complete.

// tornMark is the mark at the place where a text was cut.
const tornMark = "…"

// The least that is left of a key for it to be masked: of a value that is known,
// and of one that only its beginning and its letters tell.
const (
	tornHeld  = 8
	tornShape = 12
)

// cutKeys lists the beginnings of keys that end at a mark.
func (m *Masker) cutKeys(s string) (found []span) {
	for at := 0; ; {
		i := strings.Index(s[at:], tornMark)
		if i < 0 {
			return found
		}
		end := at + i
		at = end + len(tornMark)
		from := end
		for _, v := range m.known.Load().held {
			h := v.Text[v.Lead : len(v.Text)-v.Tail]
			for n := min(len(h), end); n >= tornHeld; n-- {
				if strings.HasPrefix(h, s[end-n:end]) {
					from = min(from, end-n)
					break
				}
			}
		}
		word := end
		for word > 0 && isWord(s[word-1]) {
			word--
		}
		if from == end && end-word >= tornShape && m.tornShape(s, word, end) {
			from = word
		}
		if from < end {
			found = append(found, span{from, end, "cut"})
		}
	}
}

// tornShape reports whether a word is the beginning of a key by its own beginning:
// with letters and digits behind it.
func (m *Masker) tornShape(s string, from, end int) bool {
	for _, sh := range m.byFirst[s[from]] {
		rest, ok := strings.CutPrefix(s[from:end], sh.prefix)
		if ok && border(s, from, nil) && strings.ContainsAny(rest, "0123456789") && strings.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' }) >= 0 {
			return true
		}
	}
	return false
}
