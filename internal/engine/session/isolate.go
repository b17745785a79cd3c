package session

import (
	"context"
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/prompt"
)

// This file opens an agent in a working tree of its own. Files, shell, journal and policy
// belong to a folder, so its session is put together in the tree like any other, and then
// made a child of this one: its rights, questions and money.

// Isolation is what the session of such an agent gets from the session that starts it.
type Isolation struct {
	Name            string // of the tree
	ID, Model, Mode string
	// Bind makes the configuration for the tree that of the agent.
	Bind func(*Config)
}

// Isolated is such a session.
type Isolated struct {
	*Session
	children.Tree
	// Leave closes it, and reports whether something is in its tree. Without, the tree is
	// removed.
	Leave func() bool
}

func (s *parent) isolate(ctx context.Context, a children.Child) (children.Session, error) {
	if s.cfg.Isolate == nil {
		return nil, fault.NewConfiguration("let an agent without isolation do it", "the agent %s works in a worktree of its own, and this session can make none", a.Of.Agent)
	}
	rights := s.rights.Child(a.ReadOnly)
	of, err := s.cfg.Isolate(ctx, Isolation{
		Name: children.TreeName(a.ID), ID: a.ID, Model: a.Model.Info().Ref(), Mode: string(rights.Mode()),
		Bind: func(c *Config) {
			s.adopt(c, a)
			c.Permission.Follow(rights)
			c.Store, c.Person, c.Models = s.cfg.Store, s.cfg.Person, s.cfg.Models
			c.System = prompt.ForAgent(c.System, a.ReadOnly)
			agent := a.Agent
			agent.About += fmt.Sprintf("\n\nYou work in a git worktree of your own: %s, branch %s. It begins at the last commit. Change nothing outside it: who started you is told where it is. There are no MCP servers but your own.", c.Dir, c.Branch)
			*c, _ = c.As(agent)
			c.Tools = slices.DeleteFunc(c.Tools, func(t tool.Tool) bool { // no more than this session has
				return !slices.ContainsFunc(a.Tools, func(has tool.Tool) bool { return has.Spec.Name == t.Spec.Name })
			})
			c.Isolate, c.EndAtFullDisk = nil, s.cfg.EndAtFullDisk
		},
	})
	if err != nil {
		return nil, err
	}
	return &isolatedSession{childSession{of.Session}, of}, nil
}

type isolatedSession struct {
	childSession
	of Isolated
}

func (i *isolatedSession) Tree() *children.Tree { return &i.of.Tree }

func (i *isolatedSession) Close() error {
	i.of.Left = i.of.Leave()
	return i.of.Session.log.Broken()
}
