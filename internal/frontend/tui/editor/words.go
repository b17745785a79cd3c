package editor

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// The parts of a text that movements know. Characters are those that a person
// sees: a letter with its accents is one.

// class is the kind of the first character: 0 a blank, 1 of a word, 2 another.
func class(text string) int {
	r, _ := utf8.DecodeRuneInString(text)
	switch {
	case text == "" || unicode.IsSpace(r):
		return 0
	case wordly(r):
		return 1
	case isPasted(r):
		return 3
	}
	return 2
}

func (e *Editor) startOf(at int) int { return strings.LastIndexByte(e.text[:at], '\n') + 1 }

func (e *Editor) endOf(at int) int {
	if n := strings.IndexByte(e.text[at:], '\n'); n >= 0 {
		return at + n
	}
	return len(e.text)
}

// textStart is the first character of the line at start that is not a blank.
func (e *Editor) textStart(start int) int {
	end := e.endOf(start)
	return start + len(e.text[start:end]) - len(strings.TrimLeft(e.text[start:end], " \t"))
}

// nextWord is where the next word begins. An empty line is a word.
func (e *Editor) nextWord(at int) int {
	for c := class(e.text[at:]); c > 0 && class(e.text[at:]) == c && at < len(e.text); {
		at += next(e.text[at:])
		if c == 3 {
			break
		}
	}
	for at < len(e.text) && class(e.text[at:]) == 0 {
		blank := at
		at += next(e.text[at:])
		if e.text[blank] == '\n' && at < len(e.text) && e.text[at] == '\n' {
			break
		}
	}
	return at
}

// wordEnd is the last character of this word or, there, of the next one.
func (e *Editor) wordEnd(at int) int {
	to := at + next(e.text[at:])
	for to < len(e.text) && class(e.text[to:]) == 0 {
		to += next(e.text[to:])
	}
	if to >= len(e.text) {
		return at
	}
	return e.wordEndFrom(to)
}

// wordEndFrom is the last character of the word that a character is of.
func (e *Editor) wordEndFrom(at int) int {
	for c := class(e.text[at:]); c != 3; {
		after := at + next(e.text[at:])
		if after >= len(e.text) || class(e.text[after:]) != c {
			return at
		}
		at = after
	}
	return at
}

// lastWord is where this word or, there, the one before it begins.
func (e *Editor) lastWord(at int) int {
	for at > 0 && class(e.text[e.before(at):]) == 0 {
		at = e.before(at)
		if at > 0 && e.text[at] == '\n' && e.text[at-1] == '\n' {
			return at
		}
	}
	if at == 0 {
		return 0
	}
	c := class(e.text[e.before(at):])
	for at > 0 && class(e.text[e.before(at):]) == c {
		if at = e.before(at); c == 3 {
			break
		}
	}
	return at
}
