// Package line is a plain conversation: a prompt with history and editing,
// text as it streams, one line a tool call, questions in words. It moves no
// cursor and draws nothing twice, so it serves screen readers, dumb terminals
// and logs, and it stays when a full-screen mode comes.
//
// The rules are: everything shown comes from events; everything a person does
// becomes an operation of the session or a slash command; nothing but drawing
// lives here.
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
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
)

// Input asks the person for a line.
type Input interface {
	// Line shows a prompt and gives what was entered. ErrInterrupt comes with
	// the text that was in the input; io.EOF ends the conversation.
	Line(prompt string) (string, error)
}

// ErrInterrupt says that the interrupt key was pressed.
var ErrInterrupt = errors.New("interrupted")

// Opened is an open session and how to close it.
type Opened struct {
	Session *session.Session
	Close   func()
	Notes   []string // what to say when it is opened
}

// Config is what a conversation needs.
type Config struct {
	In  Input
	Out io.Writer
	// Open opens a session.
	Open func(context.Context, slash.Want) (*Opened, error)
	// Sessions, Models and Rules serve the slash commands.
	Sessions func(context.Context) ([]event.Row, error)
	Models   func(context.Context) error
	Rules    func() []string
	// Signals gives the names of signals as they come, while a turn runs.
	Signals <-chan string
	Now     func() time.Time
}

// conversation implements slash.Host.
type conversation struct {
	Config
	open *Opened
	view view
	quit bool

	// gone is closed when a signal, or three interrupts at once, end it all;
	// by is then its name.
	gone chan struct{}

	mu     sync.Mutex // guards what signals touch
	by     string
	ladder lifecycle.Ladder
	cancel func() // cancels what runs; nil: nothing does
}

// Exit is how a conversation ended: by itself, or by a signal's name.
type Exit struct{ By string }

// errGone says that the conversation is over.
var errGone = errors.New("the conversation is over")

// Run holds a conversation until the person leaves.
func Run(ctx context.Context, cfg Config, want slash.Want) (Exit, error) {
	c := &conversation{Config: cfg, view: view{out: cfg.Out}, gone: make(chan struct{})}
	if err := c.Switch(ctx, want); err != nil {
		return Exit{}, err
	}
	defer func() { c.open.Close() }()
	done := make(chan struct{})
	defer close(done)
	go c.watch(done)
	for !c.quit {
		text, err := c.read()
		switch {
		case errors.Is(err, errGone):
			return Exit{By: c.by}, nil
		case errors.Is(err, io.EOF):
			return Exit{}, nil
		case errors.Is(err, ErrInterrupt):
			if c.interrupt(text != "") {
				return Exit{By: "SIGINT"}, nil
			}
			continue
		case err != nil:
			return Exit{}, err
		}
		c.mu.Lock()
		c.ladder.Typed()
		c.mu.Unlock()
		if err := c.take(ctx, text); err != nil && !errors.Is(err, errGone) {
			c.say("pawl: " + plain.Text(err.Error()))
		}
	}
	return Exit{}, nil
}

// interrupt takes an interrupt key and says whether it means to leave.
func (c *conversation) interrupt(input bool) (leave bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch c.ladder.Press(c.Now(), lifecycle.Situation{Running: c.cancel != nil, Input: input}) {
	case lifecycle.Cancel:
		c.cancel()
	case lifecycle.Exit, lifecycle.Abort:
		return true
	case lifecycle.Confirm:
		c.say("press Ctrl+C again to leave")
	}
	return false
}

// watch takes signals. In line editing the interrupt key is no signal; it is
// one while something runs.
func (c *conversation) watch(done <-chan struct{}) {
	for {
		select {
		case name := <-c.Signals:
			if name != "SIGINT" || c.interrupt(false) {
				c.mu.Lock()
				c.by = name
				if c.cancel != nil {
					c.cancel()
				}
				c.mu.Unlock()
				close(c.gone)
				return
			}
		case <-done:
			return
		}
	}
}

// runs says what an interrupt cancels from here on; nil for nothing.
func (c *conversation) runs(cancel func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.cancel = cancel
}

