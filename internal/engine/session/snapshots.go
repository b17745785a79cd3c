package session

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fsm"
	"github.com/pawl-agent/pawl/internal/engine/answers"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/spending"
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
		Program: cfg.Program, ReadOnly: cfg.ReadOnly, Every: cfg.SnapshotEvery,
		Fresh: func() []event.Fold {
			cfg := cfg
			cfg.Permission = base.Copy()
			return allFolds(newState(cfg), spending.New(spending.Config{}), answers.New(answers.Config{}))
		},
	}
	s.Known = append(s.Known, (*fsm.InvalidTransitionError)(nil))
	for _, t := range lifecycle.Tables() {
		s.Known = append(s.Known, t)
	}
	return s
}

// allFolds lists the folds of a session's log.
func allFolds(s *state, acc *spending.Account, cache *answers.Cache) []event.Fold {
	return append(s.folds(), acc.Fold(), cache.Fold())
}
