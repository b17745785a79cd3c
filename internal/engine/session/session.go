// Package session is one conversation: it owns one log, accepts operations
// (Submit, or RunPrompt for one prompt to its end) and sends events. A View
// reads the present state. Every frontend uses these.
//
// It promises that an event is stored before any reader gets it, that
// state changes only by folding events, that one turn runs at a time, and that
// a session reopened after any crash continues from what was stored: open calls
// are closed as "outcome unknown" and never run again by themselves.
package session

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/diagnosed"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/questions"
	"github.com/pawl-agent/pawl/internal/engine/routing"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/engine/spending"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Session is an open session. Its methods are safe for concurrent use.
type Session struct {
	*state

	release func() // releases the session for other processes

	ops *operations.Operations

	questions *questions.Questions
	rights    *permission.Rights
	children  *children.Children

	spending *spending.Account
	side     *side.Requests
	window   *contextWindow
	router   *routing.Router
	tasks    *taskPhases
	answers  *answers.Cache
	consent  *permission.Evaluator
	counting sync.Once // with the better counter

	abilities *abilities
	changes   *changes.Recorder
	hooks     *hooks.Hooks
	diagnosed *diagnosed.Stage

	inGit func(context.Context) []event.GitFile // since the turn began; nil: nobody looks
}

// Open opens the session of cfg.ID: a new one if the log has no event of it,
// else the existing one.
func Open(ctx context.Context, cfg Config) (_ *Session, err error) {
	cfg.ReadOnly = cfg.ReadOnly || cfg.Owner != nil
	for _, file := range cfg.hooksOf {
		if err := hooks.Kept(cfg.Hooks, file); err != nil && !cfg.ReadOnly {
			return nil, err
		}
	}
	end, err := cfg.openOwn()
	if err != nil {
		return nil, err
	}
	free, err := reserve(cfg)
	if err != nil {
		end()
		return nil, err
	}
	release := func() { end(); free() }
	defer func() {
		if err != nil {
			release()
		}
	}()
	st, err := openState(ctx, cfg)
	if err != nil {
		return nil, err
	}
	s := compose(st)
	s.release = release
	if s.mirrors() {
		s.mirror()
		return s, nil
	}
	if cfg.ReadOnly {
		if s.changesFiles() {
			return nil, fault.NewConfiguration("wait for it, or continue it with --resume", "a turn of session %s is running, or was cut short", cfg.ID)
		}
		return s, nil
	}
	if err := s.begin(ctx); err != nil {
		return nil, err
	}
	s.setBuilder()
	s.hooks.Watch(s.log)
	return s, nil
}

// begin records that the session begins, or is taken up again after whatever ended
// it.
func (s *Session) begin(ctx context.Context) error {
	var drafts []event.Draft
	recovered := func() error { return nil }
	if s.log.Began() == 0 {
		drafts = append(drafts, event.Draft{Body: event.Opened{Dir: s.cfg.Dir, Pawl: s.cfg.Version, Mode: string(s.perm.Mode()), Front: s.cfg.Frontend, Branch: s.cfg.Branch, Parent: s.cfg.ParentCall}})
	} else {
		told, err := s.children.Recover(ctx) // before the session's own: a command of theirs may be what ran
		if err != nil {
			return err
		}
		drafts, recovered = s.changes.Recover(ctx, s.open)
		drafts = append(drafts, s.closeOpenCalls(ctx, told, drafts)...)
	}
	if s.cfg.Trust != nil {
		drafts = append(drafts, event.Draft{Body: *s.cfg.Trust})
	}
	if agent := s.cfg.child.agent; agent == nil || !agent.Recovering {
		drafts = append(drafts, s.rebase(event.RebasedStart)...)
	}
	if err := s.log.Append(ctx, drafts...); err != nil {
		return err
	}
	return recovered()
}

// startOf is how hooks call the start of a session.
func startOf(known bool) string {
	if known {
		return "resume"
	}
	return "startup"
}

// reserve reserves the session for this process. A read-only session reserves nothing.
func reserve(cfg Config) (release func(), err error) {
	h, ok := cfg.Store.(event.Holder)
	if !ok || cfg.ReadOnly {
		return func() {}, nil
	}
	release, err = h.Hold(cfg.ID)
	if held := (*event.HeldError)(nil); errors.As(err, &held) {
		err = &fault.Error{
			Category: fault.Configuration, Err: err,
			Hint: "close it there, continue in a copy with --fork-session, or start a new session",
		}
	}
	return release, err
}

