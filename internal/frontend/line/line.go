// Package line is a plain conversation: a prompt with history and editing,
// text as it streams, one line a tool call, questions in words. It moves no
// cursor but the line editor's and draws nothing twice, so it serves screen
// readers, dumb terminals and logs, and it stays when a full-screen mode comes.
//
// The rules are: everything shown is a block of package chat; everything a
// person does becomes an operation of the session or a slash command; nothing
// but typing and drawing lives here. What a model, a tool or a file says is
// sanitised before it is written (SPEC 16.11).
//
// Where to look: line.go holds the conversation, ladder.go what interrupts and
// signals do to it, question.go and consent.go what it asks, view.go what it
// shows; terminal.go and the files it names are the keyboard.
package line

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// Input asks the person for a line.
type Input interface {
	// Line shows a prompt and gives what was entered, newlines within it where
	// a text of several lines was pasted. ErrInterrupt comes with the text that
	// was in the input; io.EOF ends the conversation.
	Line(prompt string) (string, error)
	// Answer is Line for a question: what was typed before it was asked is no
	// answer to it, and goes into no history.
	Answer(prompt string) (string, error)
	// Drop forgets what was typed ahead.
	Drop()
}

// ErrInterrupt says that the interrupt key was pressed.
var ErrInterrupt = errors.New("interrupted")

// Opened is an open session and how to close it.
type Opened struct {
	Session *session.Session
	Close   func()
	Notes   []string // what to say when it is opened
	// Again is the command line that goes on with the session later, "" for
	// one that is not kept.
	Again string
}

// Config is what a conversation needs.
type Config struct {
	In  Input
	Out io.Writer
	// Open opens a session.
	Open func(context.Context, slash.Want) (*Opened, error)
	// Sessions, Models and Rules serve the slash commands.
	Sessions func(context.Context) ([]event.Row, error)
	// About, if set, says of a session with which model and mode it was and what
	// it cost.
	About  func(context.Context, event.Row) string
	Models func(context.Context) error
	// RuleFiles, if set, lists the project's rules files.
	RuleFiles func(context.Context) error
	// Memory, if set, does what `pawl memory` does with those words.
	Memory func(ctx context.Context, words string) error
	Rules  func() []string
	// First is a prompt that the conversation begins with, "" for none.
	First string
	// Signals gives the names of signals as they come: SIGINT, SIGTERM, SIGHUP.
	Signals <-chan string
	Now     func() time.Time
	// Columns, if set, is how wide the terminal is: lines are broken between
	// words there. 0: they are not.
	Columns func() int
	// Theme is how diffs are coloured; the zero value leaves them as they are.
	Theme plain.Theme
}

// Exit is how a conversation ended. By is empty where the person left, the
// name of the signal that ended it, or SIGINT for three interrupts at once.
type Exit struct{ By string }

// conversation implements slash.Host.
type conversation struct {
	Config
	open *Opened
	talk *chat.Follower // over it
	view *view
	quit bool

	// gone is closed when a signal, or three interrupts at once, end it all;
	// by is then its name. late ends when nothing is waited for any more.
	gone chan struct{}
	late context.Context
	stop context.CancelFunc

	reading chan entry // a read of In that nobody has taken the result of

	interrupts chat.Interrupts

	mu     sync.Mutex // guards what signals touch
	by     string
	prompt string // what In waits behind, "" for nothing
}

// Run holds a conversation until the person leaves.
func Run(ctx context.Context, cfg Config, want slash.Want) (Exit, error) {
	c := &conversation{Config: cfg, view: newView(cfg.Out, cfg.Columns), gone: make(chan struct{})}
	c.late, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer c.stop()
	done := make(chan struct{})
	defer close(done)
	go c.watch(done)

	err := c.running(ctx, func(ctx context.Context) error { return c.Switch(ctx, want) })
	if err == nil && cfg.First != "" {
		c.view.line("> " + plain.Text(cfg.First))
		if err = c.turn(ctx, cfg.First); err != nil && !errors.Is(err, errGone) && !errors.Is(err, errLeft) {
			c.view.line("pawl: " + plain.Text(err.Error()))
			err = nil
		}
	}
	if err == nil {
		err = c.converse(ctx)
	}
	c.close()
	switch {
	case errors.Is(err, errGone) || c.isGone():
		return Exit{By: c.by}, nil
	case errors.Is(err, errLeft):
		return Exit{}, nil
	}
	return Exit{}, err
}

