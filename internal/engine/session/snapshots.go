package session

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// snapshots returns how snapshots of the session's folds are kept, nil if they
// are not.
func snapshots(cfg Config) *eventlog.Snapshots {
	if cfg.Program == "" || cfg.Fold != nil { // whose state is somebody else's
		return nil
	}
	base := cfg.Permission.Copy() // before anything is granted
	s := &eventlog.Snapshots{
		Program: cfg.Program, ReadOnly: cfg.ReadOnly, Every: cfg.SnapshotEvery, Shared: true,
		Fresh: func() []event.Fold {
			cfg := cfg
			cfg.Permission = base.Copy()
			return newFolds(cfg).list(nil)
		},
	}
	s.Known = append(s.Known, (*fsm.InvalidTransitionError)(nil))
	for _, t := range lifecycle.Tables() {
		s.Known = append(s.Known, t)
	}
	return s
}

// Fold folds the stored events, from the first one on.
func (v *View) Fold(ctx context.Context, folds ...event.Fold) error {
	return eventlog.FoldTo(ctx, v.s.cfg.Store, v.s.cfg.ID, v.Last(), eventlog.Snapshots{}, folds...)
}

// FoldTo folds the log's events up to one, as eventlog.FoldTo does; the program is the
// session's.
func (v *View) FoldTo(ctx context.Context, until int64, how eventlog.Snapshots, folds ...event.Fold) error {
	how.Program, how.ReadOnly = v.s.cfg.Program, v.s.cfg.ReadOnly || v.s.mirrors()
	return eventlog.FoldTo(ctx, v.s.cfg.Store, v.s.cfg.ID, until, how, folds...)
}
