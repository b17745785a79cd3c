package session

import (
	"context"
	"encoding/json"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/diagnosed"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/hooks"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/routing"
	"github.com/pawl-agent/pawl/internal/engine/side"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/edits"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/hints"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/memory"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/phase"
	"github.com/pawl-agent/pawl/internal/policy/progress"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// state is the log with its folds: the present state of a session. It is
// changed only by appending events.
type state struct {
	cfg Config
	log *eventlog.Log // its View guards the folds, the model, and what is reserved
	*folds

	model   llm.Model
	builder *window.Builder
	denied  func(path string) bool // tool.Env.Denied
}

// folds is what the events of a session come to.
type folds struct {
	turnState
	operation operations.Fold
	conv      window.Conversation
	seen      edits.Seen
	perm      *permission.Policy
	evidence  evidence.Fold
	progress  *progress.Fold
	agent     lifecycle.Agent
	activity  lifecycle.Activity
	machines  machines
	guidance  guidance
	hints     hints.Fold
	memory    memory.Fold
	routing   routing.Fold
	outside   outside
	planning  phase.Planning
	media     mediaWarnings

	meter    budget.Meter
	answered answers.Fold

	childFold  children.Fold
	diagnoses  diagnosed.Fold
	sideFold   side.Fold
	changeFold changes.Fold
	hooksFold  hooks.Fold
}

// openState opens the log of a session with its folds.
func openState(ctx context.Context, cfg Config) (*state, error) {
	s := &state{cfg: cfg, folds: newFolds(cfg), model: cfg.Model, denied: cfg.Permission.Guarded()}
	var err error
	s.log, err = eventlog.Open(ctx, eventlog.Config{
		Store: cfg.Store, Session: cfg.ID, Mask: cfg.Mask, Now: cfg.Now, Lost: s.machines.storage.Lost, Snapshots: snapshots(cfg),
	}, s.list(cfg.Fold)...)
	return s, err
}

func newFolds(cfg Config) *folds {
	f := &folds{perm: cfg.Permission, progress: progress.NewFold(cfg.Progress)}
	f.conv.Configure(cfg.Window)
	return f
}

// list lists the folds, and more if that is not nil.
func (f *folds) list(more event.Fold) []event.Fold {
	fs := []event.Fold{
		&f.operation, &f.turnState, &f.changeFold, &f.guidance, &f.memory, &f.routing, &f.outside, &f.diagnoses, &f.sideFold, &f.planning, &f.media,
		&f.conv, &f.seen, f.perm, &f.evidence, f.progress, &f.hints, &f.agent, &f.activity, &f.meter, &f.answered, &f.childFold, &f.hooksFold,
		&machinesFold{&f.machines, &f.conv, f.progress}, milestones{&f.machines.pace, f.progress, &f.evidence},
	}
	if more != nil {
		fs = append(fs, more)
	}
	return fs
}

// recorded returns a call's arguments as the log has them, since the folds
// identify calls by them.
func (s *state) recorded(args json.RawMessage) json.RawMessage {
	return s.log.Masked(event.CallAsked{Args: args}).(event.CallAsked).Args
}

// known returns a footprint with its files named as in the log.
func (s *state) known(f tool.Footprint) tool.Footprint {
	spans := func(ss []tool.Span) []tool.Span {
		return s.log.Masked(event.FileSeen{Spans: ss}).(event.FileSeen).Spans
	}
	f.Reads, f.Writes = spans(f.Reads), spans(f.Writes)
	return f
}

func (s *state) inUse() llm.Model {
	return eventlog.Query(s.log, func() llm.Model { return s.model })
}

func (s *state) info() llm.Info {
	if s.mirrors() {
		return eventlog.Query(s.log, s.conv.Info)
	}
	return s.inUse().Info()
}

func (s *state) mode() permission.Mode { return eventlog.Query(s.log, s.perm.Mode) }

func (s *state) proof() evidence.Report { return eventlog.Query(s.log, s.evidence.Report) }

// catchUp reads what another process, such as `pawl undo`, appended while this
// one was idle.
func (s *state) catchUp(ctx context.Context) error {
	if err := s.log.CatchUp(ctx); err != nil {
		return err
	}
	if eventlog.Query(s.log, s.changesFiles) {
		return fault.NewConfiguration("wait for it, or fork with --fork-session", "another pawl runs a turn of session %s", s.cfg.ID)
	}
	return nil
}

// changesFiles reports whether something is open that may change files.
func (s *state) changesFiles() bool { return s.operation.Turn() || s.operation.Op() == event.OpCommand }

// turnState folds the state of a turn: its open calls, the plan, and the model's text.
type turnState struct {
	open []llm.Call // calls without a result, in the order asked
	plan []tool.Item
	said event.Answer
}

func (c *turnState) Apply(e event.Event) {
	c.said.Apply(e.Body)
	switch b := e.Body.(type) {
	case event.Replied:
		c.open = append(c.open, b.Reply.Message.Calls()...)
	case event.CallDone:
		// By its place: in old logs ids repeat.
		if len(c.open) > 0 {
			c.open = c.open[1:]
		}
	case event.Planned:
		c.plan = b.Items
	}
}
