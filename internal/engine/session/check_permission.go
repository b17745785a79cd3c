package session

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file is what the permission gate knows of a project's checks (SPEC 4.15,
// 16.4): what the person said of them before, and the words for a closing line.

// checkAnswers is what the person said of checks, by command.
type checkAnswers struct {
	refused []string
	// allowedAs are those that the agent had made other ones, or whose folder is
	// not trusted, and that the person allowed for the session: with the
	// definition that they saw.
	allowedAs map[string]string
}

// checkOf returns the check that a call is, nil where it is none.
func checkOf(p *turn.Pending) *check {
	k, _ := p.Records.(*check)
	return k
}

// decide asks the policy about a check.
func (k *check) decide(p *turn.Pending) permission.Decision {
	s, definition := k.e.s, k.definition()
	return eventlog.Look(s.log, func() permission.Decision {
		seen, ok := s.checks.allowedAs[k.Command]
		return s.perm.DecideCheck(asked(p), permission.Check{Command: k.Command, Own: k.Own, Said: k.Said, Defined: k.Defined, Untrusted: k.Untrusted, Seen: ok && seen == definition})
	})
}

// remembered returns the person's answer to a check that they were asked about
// before.
func (k *check) remembered(d permission.Decision) (allowed, known bool) {
	if by, ok := k.e.allowed[k.Command]; ok && by == k.asks(d) {
		return true, true
	}
	return false, slices.Contains(k.e.s.checks.refused, k.Command)
}

// asks names what it is that asks. A yes to a check that is not trusted is for
// what the person was shown, so that its definition is part of it.
func (k *check) asks(d permission.Decision) string {
	if d.By == permission.ByUntrusted {
		return d.By + "\n" + k.definition()
	}
	return d.By
}

// answered keeps a person's answer; lasts: it is for the session.
func (k *check) answered(d permission.Decision, allowed, lasts bool) {
	s := k.e.s
	if !allowed {
		s.checks.refused = append(s.checks.refused, k.Command)
		return
	}
	k.e.allowed[k.Command] = k.asks(d)
	if lasts && (d.By == permission.ByRedefined || d.By == permission.ByUntrusted) {
		s.checks.allowedAs[k.Command] = k.definition()
	}
}

// definition stands for the contents of the files that define a check.
func (k *check) definition() string {
	var b strings.Builder
	b.WriteString(k.Stamp + "\n")
	for _, f := range k.Defined {
		if files := k.e.s.cfg.Files; files != nil {
			h, _, _ := files.Stat(f) // one that can not be read is as one that is not there
			b.WriteString(f + "=" + string(h) + "\n")
		}
	}
	return b.String()
}

// why words a decision for the line that tells what is proven.
func (k *check) why(d permission.Decision) *turn.Refusal {
	text := "not allowed: " + d.Reason
	if d.By == permission.ByUntrusted {
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

// refusedByPerson is a check that a person did not allow. It ends no turn.
func refusedByPerson() *turn.Refusal {
	return &turn.Refusal{Outcome: event.Denied, Text: "you did not allow it"}
}
