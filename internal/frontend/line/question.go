package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// question puts a question to the person and submits the answer. An interrupt
// or the end of input cancels the turn: the session hears it, and the turn's
// end follows.
func (c *conversation) question(ctx context.Context, q event.Asked) error {
	s := c.open.Session
	a := session.Answer{ID: q.ID}
	var err error
	if len(q.Questions) > 0 {
		a.Verdicts, err = c.consent(q.Questions)
	} else {
		a.Text, err = c.choice(q)
	}
	if errors.Is(err, ErrInterrupt) || errors.Is(err, io.EOF) || errors.Is(err, errGone) {
		c.interrupt(false)
		_, err = s.Submit(ctx, session.Interrupt{By: "person"})
		return err
	}
	if err != nil {
		return err
	}
	_, err = s.Submit(ctx, a)
	return err
}

// consent asks about the calls of a step: all at once where there are several,
// with every preview shown before anything is asked.
func (c *conversation) consent(qs []event.Question) ([]event.Verdict, error) {
	for i, q := range qs {
		c.view.line(fmt.Sprintf("permission %d of %d: %s (%s)", i+1, len(qs), plain.Line(q.Title), plain.Line(q.Reason)))
		c.view.line(indent(plain.Text(q.Preview)))
	}
	if len(qs) > 1 {
		for {
			in, err := c.ask(fmt.Sprintf("allow all %d? [y]es once, [n]o, [o]ne by one: ", len(qs)))
			if err != nil {
				return nil, err
			}
			switch strings.ToLower(strings.TrimSpace(in)) {
			case "y", "yes":
				return all(qs, event.Once), nil
			case "n", "no":
				return all(qs, event.No), nil
			case "o", "one":
				return c.oneByOne(qs)
			}
		}
	}
	return c.oneByOne(qs)
}

func all(qs []event.Question, scope event.Scope) []event.Verdict {
	var out []event.Verdict
	for _, q := range qs {
		out = append(out, event.Verdict{Call: q.Call, Scope: scope})
	}
	return out
}

func (c *conversation) oneByOne(qs []event.Question) ([]event.Verdict, error) {
	var out []event.Verdict
	for i, q := range qs {
		v, err := c.one(q)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if v.Scope == event.No && v.Why == "" {
			// A plain No cancels the rest (SPEC 4.7).
			return append(out, all(qs[i+1:], event.No)...), nil
		}
	}
	return out, nil
}

func (c *conversation) one(q event.Question) (event.Verdict, error) {
	prompt := plain.Line(q.Title) + "? [y]es once"
	if q.Pattern != "" {
		prompt += ", [s]ession: " + plain.Line(q.Pattern)
	}
	if q.Always {
		prompt += ", [a]lways"
	}
	prompt += ", [n]o, or no and why: "
	for {
		in, err := c.ask(prompt)
		if err != nil {
			return event.Verdict{}, err
		}
		in = strings.TrimSpace(in)
		v := event.Verdict{Call: q.Call}
		switch word := strings.ToLower(in); {
		case word == "":
			continue
		case word == "y" || word == "yes":
			v.Scope = event.Once
		case (word == "s" || word == "session") && q.Pattern != "":
			v.Scope = event.Session
		case (word == "a" || word == "always") && q.Always:
			v.Scope = event.Always
		case word == "n" || word == "no":
			v.Scope = event.No
		case len(word) < 3:
			continue // a slip of the finger is not a reason
		default:
			v.Scope, v.Why = event.No, strings.TrimLeft(strings.TrimPrefix(strings.TrimPrefix(in, "no"), "n "), " ,:")
		}
		return v, nil
	}
}

// choice asks the model's own question.
func (c *conversation) choice(q event.Asked) (string, error) {
	c.view.line("the model asks: " + plain.Text(q.Text))
	for i, o := range q.Options {
		c.view.line(fmt.Sprintf("  %d. %s", i+1, plain.Line(o)))
	}
	in, err := c.ask("answer: ")
	if err != nil {
		return "", err
	}
	if n, err := strconv.Atoi(strings.TrimSpace(in)); err == nil && n >= 1 && n <= len(q.Options) {
		return q.Options[n-1], nil
	}
	return in, nil
}

func indent(s string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(s, "\n"), "\n", "\n    ")
}
