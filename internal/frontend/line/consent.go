package line

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file asks what may run.

// A diff that is longer than this is shown by its beginning, until the person
// asks for all of it. Commands and arguments are always whole.
const shownDiff = 60

// consent asks about the calls of a step: all at once where there are several,
// with every preview before anything is asked (SPEC 4.7, 16.11).
func (c *conversation) consent(ctx context.Context, qs []chat.Consent, cut <-chan struct{}) ([]event.Verdict, error) {
	for i, q := range qs {
		head := "permission: "
		if len(qs) > 1 {
			head = fmt.Sprintf("permission %d of %d: ", i+1, len(qs))
		}
		c.view.line(head + asking(q))
		c.preview(q, shownDiff)
	}
	if len(qs) == 1 {
		return c.oneByOne(ctx, qs, cut)
	}
	keys, prompt := "y, o or n", "[y]es once, [o]ne by one"
	if slices.ContainsFunc(qs, func(q chat.Consent) bool { return q.Edits }) {
		keys, prompt = "y, o, e or n", prompt+", [e]dits from now on"
	}
	if slices.ContainsFunc(qs, long) {
		keys, prompt = "d, "+keys, "[d]iffs whole, "+prompt
	}
	for {
		in, err := c.ask(fmt.Sprintf("allow all %d? %s, [n]o, or no and why: ", len(qs), prompt), c.In.Answer, cut)
		if err != nil {
			return nil, err
		}
		scope, why := chat.Meaning(in)
		word := strings.ToLower(strings.TrimSpace(in))
		switch {
		case c.commanded(ctx, in):
			if c.edits() {
				return c.oneByOne(ctx, qs, cut)
			}
		case scope == event.Once:
			return all(qs, event.Once, ""), nil
		case scope == event.No:
			return all(qs, event.No, why), nil
		case scope == chat.Edits && strings.Contains(prompt, "[e]"):
			if err := c.acceptEdits(ctx); err != nil {
				return nil, err
			}
			return c.oneByOne(ctx, qs, cut)
		case word == "o" || word == "one" || word == "one by one":
			return c.oneByOne(ctx, qs, cut)
		case word == "d" && strings.Contains(prompt, "[d]"):
			for _, q := range qs {
				if long(q) {
					c.view.line(asking(q))
					c.preview(q, 0)
				}
			}
		default:
			c.view.line("please answer " + keys + "; behind n you may say why")
		}
	}
}

// preview shows what a call would do; of a long diff at most that many lines, 0
// for all.
func (c *conversation) preview(q chat.Consent, most int) {
	text := q.Preview
	if most > 0 && long(q) {
		lines := strings.SplitAfter(text, "\n")
		text = strings.Join(lines[:most], "") + fmt.Sprintf("[%d of %d lines; d shows all of them]\n", most, strings.Count(q.Preview, "\n"))
	}
	if text = plain.Diff(text, c.Theme); !strings.HasSuffix(q.Title, q.Tool+" "+strings.TrimSpace(text)) {
		c.view.raw(indent(text)) // else the title says all of it
	}
}

// long reports whether a preview is a diff of which only the beginning is
// shown. The counts in its title are of all of it.
func long(q chat.Consent) bool {
	return q.Diff && strings.Count(q.Preview, "\n") > shownDiff+shownDiff/4
}

// asking says what a question is about, and why it is asked.
func asking(q chat.Consent) string {
	if q.Reason == "" {
		return q.Title
	}
	return q.Title + " (" + q.Reason + ")"
}

func all(qs []chat.Consent, scope event.Scope, why string) []event.Verdict {
	var out []event.Verdict
	for _, q := range qs {
		out = append(out, event.Verdict{Call: q.Call, Scope: scope, Why: why})
	}
	return out
}

