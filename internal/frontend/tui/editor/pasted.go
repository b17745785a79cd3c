package editor

import (
	"fmt"
	"strings"
)

// Limits for recent pastes, which are kept so that a text that comes back, after an
// interrupt or from the history, is shown with the same placeholders.
const (
	maxRecent      = 20
	maxRecentBytes = 32 << 20
	// A longer text that was not pasted here is one placeholder, in bytes.
	longText = 64 << 10
)

// addPaste adds a paste and returns its placeholder for the text.
func (e *Editor) addPaste(p Pasted) string {
	e.pasted = append(e.pasted, p)
	return string(firstPlaceholder + rune(len(e.pasted)-1))
}

// rememberPastes adds the text's long pastes to the recent ones.
func (e *Editor) rememberPastes() {
	for _, p := range e.pasted {
		if p.Image == nil {
			e.recentPastes = append(e.recentPastes, p)
		}
	}
	size, from := 0, len(e.recentPastes)
	for from > 0 && len(e.recentPastes)-from < maxRecent && size+len(e.recentPastes[from-1].Text) <= maxRecentBytes {
		from--
		size += len(e.recentPastes[from].Text)
	}
	e.recentPastes = append([]Pasted(nil), e.recentPastes[from:]...)
}

// foldPastes returns a text with a placeholder for each recent paste in it.
func (e *Editor) foldPastes(text string) string {
	text = sanitize(text)
	if len(text) <= shortBytes && strings.Count(text, "\n") < shortLines {
		return text
	}
	for i := len(e.recentPastes) - 1; i >= 0; i-- {
		p := e.recentPastes[i]
		if at := strings.Index(text, p.Text); at >= 0 && len(e.pasted) < 0x1000 {
			text = text[:at] + e.addPaste(p) + text[at+len(p.Text):]
		}
	}
	if len(text) > longText && len(e.pasted) < 0x1000 {
		return e.addPaste(Pasted{Name: fmt.Sprintf("earlier text: %d lines, %.1f MB", strings.Count(strings.TrimRight(text, "\n"), "\n")+1, float64(len(text))/1e6), Text: text})
	}
	return text
}
