package setup

import (
	"context"

	"github.com/pawl-agent/pawl/internal/engine/session"
)

// parallelCalls is how many calls of one step run at once (SPEC 4.1).
const parallelCalls = 8

// Open puts a session together: its choices, the tools and services, and what
// its model is told.
func (e *Environment) Open(ctx context.Context, opt *Options, fr Frontend) (_ *Opened, err error) {
	o := &Opened{}
	defer func() {
		if err != nil {
			o.Close()
		}
	}()
	c, err := e.choices(ctx, opt, fr, o)
	if err != nil {
		return nil, err
	}
	o.Trust = c.trust
	w, err := e.services(ctx, opt, c, o)
	if err != nil {
		return nil, err
	}
	t, err := e.instructions(ctx, opt, fr, c, w, o)
	if err != nil {
		return nil, err
	}
	start := c.perm.Mode()
	conf := (&assembly{e, opt, fr, c, w, t, o}).config()
	if o.Store, err = c.store(); err != nil {
		return nil, err
	}
	conf.Store = o.Store
	if fr.Configure != nil {
		fr.Configure(&conf)
	}
	o.Session, err = session.Open(ctx, conf)
	if err == nil {
		err = e.settleMode(ctx, o, opt, fr, start)
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
