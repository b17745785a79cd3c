package setup

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/folder"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/hook"
)

const isolatedFront = "agent"

// isolation opens agents in working trees of their own (SPEC 14.1).
func (s *opening) isolation() {
	dir := s.session.Dir
	var one sync.Mutex // git makes one tree at a time
	s.session.Isolate = func(ctx context.Context, want session.Isolation) (out session.Isolated, err error) {
		one.Lock()
		t, err := s.OpenTree(context.WithoutCancel(ctx), s.opt, dir, want.Name, true) // half a tree could not be removed
		one.Unlock()
		if err != nil {
			return out, err
		}
		leave := func() bool {
			defer t.Close()
			return t.Remove(context.WithoutCancel(ctx)) != ""
		}
		o, err := s.openIn(ctx, t, want)
		if err != nil {
			leave()
			return out, err
		}
		out.Session, out.Tree = o.Session, children.Tree{AgentTree: event.AgentTree{Dir: t.Dir, Branch: t.Branch}, From: dir}
		out.Leave = func() bool {
			o.Close()
			return leave()
		}
		switch n, err := t.Uncommitted(ctx, dir); {
		case err != nil:
			out.Notes = append(out.Notes, "its worktree begins at the last commit; what is not committed was not in it")
		case n > 0:
			out.Notes = append(out.Notes, fmt.Sprintf("its worktree begins at the last commit: changed or new files that were not in it: %d", n))
		}
		return out, nil
	}
}

// openIn opens the session of an agent in its tree. Nothing of it is stored but its log. It
// has no MCP servers: they would work in the folder of this session.
func (s *opening) openIn(ctx context.Context, t *Tree, want session.Isolation) (*Opened, error) {
	opt, dir := *s.opt, s.session.Dir
	below, err := filepath.Rel(gitrepo.Above(dir), dir)
	if err != nil {
		return nil, err
	}
	opt.Dir = filepath.Join(t.Dir, below)
	if opt.TrustedAs == "" {
		opt.TrustedAs = dir
	}
	opt.SessionID, opt.Model, opt.Effort, opt.Mode = want.ID, want.Model, "", want.Mode
	opt.Agent, opt.Plan, opt.Budget, opt.MetricsAddr, opt.MaxTurns, opt.MaxUSD, opt.MaxTokens = "", "", "", "", 0, 0, 0
	opt.NoSession, opt.Continue, opt.Resume, opt.Fork, opt.ForkAfter = true, false, "", false, ""
	opt.StrictMCP, opt.MCPConfig, opt.Servers, opt.Driver.MCP, opt.Driver.Servers = true, nil, nil, "", nil
	var here []hook.Rule
	o, err := s.Open(ctx, &opt, Frontend{Name: isolatedFront, Person: s.fr.Person, Configure: func(c *session.Config) {
		c.Mask.Hold(folder.Keys(dir)...)
		here = rulesOf(c.Hooks)
		want.Bind(c)
	}})
	if err != nil {
		return nil, err
	}
	for _, r := range rulesOf(s.session.Hooks) {
		if !slices.Contains(here, r) {
			o.Close()
			return nil, Usage("the hook %s of %s would not hold in the worktree of the agent: commit it, or let an agent without isolation do the work", r.Name, r.From)
		}
	}
	return o, nil
}

func rulesOf(r hooks.Runner) []hook.Rule {
	if r == nil {
		return nil
	}
	return r.Rules()
}
