package session_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// SPEC 9.4, 11.3: rules met on the way are appended as notes before the next
// request, each folder's once, over reopening too, and again after compaction.
func TestRulesAreAppended(t *testing.T) {
	read := func(path string) llmtest.Turn { return llmtest.Use("read", `{"files":[{"path":"`+path+`"}]}`) }
	m := llmtest.New(read("a/x.txt"), read("a/x.txt"), llmtest.Say("done"), read("a/y.txt"), llmtest.Say("done"),
		llmtest.Say("summary"), read("a/x.txt"), llmtest.Say("done"))
	var seen []string
	var system string
	r := newRig(t, "accept-edits", m, func(c *session.Config) {
		c.Rules = func(_ context.Context, g session.Guidance) []string {
			system = g.System
			seen = append(seen, g.Seen...)
			var notes []string
			for _, f := range g.Seen {
				if n := "[rules of " + filepath.Dir(f) + "]"; !slices.Contains(g.Notes, n) {
					notes = append(notes, n)
				}
			}
			return notes
		}
	})
	must.Do(t, os.Mkdir(filepath.Join(r.Dir, "a"), 0o700))
	r.Put("a/x.txt", strings.Repeat("a line of x\n", 1500))
	r.Put("a/y.txt", strings.Repeat("a line of y\n", 1500))
	rules := func(es []event.Event) int {
		n := 0
		for _, b := range find[event.Noted](es) {
			if b.Why == "rules" && b.Text == "[rules of a]" {
				n++
			}
		}
		return n
	}
	if n := rules(r.Run("look", nil)); n != 1 || !slices.Equal(seen, []string{"a/x.txt"}) || system != "be good" {
		t.Errorf("%d notes, seen %v, system %q", n, seen, system)
	}
	if last := m.Requests()[1]; !strings.Contains(last.Messages[len(last.Messages)-1].Text(), "[rules of a]") {
		t.Error("the note is not at the end of the next request")
	}
	_ = r.Close()
	r.Open()
	if n := rules(r.Run("look again", nil)); n != 0 {
		t.Errorf("%d notes after reopening", n)
	}
	before := len(stored(t, r.Cfg.Store, r.Cfg.ID))
	must.Done(t)(r.do(session.Compact{}))
	// SPEC 9.6: rules in force are told again at once, also where nothing that
	// is left shows a file of their folder.
	if n := rules(stored(t, r.Cfg.Store, r.Cfg.ID)[before:]); n != 1 {
		t.Errorf("%d notes at the compaction", n)
	}
	if n := rules(r.Run("look once more", nil)); n != 0 {
		t.Errorf("%d notes after compaction", n)
	}
}

// SPEC 11.3: rules that the agent itself writes are met anew.
func TestRulesThatChange(t *testing.T) {
	write := llmtest.Use("write", `{"path":"a/AGENTS.md","content":"be brief"}`)
	m := llmtest.New(llmtest.Use("read", `{"files":[{"path":"a/x.txt"}]}`), write, llmtest.Say("done"))
	var seen []string
	r := newRig(t, "yolo", m, func(c *session.Config) {
		c.Person = true
		c.Rules = func(_ context.Context, g session.Guidance) []string {
			seen = append(seen, g.Seen...)
			return nil
		}
	})
	must.Do(t, os.Mkdir(filepath.Join(r.Dir, "a"), 0o700))
	r.Put("a/x.txt", "x\n")
	r.Run("write rules", func(e event.Event) {
		if q, ok := e.Body.(event.Asked); ok {
			yes := event.Verdict{Call: q.Questions[0].Call, Scope: event.Once}
			if _, err := r.Submit(t.Context(), session.Answer{ID: q.ID, Verdicts: []event.Verdict{yes}}); err != nil {
				t.Error(err)
			}
		}
	})
	if want := []string{"a/x.txt", "a/AGENTS.md"}; r.File("a/AGENTS.md") != "be brief" || !slices.Equal(seen, want) {
		t.Errorf("seen %v, want %v", seen, want)
	}
}
