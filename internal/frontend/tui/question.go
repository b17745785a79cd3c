package tui

import (
	"fmt"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/styled"
	"github.com/pawl-agent/pawl/internal/frontend/tui/editor"
	"github.com/pawl-agent/pawl/internal/frontend/tui/keys"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file handles the answer to a question. A key that was meant for the prompt never
// answers it: keys that come before the question was visible for a while, or while a
// person is typing, go to the prompt. Then Tab leads to the question.

// quietTime is how long a question must be visible, and no key pressed, before keys answer
// it.
const quietTime = 500 * time.Millisecond

// letterDelay is how long a letter waits before it answers: if another letter follows, both
// begin a prompt. After Tab no letter waits.
const letterDelay = 250 * time.Millisecond

// openQuestion is a question that waits for the person's answer.
type openQuestion struct {
	form       *chat.Form
	shownAt    time.Time
	focused    bool      // keys answer it
	skipped    bool      // the person went on typing: only Tab focuses it
	deliberate bool      // focused by Tab, or about a command that was just entered
	letter     string    // an answer that waits for letterDelay; "" for none
	letterAt   time.Time // when it was pressed
	typing     string    // the choice whose words the person types; "" for none
	answer     *editor.Editor
	hint       string
}

// wantsText reports whether the answer is a text, not a letter.
func (a *openQuestion) wantsText() bool {
	return a.typing != "" || len(a.form.Calls()) == 0 && len(a.form.Question().Answers) == 0
}

func (a *openQuestion) sign() string {
	switch {
	case a.typing == chat.No:
		return "what to do instead: "
	case a.wantsText():
		return "answer: "
	}
	if len(a.form.Calls()) == 0 {
		return "? "
	}
	return "allow? "
}

func (a *openQuestion) takeFocus(now time.Time) {
	a.focused, a.deliberate, a.skipped, a.shownAt = true, true, false, now.Add(-quietTime)
}

// updateQuestion opens the current question.
func (s *screen) updateQuestion() {
	q, ok := s.Conversation.Question()
	switch {
	case !ok:
		s.question, s.answeredID = nil, ""
	case q.ID == s.answeredID: // the answer is on its way
		s.question = nil
	case s.question == nil || s.question.form.Question().ID != q.ID:
		s.question = &openQuestion{form: s.Conversation.Ask(q), shownAt: s.Now(), answer: editor.New(), skipped: !s.editor.Empty()}
		if q.Why == chat.AskedByCommand && len(q.Answers) == 0 && s.editor.Empty() { // the person has just entered that command
			s.question.takeFocus(s.Now())
		}
		s.notify("pawl asks in " + s.Folder)
	default:
		if h := s.question.form.Refresh(); h == chat.Complete { // the mode allows it now
			s.carryOut(h)
		}
	}
	if s.question != nil && s.keysAnswer() {
		s.question.focused = true
	}
	if a := s.question; a != nil && a.letter != "" && s.Now().Sub(a.letterAt) >= letterDelay {
		key := a.letter
		a.letter = ""
		s.choose(key)
	}
}

// choose answers with a letter.
func (s *screen) choose(key string) {
	a := s.question
	if c, ok := a.form.Choice(key); ok && c.Typed {
		a.typing = key
		return
	}
	h := a.form.Choose(key, "")
	if h == chat.NotAnswer && key != "" { // no answer begins so
		s.typeInPrompt(key)
		return
	}
	s.carryOut(h)
}

// typeInPrompt puts a text into the prompt, which takes the next keys, too.
func (s *screen) typeInPrompt(text string) {
	s.question.focused, s.question.skipped, s.question.letter = false, true, ""
	s.insertMode()
	s.editor.Type(text)
}

// keysAnswer reports whether the next key answers the question.
func (s *screen) keysAnswer() bool {
	a, now := s.question, s.Now()
	return a.focused || !a.skipped && s.editor.Empty() && now.Sub(a.shownAt) >= quietTime && now.Sub(s.typedAt) >= quietTime
}

// answerKey handles a key for the question.
func (s *screen) answerKey(k keys.Press) {
	a := s.question
	a.hint = ""
	key := a.letter
	a.letter = ""
	switch {
	case key != "" && k.Text != "" && a.wantsText():
		a.answer.Type(key + k.Text)
	case key != "" && k.Text != "":
		s.typeInPrompt(key + k.Text)
	case key != "" && k.Name == "enter":
		s.choose(key)
	case key != "" && k.Name == "backspace": // the letter is taken back
	case k.Name == "tab":
		a.focused, a.skipped = false, true
	case k.Name == "esc" && a.typing != "":
		a.typing = ""
	case k.Name == "esc" && len(a.form.Question().Answers) > 0: // none of them
		s.carryOut(a.form.Read(""))
	case k.Name == "esc" && s.Conversation.Session() == nil: // it would end the program
		a.hint = "answer first; Ctrl+C leaves"
	case k.Name == "esc":
		s.Conversation.Interrupt("person")
	case a.typing != "" && k.Name == "enter":
		s.carryOut(a.form.Choose(a.typing, a.answer.Take()))
	case k.Name == "enter" && a.form.Question().Why == chat.AskedByCommand && s.Conversation.Session() != nil && isCommand(a.answer.Text()): // a command is not an answer
		s.Conversation.Interrupt("person")
		s.Conversation.Enter(a.answer.Take())
	case a.wantsText() && k.Name == "enter":
		s.carryOut(a.form.Read(a.answer.Text()))
	case a.typing == "" && a.wantsText() && a.answer.Empty() && a.form.Accepts(k.Text): // a number of an option, or the beginning of other words
		s.letterWaits(k.Text)
	case a.wantsText():
		s.Keys.typeIn(a.answer, k)
	case k.Text == "/":
		s.typeInPrompt(k.Text)
	case k.Text == chat.No && len(a.form.Calls()) > 0: // it allows nothing, so it need not wait; a reason may follow
		s.choose(k.Text)
	case k.Text != "" && !a.deliberate && a.form.Accepts(k.Text):
		s.letterWaits(k.Text)
	case k.Text != "" || k.Name == "enter":
		s.choose(k.Text)
	}
}

// letterWaits answers with a letter, unless another one follows it soon.
func (s *screen) letterWaits(key string) {
	s.question.letter, s.question.letterAt = key, s.Now()
	s.letterTimer = s.After(letterDelay)
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

// carryOut carries out what the form understood.
func (s *screen) carryOut(h chat.Effect) {
	a := s.question
	switch h {
	case chat.ChangeMode, chat.CompleteAndMode:
		s.Conversation.SetMode(permission.Mode(a.form.Mode()))
	case chat.ShowDiffs:
		for _, c := range a.form.Calls() {
			if c.Long() {
				s.renderer.beginCard(aNote)
				s.renderer.diff(c.Preview, 0)
			}
		}
	case chat.SlashCommand:
		s.Conversation.Enter(a.answer.Take())
	case chat.NotAnswer:
		a.hint = a.form.Help()
	}
	switch h {
	case chat.Complete, chat.CompleteAndMode:
		q := a.form.Question()
		s.Conversation.Answer(q.ID, a.form.Answer())
		s.answeredID, s.question = q.ID, nil
	case chat.NextCall, chat.ChangeMode:
		a.typing = ""
	}
}

// questionLines shows the choices, in at most room rows.
func (s *screen) questionLines(room int) (out []styled.Line) {
	a := s.question
	calls, q := a.form.Calls(), a.form.Question()
	role, short := styled.Text, styled.Line{}
	if !a.focused {
		role = styled.Dim
	}
	switch n := a.form.Position(); {
	case len(q.Items) > 0: // the picker opens when the person comes to it
		out = append(out, styled.Of(styled.Warn, "? "+plain.Line(q.Text)))
	case len(calls) == 0 || len(q.Calls) == 1: // the card above shows it
	case n == 0:
		out = append(out, styled.Of(styled.Warn, fmt.Sprintf("? these %d calls", len(calls))))
	default:
		head := fmt.Sprintf("? %d of %d: ", n, len(q.Calls))
		out = append(out, styled.Of(styled.Warn, head).Add(styled.Text, calls[0].Title))
	}
	choices := len(out)
	for _, c := range a.form.Choices() {
		l := styled.Of(role, "  ")
		l = append(l, styled.Span{Text: c.Key, Style: styled.Style{Role: styled.Accent, Attr: styled.Bold}})
		l = l.Add(role, "  "+c.Text)
		if c.Covers != "" {
			l = l.Add(styled.Dim, ": "+c.Covers)
		}
		out = append(out, l.Wrap(s.Width, styled.Of(role, "     "))...)
		short = append(short.Add(role, "  "), l[1])
	}
	if len(out) > room { // each key is seen, on the lowest screen too
		out = append(out[:choices], short)
	}
	switch {
	case a.hint != "":
		out = append(out, styled.Of(styled.Warn, "  "+plain.Line(a.hint)))
	case a.focused && a.typing == chat.No:
		out = append(out, styled.Of(styled.Dim, "  Enter sends the no; Esc goes back"))
	case a.focused && a.typing != "":
		out = append(out, styled.Of(styled.Dim, "  Enter answers; Esc goes back"))
	case a.focused:
		do, tab, esc := "press a key", "Tab goes to your prompt", "Esc ends the turn"
		if a.wantsText() {
			do = "Enter answers"
		}
		if q.Why == chat.AskedByCommand {
			esc = "Esc cancels"
		}
		if s.Width < 60 {
			tab, esc = "Tab: prompt", strings.TrimSuffix(esc, " the turn")
		}
		out = append(out, styled.Of(styled.Dim, "  "+do+"; "+tab+"; "+esc))
	case a.skipped || !s.editor.Empty():
		out = append(out, styled.Of(styled.Dim, "  Tab answers"))
	default:
		out = append(out, styled.Of(styled.Dim, "  …"))
	}
	return out[:min(len(out), max(room, 0))]
}
