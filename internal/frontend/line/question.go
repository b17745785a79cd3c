package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// errCut says that what asked was interrupted while it waited for the answer.
var errCut = errors.New("the question was cancelled")

// question puts a question to the person and submits the answer. An interrupt
// or the end of input cancels the turn: the session hears it, and the turn's
// end follows as an event.
func (c *conversation) question(ctx context.Context, q event.Asked) error {
	s := c.open.Session
	cut := make(chan struct{})
	var once sync.Once
	c.mu.Lock()
	cancel := c.cancel
	c.mu.Unlock()
	c.runs(func(by string) {
		cancel(by)
		once.Do(func() { close(cut) })
	})
	defer c.runs(cancel)

	a := session.Answer{ID: q.ID}
	var err error
	if len(q.Questions) > 0 {
		a.Verdicts, err = c.consent(q.Questions, cut)
	} else {
		a.Text, err = c.choice(q, cut)
	}
	switch {
	case errors.Is(err, ErrInterrupt):
		return c.pressed(false)
	case errors.Is(err, io.EOF):
		cancel("person")
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

// consent asks about the calls of a step: all at once where there are several,
// with every preview shown in full before anything is asked (SPEC 4.7, 16.11).
func (c *conversation) consent(qs []event.Question, cut <-chan struct{}) ([]event.Verdict, error) {
	for i, q := range qs {
		head := "permission: "
		if len(qs) > 1 {
			head = fmt.Sprintf("permission %d of %d: ", i+1, len(qs))
		}
		c.view.line(head + plain.Line(q.Title) + " (" + plain.Line(q.Reason) + ")")
		if preview := plain.Diff(q.Preview, c.Theme); strings.TrimSpace(preview) != strings.TrimPrefix(plain.Line(q.Title), plain.Line(q.Tool)+" ") {
			c.view.line(indent(preview)) // else the title says all of it
		}
	}
	if len(qs) == 1 {
		return c.oneByOne(qs, cut)
	}
	for {
		in, err := c.ask(fmt.Sprintf("allow all %d? [y]es once, [o]ne by one, [n]o, or no and why: ", len(qs)), c.In.Answer, cut)
		if err != nil {
			return nil, err
		}
		scope, why := meaning(in)
		switch {
		case scope == event.Once:
			return all(qs, event.Once, ""), nil
		case scope == event.No:
			return all(qs, event.No, why), nil
		case strings.EqualFold(in, "o") || strings.EqualFold(in, "one"):
			return c.oneByOne(qs, cut)
		}
		c.view.line("please answer y, o or n; behind n you may say why")
	}
}

func all(qs []event.Question, scope event.Scope, why string) []event.Verdict {
	var out []event.Verdict
	for _, q := range qs {
		out = append(out, event.Verdict{Call: q.Call, Scope: scope, Why: why})
	}
	return out
}

func (c *conversation) oneByOne(qs []event.Question, cut <-chan struct{}) ([]event.Verdict, error) {
	var out []event.Verdict
	for i, q := range qs {
		if len(qs) > 1 {
			c.view.line(fmt.Sprintf("%d of %d: %s", i+1, len(qs), plain.Line(q.Title)))
		}
		v, err := c.one(q, cut)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if v.Scope == event.No && v.Why == "" {
			// A plain No cancels the rest (SPEC 4.7).
			return append(out, all(qs[i+1:], event.No, "")...), nil
		}
	}
	return out, nil
}

func (c *conversation) one(q event.Question, cut <-chan struct{}) (event.Verdict, error) {
	prompt, keys := "allow? [y]es once", "y"
	if q.Pattern != "" {
		what := "s allows " + plain.Line(q.Pattern) + " for this session"
		prompt, keys = prompt+", [s]ession", keys+", s"
		if q.Always {
			what += ", a for always"
			prompt, keys = prompt+", [a]lways", keys+", a"
		}
		c.view.line("  " + what)
	}
	for {
		in, err := c.ask(prompt+", [n]o, or no and why: ", c.In.Answer, cut)
		if err != nil {
			return event.Verdict{}, err
		}
		scope, why := meaning(in)
		if scope != "" && (scope != event.Session || q.Pattern != "") && (scope != event.Always || q.Pattern != "" && q.Always) {
			return event.Verdict{Call: q.Call, Scope: scope, Why: why}, nil
		}
		c.view.line("please answer " + keys + " or n; behind n you may say why")
	}
}

// meaning reads an answer to a permission question. Only a word that stands
// alone allows anything. A sentence that does not begin as a yes is a no with
// its reason, since that is what people type who want something else. The
// scope is empty for what is neither.
func meaning(in string) (scope event.Scope, why string) {
	in = strings.TrimSpace(in)
	word, rest := in, ""
	if i := strings.IndexAny(in, " ,:;.\n"); i >= 0 {
		word, rest = in[:i], strings.TrimLeft(in[i:], " ,:;.\n")
	}
	switch strings.ToLower(word) {
	case "y", "yes":
		scope = event.Once
	case "s", "session":
		scope = event.Session
	case "a", "always":
		scope = event.Always
	case "n", "no":
		return event.No, rest
	case "", "o", "one", "ok", "okay", "sure", "yep", "yeah", "allow":
		return "", ""
	default:
		if rest == "" {
			return "", "" // a slip of the finger is not a reason
		}
		return event.No, in
	}
	if rest != "" {
		return "", "" // "yes, but …" is not a yes
	}
	return scope, ""
}

// choice asks a question of the model, or of pawl itself.
func (c *conversation) choice(q event.Asked, cut <-chan struct{}) (string, error) {
	who := "pawl asks: " // about the budget, or whether to go on
	if q.Why == "" && c.view.asking() {
		who = "the model asks: "
	}
	c.view.line(who + plain.Text(q.Text))
	prompt := "answer: "
	for i, o := range q.Options {
		c.view.line(fmt.Sprintf("  %d. %s", i+1, plain.Line(o)))
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
		if in != "" {
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
