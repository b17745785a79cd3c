// Package agentsdk lets a program talk to pawl over pipes, with a line of JSON for each
// message. It uses the schema of Claude Code's stream-json, which the Claude Agent SDK
// and scripts around `claude -p` write and read (ADR 021). pawl's own stream is package
// headless.
//
// It promises that every turn ends with one line of type result. Every request of the
// program is answered, with an error if pawl does not support it. A call that the
// program allows runs exactly as it was asked about, or not at all. A program that did
// not declare that it answers questions is asked none: then a call that needs
// permission is denied, as in every run without a person.
package agentsdk

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/agents"
	"github.com/pawl-agent/pawl/internal/adapter/plugin"
	"github.com/pawl-agent/pawl/internal/adapter/skills"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/frontend/headless"
	"github.com/pawl-agent/pawl/internal/frontend/slash"
	"github.com/pawl-agent/pawl/internal/policy/claudecode"
	"github.com/pawl-agent/pawl/internal/team/structured"
)

// Setup is the program's settings for the session before it is opened.
type Setup struct {
	System string // replaces pawl's own instructions; "" keeps them
	Append string // is added after the instructions
	// Answer is the form of the answers, nil for any. Open tells the model about it.
	Answer *structured.Answer
	// Hooks and Servers are those inside the program, nil for none.
	Hooks   *Hooks
	Servers *Servers
	// Ask and Deny are permission rules.
	Ask, Deny []string
	// Settings are given in Claude Code's form: what they forbid holds.
	Settings []claudecode.File
	// MCP are more servers, as in .mcp.json; "" for none.
	MCP string
	// Agents are kinds of agents.
	Agents []agents.Kind
	// Plugins are folders with plugins.
	Plugins []Plugin
	// Skills are the names of those that the model is offered; nil for all.
	Skills []string
}

// Offered returns those of the skills that the model is offered.
func (s Setup) Offered(all []skills.Skill) []skills.Skill {
	if s.Skills == nil {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(k skills.Skill) bool {
		return !slices.ContainsFunc(s.Skills, func(n string) bool { return k.Name == n || strings.HasSuffix(k.Name, ":"+n) })
	})
}

// Plugin is a folder with a plugin.
type Plugin struct {
	Type      string `json:"type"` // local
	Path      string `json:"path"`
	NoServers bool   `json:"skipMcpDiscovery"` // its MCP servers are not used
}

// Options of a conversation.
type Options struct {
	// Prompt, if set, is the only one: In is not read.
	Prompt, Piped string
	Answer        *structured.Answer // as in Setup, if the program sets none

	In  io.Reader
	Out io.Writer
	Err io.Writer // what a person should know; never part of the stream

	// Open opens the session. It is called once, at the first message that needs a
	// session.
	Open func(context.Context, Setup) (*session.Session, error)
	// Reopen, if set, closes the session and opens it again. It returns the old one if that
	// stays open, and nil if none is open.
	Reopen func(context.Context, Setup, *session.Session) (*session.Session, error)
	// Custom, if set, lists what a prompt may call by /NAME: before the session is open
	// too, if the program asks then.
	Custom func(Setup) []slash.Custom
	// Models, if set, lists the models that can be chosen.
	Models func() []string
	// SetServers, if set, replaces the MCP servers that the program gave. The answer is the
	// program's.
	SetServers func(ctx context.Context, config []byte) (any, error)
	// Kinds, if set, lists the kinds of agents that pawl itself knows.
	Kinds func(Setup) []agents.Kind
	// Plugins, if set, lists those of the session.
	Plugins func() []plugin.Plugin
	// Ask: the program answers questions about permissions. Silent: not in the mode that
	// it began with, which denies what would be asked.
	Ask, Silent bool
	// HookEvents: the hooks that ran are told as well.
	HookEvents bool
	// Replay: the prompts are told as well, when they begin.
	Replay bool
	// Partial: replies are streamed in pieces as well.
	Partial bool

	Version string
	Timeout time.Duration // 0: none
	Now     func() time.Time
	// Signals yields the names of signals. Each one interrupts the turn and ends the
	// conversation after it.
	Signals <-chan string
}

