package line

import (
	"encoding/base64"
	"errors"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// This file does what slash commands ask of the frontend itself.

// errNoEditor is why a text is not edited in an editor: the keys of the terminal are
// read while a command runs.
var errNoEditor = errors.New("with --plain there is no editor: describe the change in words")

// keyLines are the keys of the plain conversation.
var keyLines = []string{
	"  Enter        send; while it works, deliver before its next request",
	"  \\ Enter      a new line",
	"  Up, Down     earlier prompts; Ctrl+R searches them",
	"  Ctrl+C       interrupt what runs; clear the line; twice at an empty line: leave",
	"  Ctrl+D       leave, at an empty line",
	"  !command     run a command yourself",
	"  # text       keep a preference for this folder",
	"  @file        attach a file, a folder or a picture",
	"  /help        the commands",
}

func (v *view) act(a chat.Act) {
	switch a.What {
	case slash.SetTheme:
		t, ok := map[string]plain.Theme{"dark": plain.Dark, "light": plain.Light, "plain": plain.None}[a.Text]
		if !ok {
			v.line("pawl: with --plain, the themes are dark, light and plain")
			return
		}
		v.theme = t
		v.line("theme " + a.Text)
	case slash.Copy:
		if v.width() > 0 { // a terminal
			v.write("\x1b]52;c;" + base64.StdEncoding.EncodeToString([]byte(a.Text)) + "\a")
		} else {
			v.line("pawl: cannot copy: there is no terminal")
		}
	case slash.ShowKeys:
		for _, l := range keyLines {
			v.line(l)
		}
	case slash.ShowLive:
		v.line(a.Text + ":\n" + indent(a.Live()))
	case slash.ShowStates:
		v.line("pawl: /states needs the full screen, without --plain")
	}
}

// drawAside shows a question outside the conversation, once it is answered.
func (v *view) drawAside(c chat.Change, b chat.Aside) {
	switch {
	case c.What != chat.Finished:
	case b.Error != "":
		v.aside("btw: " + b.Question + "\n  no answer: " + b.Error)
	case b.Answer == "":
		v.aside("btw: " + b.Question + "\n  it was not answered")
	default:
		v.aside("btw: " + b.Question + "\n" + indent(b.Answer))
	}
}
