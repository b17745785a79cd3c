package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// This file has the parts of a text that vi's motions know. A character is a grapheme
// cluster. The end of a line counts as a blank character.

// class returns the class of the first character: 0 blank, 1 punctuation, 2 part of a word.
// Scripts without blanks between words have classes of their own, and so have placeholders.
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
	case isWordRune(r):
		return 2
	case isPlaceholder(r):
		return int(r)
	}
	return 1
}

// kind returns the class of the character at a position; with big, everything but blanks
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

// ends reports whether a line ends at a position.
func (e *Editor) ends(at int) bool { return at == len(e.text) || e.text[at] == '\n' }

// emptyLine reports whether the line of a position is empty.
func (e *Editor) emptyLine(at int) bool { return e.ends(at) && at == e.startOf(at) }

// textStart returns the first position from start on that is not a blank.
func (e *Editor) textStart(start int) int {
	end := e.endOf(start)
	return start + len(e.text[start:end]) - len(strings.TrimLeft(e.text[start:end], " \t"))
}

// after returns the start of the next character.
func (e *Editor) after(at int) int { return at + clusterLen(e.text[at:]) }

// onCharacter returns the start of the character at a position: a combining accent belongs
// to the character before it.
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

// right returns the position after a character, within its line.
func (e *Editor) right(at int) int {
	if e.ends(at) {
		return at
	}
	return e.after(at)
}

// nextWord returns where the next word begins. An empty line is a word. within: at most
// the end of the line.
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

// last returns where the last character of the text begins.
func (e *Editor) last() int {
	if n := len(e.text); n > 0 && e.text[n-1] != '\n' {
		return e.before(n)
	}
	return len(e.text)
}

// wordEnd returns the last character of the word at a position; if that is the position
// itself, of the next word, unless stay is set.
func (e *Editor) wordEnd(at int, big, stay bool) int {
	if at == len(e.text) {
		return at
	}
	c := e.kind(at, big)
	at = e.after(at)
	if c == 0 || e.kind(at, big) != c {
		if stay && c > 0 {
			return e.before(at)
		}
		for e.kind(at, big) == 0 {
			if at == len(e.text) {
				return at
			}
			at = e.after(at)
		}
		c = e.kind(at, big)
	}
	for at < len(e.text) && e.kind(at, big) == c {
		at = e.after(at)
	}
	return e.before(at)
}

// lastWord returns where the word before a position begins: the position's own word, unless
// that begins there.
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

// runStart returns the start of the run of characters of the same kind, within the line.
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

// runEnd returns the end of the run of characters of the same kind, within the line.
func (e *Editor) runEnd(at int, big bool) int {
	for c := e.kind(at, big); !e.ends(at) && e.kind(at, big) == c; {
		at = e.after(at)
	}
	return at
}
