package chat

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/settings"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/brief"
	"github.com/pawl-agent/pawl/internal/frontend/choice"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/team/until"
)

// ErrCancelled is why a question of a slash command has no answer.
var ErrCancelled = errors.New("the question was cancelled")

// host is the conversation for one slash command: a slash.Host, and the Person
// of Config.Open.
type host struct {
	c   *Conversation
	out *output
}

func (c *Conversation) host(command string) *host {
	return &host{c: c, out: &output{c: c, command: command}}
}

func (h *host) Session() *session.Session { return h.c.Session() }

func (h *host) Switch(ctx context.Context, w slash.Want) error {
	c := h.c
	c.mu.Lock()
	old, follower := c.open, c.follower
	c.mu.Unlock()
	if old != nil && w.Resume != "" && !w.Fork && strings.HasPrefix(old.Session.ID(), w.Resume) {
		return fmt.Errorf("session %s is open already", old.Session.ID())
	}
	o, err := c.cfg.Open(ctx, w, h)
	if err != nil {
		return err
	}
	s := o.Session
	start := Start{
		ID: plain.Line(s.ID()), Model: brief.ModelShort(s.View().Info()), Mode: string(s.View().Mode()), Fork: w.Fork,
	}
	for _, n := range o.Notes {
		start.Notes = append(start.Notes, plain.Line(n))
	}
	for _, w := range o.Welcome {
		start.Welcome = append(start.Welcome, plain.Line(w))
	}
	last := s.View().Last()
	if c.cfg.Recent > 0 {
		start.Earlier = max(0, last-c.cfg.Recent)
	}
	h.out.end()
	added := Change{What: Added, Block: Block{ID: "start-" + start.ID, Open: true, Ephemeral: true, Body: start}}
	c.mu.Lock()
	if c.ctx.Err() != nil { // Close came first
		c.mu.Unlock()
		o.Close()
		return c.ctx.Err()
	}
	c.open, c.follower, c.before, c.start = o, followFrom(c.ctx, s, start.Earlier), last, start
	c.questions, c.reported = nil, nil
	c.local = append(c.local, added)
	if c.before == 0 {
		c.local = append(c.local, c.startFinished())
	}
	c.mu.Unlock()
	c.wakeNext()
	if old != nil {
		follower.Stop()
		old.Close()
	}
	return nil
}

func (h *host) Sessions(ctx context.Context) ([]event.Row, error) {
	if h.c.cfg.Sessions == nil {
		return nil, nil
	}
	return h.c.cfg.Sessions(ctx)
}

func (h *host) About(ctx context.Context, r event.Row) (about, last string) {
	if h.c.cfg.About == nil {
		return "", ""
	}
	return h.c.cfg.About(ctx, r)
}

func (h *host) Now() time.Time { return h.c.cfg.Now() }

func (h *host) Models(ctx context.Context) []slash.Item {
	if h.c.cfg.Models == nil {
		return nil
	}
	return h.c.cfg.Models(ctx)
}

func (h *host) Settings() ([]settings.Setting, error) {
	if h.c.cfg.Settings == nil {
		return nil, errors.New("there are no settings here")
	}
	return h.c.cfg.Settings()
}

func (h *host) Pawl(ctx context.Context, args ...string) error {
	if h.c.cfg.Pawl == nil {
		return errors.New("that cannot be done here")
	}
	return h.c.cfg.Pawl(ctx, h.out, args...)
}

func (h *host) Custom() []slash.Custom { return h.c.Custom() }

// Custom lists the commands that are kept in files, and the prompts of MCP servers.
func (c *Conversation) Custom() []slash.Custom {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		return nil
	}
	if c.open.Session == nil {
		return c.open.Custom
	}
	return slices.Concat(c.open.Custom, slash.Prompts(c.open.Session))
}

func (h *host) Rules() []string {
	if h.c.cfg.Rules == nil {
		return nil
	}
	return h.c.cfg.Rules()
}

func (h *host) Memory(ctx context.Context, words string) error {
	if h.c.cfg.Memory == nil {
		return nil
	}
	return h.c.cfg.Memory(ctx, h.out, words)
}

func (h *host) Serve(ctx context.Context, words string) error {
	if h.c.cfg.Serve == nil {
		return errors.New("only pawl in a terminal serves sessions: pawl serve")
	}
	return h.c.cfg.Serve(ctx, h.out, words)
}

func (h *host) Goal(command string) (*until.Goal, error) {
	if h.c.cfg.Goal == nil {
		return nil, errors.New("no goal can be set here")
	}
	return h.c.cfg.Goal(command)
}

func (h *host) Out() io.Writer { return h.out }

func (h *host) Diff(text string) {
	h.out.end()
	if text != "" {
		h.c.emitBlock(Patch{Command: h.out.head(), Text: plain.Text(text)})
	}
}

func (h *host) Quit() { h.c.end(ErrLeft) }

