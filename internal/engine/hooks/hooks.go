// Package hooks lets a person's hooks take part in a session (SPEC 16.13,
// 17.3): it reports events to them and executes their answers. policy/hook
// reads the answers, adapter/hook runs the programs.
//
// It promises that a hook only restricts: a call that a hook allows is judged
// as before. Before a call, a failed hook refuses the call. Without configured
// hooks nothing is done and nothing is recorded.
package hooks

import (
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/hook"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// Runner runs hooks.
type Runner interface {
	// Rules returns the configured hooks that may run.
	Rules() []hook.Rule
	// Run runs a hook with that input. Several run at the same time.
	Run(ctx context.Context, r hook.Rule, input []byte) hook.Ran
}

// Config is what Hooks needs of a session.
type Config struct {
	Runner  Runner // nil: there are none
	Session string
	Dir     string
	// Child: the session is an agent's. It has SubagentStop in place of Stop,
	// and no events for a person.
	Child bool
	// Source is how the session starts: startup or resume.
	Source string
	Mode   func() permission.Mode
	Log    event.Appender
	Side   *side.Requests // asks the model for a hook; nil: none can
	// Files returns the files of agents, skills and commands whose hooks hold, with
	// those of others: of the turn that an agent works for. nil: none.
	Files func() (own, others []string)
	// Over returns the keys of the hooks that do not run again; nil: none.
	Over func() []string
	// Kind is the kind of the agent, "" if Child is not set.
	Kind string
	// Around records the changes that run makes to the workspace as those of a call.
	Around func(ctx context.Context, call string, run func()) ([]event.FileChanged, error)
}

// Hooks are those of one session. Its methods are safe for concurrent use.
type Hooks struct {
	c     Config
	rules []hook.Rule

	mu         sync.Mutex
	started    bool
	endedBy    string        // why a hook ends the turn
	late       []event.Draft // what hooks said that nothing waited for
	background sync.WaitGroup
	leave      context.Context // ends when the session no longer waits for them
	stop       context.CancelFunc
	unwatch    func() // see Watch
}

func New(c Config) *Hooks {
	h := &Hooks{c: c, unwatch: func() {}}
	h.leave, h.stop = context.WithCancel(context.Background())
	if c.Runner != nil {
		h.rules = c.Runner.Rules()
	}
	return h
}

// Fold is which files' hooks hold until the turn ends, and the keys of those that do not run
// again.
type Fold struct{ Files, Over []string }

func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Narrowed:
		if b.Hooks != "" && !slices.Contains(f.Files, b.Hooks) {
			f.Files = append(slices.Clip(f.Files), b.Hooks)
		}
	case event.HookRan:
		if b.Once != "" {
			f.Over = append(slices.Clip(f.Over), b.Once)
		}
	case event.Ended:
		f.Files = nil
	}
}

// Kept returns an error if a runner has no hook of a file, "" for none: what is used with
// it would be without its guards.
func Kept(r Runner, file string) error {
	if file == "" || r != nil && slices.ContainsFunc(r.Rules(), func(r hook.Rule) bool { return r.Scope == file }) {
		return nil
	}
	return &fault.Error{Category: fault.Configuration, Message: "the hooks in " + file + " are not in force", Hint: "pawl hooks list shows why; after a change start pawl anew"}
}

// of returns the hooks of an event that hold now.
func (h *Hooks) of(e hook.Event, names ...string) []hook.Rule {
	var own, others, over []string
	if h.c.Files != nil {
		own, others = h.c.Files()
	}
	if h.c.Over != nil {
		over = h.c.Over()
	}
	var rules, stops []hook.Rule
	for _, r := range h.rules {
		if once(r) && slices.Contains(over, r.Key()) {
			continue
		}
		in := slices.Contains(own, r.Scope)
		if in && r.Event == hook.Stop {
			stops = append(stops, r)
		}
		if in || r.Scope == "" || slices.Contains(others, r.Scope) {
			rules = append(rules, r)
		}
	}
	out := hook.Select(rules, e, names...)
	if e == hook.SubagentStop { // an agent's own end
		out = append(out, hook.Select(stops, hook.Stop)...)
	}
	return out
}

// once reports whether a hook does not run again after it succeeded. In settings, as in
// Claude Code, it does.
func once(r hook.Rule) bool { return r.Once && r.Scope != "" }

func (h *Hooks) Rules() []hook.Rule { return h.rules }

// answer is a hook's answer with its rule.
type answer struct {
	hook.Answer
	rule hook.Rule
	exit int
	took time.Duration
}

// fire runs the hooks of an event and records their answers. names are compared
// with the matchers.
func (h *Hooks) fire(ctx context.Context, in hook.Input, names ...string) ([]answer, error) {
	all := h.of(in.Event, names...)
	if len(all) == 0 {
		return nil, nil
	}
	in.Session, in.Dir, in.Mode = h.c.Session, h.c.Dir, h.c.Mode().Hook()
	input, err := json.Marshal(in)
	if err != nil {
		return nil, fault.NewInternal(err, "the hooks of %s could not be run", in.Event)
	}
	var rules []hook.Rule
	for _, r := range all {
		if r.Async {
			h.later(r, in, input)
		} else {
			rules = append(rules, r)
		}
	}
	out := h.ask(ctx, in.Event, rules, input)
	var ds []event.Draft
	for _, a := range out {
		ds = append(ds, recorded(ctx, in, a)...)
	}
	if err := h.c.Log.Append(context.WithoutCancel(ctx), ds...); err != nil {
		return nil, err
	}
	for _, a := range out {
		if a.End {
			h.mu.Lock()
			h.endedBy = cmp.Or(h.endedBy, a.Reason)
			h.mu.Unlock()
		}
	}
	return out, ctx.Err()
}

// texts collects one kind of text from answers.
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

// denied returns the reasons of the answers that deny, "" if none does.
func denied(as []answer) string {
	return texts(as, func(a answer) string {
		if a.Verdict == permission.Deny {
			return cmp.Or(a.Reason, "the hook denied it")
		}
		return ""
	})
}

// Before is a turn.Before: a hook may end the turn.
func (h *Hooks) Before(context.Context) (event.End, error) {
	if why := h.endReason(); why != "" {
		return turn.EndOf(ended(why))
	}
	return "", nil
}

// endReason returns why a hook ends the turn, "" if none does.
func (h *Hooks) endReason() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	why := h.endedBy
	h.endedBy = ""
	return why
}

func ended(why string) error {
	return &fault.Error{Category: fault.Permission, Message: "a hook ended the turn: " + why, Hint: "pawl hooks list shows the hooks"}
}

func note(e hook.Event, text string) event.Draft {
	return event.Draft{Body: event.Noted{Why: event.NotedHook, Text: "[" + string(e) + " hook: " + text + "]"}}
}
