package subagent_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/team/subagent"
)

// server is what an MCP server gives: one tool that models are shown, one that
// they call through another, one that the session may not use.
type server struct{}

func (server) Offer(context.Context, llm.Info, bool) (set tool.Set, notes []string) {
	for _, name := range []string{"mcp__s__shown", "mcp__s__hidden", "mcp__s__denied"} {
		t := tool.Raw(llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, nil,
			func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
				return tool.Text("ran " + name), nil
			})
		t.Hidden = name == "mcp__s__hidden"
		set = append(set, t)
	}
	by := tool.Raw(llm.ToolSpec{Name: "mcp_call", Schema: json.RawMessage(`{"type":"object"}`)}, nil, nil)
	by.StandsFor = func(in json.RawMessage) (string, json.RawMessage, bool) { return "mcp__s__hidden", in, true }
	return append(set, by), nil
}

func (server) Late(context.Context, string) (t tool.Tool, why string, ok bool) { return t, "", false }

// SPEC 14.1, 17.1: an agent has the tools from MCP servers that its session has,
// those that its kind names, and never more rights on them than the session.
func TestAgentsHaveToolsFromOutside(t *testing.T) {
	use := func(names ...string) llmtest.Turn {
		var args []string
		for _, n := range names {
			args = append(args, n, `{}`)
		}
		return llmtest.Use(args...)
	}
	start := func(kind, part string) []string {
		return []string{"agent", `{"description":"d","prompt":"` + part + `","agent":"` + kind + `"}`}
	}
	every := []string{"mcp__s__shown", "mcp_call", "mcp__s__denied"}
	r := newRig(t, plays{
		"user":   {llmtest.Use(slices.Concat(start("general", "all"), start("explore", "reads"), start("narrow", "none"), start("named", "one"))...)},
		"all":    {use(every...)},
		"reads":  {use(every...)},
		"none":   {use(every...)},
		"one":    {use("mcp__s__hidden", "mcp__s__shown")},
		"unused": nil,
	}, func(c *session.Config) {
		c.Outside, c.Agents = server{}, 1
		kinds := append([]agents.Kind{
			{Name: "narrow", Description: "d", Prompt: "p", Tools: []string{"Read"}},
			{Name: "named", Description: "d", Prompt: "p", Tools: []string{"mcp__s__hidden"}},
		}, agents.Builtin()...)
		c.Tools = append(c.Tools[:len(c.Tools)-1:len(c.Tools)-1], subagent.Tool(kinds, strings.Clone))
		must.Do(t, c.Permission.Add("flag", []string{"mcp__s__*"}, nil, []string{"mcp__s__denied"}))
	})
	es, _ := r.run(nil)
	shown := map[string][]string{}
	for _, q := range r.Model.Requests() {
		part, _, _ := strings.Cut(q.Messages[0].Text(), "\n")
		shown[part] = nil
		for _, s := range q.Head.Tools {
			if strings.HasPrefix(s.Name, "mcp") {
				shown[part] = append(shown[part], s.Name)
			}
		}
	}
	own := []string{"mcp__s__shown", "mcp__s__denied", "mcp_call"}
	for part, want := range map[string][]string{"user": own, "all": own, "reads": own, "none": nil, "one": {"mcp__s__hidden"}} {
		if !slices.Equal(shown[part], want) {
			t.Errorf("%s is shown %q, want %q", part, shown[part], want)
		}
	}
	ran := map[string]map[string]event.Outcome{}
	for _, e := range es {
		b, ok := e.Body.(event.AgentStarted)
		if !ok {
			continue
		}
		ran[b.Agent] = map[string]event.Outcome{}
		for e, err := range r.Cfg.Store.Read(t.Context(), b.Child, 0) {
			must.Do(t, err)
			if d, ok := e.Body.(event.CallDone); ok {
				ran[b.Agent][d.Tool] = d.Outcome
			}
		}
	}
	for kind, want := range map[string]map[string]event.Outcome{
		"general": {"mcp__s__shown": event.OK, "mcp__s__hidden": event.OK, "mcp__s__denied": event.Denied},
		"explore": {"mcp__s__shown": event.Denied, "mcp__s__hidden": event.Denied, "mcp__s__denied": event.Denied},
		"narrow":  {"mcp__s__shown": event.Invalid, "mcp_call": event.Invalid, "mcp__s__denied": event.Invalid},
		"named":   {"mcp__s__hidden": event.OK, "mcp__s__shown": event.Invalid},
	} {
		for name, outcome := range want {
			if ran[kind][name] != outcome {
				t.Errorf("%s: %s ended as %q, want %q (all: %v)", kind, name, ran[kind][name], outcome, ran[kind])
			}
		}
	}
}
