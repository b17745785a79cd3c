package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// offers is tools from outside of which one more is known each time that they
// may take their time.
type offers struct {
	waits int
	late  func(name string) (t tool.Tool, why string, ok bool)
}

func (o *offers) Late(_ context.Context, name string) (t tool.Tool, why string, ok bool) {
	if o.late == nil {
		return t, "", false
	}
	return o.late(name)
}

func (o *offers) Offer(_ context.Context, _ llm.Info, wait bool) (set tool.Set, notes []string) {
	if wait {
		o.waits++
		notes = append(notes, "one more")
	}
	for i := range o.waits {
		t := tool.Raw(llm.ToolSpec{Name: "mcp__s__t" + string(rune('0'+i)), Schema: json.RawMessage(`{"type":"object"}`)}, nil,
			func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) { return tool.Text("ran"), nil })
		t.Hidden = i == 0
		set = append(set, t)
	}
	by := tool.Raw(llm.ToolSpec{Name: "mcp_call", Schema: json.RawMessage(`{"type":"object"}`)}, nil, nil)
	by.StandsFor = func(in json.RawMessage) (string, json.RawMessage, bool) { return "mcp__s__t0", in, true }
	return append(set, by), notes
}

// SPEC 17.1: tools from outside join before the first request and then only where
// no prefix is lost; one that is not shown is called through another, under its
// own rules.
func TestOutside(t *testing.T) {
	o := &offers{}
	say := llmtest.Turn{Text: "done"}
	m := llmtest.New(
		llmtest.Turn{Calls: []llm.Call{{ID: "a", Name: "mcp_call", Args: json.RawMessage(`{}`)}}}, say, say, say,
	)
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.Outside, c.Person = o, false
		must.Do(t, c.Permission.Add("flag", []string{"mcp__s__*"}, nil, nil))
	})
	shown := func() []string {
		all := m.Requests()
		var out []string
		for _, s := range all[len(all)-1].Head.Tools {
			if strings.HasPrefix(s.Name, "mcp") {
				out = append(out, s.Name)
			}
		}
		return out
	}
	es := r.Run("go", func(event.Event) {})
	if done := find[event.CallDone](es); len(done) != 1 || done[0].Outcome != event.OK || done[0].Tool != "mcp__s__t0" || done[0].Result.Text != "ran" {
		t.Errorf("%+v", done)
	}
	if notes := find[event.Noted](es); len(notes) != 1 || notes[0].Text != "one more" {
		t.Errorf("%+v", notes)
	}
	r.Run("again", func(event.Event) {})
	if got := shown(); !slices.Equal(got, []string{"mcp_call"}) || o.waits != 1 {
		t.Errorf("%q after %d: a prefix was lost", got, o.waits)
	}
	must.Done(t)(r.Submit(t.Context(), session.RefreshTools{}))
	r.Run("more", func(event.Event) {})
	if got := shown(); !slices.Equal(got, []string{"mcp__s__t1", "mcp_call"}) {
		t.Errorf("%q: what a person asked for did not join", got)
	}
}

// SPEC 17.1: a tool of a server that was still starting joins the turn it is needed in,
// under its own rules, and no list of tools changes for it. One whose server failed is
// refused with the reason, and an unknown one as before.
func TestLateTool(t *testing.T) {
	ran := 0
	o := &offers{late: func(name string) (t tool.Tool, why string, ok bool) {
		switch name {
		case "mcp__slow__go", "mcp__slow__denied":
			return tool.Raw(llm.ToolSpec{Name: name, Schema: json.RawMessage(`{"type":"object"}`)}, nil,
				func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
					ran++
					return tool.Text("went"), nil
				}), "", true
		case "mcp__broken__go":
			return t, "The MCP server broken is not available: it ended.", false
		}
		return t, "", false
	}}
	m := llmtest.New(llmtest.Use("mcp__slow__go", `{}`, "mcp__slow__denied", `{}`, "mcp__broken__go", `{}`, "mcp__none__go", `{}`), llmtest.Turn{Text: "done"})
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.Outside, c.Person = o, false
		must.Do(t, c.Permission.Add("flag", []string{"mcp__slow__go"}, nil, []string{"mcp__slow__denied"}))
	})
	done := find[event.CallDone](r.Run("go", func(event.Event) {}))
	if len(done) != 4 || ran != 1 {
		t.Fatalf("%d ran, %+v", ran, done)
	}
	for i, want := range []string{"went", "denie", "The MCP server broken is not available: it ended.", `There is no tool "mcp__none__go"`} {
		if got := done[i].Result.Text; !strings.Contains(got, want) || (done[i].Outcome == event.OK) != (i == 0) {
			t.Errorf("%d: %s, %q, want %q", i, done[i].Outcome, got, want)
		}
	}
	all := m.Requests()
	if a, b := len(all[0].Head.Tools), len(all[1].Head.Tools); a != b {
		t.Errorf("%d tools, then %d: a prefix was lost", a, b)
	}
}

// SPEC 12.2: the tools of language servers are offered only where one can be had,
// and the set changes only where no prefix is lost.
func TestJoining(t *testing.T) {
	had := false
	say := llmtest.Turn{Text: "done"}
	m := llmtest.New(say, say, say, say, say)
	r := newRig(t, "ask", m, func(c *session.Config) {
		c.FolderTools = func() tool.Set {
			if !had {
				return nil
			}
			return tools.Lsp()
		}
	})
	shown := func() (n int) {
		all := m.Requests()
		for _, s := range all[len(all)-1].Head.Tools {
			if strings.HasPrefix(s.Name, "lsp") {
				n++
			}
		}
		return n
	}
	for i, step := range []struct {
		what  string
		had   bool
		again bool
		want  int
	}{
		{"none can be had", false, false, 0},
		{"one was installed since: a prefix is kept", true, false, 0},
		{"a person asks for it", true, true, 3},
		{"it is gone: a prefix is kept", false, false, 3},
		{"a person asks again", false, true, 0},
	} {
		had = step.had
		if step.again {
			must.Done(t)(r.Submit(t.Context(), session.RefreshTools{}))
		}
		r.Run("go", func(event.Event) {})
		if got := shown(); got != step.want {
			t.Errorf("%d, %s: %d tools", i, step.what, got)
		}
	}
}
