package session

import (
	"cmp"
	"context"
	"encoding/json"
	"sync/atomic"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/children"
	"github.com/pawl-agent/pawl/internal/engine/diagnosed"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/routing"
	"github.com/pawl-agent/pawl/internal/engine/side"
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

	// cause is the sequence number of what runs began with, 0 for none.
	cause atomic.Int64

	turnState
	operation operations.Fold
	model     llm.Model
	conv      window.Conversation
	builder   *window.Builder
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
	images    imageWarning

	denied func(path string) bool // tool.Env.Denied

	childFold  children.Fold
	diagnoses  diagnosed.Fold
	sideFold   side.Fold
	changeFold changes.Fold
}

func newState(cfg Config) *state {
	s := &state{cfg: cfg, model: cfg.Model, perm: cfg.Permission, denied: cfg.Permission.Guarded(), progress: progress.NewFold(cfg.Progress)}
	s.conv.Configure(cfg.Window)
	return s
}

// folds lists the session's folds. A fold that reads others comes after them.
func (s *state) folds() []event.Fold {
	fs := []event.Fold{
		&s.operation, &s.turnState, &s.changeFold, &s.guidance, &s.memory, &s.routing, &s.outside, &s.diagnoses, &s.sideFold, &s.planning, &s.images,
		&s.conv, &s.seen, s.perm, &s.evidence, s.progress, &s.hints, &s.agent, &s.activity,
		&s.childFold, machinesFold{s}, milestones{s},
	}
	if s.cfg.Fold != nil {
		fs = append(fs, s.cfg.Fold)
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

// record appends events; the running operation is their cause unless they have another.
func (s *state) record(ctx context.Context, ds ...event.Draft) error {
	if cause := s.cause.Load(); cause != 0 {
		for i := range ds {
			ds[i].Cause = cmp.Or(ds[i].Cause, cause)
		}
	}
	return s.log.Append(ctx, ds...)
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
func (s *state) changesFiles() bool { return s.operation.Turn() || s.operation.Op() == opCommand }