// conversation is owned by one goroutine: all input from outside arrives on channels.
type conversation struct {
	Options
	ctx context.Context
	w   *writer

	silent bool // Silent, or the mode that the program chose later

	setup  Setup
	setUp  string // the initialize that did it, "" for none
	unkept error  // why the last initialize failed, nil if it did not
	s      *session.Session
	events chan eventOrError

	replies   chan func()   // answers to requests that took a while
	late      int           // how many are to come
	servers   []byte        // of the last mcp_set_servers, nil for none
	reloading bool          // the session is opened again
	setting   chan struct{} // closed when the last mcp_set_servers is done, nil for none
	accepted  chan error    // of the prompt that is being submitted
	sending   bool
	prompts   []queued         // that wait for what comes before them
	withheld  []session.Prompt // that start no turn: they come with the next prompt

	submitted        int                          // prompts whose Prompted was not seen yet
	forms            []*structured.Answer         // of them, if answers have a form
	form             *structured.Answer           // of the running turn, or of the last one
	running          bool                         // a turn
	last             string                       // the call that was started last
	open             map[string]ask               // questions to the program, by request
	operations       map[int64]func(event.OpDone) // what is done when an operation has ended, by its cause
	compacting       int                          // of them, those that a prompt asked for
	refusals         []error                      // of prompts that were refused while a turn ran
	requests         int
	requester        *requester
	outgoingRequests map[string]*outgoing // requests to the program, besides questions
	held             []*outgoing          // that wait for messages which come first
	lastSeq          int64                // the last event that was handled
	closed           chan error           // of closing the session; nil before
	hasClosed        bool                 // the session is closed

	model  string // that the session began with
	signal string // the signal that ends the conversation
	code   int
}

type eventOrError struct {
	e   event.Event
	err error
}

// Run runs the conversation until the program closes its side and no turn runs. It
// returns the exit code of the last turn. An error means that the conversation could
// not go on; the end of a running turn is recorded.
func Run(ctx context.Context, o Options) (code int, err error) {
	// The end of ctx interrupts the turn, whose end must still be read.
	own, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	t := &conversation{
		Options: o, ctx: own, events: make(chan eventOrError), accepted: make(chan error, 1), replies: make(chan func()),
		open: map[string]ask{}, operations: map[int64]func(event.OpDone){},
		requester: &requester{to: make(chan *outgoing), drop: make(chan *outgoing), over: make(chan struct{})}, outgoingRequests: map[string]*outgoing{},
	}
	t.setup.Answer, t.silent = o.Answer, o.Silent
	t.w = newWriter(o.Out, o.Version, o.Partial)
	t.w.hooks = o.HookEvents
	lines := make(chan line)
	if o.Prompt != "" {
		close(lines)
		t.prompt(queued{Prompt: session.Prompt{Text: o.Prompt, Piped: o.Piped}})
	} else {
		go read(own, o.In, lines)
	}
	err = t.loop(lines, ctx.Done())
	close(t.requester.over)
	switch {
	case t.s == nil || t.hasClosed:
	case t.closed != nil:
		err = cmp.Or(<-t.closed, err)
	default:
		err = cmp.Or(t.s.Close(), err)
	}
	return t.code, cmp.Or(t.w.err, err)
}

// loop handles all input. The end of stopped ends the conversation.
func (t *conversation) loop(lines <-chan line, stopped <-chan struct{}) error {
	var limit <-chan time.Time
	if t.Timeout > 0 {
		timer := time.NewTimer(t.Timeout)
		defer timer.Stop()
		limit = timer.C
	}
	for {
		if t.w.err != nil {
			return nil // nobody reads any more
		}
		if (lines == nil && t.late == 0 || t.signal != "") && !t.busy() && t.closed == nil {
			if t.s == nil {
				return nil
			}
			t.closed = make(chan error, 1)
			go func() { t.closed <- t.s.Close() }() // its hooks are called meanwhile
		}
		select {
		case err := <-t.closed:
			t.hasClosed = true
			return err
		case l, more := <-lines:
			if !more {
				lines = nil
				if t.unkept != nil {
					return t.unprepared()
				}
				t.inputClosed()
				continue
			}
			if err := t.read(l); err != nil {
				return err
			}
		case e := <-t.events:
			if e.err != nil {
				return e.err
			}
			t.handle(e.e)
			if e.e.Seq > 0 {
				t.lastSeq = max(t.lastSeq, e.e.Seq) // a reload yields the first ones again
				t.sendHeld(lines != nil)
			}
		case reply := <-t.replies:
			t.late--
			reply()
		case err := <-t.accepted:
			t.submitDone(err)
		case c := <-t.requester.to:
			t.send(c, lines != nil)
		case c := <-t.requester.drop:
			t.cancel(c)
		case sig := <-t.Signals:
			t.stop(sig)
		case <-limit:
			t.stop("timeout")
		case <-stopped:
			stopped = nil
			t.stop("SIGTERM")
		}
	}
}

