package tui

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file handles keys.

// twice is how soon a key must be pressed again to count as a double press.
const twice = 600 * time.Millisecond

// press handles a key.
func (s *screen) press(ctx context.Context, k keys.Press) {
	if s.pager != nil {
		s.pager.takes(s, k)
		return
	}
	switch k.Name {
	case "ctrl+o":
		s.unfold(ctx)
		return
	case "ctrl+t":
		s.pager = &pager{title: "the states", fresh: s.states}
		return
	case "ctrl+c":
		s.interrupt()
		return
	case "ctrl+v":
		s.pastePicture(ctx)
		return
	case "ctrl+z":
		if s.Suspend != nil {
			s.suspend()
		}
		return
	case "shift+tab":
		s.cycle()
		return
	case "ctrl+l":
		s.clears()
		return
	}
	switch {
	case s.ask != nil && s.ask.focus:
		s.answer(k)
	case s.searching(k):
	case s.menu.takes(s, k):
		if k.Name == "up" || k.Name == "down" {
			return // the menu stays
		}
	default:
		if !s.vi(k) {
			s.prompt(k)
		}
		if s.modal != nil {
			s.modal.Rests()
		}
	}
	s.complete(ctx)
}

// prompt handles a key for the typed text.
func (s *screen) prompt(k keys.Press) {
	e := s.edit
	if s.chord {
		if s.chord = false; k.Name == "ctrl+e" {
			s.elsewhere()
			return
		}
	}
	switch k.Name {
	case "enter":
		s.enter()
	case "esc":
		s.escape()
	case "tab":
		if s.ask != nil {
			s.ask.enter(s.Now())
		}
	case "ctrl+d":
		if e.Empty() {
			s.over = &Exit{}
			return
		}
		e.Delete()
	case "up", "ctrl+p":
		if e.Empty() && s.takeLast() {
			return
		}
		if k.Name == "ctrl+p" || !e.Up(s.columns()) {
			e.Older()
		}
	case "down", "ctrl+n":
		if k.Name == "ctrl+n" || !e.Down(s.columns()) {
			e.Newer()
		}
	case "ctrl+r":
		e.Search()
	case "ctrl+x": // ctrl+e follows, as in shells
		s.chord = true
	case "ctrl+g":
		s.elsewhere()
	case "ctrl+s":
		s.putsAside()
	case "?":
		if e.Empty() {
			s.pager = &pager{title: "the keys", lines: keysHelp()}
			return
		}
		e.Type(k.Text)
	default:
		s.edits(func(e *editor.Editor) { edits(e, k) })
	}
}

// columns returns the width of the typed text on the screen.
func (s *screen) columns() int { return max(2, s.Width-len([]rune(sign))-1) }

// edits handles the keys that change a text or move in it, and reports whether the
// key was one.
func edits(e *editor.Editor, k keys.Press) bool {
	do := map[string]func(){
		"left": e.Left, "ctrl+b": e.Left, "right": e.Right, "ctrl+f": e.Right,
		"ctrl+left": e.WordLeft, "alt+left": e.WordLeft, "alt+b": e.WordLeft,
		"ctrl+right": e.WordRight, "alt+right": e.WordRight, "alt+f": e.WordRight,
		"home": e.Home, "ctrl+a": e.Home, "end": e.End, "ctrl+e": e.End,
		"backspace": e.Backspace, "ctrl+h": e.Backspace, "shift+backspace": e.Backspace, "delete": e.Delete, "ctrl+d": e.Delete,
		"ctrl+w": e.KillBack, "alt+backspace": e.KillWordBack, "ctrl+backspace": e.KillWordBack, "alt+d": e.KillWord,
		"ctrl+k": e.KillLine, "ctrl+u": e.KillStart, "ctrl+y": e.Yank, "alt+y": e.YankPop, "alt+_": e.Redo, "alt+shift+_": e.Redo, "ctrl+_": e.Undo, "ctrl+/": e.Undo, "ctrl+7": e.Undo,
		"ctrl+j": func() { e.Type("\n") }, "shift+enter": func() { e.Type("\n") }, "alt+enter": func() { e.Type("\n") },
	}[k.Name]
	switch {
	case do != nil:
		do()
	case k.Text != "":
		e.Type(k.Text)
	default:
		return false
	}
	return true
}

func (s *screen) paste(text string) {
	e := s.edit
	if s.ask != nil && s.ask.focus && s.ask.words() {
		e = s.ask.answer
	} else if s.ask != nil {
		s.ask.focus = false // it is not an answer
	}
	e.Found(true)
	if s.Dropped != nil && e == s.edit {
		if s.attach(s.Dropped(text)) {
			return
		}
	}
	name := func(n int, text string) string {
		name := fmt.Sprintf("pasted text %d: %s", n, brief.Plural(strings.Count(strings.TrimRight(text, "\n"), "\n")+1, "line", "lines"))
		if mb := float64(len(text)) / 1e6; mb >= 0.1 {
			name += fmt.Sprintf(", %.1f MB", mb)
		}
		return name
	}
	if e == s.edit {
		s.edits(func(e *editor.Editor) { e.Paste(text, name) })
		return
	}
	e.Paste(text, name)
}

