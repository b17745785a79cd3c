package swarmrun

import (
	"context"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/policy/budget"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
	team "github.com/pawl-agent/pawl/internal/team/swarm"
)

// Log is the state of a swarm, folded from its log.
type Log struct {
	swarm.Schedule
	ID  string
	Dir string // the person's folder

	meter   budget.Meter
	front   string
	written bool   // the result is in the person's files, or was there
	landed  string // the commit that was written last: the result, or a part of it
	landing bool   // the open turn writes the merged tree
}

func (l *Log) Apply(e event.Event) {
	l.Schedule.Apply(e)
	l.meter.Apply(e)
	switch b := e.Body.(type) {
	case event.Opened:
		l.front, l.Dir = b.Front, b.Dir
	case event.Prompted:
		l.landing = l.Ended != nil && b.Text == l.landingText() || b.Text == l.partText()
	case event.Ended:
		if l.landing && b.End == event.EndDone {
			l.landed = l.Tip()
			l.written = l.written || l.Ended != nil && l.Ended.Outcome == event.SwarmVerified
		}
		l.landing = false
	}
}

func (l *Log) Report() team.Report {
	r := team.ReportOf(&l.Schedule, l.meter.Session())
	r.ID = l.ID
	return r
}

// landingText returns the text under which the log records the writing of the result.
func (l *Log) landingText() string { return "write the verified result of the swarm: " + l.Goal }

// partText is the same for what is merged of a result that is not whole.
func (l *Log) partText() string { return "write the merged part of the result of the swarm: " + l.Goal }

// Over reports whether nothing is left to do: the swarm has ended, and a verified
// result is written.
func (l *Log) Over() bool {
	return l.Ended != nil && (l.Ended.Outcome != event.SwarmVerified || l.written)
}

// HowEnded describes the end of a swarm that no process runs. again is the command that
// continues it, "" if nothing is left to do.
func (l *Log) HowEnded() (why, again string) {
	if !l.Over() {
		again = resume(l.ID)
	}
	switch {
	case l.Ended == nil && l.Paused != nil:
		return "it is paused: " + l.Paused.Error, again
	case l.Ended == nil:
		return "it does not run any more", again
	case l.Ended.Outcome != event.SwarmVerified:
		return "it has ended: " + string(l.Ended.Outcome), again
	case l.written:
		return "it is verified and written to the files", again
	}
	return "it is verified, and not written to the files", again
}

// resume returns the command that continues a swarm.
func resume(id string) string { return "pawl swarm resume " + id }

// Find reads the log of a swarm: the one whose id begins with id or, if id is empty,
// the newest one of a folder. It does not lock the log.
func Find(ctx context.Context, e *setup.Environment, dir, id string) (*Log, error) {
	dir, err := e.RealDir(dir)
	if err != nil {
		return nil, err
	}
	st, err := openStore(ctx, e)
	if err != nil {
		return nil, err
	}
	defer st.Close()
	if id != "" {
		row, err := st.Session(ctx, id)
		if err != nil {
			return nil, setup.NoSession(err)
		}
		l, err := read(ctx, st, row.ID)
		if err == nil && (l.front != setup.SwarmFront || l.Len() == 0) {
			err = setup.Usage("session %s is not a swarm's; see: pawl swarm status", row.ID)
		}
		return l, err
	}
	for r, err := range setup.OwnSessions(ctx, st, dir) {
		if err != nil {
			return nil, err
		}
		if !setup.OfSwarm(ctx, st, r.ID) {
			continue
		}
		if l, err := read(ctx, st, r.ID); err != nil || l.Len() > 0 { // without tasks: it was killed before it had a plan
			return l, err
		}
	}
	return nil, setup.Usage("there is no swarm of %s; to start one: pawl swarm run FILE", dir)
}

func openStore(ctx context.Context, e *setup.Environment) (event.Store, error) {
	conf, paths, err := e.Settings()
	if err != nil {
		return nil, err
	}
	return e.OpenStore(ctx, &setup.Options{}, paths, conf)
}

func read(ctx context.Context, st event.Store, id string) (*Log, error) {
	l := &Log{ID: id}
	return l, eventlog.Fold(ctx, st, id, eventlog.Snapshots{}, l)
}
