// Package permission holds what one session may do: its policy, within the rights of the
// session that started it (SPEC 14.1, ADR 013), and asks a person about calls that need
// their consent (SPEC 4.7, 16). policy/permission decides; this package finds out what it
// asks, and remembers the answers.
//
// It promises that a child session never has more rights than its parent at that moment;
// that all calls of a step that need consent are one request to the person, with what each
// of them would do; that a yes holds for what was shown, so a call whose meaning changed
// because of an earlier call does not run; and that without a person a call that would ask
// is denied, with a hint what would allow it.
package permission

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Config is what the judge needs of its session.
type Config struct {
	*Rights
	Person bool // somebody is there to answer
	Files  tool.Files
	// Env returns the environment for computing a call's footprint again.
	Env func(*turn.Pending) tool.Env
	// Drafts returns drafts without changes, for the preview of a step.
	Drafts func() *changes.Drafts
	// Unrestorable returns the file that a call would destroy without a copy,
	// "" for none.
	Unrestorable func(context.Context, *turn.Pending, process.Confine) string
	// Ask puts a question to the person and waits for the answer.
	Ask func(context.Context, event.Asked) (event.Answered, error)
	// Hooks, if set, runs hooks for a call before the person is asked about it;
	// a call that they deny is not asked about.
	Hooks func(context.Context, *turn.Pending) (*turn.Refusal, error)
	// Mask masks secrets. Spill keeps a text in a file and returns its name.
	Mask  func(string) string
	Spill func(ctx context.Context, name, text string) (string, error)
}

// Evaluator judges the calls of one session. It remembers the person's answers
// about checks. One turn at a time uses it.
type Evaluator struct {
	Config
	refused []string // commands of checks
	kept    kept     // what the person refused running commands
	// allowedAs are the commands of redefined or untrusted checks that the
	// person allowed for the session, with the definition that they saw.
	allowedAs map[string]string
}

func New(c Config) *Evaluator { return &Evaluator{Config: c, allowedAs: map[string]string{}} }

// Gate returns the gate of one turn, which is also the stage just before a call.
func (j *Evaluator) Gate() *Gate {
	return &Gate{Evaluator: j, allowedChecks: map[string]string{}}
}

// Decision returns the policy's decision about a call. It asks nobody.
func (j *Evaluator) Decision(p *turn.Pending) permission.Decision {
	if c := checkOf(p); c != nil {
		return j.decideCheck(p, c)
	}
	return j.Decide(Call(p))
}

// Mentioned returns the policy's decision about showing what a person's prompt names.
func (j *Evaluator) Mentioned(p *turn.Pending) permission.Decision {
	c := Call(p)
	c.Mention = true
	return j.Decide(c)
}

// Call returns a call in the form that the policy judges.
func Call(p *turn.Pending) permission.Call {
	c := permission.Call{Tool: p.Tool.Spec.Name, Family: p.Tool.Family, Aliases: p.Tool.Aliases, AnsweredByPerson: p.Tool.AnsweredByPerson, ListsTools: p.Tool.ListsTools, ReadOnly: p.Tool.ReadOnly, Written: p.Records != nil, Footprint: p.Footprint}
	if p.Tool.Subject != nil {
		c.Subject = p.Tool.Subject(p.Args)
	}
	return c
}

// decide asks the policy. An allowed call still needs consent if a file would
// be destroyed that cannot be restored (SPEC 11.1), or if a hook wants the
// person to be asked.
func (j *Evaluator) decide(ctx context.Context, p *turn.Pending) permission.Decision {
	d := j.decideWithCopy(ctx, p)
	if d.Verdict == permission.Allow && p.Asks != "" {
		return permission.Decision{Verdict: permission.Ask, By: event.ByHook, Reason: p.Asks, Confine: d.Confine}
	}
	return d
}

func (j *Evaluator) decideWithCopy(ctx context.Context, p *turn.Pending) permission.Decision {
	d := j.Decision(p)
	if d.Verdict == permission.Deny || eventlog.Query(j.Log, j.Rights.Policy.Mode).Free() {
		return d
	}
	lost := j.Unrestorable(ctx, p, d.Confine)
	if lost == "" {
		return d
	}
	why := "no copy of " + lost + " is kept, so what it does there cannot be undone"
	if d.Verdict == permission.Ask { // a rule would not hold: it asks again the next time
		d.Reason += "; " + why
		d.Pattern, d.CanAlways, d.Flag = "", false, ""
		return d
	}
	return permission.Decision{Verdict: permission.Ask, By: event.ByJournal, Reason: why, Confine: d.Confine}
}

// allowedAsEdit reports whether the mode for edits would allow a call that needs
// consent: then a person may allow all edits from now on.
func (j *Evaluator) allowedAsEdit(ctx context.Context, p *turn.Pending) bool {
	if p.Footprint.Shell != "" || j.Unrestorable(ctx, p, p.Confine) != "" {
		return false
	}
	policy := j.Rights.Policy
	return eventlog.Query(j.Log, func() bool {
		m := policy.Mode()
		return !m.Edits() && !m.ReadsOnly() && policy.Widened().In(m.Editing()).Decide(Call(p)).Verdict == permission.Allow
	})
}
