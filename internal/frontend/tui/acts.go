package tui

import (
	"encoding/base64"
	"errors"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
)

// This file carries out the slash commands that concern the screen itself.

// maxCopy is the largest text that is copied, in bytes: terminals refuse longer sequences.
const maxCopy = 74_000

func (s *screen) act(a chat.Act) {
	switch a.What {
	case slash.SetTheme:
		for _, t := range styled.Themes() {
			if t.Name == a.Text {
				t.Links = s.Theme.Links
				s.Theme, s.ThemeChosen = t, true
				s.hint = "theme " + t.Name + ": from now on"
			}
		}
	case slash.Copy:
		if len(a.Text) > maxCopy {
			s.hint = "too long for the terminal's clipboard; /export writes a file"
			return
		}
		s.write("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(a.Text)) + "\a")
	case slash.ShowKeys:
		s.pager = &pager{title: "the keys", lines: s.Keys.help(s.Width)}
	case slash.ShowLive:
		s.pager = &pager{title: a.Text, live: a.Live, top: 1 << 30}
	case slash.ShowStates:
		s.pager = &pager{title: "what pawl does", fresh: s.stateLines}
	}
}

// editText lets the person edit a text in their own editor, for a slash command.
func (s *screen) editText(e chat.Editing) {
	if s.Edit == nil || s.Release == nil {
		s.Conversation.Edited(e.ID, "", errors.New("there is no editor here: describe the change in words"))
		return
	}
	text := ""
	err := s.releaseTerminal(func() (err error) {
		text, err = s.Edit(e.Text)
		return err
	})
	s.Conversation.Edited(e.ID, strings.TrimRight(text, "\n")+"\n", err)
}
