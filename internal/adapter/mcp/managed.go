package mcp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// managedServer keeps one server running. It starts the server when it is first needed,
// and again after it has died.
type managedServer struct {
	s   *Servers
	srv Server
	log *tail
	// given: the program that drives pawl gave it, and may take it away.
	given bool
	gone  bool // it did; guarded by mu

	mu       sync.Mutex
	c        *conn
	starting chan struct{} // closed when a start is finished
	restarts process.Restarts
	broken   error // why it is not connected
	starts   int

	looked   bool         // what was accepted was read
	accepted *Accepted    // nil: nothing was
	made     []serverTool // from what was accepted
	madeOf   *Accepted
	judged   bool // its present state was judged
	now      trust.Pinning
	begun    bool
	learned  chan struct{} // closed when learn is finished
	told     string

	resources []string // of the running server, or nil
}

func newManagedServer(s *Servers, srv Server) *managedServer {
	return &managedServer{s: s, srv: srv, log: &tail{}, learned: make(chan struct{})}
}

// wasAccepted returns what was accepted of the server, or nil if nothing was.
func (p *managedServer) wasAccepted() *Accepted {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.looked {
		p.looked = true
		var err error
		if p.accepted, err = p.s.opt.Pins.Of(p.srv); err != nil {
			p.s.note("MCP server " + p.srv.Name + ": " + err.Error())
		}
	}
	return p.accepted
}

var errSessionEnds = errors.New("the session ends")

// learnOnce starts, in the background, a server whose tools are not known yet: at the
// first call, and again after stop.
func (p *managedServer) learnOnce() {
	if p.wasAccepted() != nil {
		return
	}
	p.mu.Lock()
	was := p.begun
	p.begun = true
	p.mu.Unlock()
	if !was && !p.s.work.begin(func() { p.list(p.s.life) }) {
		p.list(p.s.life) // which has ended: nothing starts
	}
}

// list starts a server whose tools are not known yet.
func (p *managedServer) list(ctx context.Context) {
	p.mu.Lock()
	learned := p.learned
	p.mu.Unlock()
	defer close(learned)
	if _, err := p.get(ctx); err != nil && ctx.Err() == nil {
		p.s.note(fmt.Sprintf("the MCP server %s cannot be used: %v", p.srv.Name, err))
	}
}

// settled waits until learn, if it runs, is finished. It returns false if ctx ends before
// that.
func (p *managedServer) settled(ctx context.Context) bool {
	p.mu.Lock()
	begun, learned := p.begun, p.learned
	p.mu.Unlock()
	if !begun {
		return true
	}
	select {
	case <-learned:
	case <-ctx.Done():
		select {
		case <-learned: // both: the server was quick enough
		default:
			return false
		}
	}
	return true
}

