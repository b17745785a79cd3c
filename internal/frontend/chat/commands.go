package chat

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// This file runs the slash commands: pawl's own, and those from files, skills and
// MCP servers.

// command handles a slash command.
func (c *Conversation) command(text string, in Input) (id string) {
	if slash.OfServer(in.Command) { // of one that nothing is known of yet, or before the session is open
		return c.enter(&entry{text: text, idle: true, work: func(ctx context.Context) error {
			slash.Learn(ctx, c.Session())
			if custom, ok := slash.FindCustom(c.Custom(), in.Command); ok {
				return c.fetch(ctx, custom, in.Text)
			}
			return fmt.Errorf("no MCP server has a prompt /%s; /help lists what there is", in.Command)
		}})
	}
	cmd, err := slash.Find(in.Command)
	if err != nil {
		c.failed(err)
		return ""
	}
	c.mu.Lock()
	swarm := c.runsSwarm()
	c.mu.Unlock()
	if swarm && !cmd.Anytime && cmd.Name != "quit" { // it would wait for the end, which ends all
		c.refused(text)
		return ""
	}
	if s := c.Session(); s != nil && s.Busy() {
		c.Typed()
		if c.besides(s, cmd, in.Text) {
			return ""
		}
		if _, asked := c.Question(); asked { // it would wait for an answer that nobody knows it waits for
			c.failed(fmt.Errorf("/%s waits for the end of the turn: answer the question first, or end the turn with Ctrl+C", cmd.Name))
			return ""
		}
	}
	return c.enter(&entry{text: text, idle: true, work: func(ctx context.Context) error { return c.reports(ctx, cmd, in.Text) }})
}

// reports runs a command that reports its own progress.
func (c *Conversation) reports(ctx context.Context, cmd slash.Command, args string) error {
	s := c.Session()
	c.tell(s, true)
	err := c.run(ctx, cmd, args)
	c.tell(s, false)
	return err
}

// resolve has a prompt be what the command comes to that it calls. It reports whether
// that was done already.
func (c *Conversation) resolve(ctx context.Context, e *entry) (done bool, err error) {
	custom, args, ok := slash.Called(c.Custom(), e.text)
	switch {
	case ok && custom.Bad != nil:
		return true, custom.Bad
	case ok && custom.Fetch == nil:
		text := custom.Prompt(args)
		c.mu.Lock()
		defer c.mu.Unlock()
		e.with.Narrowed, e.with.Typed, e.text = custom.Narrowed, e.text, text
	case !ok && e.typed:
		in := ReadInput(e.text)
		if in.Command == "" { // of several lines
			return false, nil
		}
		cmd, err := slash.Find(in.Command)
		if err == nil {
			c.rest(c.Session())
			err = c.reports(ctx, cmd, in.Text)
		}
		return true, err
	}
	return false, nil
}

// custom enters what a command from elsewhere comes to.
func (c *Conversation) custom(custom slash.Custom, args, text string, images []llm.Media) (id string) {
	switch {
	case custom.Bad != nil:
		c.failed(custom.Bad)
		return ""
	case custom.Fetch == nil:
		return c.Say(custom.Prompt(args), With{Narrowed: custom.Narrowed, Typed: text, Images: images})
	}
	c.aside(func(ctx context.Context) error { return c.fetch(ctx, custom, args) })
	return ""
}

// fetch enters the prompt that a server has.
func (c *Conversation) fetch(ctx context.Context, custom slash.Custom, args string) error {
	text, images, err := custom.Fetch(ctx, args)
	if err == nil {
		c.Say(text, With{Images: images})
	}
	return err
}

// besides runs a command in parallel with a turn, and reports whether that is possible.
func (c *Conversation) besides(s *session.Session, cmd slash.Command, args string) bool {
	do := func(ctx context.Context) error { return c.run(ctx, cmd, args) }
	if !cmd.Anytime {
		if cmd.Meanwhile == nil {
			return false
		}
		op := cmd.Meanwhile(args)
		if op == nil {
			return false
		}
		do = func(ctx context.Context) error {
			_, err := s.Submit(ctx, op)
			return err
		}
	}
	c.aside(do)
	return true
}

// aside runs do in the background, one after the other in the order of the calls.
func (c *Conversation) aside(do func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.asides
	done := make(chan struct{})
	c.asides = done
	c.beside++
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		c.besideDone(do(c.ctx))
	}()
}

func (c *Conversation) besideDone(err error) {
	if err != nil {
		c.failed(err)
	}
	c.mu.Lock()
	c.beside--
	c.mu.Unlock()
	c.wakeNext()
}

func (c *Conversation) run(ctx context.Context, cmd slash.Command, args string) error {
	h := c.host("/" + cmd.Name)
	defer h.out.end()
	if cmd.Prompt != nil {
		_, err := c.Session().Submit(ctx, session.Prompt{Text: cmd.Prompt(args)})
		return err
	}
	return cmd.Run(ctx, h, args)
}

// tell records the range of events that a command itself reports.
func (c *Conversation) tell(s *session.Session, begins bool) {
	last := s.View().Last()
	c.mu.Lock()
	defer c.mu.Unlock()
	if begins {
		c.reported = append(c.reported, reported{from: last, running: true})
	} else if n := len(c.reported); n > 0 { // otherwise another session is open
		c.reported[n-1] = reported{from: c.reported[n-1].from, to: last}
	}
}
