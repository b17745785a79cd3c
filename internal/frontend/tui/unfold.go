package tui

import (
	"fmt"

	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// unfolded is a block without its fold, above the prompt: what stands in the scrollback is
// not redrawn.
type unfolded struct {
	block      renderer // of the block's lines alone
	rows       []styled.Line
	width      int
	top, shown int
}

// unfold shows the last folded block whole, and folds it again.
func (s *screen) unfold() {
	switch last := s.renderer.folded; {
	case s.unfolded != nil:
		s.unfolded = nil
	case last == nil:
		s.hint = "nothing to unfold; Ctrl+T shows the whole session"
	default:
		s.unfolded = &unfolded{block: renderer{whole: true, links: s.Theme.Links}}
		s.unfolded.block.write(*last)
	}
}

// scroll goes by pages.
func (u *unfolded) scroll(pages int) {
	u.top = max(0, min(u.top+pages*u.shown, len(u.rows)-u.shown))
}

// unfoldedRows returns what of the unfolded block fits into room rows.
func (s *screen) unfoldedRows(room int) []styled.Line {
	u := s.unfolded
	if u == nil || room < 2 {
		return nil
	}
	if u.width != s.Width {
		u.rows, u.width = nil, s.Width
		for _, l := range u.block.finished {
			u.rows = append(u.rows, l.Wrap(s.Width, nil)...)
		}
	}
	u.shown = min(len(u.rows), room-1)
	u.scroll(0)
	foot := "  Ctrl+O folds it"
	if u.shown < len(u.rows) {
		foot = fmt.Sprintf("  %d %%; PgUp, PgDn; Ctrl+O folds it", 100*(u.top+u.shown)/len(u.rows)) // its rows are not the output's lines
	}
	return append(u.rows[u.top:u.top+u.shown:u.top+u.shown], styled.Of(styled.Accent, foot))
}
