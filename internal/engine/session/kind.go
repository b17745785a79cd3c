package session

import (
	"context"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/children"
)

// As returns the configuration with the tools and the text of a kind of agent,
// for a session without a parent, such as the one of a swarm's worker. missing
// lists the kind's names that match no tool. The caller has already chosen the
// model, the mode and the budget.
func (c Config) As(a tool.Agent) (as Config, missing []string) {
	c.hooksOf, c.servers = a.Hooks, a
	c.Tools, missing = children.ToolsOf(c.Tools, a, c.Agents > 0)
	if of := c.FolderTools; of != nil {
		c.FolderTools = func() tool.Set {
			set, _ := children.ToolsOf(of(), a, false)
			return set
		}
	}
	if c.Outside != nil || a.Servers != "" {
		missing = slices.DeleteFunc(missing, func(n string) bool { return strings.HasPrefix(n, "mcp__") }) // they come later
	}
	if c.Outside != nil {
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
	switch k := o.(type) {
	case outsideOfKind:
		return k.Outside
	case withOwn:
		return whole(k.Outside)
	}
	return o
}

// OwnServers are servers that only one agent has.
type OwnServers interface {
	Outside
	Close() error
}

// openOwn adds the servers that only the agent has. close ends them.
func (c *Config) openOwn() (close func(), err error) {
	if c.servers.Servers == "" || c.ReadOnly {
		return func() {}, nil
	}
	own, err := OwnServers(nil), error(nil)
	if c.OwnServers != nil {
		own, err = c.OwnServers(c.servers.Servers)
	}
	if err == nil && own == nil {
		err = fault.NewConfiguration("let another agent do it", "the agent %s has MCP servers of its own, and this session can start none", c.servers.Kind)
	}
	if err != nil {
		return nil, err
	}
	c.Outside = withOwn{c.Outside, outsideOfKind{own, tool.Agent{Not: c.servers.Not}}} // it may use all of them, as in Claude Code
	return func() { _ = own.Close() }, nil                                             // what they printed last is of no use
}

// withOwn has the servers of an agent beside those of its session, nil for none.
type withOwn struct{ Outside, own Outside }

func (o withOwn) Offer(ctx context.Context, m llm.Info, wait bool) (set tool.Set, notes []string) {
	if o.Outside != nil {
		set, notes = o.Outside.Offer(ctx, m, wait)
	}
	m.Window = 1 << 30 // few as they are, they are offered whole: the tool that searches is the session's
	own, more := o.own.Offer(ctx, m, wait)
	for _, t := range own {
		if _, twice := set.Find(t.Spec.Name); !twice {
			set = append(set, t)
		}
	}
	return set, append(notes, more...)
}

func (o withOwn) Late(ctx context.Context, name string) (t tool.Tool, why string, ok bool) {
	if t, why, ok = o.own.Late(ctx, name); ok || why != "" || o.Outside == nil {
		return t, why, ok
	}
	return o.Outside.Late(ctx, name)
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
