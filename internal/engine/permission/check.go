package permission

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file is the consent to a project's checks, which pawl runs by itself
// (SPEC 4.15, 16.4): earlier answers of the person, and the texts for a closing
// line.

// Check is what consent to a check depends on.
type Check struct {
	permission.Check
	// Stamp identifies the contents of its definition besides Defined.
	Stamp string
}

// Checker is implemented by the turn.Pending.Records of a check.
type Checker interface{ Consent() *Check }

// checkOf returns the check of a call, nil if the call is not a check.
func checkOf(p *turn.Pending) *Check {
	if c, ok := p.Records.(Checker); ok {
		return c.Consent()
	}
	return nil
}

// decideCheck asks the policy about a check.
func (j *Evaluator) decideCheck(p *turn.Pending, c *Check) permission.Decision {
	definition := j.definition(c)
	return eventlog.Query(j.Log, func() permission.Decision {
		k := c.Check
		seen, ok := j.allowedAs[c.Command]
		k.AllowedBefore = ok && seen == definition
		return j.Rights.Policy.DecideCheck(Call(p), k)
	})
}

// remembered returns the person's earlier answer about a check.
func (g *Gate) remembered(c *Check, d permission.Decision) (allowed, known bool) {
	if why, ok := g.allowedChecks[c.Command]; ok && why == g.whyAsked(c, d) {
		return true, true
	}
	return false, slices.Contains(g.refused, c.Command)
}

// whyAsked returns why a check needs consent. A yes to an untrusted check is
// for what the person was shown, so the reason includes its definition.
func (j *Evaluator) whyAsked(c *Check, d permission.Decision) string {
	if d.By == event.ByUntrusted {
		return string(d.By) + "\n" + j.definition(c)
	}
	return string(d.By)
}

// remember stores a person's answer; lasts: it holds for the session.
func (g *Gate) remember(c *Check, d permission.Decision, allowed, lasts bool) {
	if !allowed {
		g.refused = append(g.refused, c.Command)
		return
	}
	g.allowedChecks[c.Command] = g.whyAsked(c, d)
	if lasts && (d.By == event.ByRedefined || d.By == event.ByUntrusted) {
		g.allowedAs[c.Command] = g.definition(c)
	}
}

// definition identifies the contents of the files that define a check.
func (j *Evaluator) definition(c *Check) string {
	var b strings.Builder
	b.WriteString(c.Stamp + "\n")
	for _, f := range c.Defined {
		if j.Files != nil {
			h, _, _ := j.Files.Stat(f) // an unreadable file counts as missing
			b.WriteString(f + "=" + string(h) + "\n")
		}
	}
	return b.String()
}

// checkDenied words a denial for the closing line.
func checkDenied(d permission.Decision) *turn.Refusal {
	text := "not allowed: " + d.Reason
	if d.By == event.ByUntrusted {
		return &turn.Refusal{Outcome: event.Denied, Text: "not run: " + d.Reason + " (pawl trust, or --trust for one run)"}
	}
	if d.Verdict == permission.Ask {
		text += ", and nobody was there to allow it"
		if d.Flag != "" {
			text += " (" + d.Flag + ")"
		}
	}
	return &turn.Refusal{Outcome: event.Denied, Text: text}
}

// checkRefused is the refusal for a check that a person did not allow. It ends no turn.
func checkRefused() *turn.Refusal {
	return &turn.Refusal{Outcome: event.Denied, Text: "you did not allow it"}
}
