package setup

import (
	"context"
	"slices"

	"github.com/pawl-agent/pawl/internal/adapter/plugin"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// parallelCalls is how many calls of one step run at once (SPEC 4.1).
const parallelCalls = 8

// Open puts a session together: its choices, its tools and services, and the model's
// instructions. The caller closes it.
func (e *Environment) Open(ctx context.Context, opt *Options, fr Frontend) (_ *Opened, err error) {
	o := &Opened{}
	defer func() {
		if err != nil {
			o.Close()
		}
	}()
	opt, kind, err := e.asAgent(opt, o)
	if err != nil {
		return nil, err
	}
	c, err := e.choices(ctx, opt, fr, o)
	if err != nil {
		return nil, err
	}
	o.Trust = c.trust
	w, err := e.services(ctx, opt, fr, c, o)
	if err != nil {
		return nil, err
	}
	t, err := e.instructions(ctx, opt, fr, c, w, o)
	if err != nil {
		return nil, err
	}
	start := c.perm.Mode()
	parts := &assembly{e, opt, fr, c, w, t, o}
	conf := narrow(parts.config(), kind, o)
	parts.isolation(&conf)
	if o.Store, err = c.store(); err != nil {
		return nil, err
	}
	conf.Store = o.Store
	if fr.Configure != nil {
		fr.Configure(&conf)
	}
	o.Session, err = session.Open(ctx, conf)
	if err == nil {
		err = settleMode(ctx, o, opt, fr, start)
	}
	if err == nil && len(c.plan) > 0 {
		_, err = o.Submit(ctx, session.Phase{Plan: c.plan})
	}
	if err != nil {
		return nil, err
	}
	e.serveAttach(o, opt, fr, c.paths.State)
	return o, e.attachObservers(o, opt, fr, t.nodes)
}

// Opened is a session with everything that must be closed after it.
type Opened struct {
	*session.Session
	Store       event.Store
	Trust       *Trust // nil for a session that is only read
	Confinement Confinement
	Git         *workspace.Git // pawl's own git
	// GitUses is what git's configuration makes git run, and what pawl's rules import.
	GitUses  func(files ...string) []tool.GitUse
	Warnings []string
	Custom   []slash.Custom // the person's own commands
	Plugins  []plugin.Plugin
	// StatusLine is nil if the person has none.
	StatusLine StatusLine
	// SetServers is agentsdk.Options.SetServers, nil for a session without a program.
	SetServers func(ctx context.Context, config []byte) (any, error)

	hold    func(...string) // hides secrets from now on
	model   ModelChoice
	closers []func() error
}

// Close closes the session, and then the services that it uses.
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

// starter returns the starter of a session's processes. The files that it leaves are
// removed after the session is closed.
func (o *Opened) starter(by Confinement) *shell.Starter {
	if by.boxes != nil {
		o.onClose(by.boxes.Close)
	}
	return by.newStarter()
}