func (h *host) Edit(text string) { h.c.emitBlock(TakenBack{Texts: []string{plain.Text(text)}}) }

func (h *host) Do(a slash.Act, text string) { h.c.emitBlock(Act{What: a, Text: plain.Text(text)}) }

func (h *host) Watch(title string, live func() string) {
	h.c.emitBlock(Act{What: slash.ShowLive, Text: plain.Line(title), Live: func() string { return plain.Text(live()) }})
}

func (h *host) Editor(ctx context.Context, text string) (string, error) {
	c := h.c
	h.out.end()
	e := Editing{ID: c.id("edit"), Text: plain.Text(text)}
	done := make(chan editResult, 1)
	block := Block{ID: e.ID, Open: true, Ephemeral: true, Body: e}
	c.mu.Lock()
	c.openEdits[e.ID] = done
	c.mu.Unlock()
	c.emit(Change{What: Added, Block: block})
	var out editResult
	select {
	case out = <-done:
	case <-ctx.Done():
		out.err = ErrCancelled
	}
	c.mu.Lock()
	delete(c.openEdits, e.ID)
	c.mu.Unlock()
	block.Open = false
	c.emit(Change{What: Finished, Block: block})
	return out.text, out.err
}

// editResult is what became of a text in a person's editor.
type editResult struct {
	text string
	err  error
}

// Edited takes the text of an Editing block as the person saved it, or why they could
// not edit it.
func (c *Conversation) Edited(id, text string, err error) {
	c.mu.Lock()
	done := c.openEdits[id]
	delete(c.openEdits, id)
	c.mu.Unlock()
	if done != nil {
		done <- editResult{text, err}
	}
}

func (h *host) Pick(ctx context.Context, title string, items []slash.Item) (id string, ok bool, err error) {
	if !h.c.cfg.CanPick || len(items) == 0 {
		return "", false, nil
	}
	shown := slices.Clone(items)
	for i, it := range shown {
		shown[i] = slash.Item{ID: it.ID, Group: plain.Line(it.Group), Text: plain.Line(it.Text), About: plain.Line(it.About), More: plain.Text(it.More), Here: it.Here}
		if it.Live != nil {
			shown[i].Live = func() string { return plain.Text(it.Live()) }
		}
	}
	id, err = h.ask(ctx, Question{Text: plain.Text(title), Items: shown})
	return id, true, err
}

func (h *host) Ask(ctx context.Context, question string, options ...choice.Option) (string, error) {
	return h.ask(ctx, Question{Text: plain.Text(question), Answers: options})
}

func (h *host) ask(ctx context.Context, q Question) (string, error) {
	c := h.c
	h.out.end()
	q.ID, q.Why = c.id("ask"), AskedByCommand
	answer := make(chan Answered, 1)
	block := Block{ID: q.ID, Open: true, Ephemeral: true, Body: q}
	c.mu.Lock()
	c.openAsks[q.ID] = answer
	c.mu.Unlock()
	ask := Change{What: Added, Block: block}
	if s := c.Session(); s != nil {
		ask.after = s.View().Last() // the events that led to the question are shown above it
	}
	c.emit(ask)
	err := error(nil)
	select {
	case a := <-answer:
		if q.Answer = a.Text; a.None {
			err = ErrCancelled
		}
	case <-ctx.Done():
		err = ErrCancelled
	}
	c.mu.Lock()
	delete(c.openAsks, q.ID)
	c.mu.Unlock()
	key := q.Answer
	for _, o := range q.Answers { // a letter alone tells nothing later
		if o.Key == key && !o.Typed {
			q.Answer = o.Text
		}
	}
	block.Open, block.Body = false, q
	c.emit(Change{What: Finished, Block: block})
	return key, err
}

// output makes a block of a slash command's output.
type output struct {
	c       *Conversation
	command string // until something of it is shown
	block   Block  // its ID is empty before the first text
	clean   plain.Stream
	text    strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	if o.block.ID == "" {
		o.block = Block{ID: o.c.id("output"), Open: true, Ephemeral: true, Body: Output{Command: o.head()}}
		o.c.emit(Change{What: Added, Block: o.block})
	}
	o.piece(o.clean.Add(string(p)))
	return len(p), nil
}

// head returns the command for the first block that it shows, "" for the others.
func (o *output) head() string {
	command := o.command
	o.command = ""
	return command
}

func (o *output) piece(text string) {
	if text != "" {
		o.text.WriteString(text)
		o.c.emit(Change{What: Changed, Block: o.block, More: text})
	}
}

// end finishes the block: later output starts another one.
func (o *output) end() {
	if o.block.ID == "" {
		return
	}
	o.piece(o.clean.End())
	body := o.block.Body.(Output)
	body.Text = o.text.String()
	o.block.Open, o.block.Body = false, body
	o.c.emit(Change{What: Finished, Block: o.block})
	o.block = Block{}
	o.text.Reset()
}
