package chat

import (
	"context"
	"errors"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/lifecycle"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// This file handles a person's entries: which are done at once, which join the
// running turn, and which wait for its end.

// entry is a waiting entry.
type entry struct {
	id, text       string
	with           Extras
	work           func(context.Context) error // nil: a prompt
	mayCallCustom  bool                        // the prompt may call a custom command
	mayCallBuiltin bool                        // or, if there is none, a built-in one
	whenIdle       bool                        // it waits until nothing runs
	beside         func(*session.Session) bool // runs it beside a turn, if it can; nil: it cannot
	enteredBusy    bool                        // something ran when it was entered
	handed         chan struct{}               // closed after the session accepted or refused the prompt
	taken          bool                        // the worker is handling it
	sent           bool                        // the session has it
	announced      bool                        // a Queued block was emitted
}

// typedText returns what the person typed. For a command that is the command, not the prompt
// that it stands for: sent as a text, that would not narrow the tools.
func (e *entry) typedText() string {
	if e.with.Typed != "" {
		return e.with.Typed
	}
	return e.text
}

// Extras is what a prompt brings along: images, and the long texts within it that
// were pasted.
type Extras struct {
	Images []llm.Media
	Pasted []string
	// Command is what a custom command sends, but for its text. Typed is the command as it
	// was entered: that is what a person gets back to edit.
	Command session.Prompt
	Typed   string
}

func mergeExtras(with []Extras) (all Extras) {
	for _, w := range with {
		all.Images, all.Pasted = append(all.Images, w.Images...), append(all.Pasted, w.Pasted...)
		if w.Typed != "" {
			all.Command, all.Typed = w.Command, w.Typed
		}
	}
	return all
}

// Enter handles an entry (ReadInput classifies it) and returns its id in Queue and
// in the Prompt block. A prompt starts a turn; while one runs, it is delivered
// into it before its next request. A command that may run during a turn is run
// at once. Any other command, and what is entered after it, waits until nothing
// runs. Images are allowed only with a prompt.
func (c *Conversation) Enter(text string, with ...Extras) (id string) {
	all := mergeExtras(with)
	if custom, args, ok := slash.Called(c.Custom(), text); ok {
		return c.custom(custom, args, text, all.Images)
	}
	in := ReadInput(text)
	if name, _, ok := slash.Cut(text); ok && !slash.Builtin(name) && !slash.OfServer(name) && c.Session() == nil { // its commands are not known yet
		return c.enter(&entry{text: text, with: all, mayCallCustom: true, mayCallBuiltin: true})
	}
	images := all.Images
	if len(images) > 0 && in.Text == "" || in.Command != "" && len(images) > 0 {
		c.reportError(errors.New("an image goes with a prompt, not with a command"))
		return ""
	}
	switch {
	case in.Leave:
		return c.enter(&entry{text: text, whenIdle: true, work: func(context.Context) error {
			c.end(ErrLeft)
			return nil
		}})
	case in.Shell && in.Text == "":
		c.reportError(errors.New("no command: write one after the !, such as !git status"))
	case in.Shell && c.refuseWatcher(text):
	case in.Shell:
		return c.enter(&entry{text: text, whenIdle: true, work: func(ctx context.Context) error { return c.shell(ctx, in.Text) }})
	case in.Command != "":
		return c.command(text, in)
	case in.Text != "":
		return c.Say(in.Text, with...)
	}
	return ""
}

// Say enters a prompt, whatever its text looks like.
func (c *Conversation) Say(text string, with ...Extras) (id string) {
	if c.refuseWatcher(text) {
		return ""
	}
	all := mergeExtras(with)
	return c.enter(&entry{text: text, with: all, whenIdle: all.Command.OwnModel()})
}

// Prompt enters a prompt that may call a custom command; !command and built-in commands are
// plain text in it.
func (c *Conversation) Prompt(text string, with ...Extras) (id string) {
	if in := ReadInput(text); slash.OfServer(in.Command) {
		return c.command(text, in)
	}
	if c.refuseWatcher(text) {
		return ""
	}
	return c.enter(&entry{text: text, with: mergeExtras(with), mayCallCustom: true})
}

// refuseWatcher returns an entry to the input if this terminal only watches, and reports
// whether it does.
func (c *Conversation) refuseWatcher(text string) bool {
	c.mu.Lock()
	watches := c.watchesOnly()
	why := errOnlyWatches
	if c.runsSwarm() {
		why = errSwarm
	}
	c.mu.Unlock()
	if watches {
		c.emitBlock(TakenBack{Texts: []string{text}})
		c.reportError(why)
	}
	return watches
}

var errSwarm = errors.New("a swarm runs here, and takes no prompts; Ctrl+C interrupts it, pawl swarm resume continues it")

var errOnlyWatches = errors.New("this terminal only watches; Ctrl+C leaves; to take part: pawl attach --steer")

// Queue returns the entries that have not reached the model yet.
func (c *Conversation) Queue() []Queued {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []Queued
	after := false
	for _, e := range c.waiting {
		if begun := e.taken && e.work != nil || !e.sent && !e.enteredBusy; e.text == "" || begun {
			continue
		}
		after = after || e.work != nil
		out = append(out, Queued{ID: e.id, Text: e.text, After: after})
	}
	return out
}

// TakeBack takes back the waiting entry with that id, to be edited. It returns
// false if the entry has been delivered, or is about to be.
func (c *Conversation) TakeBack(id string) (text string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	i := slices.IndexFunc(c.waiting, func(e *entry) bool { return e.id == id })
	if i < 0 {
		return "", false
	}
	e := c.waiting[i]
	if e.taken && e.work == nil { // on its way to the session, which is fast
		c.mu.Unlock()
		<-e.handed
		c.mu.Lock()
	}
	if !slices.Contains(c.waiting, e) || !c.withdraw(e) {
		return "", false
	}
	return e.typedText(), true
}

// withdraw takes an entry back if it still waits. Callers hold mu.
func (c *Conversation) withdraw(e *entry) bool {
	if e.text == "" || e.taken && !e.sent {
		return false
	}
	if e.sent {
		if _, err := c.open.Session.Submit(c.ctx, session.Withdraw{ID: e.id}); err != nil {
			return false
		}
	}
	c.waiting = slices.DeleteFunc(c.waiting, func(o *entry) bool { return o == e })
	return true
}

// Interrupt cancels what runs; by is a person, or the name of a signal. Waiting
// entries are returned as a TakenBack block, to be edited. If nothing runs, it
// does nothing.
func (c *Conversation) Interrupt(by string) {
	c.mu.Lock()
	if c.runsSwarm() {
		interrupt := c.open.Attached.Interrupt
		c.mu.Unlock()
		interrupt(by)
		return
	}
	if c.watchesOnly() && c.cancel == nil {
		c.mu.Unlock()
		return // what runs is not this terminal's
	}
	var texts []string
	for _, e := range slices.Clone(c.waiting) {
		if c.withdraw(e) {
			texts = append(texts, e.typedText())
		}
	}
	open, cancel := c.open, c.cancel
	c.mu.Unlock()
	if cancel != nil {
		cancel(session.Interrupt{By: by})
	}
	if open != nil {
		_, _ = open.Session.Submit(c.ctx, session.Interrupt{By: by}) // an interrupt cannot fail
	}
	if len(texts) > 0 {
		c.emitBlock(TakenBack{Texts: texts})
	}
}

// Press decides what the interrupt key does (SPEC 10.3); the frontend does it. Typed is
// true when there is text in the input. What was typed is dropped before Interrupt is
// called, since what is typed after it is for the next prompt.
func (c *Conversation) Press(typed bool) lifecycle.Action {
	return c.press(lifecycle.Situation{Input: typed})
}

// PressInView is Press while a view covers the conversation.
func (c *Conversation) PressInView() lifecycle.Action {
	return c.press(lifecycle.Situation{View: true})
}

func (c *Conversation) press(at lifecycle.Situation) lifecycle.Action {
	now := c.cfg.Now()
	c.mu.Lock()
	defer c.mu.Unlock()
	at.Running = c.busy() && (!c.watchesOnly() || c.runsSwarm())
	return c.interrupts.Press(now, at)
}

// Typed records that something was typed: the next interrupt must be confirmed
// again before it exits.
func (c *Conversation) Typed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.interrupts.Typed()
}

