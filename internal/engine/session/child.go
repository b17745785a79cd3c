package session

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/questions"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// This file is the session's side of its children: what it lends to one, and how
// one is opened. How they run and what of it is recorded is engine/children.

// parentLink connects an agent's session to the session that started it. It is
// the zero value in a session without a parent.
type parentLink struct {
	agent     *children.Child // what it is made of
	rights    *permission.Rights
	questions *questions.Questions
	// interrupted reports whether the turn that it works for has ended; nil: there is none.
	interrupted func() bool
}

// kind is what kind of agent it is.
func (p parentLink) kind() string {
	if p.agent == nil {
		return ""
	}
	return p.agent.Of.Agent
}

// parent implements children.Parent: what an agent gets from the session that starts it.
type parent struct {
	*state
	ops       *operations.Operations
	questions *questions.Questions
	rights    *permission.Rights
	spending  *spending.Account
}

// interrupted reports whether the running turn, or one that it works for, was told to end.
func (s *parent) interrupted() bool {
	return s.ops.Interrupted() || s.cfg.child.interrupted != nil && s.cfg.child.interrupted()
}

func (s *parent) Inherit() children.Inheritance {
	l := children.Inheritance{Hooks: slices.Concat(s.cfg.hooksOf, s.cfg.hooksUnder, s.hooksOfTurn()), Tools: s.tools(), Shell: s.cfg.Shell, Agents: s.cfg.Agents, Left: s.spending.AgentsLeft()}
	s.log.View(func() { l.Model, l.System = s.model, s.conv.Head().System })
	return l
}

// hooksOfTurn returns the files whose hooks hold in the running turn.
func (s *state) hooksOfTurn() []string {
	return eventlog.Query(s.log, func() []string { return s.hooksFold.Files })
}

func (s *parent) OpenModel(ref, effort string) (llm.Model, error) {
	return s.openModel(ref, cmp.Or(effort, s.cfg.Effort))
}

// Open implements children.Parent: the session of an agent is like this one, except for
// the agent's own settings.
func (s *parent) Open(ctx context.Context, a children.Child) (children.Session, error) {
	if a.Agent.Isolated {
		return s.isolate(ctx, a)
	}
	c := s.cfg
	c.ID, c.Permission = a.ID, s.rights.Child(a.ReadOnly)
	c.System, c.Tools, c.Shell = a.System, a.Tools, a.Shell
	s.adopt(&c, a)
	if about, rules := a.About, s.cfg.Rules; about != "" && rules != nil {
		c.Rules = func(ctx context.Context, g Guidance) []string {
			g.System = strings.TrimSuffix(g.System, about) // rules are looked for at its end
			return rules(ctx, g)
		}
	}
	child, err := Open(ctx, c)
	if err != nil {
		return nil, err
	}
	return childSession{child}, nil
}

// adopt makes a configuration that of an agent of this session.
func (s *parent) adopt(c *Config, a children.Child) {
	c.Frontend, c.ParentCall, c.TopLevel = "agent", &a.Of, TopLevel{}
	c.child = parentLink{agent: &a, rights: s.rights, questions: s.questions, interrupted: s.interrupted}
	c.Model, c.Agents, c.Limits, c.Parent = a.Model, a.Agents, a.Limits, s.spending
	c.hooksOf, c.hooksUnder = a.Hooks, a.Under
	c.servers = a.Agent
}

// childSession is a session in the form for its parent's children.
type childSession struct{ *Session }

func (childSession) Tree() *children.Tree { return nil }

func (c childSession) Run(ctx context.Context, prompt string, see func(event.Event) error) (string, event.Ended, error) {
	out, err := c.RunPrompt(ctx, Prompt{Source: event.Parent, Text: prompt}, Observer{See: see})
	return out.Reply, out.Ended, err
}

func (c childSession) Spent() budget.Spent {
	all, _ := c.spending.Spent()
	return all
}
