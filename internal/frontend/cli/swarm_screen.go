package cli

import (
	"context"
	"os"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/attach"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/frontend/swarmrun"
)

// This file shows a swarm on the screen: the same screen as for a conversation, but
// without input. An interrupt releases the tasks, and the swarm can be continued later.

// showSwarm returns a function that shows a swarm on the screen, if the terminal
// supports that and nobody asked for lines. That function returns after both the screen
// and the swarm have ended.
func (a *App) showSwarm(f *swarmFlags) swarmrun.Show {
	return func(ctx context.Context, o *setup.Opened, run func(context.Context, func(string), swarmrun.Ask) string) error {
		conf, paths, err := a.Settings()
		var t *screenTerminal
		if err == nil && !f.json {
			t = a.screenOn(&f.flags, conf.User.Screen)
		}
		if t == nil {
			run(ctx, nil, a.linesAsked(f.json))
			return nil
		}
		ctx, cancel := context.WithCancelCause(ctx)
		defer cancel(nil)
		interrupt := func(by string) {
			if by == "person" {
				by = "SIGINT"
			}
			cancel(session.Interrupt{By: by})
		}
		again := "pawl swarm resume " + o.ID()
		began, over := make(chan struct{}), make(chan struct{})
		cfg := a.chat(&f.flags, setup.Frontend{Name: setup.SwarmFront}, true, conf, paths)
		var person chat.Person
		cfg.Open = func(_ context.Context, _ slash.Want, p chat.Person) (*chat.Opened, error) {
			if person != nil {
				return nil, fault.NewConfiguration("start another pawl for that", "a swarm runs in this terminal")
			}
			person = p
			close(began)
			return &chat.Opened{Session: o.Session, ResumeCommand: again, Close: func() {
				interrupt("person") // leaving the screen ends the swarm
				<-over
			}, Attached: &chat.Attached{
				Interrupt: interrupt,
				Over:      func() (string, string) { return "the swarm's log cannot be read any more", again },
			}}, nil
		}
		begun := false
		// The screen ends when the swarm has ended, for whatever reason.
		by, err := a.screenOf(context.WithoutCancel(ctx), &f.flags, cfg, "", t, conf, paths, func(talk *chat.Conversation) {
			begun = true
			go func() {
				defer close(over)
				var ask swarmrun.Ask
				select {
				case <-began:
					ask = person.Ask
				case <-ctx.Done():
				}
				again = run(ctx, talk.Tell, ask)
				talk.Leave(again)
			}()
		})
		if !begun {
			return err
		}
		interrupt("person") // if the session was not open yet
		select {
		case <-over:
		default:
			if by != "" { // a person or the system insists; the log has all that matters
				os.Exit(headless.SignalCode(by))
			}
			<-over
		}
		return err
	}
}

// linesAsked returns what asks a person who sees a swarm as lines; nil: there is nobody.
func (a *App) linesAsked(asJSON bool) swarmrun.Ask {
	if asJSON || !a.Terminal {
		return nil
	}
	ask := asker(a)
	return func(ctx context.Context, question string, options ...choice.Option) (string, error) {
		return choice.Lines(func(q string) (line string, err error) {
			got := make(chan struct{})
			go func() {
				defer close(got)
				line, err = ask(q)
			}()
			select {
			case <-got:
				return line, err
			case <-ctx.Done(): // as by Ctrl+C
				return "", context.Cause(ctx)
			}
		})(question, options...)
	}
}

// watchSwarm shows on the screen a swarm that another process runs, and reports whether
// it did. Without a screen, or a process to follow, the caller reads the log.
func (a *App) watchSwarm(ctx context.Context, l *swarmrun.Log, lines bool) (shown bool, err error) {
	conf, paths, err := a.Settings()
	if err != nil {
		return false, err
	}
	f := flags{Options: setup.Options{Dir: l.Dir, Resume: l.ID}, plain: lines}
	t := a.screenOn(&f, conf.User.Screen)
	if t == nil {
		return false, nil
	}
	owner, err := attach.Dial(ctx, paths.State, l.ID, false)
	if err != nil { // no process runs it, or one of another version
		return false, t.Close()
	}
	f.attached = &attached{owner: owner, Attached: chat.Attached{Over: func() (string, string) {
		l, err := swarmrun.Find(context.Background(), &a.Environment, "", l.ID)
		if err != nil {
			return err.Error(), ""
		}
		return l.HowEnded()
	}}}
	return true, a.onScreen(ctx, &f, setup.Frontend{Name: "attach"}, "", t, conf, paths)
}
