package session_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// held stops whoever passes it once it is shut.
type held struct {
	shut    atomic.Bool
	arrived chan struct{}
	open    chan struct{}
}

func newHeld() *held { return &held{arrived: make(chan struct{}), open: make(chan struct{})} }

func (h *held) pass(ctx context.Context) error {
	if !h.shut.CompareAndSwap(true, false) {
		return nil
	}
	h.arrived <- struct{}{}
	select {
	case <-h.open:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

type heldShell struct {
	tool.Shell
	h *held
}

func (s heldShell) Run(ctx context.Context, r tool.Run) (tool.Ran, error) {
	if err := s.h.pass(ctx); err != nil {
		return tool.Ran{}, err
	}
	return s.Shell.Run(ctx, r)
}

type heldFiles struct {
	tool.Files
	h *held
}

func (f heldFiles) ReadNoFollow(ctx context.Context, path string, most int64) (tool.File, error) {
	if err := f.h.pass(ctx); err != nil {
		return tool.File{}, err
	}
	return f.Files.ReadNoFollow(ctx, path, most)
}

// exclusiveRig is a session with something to undo, to redo and to compact, in
// which each operation stops at h once that is shut.
func exclusiveRig(t *testing.T, h *held) *rig {
	m := llmtest.New()
	m.InfoValue.Window, m.InfoValue.MaxOutput = 64_000, 4096
	m.Next = func(n int, r *llm.Request) llmtest.Turn {
		_ = h.pass(t.Context())
		switch {
		case isSummary(r):
			return llmtest.Say("Done: looked at pages, one by one from the first to the last, and found no door.")
		case n == 0:
			return llmtest.Use("write", args(j{"path": "a.txt", "content": "one\n"}), "write", args(j{"path": "b.txt", "content": "two\n"}))
		case n < 20:
			return llmtest.Use("look", fmt.Sprintf(`{"n":%d}`, n+10))
		}
		return llmtest.Say("done")
	}
	r := newRig(t, "accept-edits", m, func(c *session.Config) {
		c.Tools = append(c.Tools, looker(page))
		c.Shell, c.Files = heldShell{c.Shell, h}, heldFiles{c.Files, h}
		c.OpenModel = func(string, string) (llm.Model, error) { return m, h.pass(context.Background()) }
	})
	r.Run("make it", nil)
	must.Done(t)(r.undo(undo.ByChange))
	return r
}

// SPEC 1.5, 10.3: one operation has the session to itself. What comes meanwhile
// is refused with a sentence that says what runs; a prompt waits for its end.
func TestOneOperationAtATime(t *testing.T) {
	type operation struct {
		name, runs string
		begin      func(r *rig) (ended func() error, err error)
	}
	submitted := func(op session.Op) func(*rig) (func() error, error) {
		return func(r *rig) (func() error, error) {
			at, err := r.Submit(r.T.Context(), op)
			return func() error { _, err := r.Await(r.T.Context(), at); return err }, err
		}
	}
	// called is a method that returns when it is done.
	called := func(do func(*rig) error) func(*rig) (func() error, error) {
		return func(r *rig) (func() error, error) {
			done := make(chan error, 1)
			go func() { done <- do(r) }()
			return func() error { return <-done }, nil
		}
	}
	plan := func(kind undo.Kind) func(*rig) error {
		return func(r *rig) error {
			_, err := r.View().Changes().Plan(r.T.Context(), undo.Selector{Kind: kind})
			return err
		}
	}
	all := []operation{
		{"prompt", "a turn runs", func(r *rig) (func() error, error) {
			events := r.Events(r.T.Context(), r.View().Last())
			_, err := r.Submit(r.T.Context(), session.Prompt{Text: "hello"})
			return func() error {
				for e := range events {
					if _, ok := e.Body.(event.Ended); ok {
						return nil
					}
				}
				return errors.New("no end")
			}, err
		}},
		{"command", "a command runs", submitted(session.RunCommand{Command: "echo x"})},
		{"compaction", "the conversation is compacted", submitted(session.Compact{})},
		{"model", "the model is changed", submitted(session.SetModel{Ref: "other"})},
		{"undo", "changes are being shown", called(plan(undo.ByAll))},
		{"redo", "changes are being shown", called(plan(undo.ByRedo))},
		{"rewind", "changes are being shown", called(plan(undo.ByRewind))},
		{"diff", "changes are being shown", called(func(r *rig) error {
			_, err := r.View().Changes().Diff(r.T.Context(), undo.Selector{Kind: undo.ByTurn})
			return err
		})},
	}
	for _, first := range all {
		t.Run(first.name, func(t *testing.T) {
			t.Parallel()
			h := newHeld()
			r := exclusiveRig(t, h)
			before := r.View().Last()
			h.shut.Store(true)
			ended := must.Get(first.begin(r))(t)
			<-h.arrived
			if !r.Busy() {
				t.Error("it runs, and the session is not busy")
			}
			for _, second := range all {
				if second.name == "prompt" || second.name == "diff" {
					continue // it waits; it only looks, so it may
				}
				at := r.View().Last()
				wait, err := second.begin(r)
				if err == nil {
					err = wait()
				}
				if err == nil || !strings.Contains(err.Error(), first.runs) || r.View().Last() != at {
					t.Errorf("%s beside %s: %v", second.name, first.name, err)
				}
			}
			if _, err := r.View().Changes().Diff(t.Context(), undo.Selector{Kind: undo.ByTurn}); err != nil {
				t.Errorf("a look at the changes: %v", err)
			}
			events := r.Events(t.Context(), before)
			if at, err := r.Submit(t.Context(), session.Prompt{Text: "next"}); at != 0 || err != nil {
				t.Errorf("a prompt beside %s: %d %v", first.name, at, err)
			}
			close(h.open)
			if err := ended(); err != nil {
				t.Error(err)
			}
			over := false // the operation's end came
			for e := range events {
				switch b := e.Body.(type) {
				case event.OpDone:
					over = true
					if b.Outcome != event.OK {
						t.Errorf("%+v", b)
					}
				case event.Prompted:
					if b.Text == "next" && !over && (first.name == "command" || first.name == "compaction" || first.name == "model") {
						t.Error("the prompt did not wait")
					}
					over = over || b.Text == "next"
				}
				if _, ok := e.Body.(event.Ended); ok && over {
					break
				}
			}
			// Who has seen the end is not refused.
			if _, err := r.do(session.RunCommand{Command: "true"}); err != nil {
				t.Error(err)
			}
			if err := plan(undo.ByRedo)(r); err != nil {
				t.Error(err)
			}
		})
	}
}

// An operation ends with an event whatever comes of it: it is interrupted by who waits for it,
// it cannot be done, or pawl died meanwhile.
func TestOperationEnds(t *testing.T) {
	h := newHeld()
	r := newRig(t, "ask", llmtest.New(), func(cfg *session.Config) { cfg.Shell = heldShell{cfg.Shell, h} })
	h.shut.Store(true)
	started := must.Get(r.Submit(t.Context(), session.RunCommand{Command: "echo x"}))(t)
	<-h.arrived
	ctx, stop := context.WithCancel(t.Context())
	stop()
	if done, err := r.Await(ctx, started); err != nil || done.Outcome != event.Cancelled || done.Error == nil || r.Busy() {
		t.Errorf("%+v %v, busy %v", done, err, r.Busy())
	}
	// What cannot be done says why, and the model stays.
	r = newRig(t, "ask", llmtest.New(), func(cfg *session.Config) {
		cfg.OpenModel = func(string, string) (llm.Model, error) { return nil, errors.New("no such model") }
	})
	if done, _ := r.do(session.SetModel{Ref: "x"}); done.Outcome != event.Failed || done.Error == nil || done.Error.Message != "no such model" {
		t.Errorf("%+v", done)
	}
	// One that was open when pawl died is closed when the session is taken up.
	_ = r.Close()
	seq := r.View().Last()
	must.Done(t)(r.Store.Append(t.Context(), "s1", seq, event.Draft{Body: event.OpStarted{Op: "command", Text: "make"}}))
	r.Open()
	if done, err := r.Await(t.Context(), seq+1); err != nil || done.Outcome != event.UnknownDone {
		t.Errorf("%+v %v", done, err)
	}
}

// What another process appended while this one was idle is taken in by whatever
// comes first.
func TestCatchUpBeforeEach(t *testing.T) {
	for _, op := range []session.Op{
		session.RunCommand{Command: "true"}, session.Compact{}, session.SetModel{Ref: "x"}, session.SetMode{Mode: "plan"}, session.Phase{Text: "one"},
	} {
		t.Run(fmt.Sprintf("%T", op), func(t *testing.T) {
			m := llmtest.New()
			r := newRig(t, "ask", m, func(c *session.Config) {
				c.OpenModel = func(string, string) (llm.Model, error) { return m, nil }
			})
			must.Done(t)(r.Store.Append(t.Context(), "s1", r.View().Last(), event.Draft{Body: event.Warned{What: "test", Text: "from elsewhere"}}))
			must.Done(t)(r.Submit(t.Context(), op))
			r.Run("go on", nil)
		})
	}
}
