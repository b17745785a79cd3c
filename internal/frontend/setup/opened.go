package setup

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// Opened is a session with everything that must be closed after it.
type Opened struct {
	*session.Session
	Store       event.Store
	Trust       *Trust // nil for a session that is only read
	Confinement Confinement
	Git         *workspace.Git   // pawl's own
	GitUses     *sandbox.GitUses // what git's configuration makes git run
	Warnings    []string
	Custom      []slash.Custom // the person's own commands

	model   ModelChoice
	closers []func() error
}

// Close closes the session, and then what it works with.
func (o *Opened) Close() {
	if o.Session != nil {
		// The run has already reported a broken log.
		_ = o.Session.Close()
	}
	for _, c := range slices.Backward(o.closers) {
		_ = c() // no acknowledged event depends on it
	}
}

func (o *Opened) onClose(c ...func() error) { o.closers = append(o.closers, c...) }

func (o *Opened) warn(lines ...string) { o.Warnings = append(o.Warnings, lines...) }

// starter returns the starter of a session's processes. What it leaves is
// removed after it is closed.
func (o *Opened) starter(by Confinement) *shell.Starter {
	if by.boxes != nil {
		o.onClose(by.boxes.Close)
	}
	return by.newStarter()
}
