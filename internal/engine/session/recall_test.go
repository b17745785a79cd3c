package session_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// cache is answers.Store in memory.
type cache struct {
	known  map[string]answers.Answered
	broken error
}

func (c *cache) Find(q, model string) (string, answers.Answered, bool) {
	a, ok := c.known[q+model]
	return q + model, a, ok
}

func (c *cache) Keep(q, model string, a answers.Answered) error {
	if c.broken == nil {
		c.known[q+model] = a
	}
	return c.broken
}

func (c *cache) Drop(key string) error {
	delete(c.known, key)
	return nil
}

// said says that one of the messages is the model's, with that text.
func said(ms []llm.Message, text string) bool {
	return slices.ContainsFunc(ms, func(m llm.Message) bool { return m.Role == llm.Assistant && m.Text() == text })
}

const question = "what does the function add in a.go do?"

// asks is a session over its own folder, whose model looks at a.go and greps,
// then answers.
func asks(t *testing.T, c *cache, files map[string]string, turns ...llmtest.Turn) *rig {
	t.Helper()
	r := newRig(t, "yolo", llmtest.New(turns...), func(cfg *session.Config) {
		cfg.Answers = c
		cfg.Route = route.Config{Mode: route.Auto}
		cfg.Tools = append(cfg.Tools, tools.Grep(), tools.Ls())
	})
	for name, text := range files {
		r.Put(name, text)
	}
	return r
}

func looks() []llmtest.Turn {
	return []llmtest.Turn{
		llmtest.Use("read", `{"files":[{"path":"a.go"}]}`), llmtest.Use("grep", `{"pattern":"add"}`), llmtest.Say("it adds"),
	}
}

// SPEC 11.6: a question is answered from the cache while everything that the
// answer rests on is as it was on disk; any change asks the model again.
func TestRecall(t *testing.T) {
	files := map[string]string{"a.go": "func add(a, b int) int\n", "b.go": "// adds\n"}
	c := &cache{known: map[string]answers.Answered{}}
	es := asks(t, c, files, looks()...).Run(question, nil)
	if len(c.known) != 1 || len(find[event.Recalled](es)) != 0 {
		t.Fatalf("%d answers kept, recalled %v", len(c.known), find[event.Recalled](es))
	}
	r := asks(t, c, files)
	es = r.Run(question, nil)
	got := find[event.Recalled](es)
	if len(got) != 1 || got[0].Text != "it adds" || len(r.Model.Requests()) != 0 || find[event.Ended](es)[0].End != event.EndDone {
		t.Fatalf("recalled %+v after %d requests", got, len(r.Model.Requests()))
	}
	// What follows sees the answer as its own.
	again := asks(t, c, files, llmtest.Say("more"))
	again.Run(question, nil)
	again.Run("and why?", nil)
	if !said(again.Model.Requests()[0].Messages, "it adds") {
		t.Errorf("the next request has %+v", again.Model.Requests()[0].Messages)
	}
	// A change in a file that only grep looked into.
	changed := map[string]string{"a.go": files["a.go"], "b.go": "// adds\n// add, too\n"}
	es = asks(t, c, changed, looks()...).Run(question, nil)
	if len(find[event.Recalled](es)) != 0 || len(find[event.Replied](es)) != 3 {
		t.Error("answered from the cache after a change")
	}
	es = asks(t, c, changed).Run(question, nil)
	if len(find[event.Recalled](es)) != 1 {
		t.Error("the new answer is not given")
	}
}

// SPEC 11.6, 16.7: an answer is kept without the secrets in it.
func TestRecallMasks(t *testing.T) {
	c := &cache{known: map[string]answers.Answered{}}
	r := newRig(t, "yolo", llmtest.New(llmtest.Use("read", `{"files":[{"path":"a.go"}]}`), llmtest.Say("the key is hunter2hunter2")), func(cfg *session.Config) {
		cfg.Answers, cfg.Route = c, route.Config{Mode: route.Auto}
		cfg.Mask = secrets.New("hunter2hunter2")
	})
	r.Put("a.go", "x\n")
	r.Run(question, nil)
	if len(c.known) != 1 {
		t.Fatal("not kept")
	}
	for _, a := range c.known {
		if a.Text != "the key is [masked:held]" {
			t.Error(a.Text)
		}
	}
}