// pastePicture puts the image of the clipboard into the prompt. Who owns the clipboard
// may take its time.
func (s *screen) pastePicture(ctx context.Context) {
	if s.Clipboard == nil {
		return
	}
	go func() {
		p, err := s.Clipboard(ctx)
		s.later(ctx, func() { s.attach(p, err) })
	}()
}

// attach puts an image into the prompt, and reports whether there was one.
func (s *screen) attach(p *Picture, err error) bool {
	switch {
	case err != nil:
		s.hint = err.Error()
		return true
	case p == nil:
		return false
	}
	s.edit.Attach(p.Name, p.Media)
	if se := s.talk.Session(); se != nil && !se.View().Info().Images {
		s.hint = "it is not known that " + se.View().Info().Ref() + " takes images"
	}
	return true
}

// enter submits the typed text.
func (s *screen) enter() {
	text := s.edit.Text()
	if head, more := strings.CutSuffix(text, `\`); more {
		s.edit.Backspace()
		if s.edit.Text() == head {
			s.edit.Type("\n")
			return
		}
		s.edit.Undo()
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	with := chat.With{Images: s.edit.Images(), Pasted: s.edit.Pasted()}
	s.edit.Take()
	s.types()
	s.spoken = true
	s.keep(text)
	if in := chat.ReadInput(text); in.Shell && in.Text != "" {
		s.renderer.shells = append(s.renderer.shells, in.Text)
	}
	s.talk.Enter(text, with)
	s.backFromAside()
}

// keep puts a text into the history.
func (s *screen) keep(text string) {
	s.edit.Entered(text)
	if s.History != nil {
		s.History.Add(text)
	}
}

// interrupt is Ctrl+C (SPEC 10.3).
func (s *screen) interrupt() {
	s.edit.Found(false)
	switch s.talk.Press(!s.edit.Empty()) {
	case lifecycle.Clear:
		s.keep(s.edit.Take())
		s.types()
		s.hint = "cleared; Up brings it back"
	case lifecycle.Confirm:
		s.hint = "press Ctrl+C again to leave"
	case lifecycle.Exit:
		s.over = &Exit{}
	case lifecycle.Abort:
		s.over = &Exit{By: "SIGINT"}
	}
}

// escape interrupts what runs and keeps the typed text. Pressed twice at rest, it goes
// back to an earlier prompt.
func (s *screen) escape() {
	switch a := s.talk.Attached(); {
	case s.talk.Busy() && a != nil && !a.Steers && a.Interrupt == nil:
		s.hint = "this terminal only watches; Ctrl+C leaves it"
	case s.talk.Busy():
		s.talk.Interrupt("person")
	case !s.edit.Empty():
		s.hint = "Ctrl+C clears"
	case s.Now().Sub(s.escaped) <= twice:
		s.escaped = time.Time{}
		s.talk.Enter("/rewind")
		return
	default:
		s.hint = "Esc again goes back to a prompt of before"
	}
	s.escaped = s.Now()
}

// takeBack inserts entered texts before the typed text.
func (s *screen) takeBack(texts []string) {
	if rest := s.edit.Text(); rest != "" {
		texts = append(texts, rest)
	}
	s.edit.Set(strings.Join(texts, "\n"))
	s.types()
}

// takeLast takes back the last entered text that still waits.
func (s *screen) takeLast() bool {
	queue := s.talk.Queue()
	for i := len(queue) - 1; i >= 0; i-- {
		if text, ok := s.talk.TakeBack(queue[i].ID); ok {
			s.edit.Set(text)
			s.types()
			return true
		}
	}
	return false
}

// cycle goes to the next permission mode.
func (s *screen) cycle() {
	open := s.talk.Session()
	if open == nil {
		return
	}
	modes := []permission.Mode{permission.Ask4All, permission.AcceptEdits, permission.Plan, permission.Auto}
	next := modes[0]
	for i, m := range modes {
		if m == open.View().Mode() {
			next = modes[(i+1)%len(modes)]
		}
	}
	s.talk.SetMode(next)
}

// searching handles the keys of a search through the history.
func (s *screen) searching(k keys.Press) bool {
	e := s.edit
	if _, _, on := e.Searching(); !on {
		return false
	}
	switch {
	case k.Name == "ctrl+r":
		e.Search()
	case k.Name == "backspace":
		e.Seek("")
	case k.Text != "":
		e.Seek(k.Text)
	case k.Name == "esc" || k.Name == "ctrl+g":
		e.Found(false)
	case k.Name == "enter":
		e.Found(true)
	default:
		e.Found(true)
		return false
	}
	return true
}

// elsewhere opens the typed text in the person's editor.
func (s *screen) elsewhere() {
	if s.Edit == nil || s.Leave == nil {
		return
	}
	err := s.leave(func() error {
		text, err := s.Edit(s.edit.Text())
		if err == nil {
			s.edit.Set(strings.TrimRight(text, "\n"))
		}
		return err
	})
	if err != nil {
		s.hint = plain.Line("the editor: " + err.Error())
	}
}

// leave restores the terminal, runs do, which may use it, and takes it back.
func (s *screen) leave(do func() error) error {
	s.paint.Frame(nil, []string{""}, paint.Caret{})
	s.restores()
	err := s.Leave(do)
	s.paint.Forget()
	s.takes()
	return err
}

func (s *screen) suspend() {
	_ = s.leave(func() error { s.Suspend(); return nil }) // it cannot fail
}
