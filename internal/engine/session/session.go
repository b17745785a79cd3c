// Package session is one conversation: it owns one log, takes operations in
// and gives events out. Every frontend, headless or not, is made of Submit and
// Events and nothing else.
//
// It promises that an event is stored before anybody is shown it as done, that
// state changes only by folding events, that one turn runs at a time, and that
// a session reopened after any death goes on from what was stored: calls that
// were open are closed as "outcome unknown" and never run again by themselves.
package session

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/hints"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/memory"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/route"
	"github.com/pawl-agent/pawl/internal/policy/undo"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// Config is what a session is made of. Everything from the outside world comes
// in here; nothing is looked up elsewhere.
type Config struct {
	Store   event.Store
	ID      string // of the session to open or make
	Dir     string // the workspace's real path
	Front   string // which frontend, for the log
	Version string // pawl's version
	System  string // the system prompt, frozen at a rebase
	Effort  string // reasoning effort

	Model llm.Model
	// OpenModel opens another model by its reference, for SetModel.
	OpenModel func(ref string) (llm.Model, error)

	Tools tool.Set
	Files tool.Files
	Shell tool.Shell
	Web   tool.Web
	Notes tool.Notes
	// Journal finds what commands change; nil: nothing of it is recorded. Sessions
	// of one workspace may have one together: see Share.
	Journal tool.Journal
	// Rules, if set, gives the notes on the project's rules that the
	// conversation lacks. It is asked before each request.
	Rules func(context.Context, Guidance) []string
	// Prefer, if set, keeps a person's preference for later sessions.
	Prefer func(text string) error
	// Answers, if set, is the cache of answers.
	Answers Answers

	Permission *permission.Policy
	Person     bool // somebody is there to answer questions
	// Look opens a session to look at it and to undo: nothing is recorded at
	// opening, and nothing is asked of a model.
	Look   bool
	Limits budget.Limits
	// Progress is how runs that go in circles are found: progress.Default().
	Progress progress.Config
	// Window holds the numbers of the context window. Counter, if set, gives
	// the counter that is better than the estimate; it is asked for once the
	// first request has gone out, and may take its time.
	Window  window.Config
	Counter func() (window.Counter, error)
	// Route is what is done with a person's prompts before they are answered.
	Route route.Config
	// Payer, if set, is the parent session that this one spends from.
	Payer Payer
	// Fallback lists the models to go on with, in this order, when the one in
	// use gives no answer also after retries.
	Fallback []string
	// RetryFor is how long a request is tried again in all; 0: turn.RetryFor,
	// below 0: not at all. Timeout is when the caller ends a turn, if it does: a
	// wait that a provider asks for fits before it or not.
	RetryFor, Timeout time.Duration
	// Fixer, if set, makes what checks a turn's changes before it ends.
	Fixer func() Fixer
	Locks *turn.Locks
	// Pressure, if set, says what the machine has too little of, and why; both
	// are empty where there is enough.
	Pressure func() (what, why string)
	// Mask hides secrets; SpillDir keeps results too long for the model.
	Mask     func(string) string
	SpillDir string
	// AutoCorrect makes also corrections that can change what a call means.
	AutoCorrect bool
	// Keep stores a grant given for always.
	Keep func(rule string) error

	Now    func() time.Time
	Sleep  func(context.Context, time.Duration) error
	Jitter func() float64
	NewID  func() string
}

// Session is an open session. Its methods may be called from anywhere.
type Session struct {
	cfg Config

	mu      sync.Mutex // guards the folds, the log's end and what follows
	last    int64
	began   int64 // the last place before this process opened the session
	subs    map[*subscriber]struct{}
	closing bool // no new turn begins
	closed  bool
	broken  error // why the log can not be written any more
	model   llm.Model
	queue   []Prompt
	running *run
	answers map[string]chan Answer

	conv     window.Conversation
	builder  *window.Builder
	meter    budget.Meter
	purse    purse
	seen     edits.Seen
	perm     *permission.Policy
	evidence evidence.Fold
	undo     undo.Fold
	progress *progress.Fold
	agent    lifecycle.Agent
	activity lifecycle.Activity
	machines machines
	later    []event.Draft // what the model is told before its next request
	turnOpen bool
	open     []llm.Call // calls without a result, in the order asked
	plan     []tool.Item
	guidance guidance
	aside    *event.Aside // a request beside the conversation that is in flight
	hints    hints.Fold
	weighed  bool // the better counter is on its way
	memory   memory.Fold
	asking   asking
	routing  routing
	// What the person said of checks, by command: a no, and a yes to one that
	// the agent had redefined, with its definition. The turn's own.
	refusedChecks []string
	allowedAs     map[string]string

	turns sync.WaitGroup

	shellState
}

