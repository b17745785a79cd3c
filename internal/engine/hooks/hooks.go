// Package hooks has a person's hooks take part in a session (SPEC 16.13, 17.3):
// it tells them what happens, and does what their answers say. policy/hook reads
// the answers, adapter/hook runs the programs.
//
// It promises that a hook only narrows: what one allows is judged as before.
// Before a call a hook that does not answer as it should refuses the call. Where
// no hook is configured nothing is done and nothing is recorded.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Runner runs hooks.
type Runner interface {
	// Rules are those that are configured and may run.
	Rules() []hook.Rule
	// Run runs some of them beside each other, each with that input.
	Run(ctx context.Context, rules []hook.Rule, input []byte) []hook.Ran
}

// Config is what Hooks need of a session.
type Config struct {
	Runner  Runner // nil: there are none
	Session string
	Dir     string
	// Child: the session is an agent's; it has a SubagentStop in place of a Stop,
	// and no events of a person's.
	Child bool
	// Source is how the session starts: startup or resume.
	Source string
	Mode   func() string
	// Record stores events.
	Record func(context.Context, ...event.Draft) error
	// Around has run's changes to the workspace recorded as those of a call.
	Around func(ctx context.Context, call string, run func()) ([]event.FileChanged, error)
}

// Hooks are those of one session. Its methods may be called from anywhere.
type Hooks struct {
	c     Config
	rules []hook.Rule

	mu      sync.Mutex
	started bool
	end     string // why a hook ends the turn
	back    sync.WaitGroup
}

// New makes the hooks of a session.
func New(c Config) *Hooks {
	h := &Hooks{c: c}
	if c.Runner != nil {
		h.rules = c.Runner.Rules()
	}
	return h
}

// Rules lists the hooks.
func (h *Hooks) Rules() []hook.Rule { return h.rules }

// answer is a hook's, with the rule that it is of.
type answer struct {
	hook.Answer
	rule hook.Rule
}

// fire runs the hooks of a point and records what they answered. names are what
// their matchers are compared with.
func (h *Hooks) fire(ctx context.Context, in hook.Input, names ...string) ([]answer, error) {
	rules := hook.Select(h.rules, in.Event, names...)
	if len(rules) == 0 {
		return nil, nil
	}
	in.Session, in.Dir, in.Mode = h.c.Session, h.c.Dir, hook.Mode(h.c.Mode())
	input, err := json.Marshal(in)
	if err != nil {
		return nil, fault.NewInternal(err, "hooks of %s could not be told", in.Event)
	}
	var out []answer
	var ds []event.Draft
	for i, ran := range h.c.Runner.Run(ctx, rules, input) {
		a := answer{hook.Read(in.Event, ran), rules[i]}
		out = append(out, a)
		rec := event.HookRan{
			Event: string(in.Event), Command: a.rule.Command, From: a.rule.From, Call: in.Call, Reason: a.Reason, Context: a.Context, Input: a.Input,
			Broken: a.Broken, Exit: ran.Exit, Took: ran.Took,
		}
		switch a.Verdict {
		case permission.Deny:
			rec.Verdict = "deny"
		case permission.Ask:
			rec.Verdict = "ask"
		}
		ds = append(ds, event.Draft{Body: rec})
		for _, say := range []string{a.Said, a.Broken} {
			if say != "" && ctx.Err() == nil {
				ds = append(ds, event.Draft{Body: event.Warned{What: "hook", Text: say}})
			}
		}
	}
	if err := h.c.Record(context.WithoutCancel(ctx), ds...); err != nil {
		return nil, err
	}
	for _, a := range out {
		if a.End {
			h.mu.Lock()
			h.end = cmp.Or(h.end, a.Reason)
			h.mu.Unlock()
		}
	}
	return out, ctx.Err()
}

// texts collects something that answers say.
func texts(as []answer, of func(answer) string) string {
	var all []string
	for _, a := range as {
		if s := of(a); s != "" {
			all = append(all, s)
		}
	}
	return strings.Join(all, "\n")
}

func contexts(as []answer) string {
	return texts(as, func(a answer) string { return a.Context })
}

// denied returns the reasons of those that deny, "" where none does.
func denied(as []answer) string {
	return texts(as, func(a answer) string {
		if a.Verdict == permission.Deny {
			return cmp.Or(a.Reason, "the hook says no")
		}
		return ""
	})
}

// Before is a turn.Before: a hook may end the turn.
func (h *Hooks) Before(context.Context) (event.End, error) {
	if why := h.ends(); why != "" {
		return turn.EndOf(ended(why))
	}
	return "", nil
}

// ends takes why a hook ends the turn, "" where none does.
func (h *Hooks) ends() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	why := h.end
	h.end = ""
	return why
}

func ended(why string) error {
	return &fault.Error{Category: fault.Permission, Message: "a hook ended the turn: " + why, Hint: "pawl hooks list shows the hooks"}
}

func note(e hook.Event, text string) event.Draft {
	return event.Draft{Body: event.Noted{Why: "hook", Text: "[" + string(e) + " hook: " + text + "]"}}
}