// busy reports whether a turn runs or is about to start, also by the prompt of a person
// who steers the session from elsewhere.
func (t *conversation) busy() bool {
	return t.signal == "" && t.s != nil && t.s.TurnAfter(t.lastSeq) || t.running || t.reloading || t.sending || t.submitted > 0 || len(t.prompts) > 0 || len(t.operations) > 0
}

// stop interrupts what runs, and ends the conversation after it.
func (t *conversation) stop(by string) {
	t.signal, t.prompts = by, nil
	t.code = headless.CodeOf(event.EndInterrupted, by)
	if t.s != nil {
		_, _ = t.s.Submit(t.ctx, session.Interrupt{By: by})
	}
}

// session returns the session, and opens it the first time.
func (t *conversation) session() (*session.Session, error) {
	if t.s != nil {
		return t.s, nil
	}
	s, err := t.Open(t.ctx, t.setup)
	if err != nil {
		return nil, err
	}
	t.attach(s)
	return s, nil
}

// attach goes on with a session that was opened.
func (t *conversation) attach(s *session.Session) {
	t.s = s
	t.requester.log.Store(s)
	t.model = s.View().Info().Ref()
	t.w.opened(s)
	t.w.commands = func() []string { return names(t.commands()) }
	if t.Plugins != nil {
		t.w.plugins = t.Plugins
	}
	t.w.agents = names(t.kinds())
	events := s.Events(t.ctx, 0) // before anything runs: pieces of a reply are told once
	go func() {
		for e, err := range events {
			select {
			case t.events <- eventOrError{e, err}:
			case <-t.ctx.Done():
				return
			}
		}
	}()
}

// handle passes an event on to the program. Events from before this process only describe the session's
// configuration.
func (t *conversation) handle(e event.Event) {
	if e.Seq > 0 && (e.Seq <= t.w.began || !t.running && closes(e.Body)) {
		t.w.configured(e.Body)
		return
	}
	switch b := e.Body.(type) {
	case event.Prompted:
		if b.Source == event.Person {
			if t.Replay {
				t.w.replayed(e, b)
			}
			t.submitted = max(t.submitted-1, 0)
			t.takeForm()
		}
		if !t.running {
			t.running = true
			t.w.begins(t.Now())
		}
	case event.CallStarted:
		t.last = b.ID
	case event.Asked:
		t.ask(b)
	case event.Interrupted:
		t.withdraw()
	case event.OpDone:
		if done := t.operations[e.Cause]; done != nil {
			delete(t.operations, e.Cause)
			done(b)
		}
	case event.Ended:
		t.running = false
		t.withdraw()
		if t.signal == "" {
			t.code = headless.CodeOf(b.End, "")
			if t.code == 0 && t.form != nil {
				if _, why := t.form.Value(); why != "" {
					t.code = headless.Misfit
				}
			}
		}
	}
	t.w.event(e)
	if b, ok := e.Body.(event.Ended); ok {
		t.w.result(b, t.form, t.Now())
		t.form = nil
		for _, err := range t.refusals {
			t.failed(err)
		}
		t.refusals = nil
		t.next()
	}
}

// closes reports whether an event ends something. Where no turn of this process runs, it
// closes what an earlier one left open: no prompt waits for its result.
func closes(b event.Body) bool {
	_, call := b.(event.CallDone)
	_, turn := b.(event.Ended)
	return call || turn
}

// takeForm takes the form of a prompt that begins a turn. One that joins a turn has the
// turn's.
func (t *conversation) takeForm() {
	if len(t.forms) == 0 {
		return
	}
	if !t.running {
		t.form = t.forms[0]
	}
	t.forms = t.forms[1:]
}

// say prints a message for a person, which is not part of the stream.
func (t *conversation) say(format string, a ...any) { fmt.Fprintf(t.Err, "pawl: "+format+"\n", a...) }
