// Package line is a plain conversation: a prompt with history and editing, text
// as it streams, one line for each tool call, questions in words. It moves only
// the line editor's cursor and draws nothing twice, so it works for screen
// readers, dumb terminals and logs.
//
// Everything shown is a block of package chat, and a person's input goes to its
// Conversation; this package only reads and draws. Texts of a model, a tool or
// a file are sanitised before they are written (SPEC 16.11).
//
// Where to look: line.go has the conversation, ladder.go interrupts and
// signals, question.go the questions, view.go and calls.go the output; terminal.go, prompt.go
// and cooked.go the keyboard.
package line

import (
	"cmp"
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/frontend/chat"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// Input asks the person for a line.
type Input interface {
	// Line shows a prompt and returns the entry, with newlines if a text of
	// several lines was pasted. ErrInterrupt comes with the text in the input;
	// io.EOF ends the conversation.
	Line(prompt string) (string, error)
	// Answer is Line for a question: text that was typed before the question is
	// not part of the answer, which is not added to the history.
	Answer(prompt string) (string, error)
	// Drop discards typed input.
	Drop()
	// Yield ends a Line or an Answer that is being read: its error is ErrYield, and what
	// was typed belongs to the next Line. It does nothing if none is read.
	Yield()
	// Ahead passes each entry that is complete while nobody reads one to take, until stop is
	// called. What take accepts is not returned by the next Line. take is called from
	// another goroutine, for one entry at a time.
	Ahead(take func(line string) bool) (stop func())
	// Prefill sets the beginning of the next entry; false if this terminal cannot do that.
	Prefill(text string) bool
}

// ErrInterrupt reports that the interrupt key was pressed.
var ErrInterrupt = errors.New("interrupted")

// ErrYield reports that a read was ended by Input.Yield.
var ErrYield = errors.New("the read was ended")

// Config is what a conversation needs.
type Config struct {
	chat.Config
	In  Input
	Out io.Writer
	// First is the first prompt of the conversation, "" for none.
	First string
	// Signals yields the names of signals: SIGINT, SIGTERM, SIGHUP.
	Signals <-chan string
	// Columns, if set, returns the width of the terminal, at which lines are
	// broken between words. 0: they are not broken.
	Columns func() int
	// Theme is the colours of diffs; the zero value uses none.
	Theme plain.Theme
	// Speak is how often a call that runs long is told of; 0: every ten seconds.
	Speak time.Duration
}

// Exit is how a conversation ended. By is empty if the person left, else the
// name of the signal that ended it, or SIGINT for three interrupts in a row.
type Exit struct{ By string }

// conversation shows a chat.Conversation line by line.
type conversation struct {
	Config
	chat *chat.Conversation
	view *view

	// ended is closed when a signal, or three interrupts in a row, end
	// everything; by is then its name. late ends when nothing may be waited for
	// any more.
	ended chan struct{}
	late  context.Context
	stop  context.CancelFunc

	asking string // the id of the question that is being asked
	fresh  bool   // something happened while a line was read
	out    held

	running string    // what runs, "" for nothing
	speakAt time.Time // when it is told of again
	spoken  int       // how often it was

	mu     sync.Mutex // guards what signals access
	by     string
	prompt string        // the present prompt, "" for none
	cut    chan struct{} // an interrupt closes it to cancel the question; nil: there is none
}

// Run runs a conversation until the person leaves.
func Run(ctx context.Context, cfg Config, want slash.Want) (Exit, error) {
	c := &conversation{Config: cfg, out: held{to: cfg.Out}, ended: make(chan struct{})}
	c.view = newView(&c.out, cfg.Columns)
	c.view.theme, c.view.verbose = cfg.Theme, cfg.Verbose
	c.late, c.stop = context.WithCancel(context.WithoutCancel(ctx))
	defer c.stop()
	c.chat = chat.Begin(ctx, cfg.Config, want)
	done := make(chan struct{})
	defer close(done)
	go c.handleSignals(done)

	err := c.runUntil(c.chat.Idle)
	if err == nil && cfg.First != "" {
		c.view.line("> " + plain.Text(cfg.First))
		c.chat.Prompt(cfg.First)
	}
	if err == nil {
		err = c.converse()
	}
	c.close()
	switch {
	case errors.Is(err, errEnded) || c.hasEnded():
		return Exit{By: c.by}, nil
	case errors.Is(err, errLeft) || errors.Is(err, chat.ErrLeft):
		return Exit{}, nil
	}
	return Exit{}, err
}

// Why converse returns.
var (
	errEnded = errors.New("the conversation was ended") // by a signal
	errLeft  = errors.New("the person left")
)

func (c *conversation) converse() error {
	for {
		stop := c.ahead()
		err := c.runUntil(c.chat.Idle)
		stop()
		c.view.forget()
		if err != nil {
			return err
		}
		c.warnPressure()
		text, err := c.read()
		switch {
		case errors.Is(err, io.EOF):
			return errLeft
		case errors.Is(err, ErrInterrupt):
			if err := c.interruptPressed(text != ""); err != nil {
				return err
			}
			continue
		case errors.Is(err, ErrYield):
			continue
		case err != nil:
			return err
		}
		c.chat.Typed()
		c.chat.Enter(text)
	}
}

// read reads an entry; a line that ends in a backslash continues in the next one.
func (c *conversation) read() (string, error) {
	var text strings.Builder
	for prompt := "> "; ; prompt = more {
		line, err := c.ask(prompt, c.In.Line, nil)
		if err != nil {
			return text.String() + line, err
		}
		head, goesOn := strings.CutSuffix(line, `\`)
		text.WriteString(head)
		if !goesOn {
			return text.String(), nil
		}
		text.WriteByte('\n')
	}
}

// more is the prompt for the next line of an entry.
const more = ". "

// runUntil shows changes, and asks questions, until done returns true.
func (c *conversation) runUntil(done func() bool) error {
	for !done() {
		var changes []chat.Change
		var err error
		fresh := c.fresh
		if c.fresh = false; !fresh {
			changes, err = c.wait()
		}
		switch {
		case errors.Is(err, chat.ErrLeft):
			return err
		case c.hasEnded() && (err != nil || c.late.Err() != nil):
			c.view.end()
			return errEnded
		case err != nil:
			return err
		}
		c.show(changes)
		if q, ok := c.chat.Question(); ok && c.asking != q.ID && (fresh || len(changes) > 0) {
			if err := c.question(q); err != nil {
				return err
			}
		}
	}
	return nil
}

func (c *conversation) show(changes []chat.Change) {
	for _, ch := range changes {
		if back, ok := ch.Block.Body.(chat.TakenBack); ok {
			c.edit(strings.Join(back.Texts, "\n"))
		}
		if e, ok := ch.Block.Body.(chat.Editing); ok && ch.What == chat.Added {
			c.chat.Edited(e.ID, "", errNoEditor)
		}
		c.view.draw(ch)
	}
}

// wait waits for changes. While one call runs it tells of it again and again: a person who
// hears the screen knows of nothing else that pawl is at work.
func (c *conversation) wait() ([]chat.Change, error) {
	every := cmp.Or(c.Speak, 10*time.Second)
	if c.view.runs() != c.running {
		c.running, c.spoken = c.view.runs(), 0
		c.speakAt = time.Now().Add(every)
	}
	if c.running == "" {
		return c.chat.Next(c.late)
	}
	ctx, stop := context.WithDeadline(c.late, c.speakAt)
	defer stop()
	changes, err := c.chat.Next(ctx)
	if err != nil && ctx.Err() != nil && c.late.Err() == nil {
		c.spoken++
		c.speakAt = c.speakAt.Add(every)
		c.view.stillRuns(every * time.Duration(c.spoken))
		return nil, nil
	}
	return changes, err
}

// edit sets the beginning of the next entry.
func (c *conversation) edit(text string) {
	if !c.In.Prefill(text) {
		c.view.line("the prompt was:\n" + indent(plain.Text(text)))
	}
}

// ahead enters at once what is typed while something runs: a prompt is
// delivered into the running turn, a command that may run during a turn is run, and
// everything else waits (SPEC 10.1). A line that ends in a backslash continues
// in the next one. If nothing runs, the next prompt gets the line.
func (c *conversation) ahead() (stop func()) {
	begun := ""
	return c.In.Ahead(func(line string) bool {
		keys := strings.ContainsFunc(line, func(r rune) bool { return r < ' ' && r != '\t' && r != '\n' })
		if begun == "" && (!c.chat.Busy() || strings.TrimSpace(line) == "" || keys) {
			return false
		}
		if head, more := strings.CutSuffix(line, `\`); more {
			begun += head + "\n"
			return true
		}
		c.chat.Enter(begun + line)
		begun = ""
		return true
	})
}
