package session_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/journal"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/engine/turn"
)

// outsider is a stage of each kind, made as a language server or a hook would be.
type outsider struct {
	mu      sync.Mutex
	heard   []string
	late    string // what came too late for a result
	refuses int    // calls at their start
}

func (o *outsider) hear(what string) {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.heard = append(o.heard, what)
}

func (o *outsider) before(context.Context) (event.End, error) {
	o.hear("before")
	return "", nil
}

func (o *outsider) Check(_ context.Context, step []*turn.Pending) error {
	for _, p := range step {
		o.hear("gate " + p.Tool.Spec.Name)
		if strings.Contains(string(p.Args), "forbidden") {
			p.Refused = &turn.Refusal{Outcome: event.Denied, Text: "a hook says no"}
		}
	}
	return nil
}

func (o *outsider) Start(_ context.Context, p *turn.Pending) *turn.Refusal {
	o.hear("start " + p.Tool.Spec.Name)
	if o.refuses--; o.refuses >= 0 {
		return &turn.Refusal{Outcome: event.Denied, Text: "not now"}
	}
	return nil
}

func (o *outsider) After(_ context.Context, r *turn.Ran) error {
	o.hear("after " + r.Tool.Spec.Name + " " + string(r.Outcome))
	if o.late != "" {
		r.Note(o.late)
		o.late = ""
	}
	for _, f := range r.Files() {
		r.Note("diagnostics of " + f.Path)
	}
	switch {
	case strings.Contains(r.Result.Text, "exit code"):
		o.late = "(late) from the earlier call"
	case strings.Contains(string(r.Args), "broken"):
		return errors.New("the hook broke")
	}
	return nil
}

func (o *outsider) stages() turn.Stages {
	return turn.Stages{Before: []turn.Before{o.before}, Gates: []turn.Gate{o}, Start: []turn.Starter{o}, After: []turn.After{o}}
}

// SPEC 4.3: a stage of each kind is added from outside; it sees each call, its
// result and the files that it changed, and speaks to the model with a result or
// a later one.
func TestStagesFromOutside(t *testing.T) {
	o := &outsider{}
	write := func(path, text string) string { return args(j{"path": path, "content": text}) }
	m := llmtest.New(
		llmtest.Use("bash", args(j{"command": "echo one > b.txt; echo said; exit 3"})),
		llmtest.Use("write", write("a.txt", "one\n"), "write", write("forbidden.txt", "x\n")),
		llmtest.Use("write", write("broken.txt", "x\n")),
		llmtest.Say("done"),
	)
	r := newRig(t, "yolo", m, journaled(t, journal.Options{}), func(c *session.Config) { c.Stages = o.stages() })
	dones := find[event.CallDone](r.Run("go", nil))
	text := func(i int) string { return dones[i].Result.Text }
	if want := "said\n[changed while this ran: b.txt]\ndiagnostics of b.txt\nexit code 3"; text(0) != want && text(0) != strings.Replace(want, "[changed while this ran: b.txt]\n", "", 1) {
		t.Errorf("a command: %q", text(0))
	}
	if !strings.HasSuffix(text(1), "\n(late) from the earlier call\ndiagnostics of a.txt") || dones[1].Outcome != event.OK {
		t.Errorf("a write: %s %q", dones[1].Outcome, text(1))
	}
	if text(2) != "a hook says no" || r.File("forbidden.txt") == "x\n" {
		t.Errorf("a gate: %q", text(2))
	}
	if dones[3].Outcome != event.Failed || !strings.Contains(text(3), "the hook broke") {
		t.Errorf("a stage that breaks: %s %q", dones[3].Outcome, text(3))
	}
	want := "before|gate bash|start bash|after bash failed|before|gate write|gate write|start write|after write ok|before|gate write|start write|after write ok|before"
	if got := strings.Join(o.heard, "|"); got != want {
		t.Errorf("heard\n%s\nwant\n%s", got, want)
	}
	if sent := m.Requests(); !slices.ContainsFunc(sent[1].Messages, func(m llm.Message) bool {
		return slices.ContainsFunc(m.Parts, func(p llm.Part) bool {
			return p.Result != nil && strings.Contains(p.Result.Text, "diagnostics of b.txt")
		})
	}) {
		t.Error("the model did not hear of the diagnostics")
	}
}

// SPEC 4.3, 11.1: a call that is refused just before it runs is heard of, and the
// journal's snapshot of it ended.
func TestStageRefusesAtStart(t *testing.T) {
	o := &outsider{refuses: 1}
	bash := args(j{"command": "echo one > b.txt"})
	r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", bash), llmtest.Use("bash", bash), llmtest.Say("done")), journaled(t, journal.Options{}), func(c *session.Config) {
		c.Stages = o.stages()
	})
	r.Run("go", nil)
	if got := strings.Join(o.heard, "|"); !strings.HasPrefix(got, "before|gate bash|start bash|after bash denied|before|gate bash|start bash|after bash ok") {
		t.Error(got)
	}
	if found := find[event.FileChanged](stored(t, r.Cfg.Store, r.Cfg.ID)); len(found) != 1 || found[0].Path != "b.txt" {
		t.Errorf("%+v", found)
	}
}
