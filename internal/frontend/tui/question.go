package tui

import (
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file handles the answer to a question. It never takes keys that were meant for
// something else: keys that come before the question was visible for a while, or while
// a person is typing, go to the typed text. Then Tab leads to the question.

// quiet is how long no key was pressed before a question takes them.
const quiet = 500 * time.Millisecond

// alone is how long no letter follows one that is an answer: a word that begins like one
// is a prompt. Whoever went to the question with Tab does not wait.
const alone = 250 * time.Millisecond

// asking is a question that waits for its answer.
type asking struct {
	form    *chat.Form
	drawn   time.Time
	focus   bool      // it has the keys
	left    bool      // the person went on typing: only Tab comes back
	chosen  bool      // by Tab, or because it is about what was just entered
	key     string    // a letter that answers unless another one follows; "" for none
	pressed time.Time // when it was
	reason  bool      // a no, and why is typed
	answer  *editor.Editor
	please  string
}

// words reports whether the answer is typed.
func (a *asking) words() bool { return a.reason || len(a.form.Calls()) == 0 }

func (a *asking) sign() string {
	switch {
	case a.reason:
		return "no, because: "
	case a.words():
		return "answer: "
	}
	return "allow? "
}

func (a *asking) enter(now time.Time) {
	a.focus, a.chosen, a.left, a.drawn = true, true, false, now.Add(-quiet)
}

// asks opens the current question.
func (s *screen) asks() {
	q, ok := s.talk.Question()
	switch {
	case !ok:
		s.ask, s.done = nil, ""
	case q.ID == s.done: // the answer is on its way
		s.ask = nil
	case s.ask == nil || s.ask.form.Question().ID != q.ID:
		s.ask = &asking{form: s.talk.Ask(q), drawn: s.Now(), answer: editor.New(), left: !s.edit.Empty()}
		if q.Why == chat.AskedByCommand && s.edit.Empty() { // it is what was just entered
			s.ask.enter(s.Now())
		}
		s.notify("pawl asks in " + s.Folder)
	default:
		if h := s.ask.form.Refresh(); h == chat.Complete { // the mode allows it now
			s.heard(h)
		}
	}
	if s.ask != nil && s.armed() {
		s.ask.focus = true
	}
	if a := s.ask; a != nil && a.key != "" && s.Now().Sub(a.pressed) >= alone {
		key := a.key
		a.key = ""
		s.choose(key)
	}
}

// choose answers with a letter.
func (s *screen) choose(key string) {
	a := s.ask
	if key == chat.NoAndPerhaps {
		a.reason = true
		return
	}
	h := a.form.Choose(key, "")
	if h == chat.NotHeard && key != "" { // no answer begins so
		s.goesOn(key)
		return
	}
	s.heard(h)
}

// goesOn puts what was typed into the prompt, and what follows belongs to it.
func (s *screen) goesOn(text string) {
	s.ask.focus, s.ask.left, s.ask.key = false, true, ""
	s.types()
	s.edit.Type(text)
}

// armed reports whether keys answer the question.
func (s *screen) armed() bool {
	a, now := s.ask, s.Now()
	return a.focus || !a.left && s.edit.Empty() && now.Sub(a.drawn) >= quiet && now.Sub(s.typed) >= quiet
}

// answer handles a key for the question.
func (s *screen) answer(k keys.Press) {
	a := s.ask
	a.please = ""
	key := a.key
	a.key = ""
	switch {
	case key != "" && k.Text != "":
		s.goesOn(key + k.Text)
	case key != "" && k.Name == "enter":
		s.choose(key)
	case key != "" && k.Name == "backspace": // it was a slip
	case k.Name == "tab":
		a.focus, a.left = false, true
	case k.Name == "esc" && a.reason:
		a.reason = false
	case k.Name == "esc":
		s.talk.Interrupt("person")
	case a.reason && k.Name == "enter":
		s.heard(a.form.Choose(chat.NoAndPerhaps, a.answer.Take()))
	case k.Name == "enter" && a.form.Question().Why == chat.AskedByCommand && isCommand(a.answer.Text()): // no answer: it leaves the question
		s.talk.Interrupt("person")
		s.talk.Enter(a.answer.Take())
	case a.words() && k.Name == "enter":
		s.heard(a.form.Read(a.answer.Text()))
	case a.words():
		edits(a.answer, k)
	case k.Text == "/":
		s.goesOn(k.Text)
	case k.Text == chat.NoAndPerhaps: // it allows nothing, and words may follow
		s.choose(k.Text)
	case k.Text != "" && !a.chosen && a.form.Accepts(k.Text):
		a.key, a.pressed = k.Text, s.Now()
		s.letter = s.After(alone)
	case k.Text != "" || k.Name == "enter":
		s.choose(k.Text)
	}
}

// isCommand reports whether a text is a slash command.
func isCommand(text string) bool {
	name, _, ok := slash.Parse(text)
	if !ok {
		return false
	}
	_, err := slash.Find(name)
	return err == nil
}

// heard carries out an answer.
func (s *screen) heard(h chat.Heard) {
	a := s.ask
	switch h {
	case chat.ModeNow, chat.ModeAndAll:
		s.talk.SetMode(permission.Mode(a.form.Mode()))
	case chat.ShowsWhole:
		for _, c := range a.form.Calls() {
			if c.Long() {
				s.renderer.begin(aNote)
				s.renderer.diff(c.Preview, 0)
			}
		}
	case chat.IsCommand:
		s.talk.Enter(a.answer.Take())
	case chat.NotHeard:
		a.please = a.form.Please()
	}
	switch h {
	case chat.Complete, chat.ModeAndAll:
		q := a.form.Question()
		s.talk.Answer(q.ID, a.form.Answer())
		s.done, s.ask = q.ID, nil
	case chat.AsksNext, chat.ModeNow:
		a.reason = false
	}
}

// asked shows the choices.
func (s *screen) asked(room int) (out []styled.Line) {
	a := s.ask
	calls, q := a.form.Calls(), a.form.Question()
	role := styled.Text
	if !a.focus {
		role = styled.Dim
	}
	switch n := a.form.Place(); {
	case len(calls) == 0 || len(q.Calls) == 1: // it is right above
	case n == 0:
		out = append(out, styled.Of(styled.Warn, fmt.Sprintf("? these %d calls", len(calls))))
	default:
		head := fmt.Sprintf("? %d of %d: ", n, len(q.Calls))
		out = append(out, styled.Of(styled.Warn, head).Add(styled.Text, calls[0].Title))
	}
	for _, c := range a.form.Choices() {
		l := styled.Of(role, "  ")
		l = append(l, styled.Span{Text: c.Key, Style: styled.Style{Role: styled.Accent, Attr: styled.Bold}})
		l = l.Add(role, "  "+c.Text)
		if c.Rule != "" {
			l = l.Add(styled.Dim, "  "+c.Rule)
		}
		out = append(out, l)
	}
	switch {
	case a.please != "":
		out = append(out, styled.Of(styled.Warn, "  "+plain.Line(a.please)))
	case a.focus && a.reason:
		out = append(out, styled.Of(styled.Dim, "  Enter says no, with what you typed; Esc goes back"))
	case a.focus && a.words():
		out = append(out, styled.Of(styled.Dim, "  Enter answers; Tab goes back to your prompt; Esc gives up"))
	case a.focus && s.Width < 60:
		out = append(out, styled.Of(styled.Dim, "  press a key; Tab: prompt; Esc: ends"))
	case a.focus:
		out = append(out, styled.Of(styled.Dim, "  press a key; Tab goes to your prompt; Esc ends the turn"))
	case a.left || !s.edit.Empty():
		out = append(out, styled.Of(styled.Dim, "  Tab answers"))
	default:
		out = append(out, styled.Of(styled.Dim, "  …"))
	}
	return out[:min(len(out), max(room, 0))]
}
