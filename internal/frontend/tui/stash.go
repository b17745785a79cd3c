package tui

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// This file is what a person does to make room: for another prompt, and on the screen.

// putsAside puts the typed text aside, for another one to be sent first; what is
// put aside comes back then, or by the same key.
func (s *screen) putsAside() {
	switch text := s.edit.Text(); {
	case text != "" && s.aside != "":
		s.edit.Set(s.aside)
		s.aside = text
		s.hint = "exchanged with what was put aside"
	case text != "":
		s.aside = s.edit.Take()
		s.types()
		s.hint = "put aside: “" + plain.Line(begin(s.aside, 30)) + "”; Ctrl+S, or your next prompt, brings it back"
	default:
		s.backFromAside()
	}
}

// backFromAside brings back what was put aside.
func (s *screen) backFromAside() {
	if s.aside != "" && s.edit.Empty() {
		s.edit.Set(s.aside)
		s.aside = ""
		s.types()
	}
}

// clears moves what is on the screen into the scrollback: nothing of it is lost, and
// what another program wrote there is out of the way.
func (s *screen) clears() {
	s.paint.Frame(nil, []string{""}, paint.Caret{})
	if n := s.Height - 1; n > 0 {
		s.write(fmt.Sprintf("\r\x1b[J%s\x1b[%dA", strings.Repeat("\n", n), n))
	}
	s.paint.Forget()
}