// get returns the connection to the running server, and starts one if there is none.
func (p *managedServer) get(ctx context.Context) (*conn, error) {
	if p.srv.Problem != "" {
		return nil, errors.New(p.srv.Problem)
	}
	p.wasAccepted()
	for {
		p.mu.Lock()
		p.reapLocked()
		if p.c != nil {
			c, again := p.c, p.c.takeChanged()
			p.mu.Unlock()
			if again {
				if err := p.judge(ctx, c); err != nil {
					return nil, err
				}
			}
			return c, nil
		}
		if p.gone {
			p.mu.Unlock()
			return nil, errors.New("the program has taken it away")
		}
		if p.s.life.Err() != nil {
			p.mu.Unlock()
			return nil, errSessionEnds
		}
		starting := p.starting
		if starting == nil {
			wait, ok := p.restarts.Wait(p.s.opt.Now())
			if !ok {
				err := fmt.Errorf("it is not started again after %d failures in a row: %w; the person can start it with /mcp restart %s", p.restarts.Failures(), p.broken, p.srv.Name)
				p.mu.Unlock()
				return nil, err
			}
			starting = make(chan struct{})
			if !p.s.work.begin(func() { p.start(starting, wait) }) {
				p.mu.Unlock()
				return nil, errSessionEnds
			}
			p.starting = starting
		}
		p.mu.Unlock()
		select {
		case <-starting:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
		err, ok := p.broken, p.c != nil
		p.mu.Unlock()
		if !ok && err != nil {
			return nil, err
		}
	}
}

// start starts the server and judges its descriptions.
func (p *managedServer) start(done chan struct{}, wait time.Duration) {
	var c *conn
	err := p.s.opt.Sleep(p.s.life, wait)
	if err == nil {
		c, err = p.s.dial(p.s.life, p.srv, p.log)
	}
	if err == nil {
		if err = p.judge(p.s.life, c); err != nil {
			c.kill(stopTime)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.starting = nil
	if err == nil {
		p.c, p.broken = c, nil
		p.starts++
	} else {
		p.failedLocked(p.withLog(err))
	}
	close(done)
}

// withLog adds the last output of the server, which usually contains the reason.
func (p *managedServer) withLog(err error) error {
	if last := telling(p.log.lines(60)); len(last) > 0 {
		return fmt.Errorf("%w; it printed: %s", err, cut(strings.Join(last, " | "), 600))
	}
	return err
}

// telling returns the three lines of a log to show: from the first one that calls itself
// an error, since a runtime prints its stack behind it, or the last ones.
func telling(log []string) []string {
	const most = 3
	at := slices.IndexFunc(log, func(l string) bool { return isError().MatchString(l) })
	if at < 0 {
		at = max(0, len(log)-most)
	}
	return log[at:min(len(log), at+most)]
}

var isError = lazyregexp.New(`(?i)(\b|[a-z])(error|exception)\b|\b(panic|fatal)\b`)

// judge compares the server's descriptions with the accepted ones. Without accepted ones
// it accepts them as they are: the person configured the server, or trusted the folder
// that configures it.
func (p *managedServer) judge(ctx context.Context, c *conn) error {
	l, err := c.list(ctx)
	if err != nil {
		return fmt.Errorf("list its tools: %w", err)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.resources = l.resources
	keep := l
	if a := p.accepted; a != nil && !a.Prompts { // accepted before pawl knew of prompts: these are the first
		keep.instructions, keep.items = a.Instructions, slices.Clone(a.Items)
		for _, i := range l.items {
			if i.Kind == "prompt" {
				keep.items = append(keep.items, i)
			}
		}
	}
	if p.accepted == nil || !p.accepted.Prompts {
		a, err := p.s.opt.Pins.Keep(p.srv, keep)
		if a == nil {
			return err
		}
		if err != nil {
			p.s.note("MCP server " + p.srv.Name + ": what it offers cannot be kept: " + err.Error())
		}
		p.accepted = a
	}
	p.judged, p.now = true, p.accepted.Pin.Pinned(p.srv.identity(l.instructions, l.items))
	if text := changes(p.srv.Name, p.now); text != "" && text != p.told {
		p.told = text
		p.s.note(text)
	}
	return nil
}

// changes describes, for the person, how a server differs from what was accepted.
func changes(name string, now trust.Pinning) string {
	var out []string
	for _, c := range now.Changes {
		if len(out) == 5 {
			out = append(out, "…")
			break
		}
		out = append(out, fmt.Sprintf("%s %s", cut(visible(c.What), 80), c.How))
	}
	if len(out) == 0 && now.Refused == "" {
		return ""
	}
	text := "the MCP server " + name + " is not as it was accepted: " + strings.Join(out, ", ")
	if now.Refused != "" {
		text = "nothing of the MCP server " + name + " is used: " + now.Refused
	}
	return text + "; look at it with: pawl mcp test " + name + ", and accept it with: pawl mcp accept " + name
}

// whyBlocked returns why a tool must not be called, or "" if it may be called.
func (p *managedServer) whyBlocked(key string) string {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case !p.judged || p.now.Offered[key]:
		return ""
	case p.now.Refused != "":
		return p.now.Refused
	}
	for _, c := range p.now.Changes {
		if c.What == key && c.How == "gone" {
			return "the server no longer has it"
		}
	}
	return "its description changed since it was accepted; the person can look at it: pawl mcp accept " + p.srv.Name
}

// reapLocked drops a server that has ended. How long it ran decides how soon it may be
// started again.
func (p *managedServer) reapLocked() {
	c := p.c
	if c == nil || c.alive() {
		return
	}
	p.c = nil
	p.restarts.Lived(p.s.opt.Now().Sub(c.began))
	p.failedLocked(p.withLog(errors.New("it ended")))
	go c.kill(0) // processes that it left running
}

func (p *managedServer) failedLocked(why error) {
	p.broken = why
	p.restarts.Failed(p.s.opt.Now())
}

// stop ends the running server, if any, and permits a new start.
func (p *managedServer) stop() {
	p.mu.Lock()
	c := p.c
	p.c, p.broken = nil, nil
	p.restarts.Reset()
	select {
	case <-p.learned:
		p.begun, p.learned = false, make(chan struct{})
	default:
	}
	p.mu.Unlock()
	if c != nil {
		c.kill(stopTime)
	}
}

func (p *managedServer) status() Status {
	a := p.wasAccepted()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.reapLocked()
	st := Status{Server: p.srv, State: "not started", Starts: p.starts, Log: p.log.lines(20)}
	switch {
	case p.srv.Problem != "":
		st.State, st.Why = "failed", p.srv.Problem
	case p.c != nil:
		st.State = "runs"
		if p.c.proc != nil {
			st.PID = p.c.proc.Pid()
		}
	case p.starting != nil:
		st.State = "starting"
	case p.broken != nil:
		st.State, st.Why, st.Err = "failed", p.broken.Error(), p.broken
	default:
		st.Why = p.s.unfetched(p.srv)
	}
	if a != nil {
		st.Tools = a.Tools()
	}
	if p.judged {
		st.Tools = 0
		for key, ok := range p.now.Offered {
			if ok && strings.HasPrefix(key, "tool:") {
				st.Tools++
			}
		}
		for _, c := range p.now.Changes {
			st.Held = append(st.Held, cut(visible(c.What), 80)+": "+c.How)
		}
		if p.now.Refused != "" {
			st.Tools, st.Why = 0, p.now.Refused
		}
	}
	return st
}

func (c *conn) takeChanged() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	was := c.changed
	c.changed = false
	return was
}
