package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
)

// This file runs the slash commands: pawl's own, and those from files, skills and
// MCP servers.

// command handles a slash command.
func (c *Conversation) command(text string, in Input) (id string) {
	if slash.OfServer(in.Command) { // of a server that is not known yet, or before the session is open
		return c.enter(&entry{text: text, whenIdle: true, work: func(ctx context.Context) error {
			slash.Learn(ctx, c.Session())
			if custom, ok := slash.FindCustom(c.Custom(), in.Command); ok {
				return c.enterServerPrompt(ctx, custom, in.Text)
			}
			return fmt.Errorf("unknown prompt /%s of an MCP server; /help lists all", in.Command)
		}})
	}
	cmd, err := slash.Find(in.Command)
	if err != nil {
		c.reportError(err)
		return ""
	}
	c.mu.Lock()
	swarm := c.runsSwarm()
	c.mu.Unlock()
	if swarm && !cmd.Anytime && cmd.Name != "quit" { // it would wait for the swarm's end, and that ends the conversation
		c.refuseWatcher(text)
		return ""
	}
	beside := func(s *session.Session) bool { return c.runBeside(s, cmd, in.Text) }
	if s := c.Session(); s != nil && s.Busy() {
		c.Typed()
		if beside(s) {
			return ""
		}
		if _, asked := c.Question(); asked { // it would wait for the answer, and nothing would show that
			c.reportError(fmt.Errorf("/%s waits for the end of the turn: answer the question first, or end the turn with Ctrl+C", cmd.Name))
			return ""
		}
	}
	return c.enter(&entry{text: text, whenIdle: true, beside: beside, work: func(ctx context.Context) error { return c.runReporting(ctx, cmd, in.Text) }})
}

// runReporting runs a command that reports its own progress.
func (c *Conversation) runReporting(ctx context.Context, cmd slash.Command, args string) error {
	s := c.Session()
	c.markReported(s, true)
	err := c.run(ctx, cmd, args)
	c.markReported(s, false)
	return err
}

// resolveCommand replaces an entry that calls a custom command by the command's prompt. done:
// the entry was a built-in command, which was carried out.
func (c *Conversation) resolveCommand(ctx context.Context, e *entry) (done bool, err error) {
	custom, args, ok := slash.Called(c.Custom(), e.text)
	switch {
	case ok && custom.Bad != nil:
		return true, custom.Bad
	case ok && custom.Fetch == nil:
		sent := custom.Sends(args)
		if sent.OwnModel() {
			c.waitIdle(c.Session())
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		e.with.Command, e.with.Typed, e.text = sent, e.text, sent.Text
	case !ok && e.mayCallBuiltin:
		in := ReadInput(e.text)
		if in.Command == "" { // of several lines
			return false, nil
		}
		cmd, err := slash.Find(in.Command)
		if s := c.Session(); err == nil && !(s.Busy() && c.runBeside(s, cmd, in.Text)) {
			c.waitIdle(s)
			err = c.runReporting(ctx, cmd, in.Text)
		}
		return true, err
	}
	return false, nil
}

// custom enters the prompt of a custom command.
func (c *Conversation) custom(custom slash.Custom, args, text string, images []llm.Media) (id string) {
	switch {
	case custom.Bad != nil:
		c.reportError(custom.Bad)
		return ""
	case custom.Fetch == nil:
		sent := custom.Sends(args)
		return c.Say(sent.Text, Extras{Command: sent, Typed: text, Images: images})
	}
	c.runAside(func(ctx context.Context) error { return c.enterServerPrompt(ctx, custom, args) })
	return ""
}

// enterServerPrompt enters a prompt of an MCP server.
func (c *Conversation) enterServerPrompt(ctx context.Context, custom slash.Custom, args string) error {
	text, images, err := custom.Fetch(ctx, args)
	if err == nil {
		c.Say(text, Extras{Images: images})
	}
	return err
}

// runBeside runs a command in parallel with a turn, and reports whether that is possible.
func (c *Conversation) runBeside(s *session.Session, cmd slash.Command, args string) bool {
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
	c.runAside(do)
	return true
}

// runAside runs do in the background, one after the other in the order of the calls.
func (c *Conversation) runAside(do func(context.Context) error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	before := c.sideTasksDone
	done := make(chan struct{})
	c.sideTasksDone = done
	c.sideTasks++
	go func() {
		defer close(done)
		if before != nil {
			<-before
		}
		c.sideTaskDone(do(c.ctx))
	}()
}

func (c *Conversation) sideTaskDone(err error) {
	if err != nil {
		c.reportError(err)
	}
	c.mu.Lock()
	c.sideTasks--
	c.mu.Unlock()
	c.wakeNext()
}

func (c *Conversation) run(ctx context.Context, cmd slash.Command, args string) error {
	h := c.host(plain.Line(strings.TrimSpace("/" + cmd.Name + " " + args)))
	defer h.out.end()
	if cmd.Prompt != nil {
		_, err := c.Session().Submit(ctx, session.Prompt{Text: cmd.Prompt(args)})
		return err
	}
	return cmd.Run(ctx, h, args)
}

// markReported records the range of events that a command itself reports.
func (c *Conversation) markReported(s *session.Session, begins bool) {
	last := s.View().Last()
	c.mu.Lock()
	defer c.mu.Unlock()
	if begins {
		c.reported = append(c.reported, reported{from: last, running: true})
	} else if n := len(c.reported); n > 0 { // otherwise another session is open
		c.reported[n-1] = reported{from: c.reported[n-1].from, to: last}
	}
}