// run is the turn that is running.
type run struct {
	ctx    context.Context
	cancel context.CancelCauseFunc
	cause  int64
	pause  bool // before the next request
}

// Open opens the session of cfg.ID: a new one when the log has no event of it,
// else the one that is there, taken up again.
func Open(ctx context.Context, cfg Config) (*Session, error) {
	s := &Session{
		cfg: cfg, model: cfg.Model, perm: cfg.Permission, progress: progress.NewFold(cfg.Progress),
		subs: map[*subscriber]struct{}{}, answers: map[string]chan Answer{}, allowedAs: map[string]string{},
	}
	s.watch, _ = Share(cfg.Journal).(*watch)
	s.conv.Configure(cfg.Window)
	known := false
	for e, err := range cfg.Store.Read(ctx, cfg.ID, 0) {
		if errors.Is(err, event.ErrNoSession) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("open session %s: %w", cfg.ID, err)
		}
		known = true
		s.apply(e)
	}
	s.began = s.last
	if cfg.Look {
		if s.turnOpen {
			return nil, fault.NewConfiguration("wait for it, or take it up with --resume", "a turn of session %s is running, or was cut short", cfg.ID)
		}
		return s, nil
	}
	var drafts []event.Draft
	if !known {
		drafts = append(drafts, event.Draft{Body: event.Opened{
			Dir: cfg.Dir, Pawl: cfg.Version, Mode: string(s.perm.Mode()), Front: cfg.Front,
		}})
	} else {
		drafts = append(s.tookUp(ctx), s.takeUp(ctx)...)
	}
	drafts = append(drafts, s.rebase("start")...)
	if err := s.record(ctx, drafts...); err != nil {
		return nil, err
	}
	if err := s.tookAll(); err != nil {
		return nil, err
	}
	s.setBuilder()
	return s, nil
}

// takeUp closes what a process that died left open.
func (s *Session) takeUp(ctx context.Context) []event.Draft {
	ds := s.unfinished(ctx)
	for _, c := range s.open {
		ds = append(ds, event.Draft{Body: event.CallDone{
			ID: c.ID, Tool: c.Name, Outcome: event.UnknownDone,
			Result: llm.Result{ID: c.ID, Name: c.Name, Error: true, Text: "[Outcome unknown: pawl was stopped before this call's result was recorded. What it did may stand; look before you repeat it.]"},
		}})
	}
	if s.aside != nil {
		ds = append(ds, event.Draft{Body: lost(*s.aside)})
	}
	if s.turnOpen {
		ds = append(ds, event.Draft{Body: event.Ended{End: event.EndInterrupted, Error: &event.Fault{
			Category: string(fault.Cancellation), Message: "pawl was stopped while this turn ran",
		}}})
	}
	return append(ds, event.Draft{Body: event.Resumed{Pawl: s.cfg.Version, Mode: string(s.perm.Mode())}})
}

