package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// errCut says that what asked was interrupted while it waited for the answer.
var errCut = errors.New("the question was cancelled")

// question puts a question to the person and submits the answer. An interrupt
// or the end of input cancels the turn: the session hears it, and the turn's
// end follows as an event.
func (c *conversation) question(ctx context.Context, q chat.Question) error {
	s := c.open.Session
	cut := make(chan struct{})
	var once sync.Once
	defer c.interrupts.Waits(func() { once.Do(func() { close(cut) }) })()

	a := session.Answer{ID: q.ID}
	var err error
	if len(q.Calls) > 0 {
		a.Verdicts, err = c.consent(ctx, q.Calls, cut)
	} else {
		a.Text, err = c.choice(ctx, q, cut)
	}
	switch {
	case errors.Is(err, ErrInterrupt):
		return c.pressed(false)
	case errors.Is(err, io.EOF):
		c.interrupts.Cancel("person")
		return nil
	case errors.Is(err, errCut) || errors.Is(err, errGone):
		return nil // it was cancelled; the turn's end follows
	case err != nil:
		return err
	}
	_, err = s.Submit(ctx, a)
	return err
}

// Colours is part of slash.Coloured.
func (c *conversation) Colours() plain.Theme { return c.Theme }

// Ask is part of slash.Asker. An interrupt, or the end of input, ends the
// command that asks.
func (c *conversation) Ask(ctx context.Context, question string) (string, error) {
	in, err := c.ask(question, c.In.Answer, ctx.Done())
	if errors.Is(err, ErrInterrupt) {
		if err := c.pressed(false); err != nil {
			return "", err
		}
	}
	if errors.Is(err, ErrInterrupt) || errors.Is(err, io.EOF) {
		return "", errCut
	}
	return in, err
}

// Edit is part of slash.Editor.
func (c *conversation) Edit(text string) {
	if in, ok := c.In.(interface{ Prefill(string) bool }); !ok || !in.Prefill(text) {
		c.view.line("the prompt was:\n" + indent(plain.Text(text)))
	}
}

// choice asks a question of the model, or of pawl itself.
func (c *conversation) choice(ctx context.Context, q chat.Question, cut <-chan struct{}) (string, error) {
	who := "pawl asks: " // about the budget, or whether to go on
	if q.Why == "" {
		who = "the model asks: "
	}
	c.view.line(who + q.Text)
	prompt := "answer: "
	for i, o := range q.Options {
		c.view.line(fmt.Sprintf("  %d. %s", i+1, o))
		prompt = "answer (a number, or your own words): "
	}
	for {
		in, err := c.ask(prompt, c.In.Answer, cut)
		if err != nil {
			return "", err
		}
		in = strings.TrimSpace(in)
		if n, err := strconv.Atoi(in); err == nil && n >= 1 && n <= len(q.Options) {
			return q.Options[n-1], nil
		}
		if in != "" && !c.commanded(ctx, in) {
			return in, nil
		}
	}
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
