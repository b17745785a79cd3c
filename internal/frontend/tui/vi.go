package tui

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// This file handles the keys of vi, where a setting asks for them. Esc comes
// first to the text: it drops a command that is not whole, then leaves insert
// mode. Any further Esc interrupts and rewinds as always, so an empty prompt never
// keeps a person from interrupting.

// vi handles a key of the prompt as vi does, and reports whether it is done with.
func (s *screen) vi(k keys.Press) bool {
	m := s.modal
	switch {
	case m == nil:
		return false
	case k.Name == "esc" && s.edit.Empty():
		if !s.talk.Busy() {
			m.Escape()
		} else if m.Normal() {
			m.Begin() // what is typed next is text
		}
		return false
	case k.Name == "esc":
		if !m.Escape() {
			return false
		}
		if s.hint = ""; s.talk.Busy() {
			s.hint = "Esc again interrupts"
		}
		return true
	case !m.Normal():
		return false
	}
	switch k.Name {
	case "backspace", "left":
		k.Text = "h"
	case "right":
		k.Text = "l"
	case "up", "down":
		if m.Mode() == "normal" {
			return false
		}
		k.Text = map[string]string{"up": "k", "down": "j"}[k.Name]
	case "home":
		k.Text = "0"
	case "end":
		k.Text = "$"
	case "delete":
		k.Text = "x"
	case "ctrl+r":
		m.Redo()
		return true
	case "?":
		if s.edit.Empty() {
			return false
		}
	}
	if k.Text == "" {
		return false
	}
	if !m.Command(k.Text, s.columns()) {
		s.hint = "normal mode: i types, ? at an empty prompt shows the keys"
	}
	return true
}

// edits changes the typed text.
func (s *screen) edits(do func(*editor.Editor)) {
	if s.modal != nil {
		s.modal.Insert(do)
		return
	}
	do(s.edit)
}

// types has the next keys be text.
func (s *screen) types() {
	if s.modal != nil {
		s.modal.Begin()
	}
}

// mode is the mode of the keys, for the status line.
func (s *screen) mode() styled.Line {
	m := s.modal
	if m == nil {
		return nil
	}
	text := strings.ToUpper(m.Mode())
	if !m.Normal() {
		return styled.Of(styled.Dim, text)
	}
	if m.Pending() != "" {
		text += " " + m.Pending()
	}
	return styled.Of(styled.Accent, text)
}