// ask reads a line, or gives errGone when a signal ends the conversation
// first: the goroutine that still reads then ends with the process.
func (c *conversation) ask(prompt string) (string, error) {
	type entry struct {
		text string
		err  error
	}
	got := make(chan entry, 1)
	go func() {
		text, err := c.In.Line(prompt)
		got <- entry{text, err}
	}()
	select {
	case e := <-got:
		return e.text, e.err
	case <-c.gone:
		return "", errGone
	}
}

// read reads an entry; lines that end in a backslash go on.
func (c *conversation) read() (string, error) {
	var text strings.Builder
	prompt := entryPrompt
	for {
		line, err := c.ask(prompt)
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

// entryPrompt stands before what a person enters.
const entryPrompt = "> "

// take does what was entered.
func (c *conversation) take(ctx context.Context, text string) error {
	if strings.TrimSpace(text) == "" {
		return nil
	}
	if command, ok := strings.CutPrefix(text, "!"); ok {
		return c.command(ctx, strings.TrimSpace(command))
	}
	if name, args, ok := slash.Parse(text); ok {
		cmd, err := slash.Find(name)
		if err != nil {
			return err
		}
		return cmd.Run(ctx, c, args)
	}
	return c.turn(ctx, text)
}

// turn runs a prompt and shows what happens until it ends.
func (c *conversation) turn(ctx context.Context, text string) error {
	s := c.open.Session
	events := s.Events(ctx, s.Last())
	c.runs(func() { _, _ = s.Submit(ctx, session.Interrupt{By: "person"}) }) // an interrupt cannot fail
	defer c.runs(nil)
	if _, err := s.Submit(ctx, session.Prompt{Text: text}); err != nil {
		return err
	}
	return c.follow(ctx, events)
}

func (c *conversation) follow(ctx context.Context, events func(func(event.Event, error) bool)) error {
	for e, err := range events {
		if err != nil {
			return err
		}
		c.view.show(e)
		switch b := e.Body.(type) {
		case event.Asked:
			if err := c.question(ctx, b); err != nil {
				return err
			}
		case event.Ended:
			_, spent := c.open.Session.Spent()
			c.view.closing(b, c.open.Session.Evidence(), spent)
			return nil
		}
	}
	return errors.New("the session ended: its log could not be written")
}

// command runs a person's own command.
func (c *conversation) command(ctx context.Context, line string) error {
	if line == "" {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	c.runs(cancel)
	defer c.runs(nil)
	s := c.open.Session
	at, err := s.Submit(ctx, session.RunCommand{Command: line})
	if err != nil {
		return err
	}
	for e, err := range s.Events(context.WithoutCancel(ctx), at-1) {
		if err != nil {
			return err
		}
		if b, ok := e.Body.(event.PersonRan); ok {
			c.view.ran(b)
			break
		}
	}
	return nil
}

func (c *conversation) say(text string) { fmt.Fprintln(c.Config.Out, text) }

// Session is part of slash.Host.
func (c *conversation) Session() *session.Session { return c.open.Session }

// Switch is part of slash.Host.
func (c *conversation) Switch(ctx context.Context, w slash.Want) error {
	if c.open != nil && w.Resume == c.open.Session.ID() && !w.Fork {
		return fmt.Errorf("session %s is open already", w.Resume)
	}
	o, err := c.Config.Open(ctx, w)
	if err != nil {
		return err
	}
	if c.open != nil {
		c.open.Close()
	}
	c.open = o
	for _, n := range o.Notes {
		c.say(plain.Line(n))
	}
	c.say(fmt.Sprintf("pawl: %s; mode %s; session %s; /help lists the commands", brief.Model(o.Session.Info()), o.Session.Mode(), o.Session.ID()))
	return nil
}

// Sessions is part of slash.Host.
func (c *conversation) Sessions(ctx context.Context) ([]event.Row, error) {
	return c.Config.Sessions(ctx)
}

// Models is part of slash.Host.
func (c *conversation) Models(ctx context.Context) error { return c.Config.Models(ctx) }

// Rules is part of slash.Host.
func (c *conversation) Rules() []string { return c.Config.Rules() }

// Out is part of slash.Host.
func (c *conversation) Out() io.Writer { return c.Config.Out }

// Quit is part of slash.Host.
func (c *conversation) Quit() { c.quit = true }
