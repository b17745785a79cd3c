package setup

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/team/subagent"
)

// asAgent gives a session that works as a kind of agent (--agent) its options: with its text
// in place of pawl's, its model, and its limits. What the options say goes first, but no
// limit becomes wider by them. It returns the kind, nil for none.
func (s *opening) asAgent() (*agents.Kind, error) {
	opt := s.opt
	if opt.Agent == "" {
		return nil, nil
	}
	dir, err := s.RealDir(opt.Dir)
	if err != nil {
		return nil, err
	}
	conf, paths, err := s.SettingsIn(dir)
	if err != nil {
		return nil, err
	}
	all, unread := s.AgentKinds(dir, paths, opt.plugins()...) // opening the session tells these warnings
	all = agents.Before(opt.Driver.Agents, all)
	k, ok := subagent.Find(all, opt.Agent)
	if !ok {
		if i := slices.IndexFunc(unread, func(w string) bool { return strings.Contains(w, "/"+opt.Agent+".md") }); i >= 0 {
			return nil, Usage("--agent: %s", unread[i])
		}
		var names []string
		for _, k := range all {
			names = append(names, k.Name)
		}
		return nil, Usage("--agent: there is no agent %.64q; there are %s", opt.Agent, strings.Join(names, ", "))
	}
	if k.Isolated && opt.TrustedAs == "" {
		return nil, Usage("--agent %s: it works in a git worktree of its own: add --worktree", k.Name)
	}
	as := *opt
	if as.Model == "" && k.Model != "" {
		if _, err := s.Resolve(k.Model, conf); err != nil {
			return nil, Usage("--agent %s: its model %s cannot be used (%w); --model names another one", k.Name, k.Model, err)
		}
		as.Model = k.Model
	}
	as.Effort = cmp.Or(as.Effort, k.Effort)
	if as.SystemPrompt != "" {
		s.o.warn("the text of the agent " + k.Name + " is not used: another system prompt is given")
	}
	as.SystemPrompt = cmp.Or(as.SystemPrompt, k.Prompt)
	if k.ReadOnly && as.Mode == "" {
		as.Mode = string(permission.Plan)
	}
	as.MaxTurns, as.MaxUSD = least(as.MaxTurns, k.Steps), least(as.MaxUSD, k.USD)
	s.opt = &as
	return &k, nil
}

// least returns the smaller limit; 0 is none.
func least[N int | float64](a, b N) N {
	if a == 0 || b == 0 {
		return max(a, b)
	}
	return min(a, b)
}

// narrow leaves a session the tools of a kind; nil leaves all.
func (s *opening) narrow(k *agents.Kind) {
	if k == nil {
		return
	}
	var missing []string
	s.session, missing = s.session.As(tool.Agent{Kind: k.Name, Tools: k.Tools, Not: k.Not, ReadOnly: k.ReadOnly, Hooks: k.HookFiles(), Servers: k.Servers})
	if len(missing) > 0 {
		s.o.warn(fmt.Sprintf("the agent %s works without %s: this session has no such tool", k.Name, strings.Join(missing, ", ")))
	}
}
