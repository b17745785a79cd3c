package tui

import (
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
)

// This file handles vi's key bindings. The first Esc drops an unfinished command or leaves
// insert mode. The next one interrupts or rewinds as always, and with an empty prompt
// the first one does.

// viKey handles a key for the prompt as vi does, and reports whether it used the key.
func (s *screen) viKey(k keys.Press) bool {
	m := s.modal
	switch {
	case m == nil:
		return false
	case k.Name == "esc" && s.editor.Empty():
		if !s.Conversation.Busy() {
			m.Escape()
		} else if m.Normal() {
			m.InsertMode() // what is typed next is text
		}
		return false
	case k.Name == "esc":
		if !m.Escape() {
			return false
		}
		if s.hint = ""; s.Conversation.Busy() {
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
		return false
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
		if s.editor.Empty() {
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

// edit applies do to the prompt, as one change of vi's insert mode.
func (s *screen) edit(do func(*editor.Editor)) {
	if s.modal != nil {
		s.modal.Insert(do)
		return
	}
	do(s.editor)
}

// insertMode makes vi's next keys text.
func (s *screen) insertMode() {
	if s.modal != nil {
		s.modal.InsertMode()
	}
}

// viModeLine returns vi's mode for the status line, nil without vi.
func (s *screen) viModeLine() styled.Line {
	m := s.modal
	if m == nil {
		return nil
	}
	if !m.Normal() {
		return styled.Of(styled.Dim, "INSERT")
	}
	return styled.Of(styled.Accent, strings.TrimSpace("NORMAL "+m.Pending()))
}