// SPEC 11.6: only what did nothing but look, in a session's first turn, is
// kept; a cache that fails costs a warning.
func TestNotKept(t *testing.T) {
	files := map[string]string{"a.go": "x\n"}
	for name, c := range map[string]struct {
		prompt string
		turns  []llmtest.Turn
	}{
		"an edit":       {"rename add in a.go to sum", looks()},
		"a command":     {question, []llmtest.Turn{llmtest.Use("bash", `{"command":"date"}`), llmtest.Say("now")}},
		"a failed look": {question, []llmtest.Turn{llmtest.Use("read", `{"files":[{"path":"nowhere"}]}`), llmtest.Say("not there")}},
		"no look":       {question, []llmtest.Turn{llmtest.Say("I know it by heart")}},
	} {
		store := &cache{known: map[string]answers.Answered{}}
		asks(t, store, files, c.turns...).Run(c.prompt, nil)
		if len(store.known) != 0 {
			t.Errorf("%s: kept %+v", name, store.known)
		}
	}
	store := &cache{known: map[string]answers.Answered{}}
	r := asks(t, store, files, append([]llmtest.Turn{llmtest.Say("hello")}, looks()...)...)
	r.Run("hello", nil)
	r.Run(question, nil)
	if len(store.known) != 0 {
		t.Error("the answer of a second turn is kept")
	}
	broken := &cache{known: map[string]answers.Answered{}, broken: errors.New("disk full")}
	es := asks(t, broken, files, looks()...).Run(question, nil)
	if w := find[event.Warned](es); len(w) != 1 || !strings.Contains(w[0].Text, "disk full") || find[event.Ended](es)[0].End != event.EndDone {
		t.Errorf("a broken cache: %+v", w)
	}
}

// A file that changed between the call and the end of the turn: the answer was
// not given for what is on disk.
func TestNotKeptWhenOvertaken(t *testing.T) {
	store := &cache{known: map[string]answers.Answered{}}
	r := asks(t, store, map[string]string{"a.go": "one\n"})
	r.Model.Next = func(n int, _ *llm.Request) llmtest.Turn {
		if n == 2 {
			if err := os.WriteFile(filepath.Join(r.Dir, "a.go"), []byte("two\n"), 0o644); err != nil {
				t.Error(err)
			}
		}
		return looks()[n]
	}
	r.Run(question, nil)
	if len(store.known) != 0 {
		t.Error("kept for a content that it was not given for")
	}
}

// SPEC 11.5: a prompt that is a preference is kept and confirmed in one line
// without a model; one that is a task too is not.
func TestPrefer(t *testing.T) {
	var kept []string
	var fails error
	rig := func(turns ...llmtest.Turn) *rig {
		return newRig(t, "yolo", llmtest.New(turns...), func(cfg *session.Config) {
			cfg.Route = route.Config{Mode: route.Auto}
			cfg.Prefer = func(text string) error {
				kept = append(kept, text)
				return fails
			}
			cfg.Tools = tool.Set{tools.Read(), tools.Remember()}
		})
	}
	r := rig(llmtest.Say("fine"))
	es := r.Run("Always add  docstrings.", nil)
	if len(kept) != 1 || kept[0] != "Always add docstrings." || len(r.Model.Requests()) != 0 {
		t.Fatalf("kept %q with %d requests", kept, len(r.Model.Requests()))
	}
	if got := find[event.Recalled](es); len(got) != 1 || got[0].Key != "" || strings.Count(got[0].Text, "\n") != 0 || !strings.Contains(got[0].Text, "Always add docstrings.") {
		t.Errorf("confirmed with %+v", got)
	}
	if got := find[event.Remembered](es); len(got) != 1 || got[0].Sort != "preference" {
		t.Errorf("%+v", got)
	}
	r.Run("what is in a.go?", nil)
	if got := r.Model.Requests(); len(got) != 1 || !said(got[0].Messages, "Kept for every session of this folder: Always add docstrings. (/memory lists and forgets)") {
		t.Errorf("the turn after it: %+v", got)
	}
	kept = nil
	r = rig(llmtest.Say("done"))
	r.Run("Always add docstrings, and fix the bug in a.go", nil)
	if len(kept) != 0 || len(r.Model.Requests()) != 1 {
		t.Errorf("kept %q of a task", kept)
	}
	for _, prompt := range []string{ // a step of a task, a choice in one, a complaint: the model is asked
		"Remember to run the tests after fixing Add", "I prefer the second one", "We never handle nil in Add", "remember that Add is wrong",
	} {
		kept = nil
		r = rig(llmtest.Say("fine"))
		r.Run(prompt, nil)
		if len(kept) != 0 || len(r.Model.Requests()) != 1 {
			t.Errorf("%q was kept unasked: %q", prompt, kept)
		}
	}
	fails = errors.New("disk full")
	r = rig(llmtest.Say("I could not keep it"))
	es = r.Run("Always add docstrings", nil)
	if w := find[event.Warned](es); len(w) != 1 || len(r.Model.Requests()) != 1 {
		t.Errorf("not kept: %+v", w)
	}
}
