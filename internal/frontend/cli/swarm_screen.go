package cli

import (
	"context"
	"errors"
	"os"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/swarm"
)

// This file shows a swarm on the screen: the same screen as for a conversation, on which
// nothing is entered. An interrupt releases the tasks, and the swarm can go on later.

// screen opens the terminal for the screen, where it is one and nobody asked for lines.
func (r *swarmRun) screen() (*screenTerminal, settings.Loaded) {
	if r.f.json {
		return nil, settings.Loaded{}
	}
	conf, _, err := r.Settings()
	if err != nil {
		return nil, conf // it was read before
	}
	return r.screenOn(&r.f.flags, conf.User.Screen), conf
}

// onScreen shows the swarm while drive runs it, and returns after both have ended.
func (r *swarmRun) onScreen(ctx context.Context, t *screenTerminal, conf settings.Loaded, paths settings.Paths, drive func(context.Context) error) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	interrupt := func(by string) {
		if by == "person" {
			by = "SIGINT"
		}
		cancel(session.Interrupt{By: by})
	}
	again := "pawl swarm resume " + r.o.ID()
	began, over := make(chan struct{}), make(chan struct{})
	cfg := r.chat(&r.f.flags, setup.Frontend{Name: setup.SwarmFront}, true, conf, paths)
	opened := false
	cfg.Open = func(context.Context, slash.Want, chat.Person) (*chat.Opened, error) {
		if opened {
			return nil, fault.NewConfiguration("start another pawl for that", "a swarm runs in this terminal")
		}
		opened = true
		close(began)
		return &chat.Opened{Session: r.o.Session, ResumeCommand: again, Close: func() {
			interrupt("person") // who leaves ends it
			<-over
		}, Attached: &chat.Attached{
			Interrupt: interrupt,
			Over:      func() (string, string) { return "the swarm's log can not be read any more", again },
		}}, nil
	}
	var err error
	begun := false
	// It ends when the swarm has, whatever ends that.
	by, serr := r.screenOf(context.WithoutCancel(ctx), &r.f.flags, cfg, "", t, conf, paths, func(talk *chat.Conversation) {
		r.talk, begun = talk, true
		go func() {
			defer close(over)
			select {
			case <-began:
			case <-ctx.Done():
			}
			if err = drive(ctx); err == nil || errors.Is(context.Cause(ctx), errCancelled) {
				again = "" // nothing is left to do
			}
			talk.Leave(again)
		}()
	})
	if !begun {
		return serr
	}
	interrupt("person") // where the session was not open yet
	select {
	case <-over:
	default:
		if by != "" { // a person or the system insists; the log has all that counts
			os.Exit(signalCode(by))
		}
		<-over
	}
	r.talk = nil
	return errors.Join(err, serr)
}

// watchSwarm shows a swarm that another process runs on the screen. It reports whether
// it did: without a screen, or a process to follow, the log is read.
func (a *App) watchSwarm(ctx context.Context, f *flags, id string) (shown bool, err error) {
	conf, paths, err := a.Settings()
	if err != nil {
		return false, err
	}
	g := flags{Options: setup.Options{Dir: f.Dir, Resume: id}, plain: f.plain}
	t := a.screenOn(&g, conf.User.Screen)
	if t == nil {
		return false, nil
	}
	owner, err := attach.Dial(ctx, paths.State, id, false)
	if err != nil { // it is not there, or of another version
		return false, t.Close()
	}
	g.attached = &attached{owner: owner, Attached: chat.Attached{Over: func() (string, string) { return overSwarm(a, id) }}}
	return true, a.onScreen(ctx, &g, setup.Frontend{Name: "attach"}, "", t, conf, paths)
}

// overSwarm returns how a swarm ended that ran in another process, and the command line
// that goes on with it, "" if there is nothing left to do.
func overSwarm(a *App, id string) (why, again string) {
	ctx := context.Background()
	st, _, err := a.store(ctx)
	if err != nil {
		return err.Error(), ""
	}
	defer st.Close()
	l, err := readSwarm(ctx, st, id)
	switch {
	case err != nil:
		return err.Error(), ""
	case l.Ended == nil:
		return "it does not run any more", "pawl swarm resume " + id
	case l.Ended.Outcome == event.SwarmVerified && !l.written:
		return "it is verified, and not written to the files", "pawl swarm resume " + id
	case l.written:
		return "it is verified and written to the files", ""
	}
	return "it has ended: " + string(l.Ended.Outcome), ""
}

// saw shows what a worker does to those who look at the swarm.
func (r *swarmRun) saw(c swarm.Call) {
	r.o.Coordination().Show(event.TaskCalled{Worker: c.Worker, What: c.What})
}