// rebase freezes a new head where the stored one no longer fits: another
// model, or other tools. The system prompt of a session stays as it was.
func (s *Session) rebase(why string) []event.Draft {
	info := s.model.Info()
	head := llm.Head{Model: info.Model, System: s.cfg.System, Tools: s.cfg.Tools.Specs(), Effort: s.cfg.Effort}
	if s.conv.Rebased() {
		old := s.conv.Head()
		head.System = old.System
		if s.conv.Info().Ref() == info.Ref() && s.conv.Info().API == info.API && sameTools(old.Tools, head.Tools) && old.Effort == head.Effort {
			return nil
		}
		if why == "start" {
			why = "resume"
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

// apply folds one event into all state.
func (s *Session) apply(e event.Event) {
	s.last = max(s.last, e.Seq)
	switch b := e.Body.(type) {
	case event.Prompted:
		s.turnOpen = true
	case event.Ended:
		s.turnOpen = false
	case event.Replied:
		s.open = append(s.open, b.Reply.Message.Calls()...)
	case event.CallDone:
		// By its place and not by its id: some models count from 0 in each step.
		if len(s.open) > 0 {
			s.open = s.open[1:]
		}
	case event.Planned:
		s.plan = b.Items
	case event.Aside:
		s.aside = &b
	case event.Charged:
		if s.aside != nil && s.aside.By == b.By {
			s.aside = nil
		}
	case event.Compacted:
		s.aside = nil
	}
	s.shellState.apply(e.Body)
	s.guidance.apply(e.Body)
	s.memory.Apply(e)
	s.asking.apply(e.Body)
	s.routing.apply(e.Body)
	s.conv.Apply(e)
	s.meter.Apply(e)
	s.seen.Apply(e)
	s.perm.Apply(e)
	s.evidence.Apply(e)
	s.progress.Apply(e)
	s.undo.Apply(e)
	s.hints.Apply(e)
	s.agent.Apply(e)
	s.activity.Apply(e)
	s.machines.apply(e, &s.conv, s.progress)
}

// record stores drafts, folds them and only then shows them. A log that can
// not be written ends the session: nothing more is done that it would not know.
func (s *Session) record(ctx context.Context, ds ...event.Draft) error {
	if len(ds) == 0 {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.broken != nil {
		return s.broken
	}
	if s.running != nil {
		for i := range ds {
			if ds[i].Cause == 0 {
				ds[i].Cause = s.running.cause
			}
		}
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	// From here on the append is not given up: one that was stored and not
	// known to be would leave the session behind its own log.
	es, err := s.cfg.Store.Append(context.WithoutCancel(ctx), s.cfg.ID, s.last, ds...)
	if errors.Is(err, event.ErrStale) {
		err = &fault.Error{
			Category: fault.Configuration, Err: err,
			Message: fmt.Sprintf("session %s is in use by another pawl", s.cfg.ID), Hint: "close it there, or fork it with --fork-session",
		}
	}
	if err != nil {
		s.broken = err
		s.machines.storage.Lost()
		return err
	}
	for _, e := range es {
		s.apply(e)
		for sub := range s.subs {
			sub.put(e, s.last)
		}
		s.weigh(e.Body)
		if p, ok := s.progressed(e); ok {
			for sub := range s.subs {
				sub.put(p, s.last)
			}
		}
	}
	return nil
}

// catchUp takes in what another process appended while this one was idle, such
// as `pawl undo`.
func (s *Session) catchUp(ctx context.Context) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	for e, err := range s.cfg.Store.Read(ctx, s.cfg.ID, s.last) {
		if err != nil {
			return err
		}
		s.apply(e)
		for sub := range s.subs {
			sub.put(e, s.last)
		}
	}
	if s.turnOpen {
		return fault.NewConfiguration("wait for it, or fork with --fork-session", "another pawl runs a turn of session %s", s.cfg.ID)
	}
	return nil
}

// live shows something that is not stored.
func (s *Session) live(b event.Body) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e := event.Event{Session: s.cfg.ID, Time: s.cfg.Now(), Body: b}
	for sub := range s.subs {
		sub.put(e, s.last)
	}
}

// ID is the session's id.
func (s *Session) ID() string { return s.cfg.ID }

// Info is the model in use.
func (s *Session) Info() llm.Info {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.model.Info()
}

// Mode is the permission mode in force.
func (s *Session) Mode() permission.Mode {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.perm.Mode()
}

// Rules lists the permission rules in force, a line each.
func (s *Session) Rules() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.perm.Explain()
}

// Spent is what the session and its running or last turn spent.
func (s *Session) Spent() (session, turn budget.Spent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.meter.Session(), s.meter.Turn()
}

// Evidence is what the log proves of the running or last turn.
func (s *Session) Evidence() evidence.Report {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.evidence.Report()
}

// Plan is the model's plan as it stands.
func (s *Session) Plan() []tool.Item {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.plan
}

// Last is the place of the last stored event.
func (s *Session) Last() int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// Began is the last place before this process opened the session: 0 for a new
// one.
func (s *Session) Began() int64 { return s.began }

// Busy says whether a turn runs. One whose end is recorded does not: what is
// left of it is put away without another event.
func (s *Session) Busy() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.running != nil && !s.leaving()
}

// leaving says that the running turn has ended and no other follows. Callers
// hold the lock.
func (s *Session) leaving() bool {
	return s.running != nil && s.running.cause != 0 && !s.turnOpen && len(s.queue) == 0
}

// Close cancels what runs, waits for it to be recorded, and ends all readers.
// It does not close the store.
func (s *Session) Close() error {
	s.mu.Lock()
	s.closing = true
	s.mu.Unlock()
	s.interrupt("close")
	s.turns.Wait()
	s.watch.leave(s)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed = true
	_ = s.agent.Dispose(nil) // legal from every state
	for sub := range s.subs {
		sub.end()
	}
	return s.broken
}