// Why converse returns.
var (
	errGone = errors.New("the conversation was ended") // by a signal
	errLeft = errors.New("the person left")
)

func (c *conversation) converse(ctx context.Context) error {
	for !c.quit {
		if err := c.between(); err != nil {
			return err
		}
		c.pressing()
		text, err := c.read()
		switch {
		case errors.Is(err, io.EOF):
			return errLeft
		case errors.Is(err, ErrInterrupt):
			if err := c.pressed(text != ""); err != nil {
				return err
			}
			continue
		case err != nil:
			return err
		}
		c.interrupts.Typed()
		if err := c.take(ctx, text); errors.Is(err, errGone) || errors.Is(err, errLeft) {
			return err
		} else if err != nil {
			c.view.line("pawl: " + plain.Text(err.Error()))
		}
	}
	return errLeft
}

// read reads an entry; lines that end in a backslash go on.
func (c *conversation) read() (string, error) {
	var text strings.Builder
	prompt := "> "
	for {
		line, err := c.ask(prompt, c.In.Line, nil)
		if err != nil {
			return text.String() + line, err
		}
		head, more := strings.CutSuffix(line, `\`)
		text.WriteString(head)
		if !more {
			return text.String(), nil
		}
		text.WriteByte('\n')
		prompt = ". "
	}
}

// take does what was entered.
func (c *conversation) take(ctx context.Context, text string) error {
	switch in := chat.ReadInput(text); {
	case in.Leave:
		c.Quit()
		return nil
	case in.Shell:
		return c.command(ctx, in.Text)
	case in.Command != "":
		cmd, err := slash.Find(in.Command)
		if err != nil {
			return err
		}
		return c.quietly(ctx, func(ctx context.Context) error { return cmd.Run(ctx, c, in.Text) })
	case in.Text != "":
		return c.turn(ctx, in.Text)
	}
	return nil
}

// turn runs a prompt and shows what happens until it ends.
func (c *conversation) turn(ctx context.Context, text string) error {
	s := c.open.Session
	defer c.ahead(ctx)()
	defer c.interrupts.Runs(func(by string) {
		_, _ = s.Submit(ctx, session.Interrupt{By: by}) // an interrupt cannot fail
	})()
	if _, err := s.Submit(ctx, session.Prompt{Text: text}); err != nil {
		return err
	}
	return c.follow(ctx)
}

// follow shows what happens until the turn ends.
func (c *conversation) follow(ctx context.Context) error {
	for {
		changes, err := c.talk.Next(context.WithoutCancel(ctx))
		switch {
		case c.isGone() && (err != nil || c.late.Err() != nil):
			c.view.end()
			return errGone
		case err != nil:
			return fmt.Errorf("the session ended: its log could not be read or written: %w", err)
		}
		for _, ch := range changes {
			c.view.draw(ch)
			switch b := ch.Block.Body.(type) {
			case chat.Question:
				if ch.What != chat.Added {
					break
				}
				if err := c.question(ctx, b); err != nil {
					return err
				}
			case chat.Ending:
				return nil
			}
		}
	}
}

// between shows what happened since the last turn.
func (c *conversation) between() error {
	if err := c.talk.CatchUp(c.late, c.view.draw); err != nil && !c.isGone() {
		return err
	}
	return nil
}

// quietly does what a slash command does: the command tells what came of it,
// and the timeline does not tell it again.
func (c *conversation) quietly(ctx context.Context, do func(context.Context) error) error {
	err := c.running(ctx, do)
	_ = c.talk.CatchUp(c.late, func(chat.Change) {}) // where the log cannot be read, the next turn says so
	return err
}

// command runs a person's own command; its output is shown as it comes.
func (c *conversation) command(ctx context.Context, line string) error {
	if line == "" {
		return errors.New("no command: give one behind the !, such as !git status")
	}
	s := c.open.Session
	defer c.interrupts.Runs(func(by string) {
		_, _ = s.Submit(ctx, session.Interrupt{By: by}) // an interrupt cannot fail
	})()
	started, err := s.Submit(ctx, session.RunCommand{Command: line})
	if err != nil {
		return err
	}
	type outcome struct {
		event.OpDone
		err error
	}
	reading, stop := context.WithCancel(c.late)
	defer stop()
	ended := make(chan outcome, 1)
	go func() {
		done, err := s.Await(context.WithoutCancel(ctx), started)
		ended <- outcome{done, err}
		stop()
	}()
	draw := c.view.draw
	for reading.Err() == nil {
		changes, err := c.talk.Next(reading)
		if err != nil && reading.Err() == nil {
			return err
		}
		for _, ch := range changes {
			draw(ch)
		}
	}
	if err := c.talk.CatchUp(c.late, draw); c.isGone() {
		c.view.forget()
		return errGone
	} else if err != nil {
		return err
	}
	o := <-ended
	if o.err != nil {
		return o.err
	}
	return c.commandEnded(o.OpDone)
}

// commandEnded says how a command ended, where that was not said with what it
// printed.
func (c *conversation) commandEnded(done event.OpDone) error {
	c.view.forget()
	switch {
	case c.isGone():
		return errGone
	case done.Outcome == event.Cancelled:
	case done.Error != nil:
		return errors.New(done.Error.Message)
	}
	return nil
}

// Session is part of slash.Host.
func (c *conversation) Session() *session.Session { return c.open.Session }

// Switch is part of slash.Host.
func (c *conversation) Switch(ctx context.Context, w slash.Want) error {
	if c.open != nil && w.Resume != "" && !w.Fork && strings.HasPrefix(c.open.Session.ID(), w.Resume) {
		return fmt.Errorf("session %s is open already", c.open.Session.ID())
	}
	o, err := c.Config.Open(ctx, w)
	if err != nil {
		return err
	}
	if c.open != nil {
		c.talk.Stop()
		c.open.Close()
	}
	c.open, c.talk = o, chat.Follow(c.late, o.Session)
	for _, n := range o.Notes {
		c.view.line("pawl: " + plain.Line(n))
	}
	s := o.Session
	c.view.opened()
	c.view.line(fmt.Sprintf("pawl: %s; mode %s; session %s; /help", brief.ModelShort(s.Info()), s.Mode(), plain.Line(s.ID())))
	prompt, answer := "", ""
	err = c.talk.CatchUp(ctx, func(ch chat.Change) {
		switch b := ch.Block.Body.(type) {
		case chat.Prompt:
			if b.Source != event.Autofix {
				prompt, answer = b.Text, ""
			}
		case chat.Reply:
			answer = b.Text
		}
	})
	if err != nil || prompt == "" || w.Fork { // of a fork, what was said stands above
		return err
	}
	prompt = "> " + strings.ReplaceAll(strings.TrimSpace(prompt), "\n", "\n> ")
	c.view.line("it was left at:\n" + indent(prompt+"\n"+strings.TrimSpace(answer)))
	return nil
}

// Sessions is part of slash.Host.
func (c *conversation) Sessions(ctx context.Context) ([]event.Row, error) {
	return c.Config.Sessions(ctx)
}

// About is part of slash.Knower.
func (c *conversation) About(ctx context.Context, r event.Row) (age, about string) {
	age = brief.Age(c.Now().Sub(r.Updated))
	if c.Config.About != nil {
		about = c.Config.About(ctx, r)
	}
	return age, about
}

// Models is part of slash.Host.
func (c *conversation) Models(ctx context.Context) error { return c.Config.Models(ctx) }

// RuleFiles is part of slash.Ruled.
func (c *conversation) RuleFiles(ctx context.Context) error {
	if c.Config.RuleFiles == nil {
		return nil
	}
	return c.Config.RuleFiles(ctx)
}

// Memory is part of slash.Remembers.
func (c *conversation) Memory(ctx context.Context, words string) error {
	if c.Config.Memory == nil {
		return nil
	}
	return c.Config.Memory(ctx, words)
}

// Rules is part of slash.Host.
func (c *conversation) Rules() []string { return c.Config.Rules() }

// Out is part of slash.Host.
func (c *conversation) Out() io.Writer { return plain.Wrapped(c.Config.Out, c.view.width, true) }

// Raw is part of slash.Rawer.
func (c *conversation) Raw() io.Writer { return c.Config.Out }

// Quit is part of slash.Host.
func (c *conversation) Quit() { c.quit = true }
