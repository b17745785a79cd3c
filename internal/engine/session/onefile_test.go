package session_test

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// The tools of this test stand in no other file: what is asserted of them is
// what every new tool gets by its facts alone (SPEC 4.9: adding a tool is one
// file).

// stamp is a tool from outside that edits a file.
func stamp() tool.Tool {
	t := tool.Raw(llm.ToolSpec{
		Name: "mcp__office__stamp", Doc: "Put a stamp on a file.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"}},"required":["path"],"additionalProperties":false}`),
	}, func(env tool.Env, in json.RawMessage) (tool.Footprint, error) {
		var a struct{ Path string }
		if err := json.Unmarshal(in, &a); err != nil {
			return tool.Footprint{}, err
		}
		h, _, err := env.Files.Stat(a.Path)
		return tool.Footprint{Writes: []tool.Span{{Path: a.Path, Hash: h}}}, err
	}, func(ctx context.Context, env tool.Env, in json.RawMessage) (tool.Result, error) {
		var a struct{ Path string }
		if err := json.Unmarshal(in, &a); err != nil {
			return tool.Result{}, err
		}
		h, _, err := env.Files.Stat(a.Path)
		if err != nil {
			return tool.Result{}, err
		}
		if _, err := env.Files.Write(ctx, a.Path, []byte("stamped\n"), h); err != nil {
			return tool.Result{}, err
		}
		return tool.Text("stamped " + a.Path), nil
	})
	t.Facts = tool.Facts{Kind: tool.Edit, Aliases: []string{"stampit"}, Family: tool.EditFamily, Whole: true}
	return t
}

// shelf is a tool from outside that searches.
func shelf() tool.Tool {
	t := tool.Raw(llm.ToolSpec{Name: "mcp__office__shelf", Doc: "List what is on a shelf.", Schema: json.RawMessage(`{"type":"object"}`)},
		func(tool.Env, json.RawMessage) (tool.Footprint, error) { return tool.Footprint{}, nil },
		func(context.Context, tool.Env, json.RawMessage) (tool.Result, error) {
			return tool.Text(strings.Repeat("binder\n", 2000)), nil
		})
	t.Facts = tool.Facts{Kind: tool.Search, Listing: true}
	t.ReadOnly = true
	return t
}

func withTools(ts ...tool.Tool) func(*session.Config) {
	return func(c *session.Config) { c.Tools = append(slices.Clone(c.Tools), ts...) }
}

// SPEC 4.9, 4.15, 11.1: permission, undo, the record, and what the model is
// taken to know.
func TestNewToolThatEdits(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("StampIt", `{"file_path":"a.txt"}`), // by an alias, with another agent's argument
		llmtest.Use("edit", `{"path":"a.txt","old":"stamped","new":"stamped twice"}`),
		llmtest.Say("done"),
	)
	r := newRig(t, "accept-edits", m, withTools(stamp()))
	es := r.Run("stamp it", nil)
	asked := find[event.CallAsked](es)
	if len(asked) != 2 || asked[0].Does != tool.Edit || asked[0].Target != "a.txt" || asked[0].Title != "mcp__office__stamp a.txt" {
		t.Fatalf("recorded as %+v", asked)
	}
	// It wrote all of the file, so the model knows it: the edit goes through.
	if got := r.File("a.txt"); got != "stamped twice\n" {
		t.Errorf("a.txt holds %q; %+v", got, len(es))
		for _, d := range find[event.CallDone](es) {
			t.Logf("%s %q … %q spill %q", d.Outcome, d.Result.Text[:20], d.Result.Text[max(0, len(d.Result.Text)-150):], d.Spill)
		}
	}
	c := find[event.FileChanged](es)
	if len(c) != 2 || c[0].Does != tool.Edit || !c[0].Whole || c[1].Whole {
		t.Errorf("%+v", c)
	}
	if _, err := r.undo(undo.ByTurn); err != nil {
		t.Error(err)
	}
	if got := r.File("a.txt"); !strings.Contains(got, "no such file") {
		t.Errorf("after the undo a.txt holds %q", got)
	}
}

// SPEC 4.3: the question shows what it would do, without a word of its own.
func TestNewToolIsPreviewed(t *testing.T) {
	m := llmtest.New(llmtest.Use("mcp__office__stamp", `{"path":"a.txt"}`), llmtest.Say("done"))
	r := newRig(t, "ask", m, withTools(stamp()), func(c *session.Config) { c.Person = true })
	var q event.Question
	r.Run("stamp it", func(e event.Event) {
		if a, ok := e.Body.(event.Asked); ok {
			q = a.Questions[0]
			if _, err := r.Submit(t.Context(), session.Answer{ID: a.ID, Verdicts: []event.Verdict{{Call: q.Call, Scope: event.No}}}); err != nil {
				t.Error(err)
			}
		}
	})
	if q.Preview != "--- /dev/null\n+++ b/a.txt\n@@ -0,0 +1,1 @@\n+stamped\n" || q.Title != "mcp__office__stamp a.txt (new, +1)" {
		t.Errorf("%+v", q)
	}
	if got := r.File("a.txt"); !strings.Contains(got, "no such file") {
		t.Errorf("the preview wrote %q", got)
	}
}

// SPEC 4.15: a rule about editing covers it like every tool that edits, and a
// rule with another agent's name for it covers it alone.
func TestNewToolIsOfItsFamily(t *testing.T) {
	for rule, want := range map[string]event.Outcome{"edit(a.txt)": event.Denied, "edit": event.Denied, "mcp__office__stamp": event.Denied, "edit(b.txt)": event.OK, "mcp__office__other": event.OK,
		"StampIt": event.Denied, "stamp_it(a.txt)": event.Denied, "stamp_it(b.txt)": event.OK, "stamp": event.OK,
	} {
		m := llmtest.New(llmtest.Use("mcp__office__stamp", `{"path":"a.txt"}`), llmtest.Say("done"))
		r := newRig(t, "accept-edits", m, withTools(stamp()), func(c *session.Config) {
			must.Do(t, c.Permission.Add(permission.User, nil, nil, []string{rule}))
		})
		if d := find[event.CallDone](r.Run("stamp it", nil)); len(d) != 1 || d[0].Outcome != want {
			t.Errorf("deny %s: %+v", rule, d)
		}
	}
	m := llmtest.New(llmtest.Use("mcp__office__stamp", `{"path":"a.txt"}`), llmtest.Say("done"))
	if d := find[event.CallDone](newRig(t, "plan", m, withTools(stamp())).Run("stamp it", nil)); d[0].Outcome != event.Denied {
		t.Errorf("in plan mode: %+v", d)
	}
}

// SPEC 6.2, 6.3, 9.5: the stuck detector sees that it only looks, and a long
// listing is offered for clean-up.
func TestNewToolThatSearches(t *testing.T) {
	turns := []llmtest.Turn{}
	for range 8 {
		turns = append(turns, llmtest.Use("mcp__office__shelf", `{}`))
	}
	r := newRig(t, "plan", llmtest.New(append(turns, llmtest.Say("done"))...), withTools(shelf()), func(c *session.Config) {
		c.Progress = progress.Default()
	})
	es := r.Run("look", nil)
	if s := find[event.Stuck](es); len(s) == 0 || s[0].Rule != "repeated" {
		t.Errorf("the same look again and again: %+v", s)
	}
	d := find[event.CallDone](es)
	if d[0].Outcome != event.OK || d[0].Does != tool.Search || !d[0].Listing {
		t.Errorf("%+v", d[0])
	}
}
