package session

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/children"
)

// As returns the configuration with the tools and the text of a kind of agent,
// for a session without a parent, such as the one of a swarm's worker. missing
// lists the kind's names that match no tool. The caller has already chosen the
// model, the mode and the budget.
func (c Config) As(a tool.Agent) (as Config, missing []string) {
	c.hooksOf = a.Hooks
	c.Tools, missing = children.ToolsOf(c.Tools, a, c.Agents > 0)
	if of := c.FolderTools; of != nil {
		c.FolderTools = func() tool.Set {
			set, _ := children.ToolsOf(of(), a, false)
			return set
		}
	}
	if c.Outside != nil {
		missing = slices.DeleteFunc(missing, func(n string) bool { return strings.HasPrefix(n, "mcp__") }) // they come later
		c.Outside = outsideOfKind{c.Outside, a}
	}
	if a.About != "" {
		about, rules := "\n\n"+a.About, c.Rules
		c.System += about
		if rules != nil {
			c.Rules = func(ctx context.Context, g Guidance) []string {
				g.System = strings.TrimSuffix(g.System, about) // rules are looked for at its end
				return rules(ctx, g)
			}
		}
	}
	return c, missing
}

// whole returns the provider that a kind of agent has only a part of: people and programs
// ask it for all.
func whole(o Outside) Outside {
	if k, ok := o.(outsideOfKind); ok {
		return k.Outside
	}
	return o
}

// outsideOfKind provides the tools from outside that a kind of agent may use.
type outsideOfKind struct {
	Outside
	kind tool.Agent
}

func (o outsideOfKind) Offer(ctx context.Context, m llm.Info, wait bool) (tool.Set, []string) {
	all, notes := o.Outside.Offer(ctx, m, wait)
	set, _ := children.ToolsOf(all, o.kind, false)
	return set, notes
}

func (o outsideOfKind) Late(ctx context.Context, name string) (t tool.Tool, why string, ok bool) {
	if t, why, ok = o.Outside.Late(ctx, name); !ok {
		return t, why, false
	}
	set, _ := children.ToolsOf(tool.Set{t}, o.kind, false)
	return t, "", len(set) == 1
}
