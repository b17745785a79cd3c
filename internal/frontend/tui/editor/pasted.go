package editor

import (
	"fmt"
	"strings"
)

// What is remembered of long pastes, so that a text that comes back is shown as
// it was: after an interrupt, and from the history.
const (
	mostKnown      = 20
	mostKnownBytes = 32 << 20
	// A longer text that was not pasted here is shown as one paste: nobody could find
	// a row of it among thousands.
	longText = 64 << 10
)

// stands keeps a paste and returns its character for the text.
func (e *Editor) stands(p Pasted) string {
	e.pasted = append(e.pasted, p)
	return string(firstPasted + rune(len(e.pasted)-1))
}

// knows remembers the long texts that were pasted into a text that is taken.
func (e *Editor) knows() {
	for _, p := range e.pasted {
		if p.Image == nil {
			e.known = append(e.known, p)
		}
	}
	size, from := 0, len(e.known)
	for from > 0 && len(e.known)-from < mostKnown && size+len(e.known[from-1].Text) <= mostKnownBytes {
		from--
		size += len(e.known[from].Text)
	}
	e.known = append([]Pasted(nil), e.known[from:]...)
}

// folded is a text with one character for each long text in it that was pasted
// before.
func (e *Editor) folded(text string) string {
	text = own(text)
	if len(text) <= shortBytes && strings.Count(text, "\n") < shortLines {
		return text
	}
	for i := len(e.known) - 1; i >= 0; i-- {
		p := e.known[i]
		if at := strings.Index(text, p.Text); at >= 0 && len(e.pasted) < 0x1000 {
			text = text[:at] + e.stands(p) + text[at+len(p.Text):]
		}
	}
	if len(text) > longText && len(e.pasted) < 0x1000 {
		return e.stands(Pasted{Name: fmt.Sprintf("text of before: %d lines, %.1f MB", strings.Count(strings.TrimRight(text, "\n"), "\n")+1, float64(len(text))/1e6), Text: text})
	}
	return text
}
