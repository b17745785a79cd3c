package tui

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// This file stashes the prompt and clears the screen.

// stash puts the typed text aside so that another prompt can be sent first; then, or at the
// next call with an empty prompt, it comes back. A text that is stashed already is exchanged.
func (s *screen) stash() {
	switch text := s.editor.Text(); {
	case text != "" && s.stashed != "":
		s.editor.Set(s.stashed)
		s.stashed = text
		s.hint = "exchanged with the stashed text"
	case text != "":
		s.stashed = s.editor.Take()
		s.insertMode()
		s.hint = "stashed: “" + plain.Line(shortened(s.stashed, 30)) + "”; Ctrl+S or your next prompt brings it back"
	default:
		s.unstash()
	}
}

// unstash brings back the stashed text, if the prompt is empty.
func (s *screen) unstash() {
	if s.stashed != "" && s.editor.Empty() {
		s.editor.Set(s.stashed)
		s.stashed = ""
		s.insertMode()
	}
}

// clearScreen moves the screen's content into the scrollback, so that nothing is lost.
func (s *screen) clearScreen() {
	s.painter.Frame(nil, []string{""}, paint.Caret{})
	if n := s.Height - 1; n > 0 {
		s.write(fmt.Sprintf("\r\x1b[J%s\x1b[%dA", strings.Repeat("\n", n), n))
	}
	s.painter.Reset()
}
