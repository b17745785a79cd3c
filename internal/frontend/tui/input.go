package tui

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/frontend/tui/paint"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file handles keys.

// doublePress is the longest time between the two presses of a double press.
const doublePress = 600 * time.Millisecond

// key handles a key wherever it was pressed.
func (s *screen) key(ctx context.Context, k keys.Press) {
	if k.Name == "ctrl+c" {
		s.interrupt()
		return
	}
	s.cleared = false
	if s.pager != nil {
		s.pager.handleKey(s, k)
		return
	}
	if p := s.picking(); p != nil {
		s.pick(p, k)
		return
	}
	if s.Keys.everywhere(s, ctx, k) {
		return
	}
	switch {
	case s.unfolded != nil && k.Name == "pgup":
		s.unfolded.scroll(-1)
	case s.unfolded != nil && k.Name == "pgdown":
		s.unfolded.scroll(1)
	case s.question != nil && s.question.focused:
		s.answerKey(k)
	case s.editor.SearchKey(k.Name, k.Text):
	case s.menu.handleKey(s, k):
		if k.Name == "up" || k.Name == "down" {
			return // the menu stays
		}
	default:
		if !s.viKey(k) {
			s.promptKey(k)
		}
		if s.modal != nil {
			s.modal.FixCaret()
		}
	}
	s.complete(ctx)
}

// promptKey handles a key for the prompt.
func (s *screen) promptKey(k keys.Press) {
	e := s.editor
	if s.ctrlX {
		if s.ctrlX = false; k.Name == "ctrl+e" {
			s.editExternally()
			return
		}
	}
	switch k.Name {
	case "enter":
		s.enter()
	case "esc":
		s.escape()
	case "tab":
		if s.question != nil {
			s.question.takeFocus(s.Now())
		}
	case "up":
		if !e.Up(s.columns()) {
			s.older()
		}
	case "down":
		if !e.Down(s.columns()) {
			e.Newer()
		}
	case "ctrl+x": // ctrl+e follows, as in shells
		s.ctrlX = true
	case "?":
		if e.Empty() {
			s.pager = &pager{title: "the keys", lines: s.Keys.help(s.Width)}
			return
		}
		e.Type(k.Text)
	default:
		if a := s.Keys.byKey[k.Name]; a != nil && a.prompt != nil {
			a.prompt(s)
			return
		}
		s.edit(func(e *editor.Editor) { s.Keys.typeIn(e, k) })
	}
}

// older goes back in what was entered: first to what waits.
func (s *screen) older() {
	if !s.takeBackLast() {
		s.editor.Older()
	}
}

func (s *screen) exitOrDelete() {
	if s.editor.Empty() {
		s.ended = &Exit{}
		return
	}
	s.editor.Delete()
}

// columns returns the width of the typed text on the screen.
func (s *screen) columns() int { return max(2, s.Width-len([]rune(promptSign))-1) }

func (s *screen) paste(text string) {
	e := s.editor
	if s.question != nil && s.question.focused && s.question.wantsText() {
		e = s.question.answer
	} else if s.question != nil {
		s.question.focused = false // a paste is not an answer
	}
	e.EndSearch(true)
	if s.Dropped != nil && e == s.editor {
		if s.attach(s.Dropped(text)) {
			return
		}
	}
	if e == s.editor {
		s.edit(func(e *editor.Editor) { e.Paste(text) })
		return
	}
	e.Paste(text)
}

// pastePicture puts the clipboard's image into the prompt, in the background: the program
// that owns the clipboard may be slow.
func (s *screen) pastePicture(ctx context.Context) {
	if s.Clipboard == nil {
		return
	}
	go func() {
		p, err := s.Clipboard(ctx)
		s.post(ctx, func() { s.attach(p, err) })
	}()
}

// attach puts an image or a document into the prompt, or shows the error. It returns false
// if there is neither, and for what the model does not take: the text is its path.
func (s *screen) attach(p *Picture, err error) bool {
	switch {
	case err != nil:
		s.hint = err.Error()
		return true
	case p == nil:
		return false
	}
	if se := s.Conversation.Session(); se != nil {
		info := se.View().Info()
		if err := session.Refuse(info, []llm.Media{p.Media}); err != nil {
			s.hint = err.Error()
			return false
		}
		if !info.Takes(p.Media.Kind()) {
			s.hint = info.Ref() + " may not accept images"
		}
	}
	s.editor.Attach(p.Name, p.Media)
	return true
}

