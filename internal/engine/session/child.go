package session

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/route"
)

// This file is what a child session, an agent's, is made of, and what it has of
// its parent: the workspace with its locks and journal, its money, and its
// rights, of which it never has more than the parent at that moment
// (SPEC 14.1, ADR 013).

// parentage is whose child a session is.
type parentage struct {
	of       *Session
	call     event.ParentCall
	readOnly bool
	// recovering: it is opened to close what a death left open, and runs nothing.
	recovering bool
}

// child is the configuration of a child session, and what of a could not be
// kept to.
func (s *Session) child(call string, a tool.Agent) (Config, []string) {
	c := s.cfg
	c.ID, c.Front = s.cfg.NewID(), "agent"
	c.child = &parentage{of: s, call: event.ParentCall{Session: s.cfg.ID, Call: call, Agent: a.Kind}, readOnly: a.ReadOnly}
	c.Agents--
	c.Parent = s.spending
	c.Route, c.Autofix, c.Outside, c.Answers, c.Prefer, c.Trust = route.Config{}, nil, nil, nil, nil, nil
	if c.Shell != nil {
		c.Shell = &childShell{Shell: c.Shell, runs: map[string]bool{}}
	}
	var notes []string
	s.log.View(func() {
		c.Permission = s.perm.Child(a.ReadOnly)
		c.System = s.conv.Head().System // as it was frozen: the beginning of both is the same
		c.Model = s.model
	})
	c.Limits = budget.Limits{Agents: s.spending.AgentsLeft()}
	if a.Model != "" {
		if m, err := s.openChildModel(a.Model); err == nil {
			c.Model = m
		} else {
			notes = append(notes, fmt.Sprintf("the model %s of the agent %s can not be used (%v): it runs on %s", a.Model, a.Kind, err, c.Model.Info().Ref()))
		}
	}
	switch {
	case a.USD <= 0:
	case c.Model.Info().Price == nil:
		notes = append(notes, fmt.Sprintf("the budget of $%.2f of the agent %s can not be kept, since no price of %s is known", a.USD, a.Kind, c.Model.Info().Ref()))
	default:
		c.Limits.USD = a.USD
	}
	var missing []string
	c.Tools, missing = toolsOf(s.tools(), a, c.Agents > 0)
	if len(missing) > 0 {
		notes = append(notes, fmt.Sprintf("the agent %s runs without %s: this session has no such tool", a.Kind, strings.Join(missing, ", ")))
	}
	if a.About != "" {
		about := "\n\n" + a.About
		c.System += about
		if rules := s.cfg.Rules; rules != nil {
			c.Rules = func(ctx context.Context, g Guidance) []string {
				g.System = strings.TrimSuffix(g.System, about) // rules are looked for at its end
				return rules(ctx, g)
			}
		}
	}
	return c, notes
}

// openChildModel opens another model for a child, where the session's budget can be kept
// with it.
func (s *Session) openChildModel(ref string) (llm.Model, error) {
	if s.cfg.OpenModel == nil {
		return nil, fmt.Errorf("this session opens no other model")
	}
	m, err := s.cfg.OpenModel(ref)
	if err != nil {
		return nil, err
	}
	return m, s.cfg.Limits.Allow(m.Info())
}

// toolsOf are the tools of an agent, in the order of the parent's. missing are
// the names that mean none, and those with a limit on what the tool may do,
// which could not be kept.
func toolsOf(all tool.Set, a tool.Agent, agents bool) (out tool.Set, missing []string) {
	named := map[string]bool{}
	for _, n := range a.Tools {
		if t, ok := all.Resolve(n); ok {
			named[t.Spec.Name] = true
		} else {
			missing = append(missing, n)
		}
	}
	for _, t := range all {
		switch {
		case a.Tools != nil && !named[t.Spec.Name], t.Delegates && !agents, a.ReadOnly && t.Does() == tool.Edit:
		default:
			out = append(out, t)
		}
	}
	return out, missing
}

// parent is the session that started this one as an agent, nil where none did.
func (s *state) parent() *Session {
	if s.cfg.child == nil {
		return nil
	}
	return s.cfg.child.of
}

// decide asks the policy. A child may do what its parent may at this moment, and
// no more.
func (s *state) decide(c permission.Call) permission.Decision {
	d := eventlog.Look(s.log, func() permission.Decision { return s.perm.Decide(c) })
	if up := s.parent(); up != nil {
		d = d.Narrow(up.decide(c))
	}
	return d
}

// rights is what routes turns: an agent has the rights of the turn that it works
// for.
func (s *Session) rights() *router {
	if up := s.parent(); up != nil {
		return up.rights()
	}
	return s.router
}

// grant keeps a yes of the person that holds for more than one call: also for the
// session that started this one, which would not allow it else.
func (s *Session) grant(ctx context.Context, rule string, scope event.Scope) error {
	if err := s.record(ctx, event.Draft{Body: event.Granted{Rule: rule, Scope: scope}}); err != nil {
		return err
	}
	if up := s.parent(); up != nil {
		return up.grant(ctx, rule, scope)
	}
	if scope == event.Always && s.cfg.Keep != nil {
		return s.cfg.Keep(rule)
	}
	return nil
}

// inherited is inherit as a gate: before anything is judged.
type inherited struct{ s *Session }

// Check is part of turn.Gate.
func (i inherited) Check(ctx context.Context, _ []*turn.Pending) error { return i.s.inherit(ctx) }

// inherit records what a person allowed the parent, or which mode they chose
// there, since the child began.
func (s *Session) inherit(ctx context.Context) error {
	up := s.parent()
	if up == nil {
		return nil
	}
	if err := up.inherit(ctx); err != nil {
		return err
	}
	var grants []string
	var mode permission.Mode
	up.log.View(func() { grants, mode = up.perm.Grants(), up.perm.Mode().Child(s.cfg.child.readOnly) })
	var ds []event.Draft
	s.log.View(func() {
		own := s.perm.Grants()
		for _, g := range grants {
			if !slices.Contains(own, g) {
				ds = append(ds, event.Draft{Body: event.Granted{Rule: g, Scope: event.Session}})
			}
		}
		if s.perm.Mode() != mode {
			ds = append(ds, event.Draft{Body: event.ModeSet{Mode: string(mode)}})
		}
	})
	return s.record(ctx, ds...)
}

// childShell is a child's shell: the commands that it left running in the
// background end with it, since nobody else knows them.
type childShell struct {
	tool.Shell
	mu   sync.Mutex
	runs map[string]bool
}

// Start is part of tool.Shell.
func (sh *childShell) Start(ctx context.Context, c tool.Run) (string, error) {
	id, err := sh.Shell.Start(ctx, c)
	if err == nil {
		sh.mu.Lock()
		sh.runs[id] = true
		sh.mu.Unlock()
	}
	return id, err
}

// end kills what still runs.
func (sh *childShell) end() {
	sh.mu.Lock()
	defer sh.mu.Unlock()
	for _, r := range sh.Running() {
		if sh.runs[r[0]] {
			_, _ = sh.Kill(context.Background(), r[0]) // one that has just ended is what is wanted
		}
	}
}

// POSIX is passed on: tools ask for it.
func (sh *childShell) POSIX() bool {
	p, ok := sh.Shell.(interface{ POSIX() bool })
	return ok && p.POSIX()
}

// Running is passed on: the journal asks for it.
func (sh *childShell) Running() [][2]string {
	if r, ok := sh.Shell.(interface{ Running() [][2]string }); ok {
		return r.Running()
	}
	return nil
}
