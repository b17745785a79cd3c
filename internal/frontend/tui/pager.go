package tui

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
)

// pager shows lines on the alternate screen, for scrolling and searching: the whole
// session, the key bindings, or the states.
type pager struct {
	title string
	lines []styled.Line // not wrapped
	// fresh, if set, returns the current lines before each frame.
	fresh func() []styled.Line
	// live, if set, returns the current text: it grows by itself, so it is drawn each second,
	// and a reader at its end stays there.
	live  func() string
	rows  []styled.Line // lines, wrapped for width
	width int
	top   int

	seeking bool
	words   string
}

// showSession opens the pager with the whole session: reasoning, outputs and diffs unfolded,
// and the evidence for pawl's own statements.
func (s *screen) showSession(ctx context.Context) {
	open := s.Conversation.Session()
	if open == nil {
		return
	}
	s.hint = "reading the session…"
	go func() {
		lines, err := s.wholeSession(ctx, open)
		s.post(ctx, func() {
			s.hint = ""
			if err != nil {
				s.hint = plain.Line("the session cannot be read: " + err.Error())
				return
			}
			s.pager = &pager{title: "the session, unfolded", lines: lines, top: 1 << 30}
		})
	}()
}

func (s *screen) wholeSession(ctx context.Context, open *session.Session) ([]styled.Line, error) {
	f := chat.Follow(ctx, open)
	defer f.Stop()
	p := renderer{whole: true, links: s.Theme.Links}
	err := f.CatchUp(ctx, func(ch chat.Change) { p.apply(ch) })
	return p.takeFinished(), err
}

// post has the loop call a function.
func (s *screen) post(ctx context.Context, do func()) {
	select {
	case s.posted <- do:
	case <-ctx.Done():
	}
}

func (s *screen) drawPager() {
	p := s.pager
	height := max(1, s.Height-1)
	if p.fresh != nil {
		p.lines, p.width = p.fresh(), 0
	}
	if p.live != nil {
		if p.top >= len(p.rows)-height {
			p.top = 1 << 30
		}
		p.lines, p.width = nil, 0
		for l := range strings.Lines(p.live()) {
			p.lines = append(p.lines, styled.Of(styled.Text, strings.TrimRight(l, "\n")))
		}
	}
	if p.width != s.Width {
		p.rows, p.width = nil, s.Width
		for _, l := range p.lines {
			p.rows = append(p.rows, l.Wrap(s.Width, nil)...)
		}
	}
	p.top = max(0, min(p.top, len(p.rows)-height))
	var out []string
	for i := p.top; i < min(p.top+height, len(p.rows)); i++ {
		l := p.rows[i]
		if p.words != "" && contains(l, p.words) {
			l = mark(l)
		}
		out = append(out, s.Theme.Render(l))
	}
	for len(out) < height {
		out = append(out, "")
	}
	at := fmt.Sprintf(" · %d of %d", min(p.top+height, len(p.rows)), len(p.rows))
	foot := p.title + at + " · / searches, n and N go on, q leaves"
	if styled.Width(foot) > s.Width {
		at += " · q leaves"
		foot = cut.Runes(p.title, max(0, s.Width-1-styled.Width(at))) + at
	}
	caret := paint.Caret{Hidden: true}
	if p.seeking {
		foot = "/" + plain.Line(p.words)
		caret = paint.Caret{Row: height, Column: min(styled.Width(foot), s.Width-1)}
	}
	s.painter.ShowModal(append(out, s.Theme.Render(styled.Of(styled.Dim, foot).Cut(s.Width))), caret)
}

func (s *screen) closePager() {
	s.pager = nil
	s.painter.CloseModal()
}

func contains(l styled.Line, words string) bool {
	return strings.Contains(strings.ToLower(l.String()), strings.ToLower(words))
}

func mark(l styled.Line) styled.Line {
	out := append(styled.Line(nil), l...)
	for i := range out {
		out[i].Attr |= styled.Reverse
	}
	return out
}

func (p *pager) handleKey(s *screen, k keys.Press) {
	page := max(1, s.Height-2)
	if p.seeking {
		switch {
		case k.Name == "enter":
			p.seeking = false
			p.seek(-1)
		case k.Name == "esc":
			p.seeking, p.words = false, ""
		case k.Name == "backspace" && p.words != "":
			r := []rune(p.words)
			p.words = string(r[:len(r)-1])
		case k.Text != "":
			p.words += k.Text
		}
		return
	}
	switch k.Name {
	case "q", "esc", "ctrl+t", "ctrl+d":
		s.closePager()
	case "up", "k":
		p.top--
	case "down", "j", "enter":
		p.top++
	case "pgup", "b", "ctrl+b":
		p.top -= page
	case "pgdown", " ", "ctrl+f":
		p.top += page
	case "home", "g":
		p.top = 0
	case "end", "shift+g":
		p.top = 1 << 30
	case "/":
		p.seeking, p.words = true, ""
	case "n":
		p.seek(-1)
	case "shift+n":
		p.seek(1)
	}
	p.top = max(0, p.top)
}

// seek goes to the next row with the words: upwards for -1, downwards for 1.
func (p *pager) seek(by int) {
	if p.words == "" {
		return
	}
	for n, i := 0, p.top; n < len(p.rows); n++ {
		i = (i + by + len(p.rows)) % len(p.rows)
		if contains(p.rows[i], p.words) {
			p.top = i
			return
		}
	}
}