// enter submits the typed text.
func (s *screen) enter() {
	text := s.editor.Text()
	if head, more := strings.CutSuffix(text, `\`); more {
		s.editor.Backspace()
		if s.editor.Text() == head {
			s.editor.Type("\n")
			return
		}
		s.editor.Undo()
	}
	if strings.TrimSpace(text) == "" {
		return
	}
	if q := s.question; q != nil && len(q.form.Question().Answers) > 0 && s.Conversation.Session() != nil && isCommand(text) {
		s.carryOut(q.form.Read("")) // it would wait for the answer
	}
	with := chat.Extras{Images: s.editor.Images(), Pasted: s.editor.Pasted()}
	s.editor.Take()
	s.insertMode()
	s.anyEntered, s.unfolded = true, nil
	s.keep(text)
	if in := chat.ReadInput(text); in.Shell && in.Text != "" {
		s.renderer.pendingCommands = append(s.renderer.pendingCommands, in.Text)
	}
	s.Conversation.Enter(text, with)
	s.unstash()
}

// keep adds a text to the history.
func (s *screen) keep(text string) {
	s.editor.AddHistory(text)
	if s.History != nil {
		s.History.Add(text)
	}
}

// interrupt is Ctrl+C (SPEC 10.3).
func (s *screen) interrupt() {
	s.editor.EndSearch(false)
	press := func() lifecycle.Action { return s.Conversation.Press(!s.editor.Empty()) }
	if s.pager != nil || s.picking() != nil {
		press = s.Conversation.PressInView
	}
	switch press() {
	case lifecycle.Cancel:
		s.Conversation.Interrupt("person")
	case lifecycle.CloseView:
		if s.pager != nil {
			s.closePager()
		} else if p := s.picking(); p != nil {
			s.picked(p, "")
		}
	case lifecycle.Clear:
		s.keep(s.editor.Take())
		s.insertMode()
		s.cleared = true
		s.hint = "cleared; Up brings it back"
	case lifecycle.Confirm:
		s.hint = "press Ctrl+C again to leave"
	case lifecycle.Exit:
		s.ended = &Exit{}
	case lifecycle.Abort:
		s.ended = &Exit{By: "SIGINT"}
	}
}

// escape interrupts what runs and keeps the typed text. Pressed twice when nothing runs, it
// goes back to an earlier prompt.
func (s *screen) escape() {
	switch a := s.Conversation.Attached(); {
	case s.Conversation.Busy() && a != nil && !a.Steers && a.Interrupt == nil:
		s.hint = "this terminal only watches; Ctrl+C leaves it"
	case s.Conversation.Busy():
		s.Conversation.Interrupt("person")
	case !s.editor.Empty():
		s.hint = "Ctrl+C clears"
	case s.Now().Sub(s.escapedAt) <= doublePress:
		s.escapedAt = time.Time{}
		s.Conversation.Enter("/rewind")
		return
	default:
		s.hint = "Esc again: go back to an earlier prompt"
	}
	s.escapedAt = s.Now()
}

// takeBack puts entered texts back into the prompt, before the typed text.
func (s *screen) takeBack(texts []string) {
	s.editor.Prepend(strings.Join(texts, "\n"))
	s.insertMode()
}

// takeBackLast takes the last queued text back into the prompt, and reports whether there
// was one.
func (s *screen) takeBackLast() bool {
	queue := s.Conversation.Queue()
	for i := len(queue) - 1; i >= 0; i-- {
		if text, ok := s.Conversation.TakeBack(queue[i].ID); ok {
			s.takeBack([]string{text})
			return true
		}
	}
	return false
}

// nextMode switches to the next permission mode.
func (s *screen) nextMode() {
	open := s.Conversation.Session()
	if open == nil {
		return
	}
	modes, v := permission.Modes(), open.View()
	at := slices.Index(modes, v.Mode())
	for range modes {
		if at = (at + 1) % len(modes); !modes[at].Free() && v.RefusesMode(modes[at]) == nil {
			s.Conversation.SetMode(modes[at])
			return
		}
	}
}

// editExternally opens the typed text in the person's own editor.
func (s *screen) editExternally() {
	if s.Edit == nil || s.Release == nil {
		return
	}
	err := s.releaseTerminal(func() error {
		text, err := s.Edit(s.editor.Text())
		if err == nil {
			s.editor.Set(strings.TrimRight(text, "\n"))
		}
		return err
	})
	if err != nil {
		s.hint = plain.Line("the editor: " + err.Error())
	}
}

// releaseTerminal runs do with the terminal as it was before the screen.
func (s *screen) releaseTerminal(do func() error) error {
	s.painter.Frame(nil, []string{""}, paint.Caret{})
	s.disableModes()
	err := s.Release(do)
	s.painter.Reset()
	s.enableModes()
	return err
}

func (s *screen) suspend() {
	if s.Suspend == nil {
		return
	}
	_ = s.releaseTerminal(func() error { s.Suspend(); return nil }) // it cannot fail
}
