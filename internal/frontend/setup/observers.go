package setup

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/machine"
	"github.com/pawl-agent/pawl/internal/adapter/metrics"
	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
)

// attachObservers passes the session's events to the journal of turns, and to monitoring
// where a flag or the environment configures it (SPEC 11.4, 15.1).
func (s *opening) attachObservers() error {
	o := s.o
	if s.fr.ReadOnly || s.fr.Name == isolatedFront { // what an agent does is the session's that started it
		return nil
	}
	var observers []interface{ Apply(event.Event) }
	if s.nodes != nil {
		observers = append(observers, s.nodes)
		o.onClose(s.nodes.Close)
	}
	if s.opt.MetricsAddr != "" {
		m, err := metrics.Serve(s.opt.MetricsAddr)
		if err != nil {
			return err
		}
		o.warn("metrics are served on http://" + m.Addr() + "/metrics")
		observers = append(observers, m)
		o.onClose(m.Close)
	}
	target, ok, warnings := metrics.TargetFrom(s.Env, s.Version)
	o.warn(warnings...)
	if ok {
		x := metrics.Export(target)
		observers = append(observers, x)
		o.onClose(func() error {
			err := x.Close()
			if err != nil {
				fmt.Fprintln(s.Err, plain.Line("pawl: "+err.Error()))
			}
			return err
		})
	}
	if len(observers) == 0 {
		return nil
	}
	ctx, stop := context.WithCancel(context.Background())
	events, done := o.Events(ctx, o.View().Began()), make(chan struct{})
	go func() {
		defer close(done)
		for ev, err := range events {
			if err != nil {
				return // the log broke: the run itself reports it
			}
			for _, w := range observers {
				w.Apply(ev)
			}
		}
	}()
	o.onClose(func() error {
		// The session is closed by then, which ends its events.
		defer stop()
		select {
		case <-done:
		case <-time.After(time.Second):
		}
		return nil
	})
	return nil
}

// leastFree is the default of the memory and disk space that must be free, in MB.
const leastFree = 100

// pressure returns a function that reports what the machine is short of, and why.
func pressure(r settings.Resources, now func() time.Time, folders ...string) func() (what, why string) {
	bytes := func(mb int64) uint64 {
		switch {
		case mb < 0:
			return 0
		case mb == 0:
			mb = leastFree
		}
		return uint64(mb) << 20
	}
	return machine.New(machine.Limits{Memory: bytes(r.MemoryMB), Disk: bytes(r.DiskMB)}, now, folders...).Pressure
}

// pressure makes new work wait while the machine is short of something.
func (s *opening) pressure() {
	s.session.EndAtFullDisk = s.fr.Name == "headless"
	s.session.Pressure = pressure(s.conf.User.Resources, s.Now, s.session.Dir, s.paths.State)
}

// serveAttach lets other terminals attach to the session.
func (s *opening) serveAttach() {
	if s.fr.ReadOnly || s.fr.WorkerTree || s.opt.NoSession {
		return
	}
	stop, err := attach.Serve(s.paths.State, s.Version, s.o.Session, shell.Started)
	if err != nil {
		return // `pawl attach` reports that the session cannot be followed
	}
	s.o.onClose(func() error {
		stop()
		return nil
	})
}
