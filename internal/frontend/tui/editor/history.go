package editor

import (
	"slices"
	"strings"
)

// SetHistory sets the entries, oldest first.
func (e *Editor) SetHistory(past []string) {
	e.history = past
	e.historyAt = len(past)
}

// AddHistory adds an entry, unless it equals the last one.
func (e *Editor) AddHistory(text string) {
	if n := len(e.history); n == 0 || e.history[n-1] != text {
		e.history = append(e.history, text)
	}
	e.historyAt = len(e.history)
}

// Older shows the previous entry, and reports whether there is one.
func (e *Editor) Older() bool {
	if e.historyAt == 0 || len(e.history) == 0 {
		return false
	}
	if e.historyAt >= len(e.history) {
		e.historyAt, e.draft = len(e.history), e.Text()
	}
	e.historyAt--
	e.showEntry(e.history[e.historyAt])
	return true
}

// Newer shows the next entry, after the last one the text from before Older. It reports
// whether there was one.
func (e *Editor) Newer() bool {
	if e.historyAt >= len(e.history) {
		return false
	}
	if e.historyAt++; e.historyAt == len(e.history) {
		e.showEntry(e.draft)
	} else {
		e.showEntry(e.history[e.historyAt])
	}
	return true
}

func (e *Editor) showEntry(text string) {
	e.beforeChange()
	e.text = e.foldPastes(text)
	e.caret = len(e.text)
}

// search is a search through the history.
type search struct {
	words string
	at    int   // the entry found; len(history) before the first
	saved state // from before the search
	found bool
}

// Search begins a search through the history, or goes on to an older entry.
func (e *Editor) Search() {
	if e.search == nil {
		e.search = &search{at: len(e.history), saved: state{e.text, e.caret}, found: true}
		return
	}
	e.find(e.search.at-1, e.text)
}

// Searching reports whether a search is on, for which words, and whether they were found.
func (e *Editor) Searching() (words string, found, on bool) {
	if e.search == nil {
		return "", false, false
	}
	return e.search.words, e.search.found, true
}

// ExtendSearch adds a text to the words of the search; "" removes their last character.
func (e *Editor) ExtendSearch(text string) {
	s := e.search
	if text == "" {
		if s.words != "" {
			r := []rune(s.words)
			s.words = string(r[:len(r)-1])
		}
		s.at = len(e.history)
	} else {
		s.words += text
	}
	e.find(s.at, "") // what is shown may still be the newest that has the words
}

// find shows the newest entry, from an index on downwards, that has the words of the search
// and is not without.
func (e *Editor) find(from int, without string) {
	s := e.search
	if s.words == "" {
		e.text, e.caret, s.found = s.saved.text, s.saved.caret, true
		return
	}
	words := strings.ToLower(s.words)
	for i := min(from, len(e.history)-1); i >= 0; i-- {
		if strings.Contains(strings.ToLower(e.history[i]), words) && e.history[i] != without {
			s.at, s.found = i, true
			e.text = e.foldPastes(e.history[i])
			e.caret = len(e.text)
			return
		}
	}
	s.found = strings.Contains(strings.ToLower(e.text), words) && slices.Contains(e.history, e.text)
}

// EndSearch ends the search: keep sets the text that was found, else the text from before
// comes back.
func (e *Editor) EndSearch(keep bool) {
	s := e.search
	if s == nil {
		return
	}
	e.search = nil
	text, caret := e.text, e.caret
	e.text, e.caret = s.saved.text, s.saved.caret
	if keep && text != s.saved.text {
		e.beforeChange()
		e.text, e.caret = text, caret
	}
}
