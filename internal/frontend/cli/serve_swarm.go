package cli

import (
	"cmp"
	"context"
	"io"
	"sync"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/swarmrun"
	"github.com/pawl-agent/pawl/internal/frontend/web"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// servedSwarms are the swarms that `pawl serve` shows.
type servedSwarms struct {
	a     *App
	store event.Store

	mu   sync.Mutex
	said map[string]string // why a swarm that was resumed here ended unwritten
}

func (s *servedSwarms) Is(ctx context.Context, id string) bool {
	return setup.OfSwarm(ctx, s.store, id)
}

func (s *servedSwarms) Report(ctx context.Context, id string) (team.Report, string, error) {
	l, err := swarmrun.Find(ctx, &s.a.Environment, "", id)
	if err != nil {
		return team.Report{}, "", err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	_, again := l.HowEnded()
	r := l.Report()
	r.Error = cmp.Or(r.Error, s.said[id])
	return r, again, nil
}

func (s *servedSwarms) at() swarmrun.At { return swarmrun.At{Environment: &s.a.Environment} }

func (s *servedSwarms) Cancel(ctx context.Context, id string, c web.CancelSwarm) (string, error) {
	return s.at().Cancel(ctx, id, c.KeepTrees)
}

func (s *servedSwarms) Steer(ctx context.Context, id string, o web.SteerTask) error {
	_, err := s.at().Steer(ctx, id, o.Task, event.TaskOrder(o.What), o.Text)
	return err
}

func (s *servedSwarms) Diff(ctx context.Context, id, task string) (string, error) {
	return s.at().Diff(ctx, id, task)
}

// Resume implements web.Swarms. The swarm gets what `pawl swarm resume` would give it, and
// its messages are not printed: a screen may be shown here.
func (s *servedSwarms) Resume(ctx context.Context, id string, r web.ResumeSwarm) (*web.Opened, error) {
	l, err := swarmrun.Find(ctx, &s.a.Environment, "", id)
	if err == nil {
		err = resumable(l)
	}
	f := swarmFlags{swarm: swarmrun.Swarm{Workers: cmp.Or(r.Workers, fewWorkers), WritePart: r.WritePartial}}
	if err == nil {
		err = f.withinLimits()
	}
	if err != nil {
		return nil, err
	}
	env := s.a.Environment
	env.Err = io.Discard
	ctx, end := context.WithCancelCause(context.WithoutCancel(ctx))
	began, over, failed := make(chan *setup.Opened, 1), make(chan struct{}), error(nil)
	f.swarm.Environment, f.swarm.Options = &env, setup.Options{Resume: l.ID, Dir: l.Dir, MaxUSD: r.USD}
	f.swarm.Show = func(ctx context.Context, o *setup.Opened, run func(context.Context, func(string), swarmrun.Ask) string) error {
		began <- o
		run(ctx, func(string) {}, nil)
		return nil
	}
	s.tell(id, "")
	go func() {
		defer close(over)
		res, err := f.swarm.Run(ctx, nil)
		if failed = err; err != nil {
			s.tell(id, err.Error())
		} else {
			s.tell(id, res.NotWritten)
		}
	}()
	select {
	case o := <-began:
		return &web.Opened{Session: o.Session, Own: true, Runs: true, Close: func() {
			end(session.Interrupt{By: "person"})
			<-over
		}}, nil
	case <-over:
		end(nil)
		return nil, failed
	}
}

func (s *servedSwarms) tell(id, why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.said[id] = why
}