func (c *Conversation) enter(e *entry) (id string) {
	c.Typed()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.queue(e)
}

// queue appends an entry to those that wait. Callers hold mu.
func (c *Conversation) queue(e *entry) (id string) {
	e.id, e.handed = c.nextID("entry"), make(chan struct{})
	c.waiting = append(c.waiting, e)
	after := slices.ContainsFunc(c.waiting, func(o *entry) bool { return o.work != nil && o.text != "" })
	if e.enteredBusy = c.busy(); e.enteredBusy && e.text != "" && after {
		c.announce(e, true)
	}
	if !c.working {
		c.working = true
		go c.work()
	}
	return e.id
}

// work handles the entries in order.
func (c *Conversation) work() {
	for {
		c.mu.Lock()
		i := slices.IndexFunc(c.waiting, func(e *entry) bool { return !e.taken })
		if i < 0 || c.err != nil || c.ctx.Err() != nil {
			c.working = false
			c.mu.Unlock()
			c.wakeNext()
			return
		}
		e := c.waiting[i]
		if e.whenIdle && c.open.Session.Busy() {
			s := c.open.Session
			c.mu.Unlock()
			if e.beside == nil || !e.beside(s) {
				c.waitIdle(s)
				continue // it may have been taken back
			}
			c.mu.Lock()
			c.waiting = slices.DeleteFunc(c.waiting, func(o *entry) bool { return o == e })
			c.mu.Unlock()
			continue
		}
		e.taken = true
		ctx, cancel := context.WithCancelCause(c.ctx)
		c.cancel = cancel
		c.mu.Unlock()

		err := c.do(ctx, e)
		c.mu.Lock()
		c.cancel = nil
		if !e.sent || err != nil {
			c.waiting = slices.DeleteFunc(c.waiting, func(o *entry) bool { return o == e })
		}
		c.mu.Unlock()
		cancel(nil)
		if err != nil {
			c.reportError(err)
		}
	}
}

