package children

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/prompt"
	"github.com/pawl-agent/pawl/internal/policy/budget"
)

// Inheritance is the part of a session's configuration that a child which starts
// now gets.
type Inheritance struct {
	Model  llm.Model
	System string // the frozen text
	Tools  tool.Set
	Shell  tool.Shell // nil: none
	Agents int        // how deep agents may be nested below the session
	Hooks  []string   // the files whose hooks hold in the running turn
	Left   int        // how many agents may still be started, 0 for any number
}

// Child is a child session's configuration where it differs from its parent's. Rights,
// questions and money come from the parent.
type Child struct {
	ID       string
	Of       event.ParentCall
	ReadOnly bool // it may change nothing
	// Agent is what it was made of. An isolated one works in a tree of its own: its session
	// has the tools, the text and the shell of that folder, not these.
	Agent tool.Agent
	// Recovering: the child is opened only to close what a crash left open. It runs
	// nothing.
	Recovering bool

	Model llm.Model
	// System ends with About, which is not part of the project's rules.
	System, About string
	Tools         tool.Set
	Shell         tool.Shell
	Agents        int
	Limits        budget.Limits
	// Hooks are the files whose hooks hold for it, and Under those whose hooks hold in the
	// turn that it works for.
	Hooks, Under []string

	Notes []string // which settings of the agent could not be applied
}

// childOf returns the configuration of an agent's session.
func (c *Children) childOf(call string, a tool.Agent) Child {
	has := c.cfg.Parent.Inherit()
	out := Child{
		ID: c.cfg.NewID(), Of: event.ParentCall{Session: c.cfg.Session, Call: call, Agent: a.Kind}, ReadOnly: a.ReadOnly,
		Model: has.Model, System: prompt.ForAgent(has.System, a.ReadOnly), Agents: has.Agents - 1, Limits: budget.Limits{Agents: has.Left, Steps: a.Steps},
		Hooks: a.Hooks, Under: has.Hooks, Agent: a,
	}
	if has.Shell != nil {
		out.Shell = &shell{Shell: has.Shell, runs: map[string]bool{}}
	}
	note := func(format string, args ...any) { out.Notes = append(out.Notes, fmt.Sprintf(format, args...)) }
	if a.Model != "" || a.Effort != "" {
		ref := cmp.Or(a.Model, has.Model.Info().Ref())
		if m, err := c.cfg.Parent.OpenModel(ref, a.Effort); err == nil {
			out.Model = m
		} else {
			note("the model %s of the agent %s cannot be used (%v): it uses %s", ref, a.Kind, err, out.Model.Info().Ref())
		}
	}
	switch {
	case a.USD <= 0:
	case out.Model.Info().Price == nil:
		note("the budget of $%.2f of the agent %s cannot be enforced: the price of %s is unknown", a.USD, a.Kind, out.Model.Info().Ref())
	default:
		out.Limits.USD = a.USD
	}
	var missing []string
	out.Tools, missing = ToolsOf(has.Tools, a, out.Agents > 0)
	if a.Servers != "" {
		missing = slices.DeleteFunc(missing, func(n string) bool { return strings.HasPrefix(n, "mcp__") }) // they come later
	}
	if len(missing) > 0 {
		note("the agent %s runs without %s: this session has no such tool", a.Kind, strings.Join(missing, ", "))
	}
	if a.About != "" {
		out.About = "\n\n" + a.About
		out.System += out.About
	}
	return out
}

// ToolsOf returns the tools of an agent, in the order of the parent's. missing are the
// names that match no tool, and those with a restriction on the tool, which could not
// be enforced.
func ToolsOf(all tool.Set, a tool.Agent, agents bool) (out tool.Set, missing []string) {
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
		case a.Tools != nil && !named[t.Spec.Name], slices.ContainsFunc(a.Not, t.IsMeant), t.Delegates && !agents, a.ReadOnly && t.Does() == tool.Edit:
		default:
			if named[t.Spec.Name] { // it may have no tool that calls what is hidden
				t.Hidden, t.HiddenFrom = false, nil
			}
			out = append(out, t)
		}
	}
	return out, missing
}
