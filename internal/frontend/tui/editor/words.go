package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parts of a text that movements know. Characters are those that a person
// sees: a letter with its accents is one. The end of a line is a place of its
// own, and a blank.

// class is the kind of the first character: 0 a blank, 1 another, 2 of a word.
// Scripts that put no blanks between words have kinds of their own, and so has
// each long paste.
func class(text string) int {
	r, _ := utf8.DecodeRuneInString(text)
	switch {
	case text == "" || unicode.IsSpace(r):
		return 0
	case unicode.Is(unicode.Hiragana, r):
		return 3
	case unicode.Is(unicode.Katakana, r) || r == 'ー':
		return 4
	case unicode.Is(unicode.Han, r):
		return 5
	case unicode.Is(unicode.Hangul, r):
		return 6
	case wordly(r):
		return 2
	case isPasted(r):
		return int(r)
	}
	return 1
}

// kind returns the class of the character at a place; with big, everything but blanks
// is one class.
func (e *Editor) kind(at int, big bool) int {
	c := class(e.text[at:])
	if big && c > 0 {
		return 1
	}
	return c
}

func (e *Editor) startOf(at int) int { return strings.LastIndexByte(e.text[:at], '\n') + 1 }

func (e *Editor) endOf(at int) int {
	if n := strings.IndexByte(e.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(e.text)
}

// ends reports whether a line ends at a place.
func (e *Editor) ends(at int) bool { return at == len(e.text) || e.text[at] == '\n' }

// emptyLine reports whether there is nothing in the line of a place.
func (e *Editor) emptyLine(at int) bool { return e.ends(at) && at == e.startOf(at) }

// textStart is the first character of the line at start that is not a blank.
func (e *Editor) textStart(start int) int {
	end := e.endOf(start)
	return start + len(e.text[start:end]) - len(strings.TrimLeft(e.text[start:end], " \t"))
}

// after returns the start of the next character.
func (e *Editor) after(at int) int { return at + next(e.text[at:]) }

// onCharacter returns the start of the character at a place: an accent after a blank or
// a bracket belongs to it.
func (e *Editor) onCharacter(at int) int {
	if at >= len(e.text) || at > 0 && plainByte(e.text[at-1]) && plainByte(e.text[at]) {
		return min(at, len(e.text))
	}
	start := e.startOf(at)
	for to := start; to < at; to = e.after(to) {
		start = to
	}
	if e.after(start) <= at {
		return at
	}
	return start
}

// right returns the place after a character, in its line.
func (e *Editor) right(at int) int {
	if e.ends(at) {
		return at
	}
	return e.after(at)
}

// forth and back treat the end of a line as a character, although the caret can be there
// only in an empty line.
func (e *Editor) forth(at int) int {
	if at = e.after(at); at < len(e.text) && e.ends(at) && !e.emptyLine(at) {
		at++
	}
	return at
}

func (e *Editor) back(at int) int {
	if at == 0 {
		return 0
	}
	if at = e.before(at); e.ends(at) && !e.emptyLine(at) {
		at = e.before(at)
	}
	return at
}

// nextWord is where the next word begins. An empty line is a word. within: it
// does not leave the line.
func (e *Editor) nextWord(at int, big, within bool) int {
	c := e.kind(at, big)
	if at >= e.last() {
		return len(e.text)
	}
	was := at
	if at = e.after(at); e.text[was] == '\n' {
		if within {
			return at
		}
	} else if within && e.ends(at) {
		return at
	}
	for c > 0 && at < len(e.text) && e.kind(at, big) == c {
		if at = e.after(at); within && e.ends(at) {
			return at
		}
	}
	for at < len(e.text) && e.kind(at, big) == 0 && !e.emptyLine(at) && (!within || !e.ends(at)) {
		at = e.after(at)
	}
	return at
}

// last is where the last character of the text begins.
func (e *Editor) last() int {
	if n := len(e.text); n > 0 && e.text[n-1] != '\n' {
		return e.before(n)
	}
	return len(e.text)
}

// wordEnd is the last character of this word or, there, of the next one; ok is
// false where there is none. stay: also there of this one. empty: an empty line is
// a word.
func (e *Editor) wordEnd(at int, big, stay, empty bool) (end int, ok bool) {
	if at == len(e.text) {
		return at, false
	}
	c := e.kind(at, big)
	at = e.after(at)
	if c == 0 || e.kind(at, big) != c {
		if stay && c > 0 {
			return e.before(at), true
		}
		for e.kind(at, big) == 0 {
			if empty && e.emptyLine(at) {
				return at, true
			}
			if at == len(e.text) {
				return at, false
			}
			at = e.after(at)
		}
		c = e.kind(at, big)
	}
	for at < len(e.text) && e.kind(at, big) == c {
		at = e.after(at)
	}
	return e.before(at), true
}

// lastWord is where this word or, there, the one before it begins.
func (e *Editor) lastWord(at int, big bool) int {
	if at == 0 {
		return 0
	}
	at = e.before(at)
	for e.kind(at, big) == 0 {
		if e.emptyLine(at) || at == 0 {
			return at
		}
		at = e.before(at)
	}
	return e.runStart(at, big)
}

// lastEnd is the last character of the word before this one.
func (e *Editor) lastEnd(at int, big bool) int {
	if at == 0 {
		return 0
	}
	c := e.kind(at, big)
	at = e.before(at)
	for c > 0 && at > 0 && e.kind(at, big) == c {
		at = e.before(at)
	}
	for at > 0 && e.kind(at, big) == 0 && !e.emptyLine(at) {
		at = e.before(at)
	}
	return at
}

// runStart is the first of the characters of one kind, in one line, that a
// character is of.
func (e *Editor) runStart(at int, big bool) int {
	c := e.kind(at, big)
	for start := e.startOf(at); at > start; {
		before := e.before(at)
		if e.kind(before, big) != c {
			break
		}
		at = before
	}
	return at
}