func (c *Conversation) do(ctx context.Context, e *entry) error {
	if e.work != nil {
		return e.work(ctx)
	}
	defer close(e.handed)
	if e.mayCallCustom {
		if done, err := c.resolveCommand(ctx, e); done || err != nil {
			return err
		}
	}
	p := e.with.Command
	p.ID, p.Text, p.Images, p.Pasted = e.id, e.text, e.with.Images, e.with.Pasted
	seq, err := c.Session().Submit(ctx, p)
	if interrupted := (session.Interrupt{}); errors.As(err, &interrupted) { // on its way
		c.emitBlock(TakenBack{Texts: []string{e.typedText()}})
		err = nil
	}
	if err == nil && c.interruptedLate(ctx, e, seq) {
		return nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	e.sent = err == nil && seq == 0
	if e.sent && !e.announced && slices.Contains(c.waiting, e) { // otherwise it has been delivered by now
		c.announce(e, false)
	}
	return err
}

// interruptedLate carries out an interrupt that came while the session took a prompt, when
// there was nothing yet that it could end. It reports whether the prompt was taken back.
func (c *Conversation) interruptedLate(ctx context.Context, e *entry, seq int64) bool {
	interrupt := session.Interrupt{}
	if !errors.As(context.Cause(ctx), &interrupt) {
		return false
	}
	s := c.Session()
	if seq > 0 {
		_, _ = s.Submit(c.ctx, interrupt) // an interrupt cannot fail
		return false
	}
	if _, err := s.Submit(c.ctx, session.Withdraw{ID: e.id}); err != nil {
		return false // it was delivered
	}
	c.emitBlock(TakenBack{Texts: []string{e.typedText()}})
	return true
}

// announce emits a Queued block. Callers hold mu.
func (c *Conversation) announce(e *entry, after bool) {
	e.announced = true
	q := Queued{ID: e.id, Text: plain.Text(e.text), After: after}
	c.local = append(c.local, Change{What: Finished, Block: Block{ID: "queued-" + e.id, Ephemeral: true, Body: q}})
	c.wakeNext()
}

// waitIdle waits until nothing runs in a session.
func (c *Conversation) waitIdle(s *session.Session) {
	ctx, stop := context.WithCancel(c.ctx)
	defer stop()
	events := s.Events(ctx, s.View().Last())
	if !s.Busy() {
		stop() // a subscription must be read to its end
	}
	for _, err := range events {
		if err != nil || !s.Busy() {
			return
		}
	}
}

// shell runs a person's own command; its output and its end are events.
func (c *Conversation) shell(ctx context.Context, line string) error {
	s := c.Session()
	started, err := s.Submit(ctx, session.RunCommand{Command: line})
	if err == nil {
		_, err = s.Await(context.WithoutCancel(ctx), started)
	}
	return err
}

// Answered is a person's answer to a question.
type Answered struct {
	Text     string
	Verdicts []event.Verdict
	// None: the person does not answer. That cancels what a slash command asks, and is an
	// empty answer to anything else, which allows nothing.
	None bool
}

// Answer answers the open question with that id. The answer is an event of the
// session, which finishes the question's block.
func (c *Conversation) Answer(id string, a Answered) {
	c.mu.Lock()
	ask, own := c.openAsks[id]
	delete(c.openAsks, id)
	c.mu.Unlock()
	if own {
		ask <- a
		return
	}
	c.submit(session.Answer{ID: id, Text: a.Text, Verdicts: a.Verdicts})
}

// Pick answers a question that has items with the ID of one, or with "" for none.
func (c *Conversation) Pick(id, item string) { c.Answer(id, Answered{Text: item}) }

// SetMode changes the permission mode from the next check on.
func (c *Conversation) SetMode(mode permission.Mode) {
	c.mu.Lock()
	c.chosen = string(mode)
	c.mu.Unlock()
	c.submit(session.SetMode{Mode: string(mode)})
}

// submit submits an operation in the background.
func (c *Conversation) submit(op session.Op) {
	if s := c.Session(); s != nil {
		c.runAside(func(ctx context.Context) error {
			_, err := s.Submit(ctx, op)
			return err
		})
	}
}