// oneByOne asks about each call. Each answer stands; a plain No cancels those
// behind it (SPEC 4.7, 18.3).
func (c *conversation) oneByOne(ctx context.Context, qs []chat.Consent, cut <-chan struct{}) ([]event.Verdict, error) {
	var out []event.Verdict
	for i, q := range qs {
		if q.Edits && c.edits() {
			out = append(out, event.Verdict{Call: q.Call, Scope: event.Once})
			continue
		}
		if len(qs) > 1 {
			c.view.line(fmt.Sprintf("%d of %d: %s", i+1, len(qs), q.Title))
		}
		v, err := c.one(ctx, q, cut)
		if err != nil {
			return nil, err
		}
		out = append(out, v)
		if v.Scope == event.No && v.Why == "" {
			return append(out, all(qs[i+1:], event.No, "")...), nil
		}
	}
	return out, nil
}

func (c *conversation) one(ctx context.Context, q chat.Consent, cut <-chan struct{}) (event.Verdict, error) {
	prompt, keys := "allow? [y]es once", "y"
	if q.Edits {
		prompt, keys = prompt+", [e]dits from now on", keys+", e"
	}
	if q.Rule != "" {
		what := "s allows " + q.Rule + " for this session"
		prompt, keys = prompt+", [s]ession", keys+", s"
		if q.Always {
			what += ", a for always"
			prompt, keys = prompt+", [a]lways", keys+", a"
		}
		if q.Edits {
			what += "; e changes to the mode accept-edits"
		}
		c.view.line("  " + what)
	}
	if long(q) {
		prompt, keys = prompt+", [d]iff whole", keys+", d"
	}
	for {
		in, err := c.ask(prompt+", [n]o, or no and why: ", c.In.Answer, cut)
		if err != nil {
			return event.Verdict{}, err
		}
		scope, why := chat.Meaning(in)
		v := event.Verdict{Call: q.Call, Scope: scope, Why: why}
		switch {
		case c.commanded(ctx, in):
			if q.Edits && c.edits() { // that is what /mode was for
				v.Scope = event.Once
				return v, nil
			}
		case scope == chat.Edits && q.Edits:
			v.Scope = event.Once
			return v, c.acceptEdits(ctx)
		case scope == event.Once, scope == event.No, scope == event.Session && q.Rule != "", scope == event.Always && q.Rule != "" && q.Always:
			return v, nil
		case strings.EqualFold(strings.TrimSpace(in), "d") && long(q):
			c.preview(q, 0)
		default:
			c.view.line("please answer " + keys + " or n; behind n you may say why")
		}
	}
}

// acceptEdits changes the mode to the one that asks for no edit.
func (c *conversation) acceptEdits(ctx context.Context) error {
	mode := string(permission.AcceptEdits)
	if _, err := c.open.Session.Submit(ctx, session.SetMode{Mode: mode}); err != nil {
		return err
	}
	c.view.line("mode " + mode + " from here on; /mode ask asks again")
	return nil
}

// edits reports whether the mode in force asks for no edit.
func (c *conversation) edits() bool {
	switch c.open.Session.Mode() {
	case permission.AcceptEdits, permission.Auto, permission.Yolo:
		return true
	}
	return false
}

// commanded runs a slash command that was typed at a question and reports
// whether it was one: it is no answer, and is not told to the model as one.
func (c *conversation) commanded(ctx context.Context, in string) bool {
	name, args, ok := slash.Parse(in)
	if !ok {
		return false
	}
	cmd, err := slash.Find(name)
	switch {
	case err != nil:
	case cmd.Anytime:
		err = cmd.Run(ctx, c, args)
	case cmd.Meanwhile != nil && cmd.Meanwhile(args) != nil:
		_, err = c.open.Session.Submit(ctx, cmd.Meanwhile(args))
	default:
		err = fmt.Errorf("/%s waits for the end of the turn: answer the question first, or end the turn with Ctrl+C", cmd.Name)
	}
	if err != nil {
		c.view.line("pawl: " + plain.Text(err.Error()))
	}
	return true
}
