package line

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// errCut means that the work that asked was interrupted while it waited for the answer.
var errCut = errors.New("the question was cancelled")

// question asks the person a question and sends the answer. An interrupt or the
// end of input cancels the work that asks: its end follows as a block.
func (c *conversation) question(q chat.Question) error {
	c.asking = q.ID
	cut := make(chan struct{})
	c.cuts(cut)
	defer c.cuts(nil)
	f := c.chat.Ask(q)
	c.showQuestion(f)
	err := c.answer(f, cut)
	switch {
	case errors.Is(err, ErrInterrupt):
		return c.interruptPressed(false)
	case errors.Is(err, io.EOF):
		c.chat.Interrupt("person")
		return nil
	case errors.Is(err, ErrYield):
		c.view.line("pawl: this question is no longer open")
		return nil
	case errors.Is(err, errCut) || errors.Is(err, errEnded):
		return nil // it was cancelled; the end of the work follows
	}
	return err
}

// showQuestion shows a question, with every preview before anything is asked (SPEC 4.7, 16.11).
func (c *conversation) showQuestion(f *chat.Form) {
	q := f.Question()
	who := ""
	if q.From != "" {
		who = q.From + ": "
	}
	for i, call := range q.Calls {
		head := "permission: "
		if len(q.Calls) > 1 {
			head = fmt.Sprintf("permission %d of %d: ", i+1, len(q.Calls))
		}
		c.view.line(who + head + consentTitle(call))
		c.preview(call, chat.LongDiff)
	}
	switch {
	case len(q.Calls) > 0 || q.Why == chat.AskedByCommand:
		return
	case q.Why != "":
		c.view.line(who + "pawl asks: " + q.Text) // about the budget, or whether to go on
	default:
		c.view.line(who + "the model asks: " + q.Text)
	}
	for i, o := range q.Options {
		c.view.line(fmt.Sprintf("  %d. %s", i+1, o))
	}
}

// answer asks until the form is complete, and sends the answer.
func (c *conversation) answer(f *chat.Form, cut <-chan struct{}) error {
	c.next(f)
	for {
		in, err := c.ask(f.Prompt(), c.In.Answer, cut)
		if err != nil {
			return err
		}
		heard := f.Read(in)
		if heard == chat.SlashCommand {
			c.chat.Enter(in)
			if err := c.runUntil(c.chat.TurnDone); err != nil {
				return err
			}
			place := f.Position()
			if heard = f.Refresh(); heard == chat.NextCall && place == f.Position() {
				continue
			}
		}
		switch heard {
		case chat.ChangeMode, chat.CompleteAndMode:
			c.chat.SetMode(permission.Mode(f.Mode()))
			c.view.line("mode " + f.Mode() + " from now on; /mode ask goes back")
		case chat.ShowDiffs:
			c.showDiffs(f)
		case chat.NotAnswer:
			if len(f.Choices()) > len(f.Question().Options) {
				c.view.line(f.Help())
			}
		}
		switch heard {
		case chat.Complete, chat.CompleteAndMode:
			c.chat.Answer(f.Question().ID, f.Answer())
			return nil
		case chat.NextCall, chat.ChangeMode:
			c.next(f)
		}
	}
}

// next shows the call in question, and what its answers allow.
func (c *conversation) next(f *chat.Form) {
	if f.Position() == 0 || len(f.Calls()) == 0 {
		return
	}
	if of := len(f.Question().Calls); of > 1 {
		c.view.line(fmt.Sprintf("%d of %d: %s", f.Position(), of, f.Calls()[0].Title))
	}
	if allows := f.Allows(); allows != "" {
		c.view.line("  " + allows)
	}
}

// showDiffs shows the whole diffs of the calls of which only a part was shown.
func (c *conversation) showDiffs(f *chat.Form) {
	for _, q := range f.Calls() {
		if q.Long() {
			if f.Position() == 0 {
				c.view.line(consentTitle(q))
			}
			c.preview(q, 0)
		}
	}
}

// preview shows what a call would do; of a long diff at most this number of
// lines, 0 for all.
func (c *conversation) preview(q chat.Consent, most int) {
	text := q.Preview
	if most > 0 && q.Long() {
		lines := strings.SplitAfter(text, "\n")
		text = strings.Join(lines[:most], "") + fmt.Sprintf("[%d of %d lines; d shows all]\n", most, strings.Count(q.Preview, "\n"))
	}
	if text = plain.Diff(text, c.Theme); !strings.HasSuffix(q.Title, q.Tool+" "+strings.TrimSpace(text)) {
		c.view.raw(indent(text)) // otherwise the title shows everything
	}
}

// consentTitle describes the call in question, and why pawl asks.
func consentTitle(q chat.Consent) string {
	if q.Reason == "" {
		return q.Title
	}
	return q.Title + " (" + q.Reason + ")"
}

func indent(s string) string {
	var b strings.Builder
	for l := range strings.Lines(strings.TrimRight(s, "\n")) {
		if l != "\n" {
			b.WriteString("    ")
		}
		b.WriteString(l)
	}
	return b.String()
}
