package editor

import (
	"slices"
	"strings"
)

// Remember sets the entries of before, oldest first.
func (e *Editor) Remember(past []string) {
	e.past = past
	e.at = len(past)
}

// Entered adds an entry, unless it is the last one.
func (e *Editor) Entered(text string) {
	if n := len(e.past); n == 0 || e.past[n-1] != text {
		e.past = append(e.past, text)
	}
	e.at = len(e.past)
}

// Older shows the entry before, and reports whether there is one.
func (e *Editor) Older() bool {
	if e.at == 0 || len(e.past) == 0 {
		return false
	}
	if e.at >= len(e.past) {
		e.at, e.draft = len(e.past), e.Text()
	}
	e.at--
	e.show(e.past[e.at])
	return true
}

// Newer shows the entry after, at last what was typed before.
func (e *Editor) Newer() bool {
	if e.at >= len(e.past) {
		return false
	}
	if e.at++; e.at == len(e.past) {
		e.show(e.draft)
	} else {
		e.show(e.past[e.at])
	}
	return true
}

func (e *Editor) show(text string) {
	e.change()
	e.text = e.folded(text)
	e.caret = len(e.text)
}

// search is a look through past entries.
type search struct {
	words string
	at    int   // of past; len(past) before the first
	saved state // to go back to
	found bool
}

// Search begins to look through past entries, or goes on to an older one.
func (e *Editor) Search() {
	if e.search == nil {
		e.search = &search{at: len(e.past), saved: state{e.text, e.caret}, found: true}
		return
	}
	e.find(e.search.at - 1)
}

// Searching reports whether a search is on, for what, and whether that is found.
func (e *Editor) Searching() (words string, found, on bool) {
	if e.search == nil {
		return "", false, false
	}
	return e.search.words, e.search.found, true
}

// Seek adds to what is looked for; an empty text takes its last character away.
func (e *Editor) Seek(text string) {
	s := e.search
	if text == "" {
		if s.words != "" {
			r := []rune(s.words)
			s.words = string(r[:len(r)-1])
		}
		s.at = len(e.past)
	} else {
		s.words += text
	}
	e.find(min(s.at, len(e.past)-1))
}

func (e *Editor) find(from int) {
	s := e.search
	if s.words == "" {
		e.text, e.caret, s.found = s.saved.text, s.saved.caret, true
		return
	}
	words := strings.ToLower(s.words)
	for i := min(from, len(e.past)-1); i >= 0; i-- {
		if strings.Contains(strings.ToLower(e.past[i]), words) && e.past[i] != e.text {
			s.at, s.found = i, true
			e.text = e.folded(e.past[i])
			e.caret = len(e.text)
			return
		}
	}
	s.found = strings.Contains(strings.ToLower(e.text), words) && slices.Contains(e.past, e.text)
}

// Found ends the search: with what it found, or with what was there before.
func (e *Editor) Found(keep bool) {
	s := e.search
	if s == nil {
		return
	}
	e.search = nil
	text, caret := e.text, e.caret
	e.text, e.caret = s.saved.text, s.saved.caret
	if keep && text != s.saved.text {
		e.change()
		e.text, e.caret = text, caret
	}
}
