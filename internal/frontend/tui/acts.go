package tui

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file does what slash commands ask of the screen itself.

// copyMost is the largest text that is copied: terminals refuse longer sequences.
const copyMost = 74_000

func (s *screen) act(a chat.Act) {
	switch a.What {
	case slash.SetTheme:
		for _, t := range styled.Themes() {
			if t.Name == a.Text {
				t.Links = s.Theme.Links
				s.Theme, s.Chosen = t, true
				s.hint = "theme " + t.Name + ": from here on"
			}
		}
	case slash.Copy:
		if len(a.Text) > copyMost {
			s.hint = "too long for the terminal's clipboard; /export writes a file"
			return
		}
		s.write("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(a.Text)) + "\a")
	case slash.ShowKeys:
		s.pager = &pager{title: "the keys", lines: keysHelp()}
	case slash.ShowStates:
		s.pager = &pager{title: "the states", fresh: s.states}
	}
}

// editing has the person edit a text in their editor, for a slash command.
func (s *screen) editing(e chat.Editing) {
	if s.Edit == nil || s.Leave == nil {
		s.talk.Edited(e.ID, "", errors.New("there is no editor here: say what to change in words"))
		return
	}
	text := ""
	err := s.leave(func() (err error) {
		text, err = s.Edit(e.Text)
		return err
	})
	s.talk.Edited(e.ID, strings.TrimRight(text, "\n")+"\n", err)
}
