package session

import (
	"context"
	"encoding/json"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file is the permission of checks (SPEC 4.15, 16.4): a check is a call of
// the bash tool that pawl makes, and asks like one.

// Consent is part of Ending. Checks that one grant would allow are one question.
func (e ending) Consent(ctx context.Context, cs []Check) error {
	if !e.s.cfg.Person {
		return nil
	}
	var step []*turn.Pending
	var qs []event.Question
	var about [][]Check // the checks of each question
	var by []string     // what it is that asks
	g := &permissionGate{s: e.s, allowed: map[*turn.Pending]bool{}}
	for _, c := range cs {
		p, why, err := e.s.checkCall(c, fmt.Sprintf("%s-%d", checkCall, len(qs)+1))
		if err != nil {
			return err
		}
		if why != "" {
			continue
		}
		d := e.s.decideCheck(g, p, c)
		if d.Verdict != permission.Ask || e.asked(c, d) {
			continue
		}
		q := g.question(ctx, p, d, "", "", false)
		q.Title = "check the changes: " + q.Title
		same := 0
		what := e.what(c, d)
		for same < len(qs) && (q.Pattern == "" || qs[same].Pattern != q.Pattern || by[same] != what) {
			same++
		}
		if same == len(qs) {
			step, qs, about, by = append(step, p), append(qs, q), append(about, nil), append(by, what)
		} else {
			qs[same].Preview += "\n" + q.Preview
			qs[same].Reason += "; " + q.Reason
		}
		about[same] = append(about[same], c)
	}
	if len(qs) == 0 {
		return nil
	}
	a, err := e.s.ask(ctx, event.Asked{Questions: qs})
	if err != nil {
		return err
	}
	if err := g.take(ctx, step, qs, a); err != nil {
		return err
	}
	for i, p := range step {
		lasts := slices.ContainsFunc(a.Verdicts, func(v event.Verdict) bool {
			return v.Call == p.Call.ID && (v.Scope == event.Session || v.Scope == event.Always)
		})
		for _, c := range about[i] {
			if g.allowed[p] {
				e.allowed[c.Command] = by[i]
				if lasts && (by[i] == byRedefined || strings.HasPrefix(by[i], byUntrusted)) {
					e.s.allowedAs[c.Command] = e.s.definition(c)
				}
			} else {
				e.s.refusedChecks = append(e.s.refusedChecks, c.Command)
			}
		}
	}
	return nil
}

// asked says that the person has answered about a check already.
func (e ending) asked(c Check, d permission.Decision) bool {
	by, ok := e.allowed[c.Command]
	return ok && by == e.what(c, d) || slices.Contains(e.s.refusedChecks, c.Command)
}

// what names what asks. A yes to a check that is not trusted is for what the
// person was shown, so that its definition is part of it.
func (e ending) what(c Check, d permission.Decision) string {
	if d.By == byUntrusted {
		return byUntrusted + "\n" + e.s.definition(c)
	}
	return d.By
}

// mayCheck passes a check through the permission gate. why says why it may not
// run.
func (e ending) mayCheck(ctx context.Context, c Check) (_ *turn.Pending, why string, err error) {
	p, why, err := e.s.checkCall(c, checkCall)
	if err != nil || why != "" {
		return nil, why, err
	}
	g := &permissionGate{s: e.s}
	d := e.s.decideCheck(g, p, c)
	p.Confine = d.Confine
	if d.Verdict == permission.Ask && e.s.cfg.Person {
		if err := e.Consent(ctx, []Check{c}); err != nil {
			return nil, "", err
		}
		if by, ok := e.allowed[c.Command]; !ok || by != e.what(c, d) {
			return nil, "you did not allow it", nil
		}
		return p, "", nil
	}
	switch d.Verdict {
	case permission.Allow:
		return p, "", nil
	case permission.Deny:
		return nil, "not allowed: " + d.Reason, nil
	}
	if d.By == byUntrusted {
		return nil, "not run: " + d.Reason + " (pawl trust, or --trust for one run)", nil
	}
	why = "not allowed: " + d.Reason + ", and nobody was there to allow it"
	if d.Flag != "" {
		why += " (" + d.Flag + ")"
	}
	return nil, why, nil
}

// checkCall is the call of the bash tool that a check is. why says why there
// can be none.
func (s *Session) checkCall(c Check, id string) (_ *turn.Pending, why string, err error) {
	bash, ok := s.cfg.Tools.Find("bash")
	if !ok || s.cfg.Shell == nil {
		return nil, "this session can not run commands", nil
	}
	args, err := json.Marshal(map[string]any{"command": c.Command, "description": "pawl checks the changes"})
	if err != nil {
		return nil, "", err
	}
	p := &turn.Pending{Call: llm.Call{ID: id, Name: bash.Spec.Name, Args: args}, Args: args, Tool: bash}
	if err := p.Measure(s.env(p)); err != nil {
		return nil, err.Error(), nil
	}
	return p, "", nil
}

// decideCheck judges a check: the permission's word, but for what a person's
// own configuration names, and for a check that the agent made another one. For
// such a one a standing rule of the person's holds, and what they allowed in
// this session only where they saw this very definition.
func (s *Session) decideCheck(g *permissionGate, p *turn.Pending, c Check) permission.Decision {
	d := g.policy(p)
	definition := s.definition(c)
	s.log.View(func() { d = s.decideDefined(d, c, definition) })
	return d
}

func (s *Session) decideDefined(d permission.Decision, c Check, definition string) permission.Decision {
	if d.Verdict == permission.Deny {
		return d
	}
	var names []string
	for _, f := range c.Defined {
		names = append(names, path.Base(f))
	}
	mode := s.perm.Mode()
	standing := d.By == "rule" && !slices.ContainsFunc(s.perm.Rules(), func(r permission.Rule) bool { return r.From == permission.Granted && r.Text == d.Rule })
	switch {
	case c.Untrusted != "":
		if known, ok := s.allowedAs[c.Command]; ok && known == definition {
			d.Verdict = permission.Allow
			return d
		}
		d.Verdict, d.By, d.Pattern, d.CanAlways, d.Flag = permission.Ask, byUntrusted, "bash("+c.Command+")", false, "--trust"
		if strings.ContainsAny(c.Command, "*()\n") {
			d.Pattern = ""
		}
		d.Reason = c.Untrusted
	case s.perm.Redefined(names...) && mode != permission.Yolo && !(d.Verdict == permission.Allow && standing):
		if known, ok := s.allowedAs[c.Command]; ok && known == definition {
			d.Verdict = permission.Allow
			return d
		}
		d.Verdict, d.By, d.Pattern, d.CanAlways = permission.Ask, byRedefined, "bash("+c.Command+")", false
		if d.Flag = ""; strings.ContainsAny(c.Command, "*()\n") {
			d.Pattern = ""
		}
		d.Reason = "this session changed " + strings.Join(s.changedOf(c.Defined), ", ") + ", which says what this check does"
	case c.Own && d.Verdict == permission.Ask && d.By == "mode" && (mode == permission.AcceptEdits || mode == permission.Auto):
		d.Verdict = permission.Allow
	}
	return d
}

// Decision.By of a check that the agent made another one, and of one whose
// folder is not trusted.
const (
	byRedefined = "redefined"
	byUntrusted = "untrusted"
)

// changedOf gives, of files that define a check, those of whose name the agent
// changed one. Callers hold the lock.
func (s *Session) changedOf(files []string) []string {
	var out []string
	for _, f := range files {
		if s.perm.Redefined(path.Base(f)) {
			out = append(out, f)
		}
	}
	return out
}

// definition stands for the contents of the files that define a check.
func (s *Session) definition(c Check) string {
	var b strings.Builder
	b.WriteString(c.Stamp + "\n")
	for _, f := range c.Defined {
		if s.cfg.Files != nil {
			h, _, _ := s.cfg.Files.Stat(f) // one that can not be read is as one that is not there
			b.WriteString(f + "=" + string(h) + "\n")
		}
	}
	return b.String()
}