// closeOpenCalls closes what a dead process left open. told is what is known of
// agents that ran for these calls, found the changes that were not recorded.
func (s *Session) closeOpenCalls(ctx context.Context, told children.Recovered, found []event.Draft) []event.Draft {
	var ds []event.Draft
	for _, c := range s.open {
		text := "[Outcome unknown: pawl was stopped before this call's result was recorded. What it did may stand; look before you repeat it.]"
		if had := told.For(c.ID); had != "" && s.delegates(c.Name) {
			text += "\n" + had
		}
		ds = append(ds, event.Draft{Body: event.CallDone{
			ID: c.ID, Tool: c.Name, Outcome: event.UnknownDone, Does: s.kindOf(c.Name),
			Result: llm.Result{ID: c.ID, Name: c.Name, Error: true, Text: text},
		}})
	}
	ds = append(ds, told.Note()...)
	ds = append(ds, s.sideFold.Lost()...)
	if s.operation.Op() != "" {
		ds = append(ds, event.Draft{Cause: s.operation.Began(), Body: event.OpDone{Op: s.operation.Op(), Outcome: event.UnknownDone, Error: &event.Fault{
			Category: string(fault.Cancellation), Message: "pawl was stopped while this ran",
		}}})
	}
	if s.operation.Turn() {
		ds = append(ds, event.Draft{Body: event.Ended{End: event.EndInterrupted, Obeyed: s.obeyed(ctx, found...), Error: &event.Fault{
			Category: string(fault.Cancellation), Message: "pawl was stopped while this turn ran",
		}}})
	}
	return append(ds, event.Draft{Body: event.Resumed{Pawl: s.cfg.Version, Mode: string(s.perm.Mode()), Branch: s.cfg.Branch}})
}

func (s *Session) kindOf(name string) tool.Kind {
	t, _ := s.tools().Resolve(name)
	return t.Does()
}

// delegates reports whether a call starts agents.
func (s *Session) delegates(name string) bool {
	t, _ := s.cfg.Tools.Resolve(name)
	return t.Delegates
}

// rebase freezes a new head if the stored one no longer fits: another model, or
// other tools. The system prompt of a session stays the same.
func (s *Session) rebase(why event.RebasedWhy) []event.Draft {
	notes := s.offered(context.Background(), false)
	return append(append(s.head(why), s.effortWarning()...), notes...)
}

// effortWarning says that the model does not take the effort that the person wants. The
// session of an agent says nothing: its parent's did.
func (s *Session) effortWarning() []event.Draft {
	info, want := s.model.Info(), s.cfg.Effort
	if want == "" || want == info.Effort || s.cfg.child.agent != nil {
		return nil
	}
	text := info.Ref() + " has no reasoning effort: " + want + " is not used"
	if info.Effort != "" {
		text = fmt.Sprintf("%s has no reasoning effort %s: %s is used", info.Ref(), want, info.Effort)
	}
	return []event.Draft{{Body: event.Warned{What: event.WarnedEffort, Text: text}}}
}

func (s *Session) head(why event.RebasedWhy) []event.Draft {
	info := s.model.Info()
	head := llm.Head{Model: info.Model, System: s.cfg.System, Tools: s.tools().For(info).Specs(), Effort: info.Effort}
	if s.conv.Rebased() {
		old := s.conv.Head()
		head.System = old.System
		was := s.conv.Info()
		if was.Ref() == info.Ref() && was.API == info.API && was.Bound == info.Bound && sameTools(old.Tools, head.Tools) && old.Effort == head.Effort {
			return nil
		}
		if why == event.RebasedStart {
			why = event.RebasedResume
		}
	}
	return []event.Draft{{Body: event.Rebased{Why: why, Info: info, Head: head}}}
}

func sameTools(a, b []llm.ToolSpec) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i].Name != b[i].Name || a[i].Doc != b[i].Doc || string(a[i].Schema) != string(b[i].Schema) {
			return false
		}
	}
	return true
}

func (s *Session) setBuilder() {
	var codec llm.Codec
	if m, ok := s.model.(llm.Encoded); ok {
		codec = m.Codec()
	}
	s.builder = window.NewBuilder(&s.conv, codec)
}

// Events yields the stored events after a sequence number and then everything
// as it happens, until ctx ends or the session is closed. A slow reader loses
// ephemeral events, never stored ones.
func (s *Session) Events(ctx context.Context, after int64) iter.Seq2[event.Event, error] {
	return s.log.Events(ctx, after)
}

// ID returns the session's id.
func (s *Session) ID() string { return s.cfg.ID }

// View returns the read access to the session.
func (s *Session) View() *View { return &View{s.state, s.spending, s.changes, s.hooks} }

// Close cancels what runs, waits until it is recorded, and ends all readers. It
// does not close the store.
func (s *Session) Close() error {
	s.ops.Close()
	s.hooks.Close()
	s.changes.Close()
	s.log.View(func() { _ = s.agent.Dispose(nil) }) // legal from every state
	s.log.EndReaders(true)
	s.log.Close()
	s.release()
	return s.log.Broken()
}
