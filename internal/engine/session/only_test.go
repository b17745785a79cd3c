package session_test

import (
	"encoding/json"
	"path/filepath"
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

// A tool of one provider's models is neither shown to another's nor run for
// them, whatever it is called. SPEC 4.4, 5.2
func TestToolOfOneProvider(t *testing.T) {
	args := json.RawMessage(`{"command":"go test ./...","with":[]}`)
	m := llmtest.New(
		llmtest.Turn{Calls: []llm.Call{{ID: "a", Name: "go_overlay", Args: args}}},
		llmtest.Turn{Calls: []llm.Call{{ID: "b", Name: "GoOverlay", Args: args}}},
		llmtest.Turn{Text: "done"},
	)
	r := newRig(t, "yolo", m, func(c *session.Config) { c.Tools = append(slices.Clip(c.Tools), tools.GoOverlay()) })
	for _, e := range r.Run("go", func(event.Event) {}) {
		switch b := e.Body.(type) {
		case event.Rebased:
			t.Errorf("a new head: %v", b.Head.Tools)
		case event.CallDone:
			if b.Outcome != event.Invalid || !strings.Contains(b.Result.Text, "There is no tool") {
				t.Errorf("%s: %s %q", b.ID, b.Outcome, b.Result.Text)
			}
		}
	}
	for _, req := range m.Requests() {
		for _, s := range req.Head.Tools {
			if s.Name == "go_overlay" {
				t.Error("the model is offered it")
			}
		}
	}
	set := tool.Set{tools.Read(), tools.GoOverlay()}
	if got := len(set.For(llm.Info{Provider: "offline"})); got != 2 {
		t.Errorf("the built-in model is offered %d tools", got)
	}
}

// SPEC 4.9, 20.1: after a change to another family's model, the head offers that family's
// form of edit, and calls of the other form still run.
func TestEditFormFollowsTheModel(t *testing.T) {
	patch, edit := tools.ApplyPatch(), tools.Edit()
	patch.HiddenFrom = func(family string) bool { return family != "gpt" }
	edit.HiddenFrom = func(family string) bool { return family == "gpt" }
	other := llmtest.New(llmtest.Use("edit", args(map[string]string{"path": "a.txt", "old": "one", "new": "two"})), llmtest.Say("done"))
	other.InfoValue.Provider, other.InfoValue.Family = "other", "gpt"
	r := newRig(t, "yolo", llmtest.New(), func(c *session.Config) {
		c.Tools = tool.Set{patch, edit}
		c.OpenModel = func(string, string) (llm.Model, error) { return other, nil }
	})
	must.Write(t, filepath.Join(r.Cfg.Dir, "a.txt"), "one\n")
	must.Done(t)(r.do(session.SetModel{Ref: "other/script"}))
	es := r.Run("go", nil)
	if d := find[event.CallDone](es); len(d) != 1 || d[0].Outcome != event.OK {
		t.Errorf("%+v", d)
	}
	for _, q := range other.Requests() {
		if len(q.Head.Tools) != 1 || q.Head.Tools[0].Name != "apply_patch" {
			t.Errorf("offered: %v", q.Head.Tools)
		}
	}
}
