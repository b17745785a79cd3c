package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// managedServer keeps one server at one root running. It starts the server when it is
// first needed, starts it again after it has died, and stops it when nobody needs it.
type managedServer struct {
	s    *Servers
	alts []*Server // the alternatives, the best one first
	root string

	mu       sync.Mutex
	client   *client
	starting chan struct{} // closed when a start is finished
	restarts process.Restarts
	broken   error // why no server runs
	starts   int
	at       int // the index of the alternative in use

	queue   []tool.CodeChange
	hurry   context.CancelFunc // ends the wait for the diagnostics of earlier changes, when more changes come
	working bool
	idle    chan struct{} // closed while no change is queued
	shown   chan struct{} // closed while the server has the present contents of the files
}

func newManagedServer(s *Servers, alts []*Server, root string) *managedServer {
	p := &managedServer{s: s, alts: alts, root: root, idle: make(chan struct{}), shown: make(chan struct{})}
	close(p.idle)
	close(p.shown)
	return p
}

// get returns the running server, and starts one if there is none.
func (p *managedServer) get(ctx context.Context) (*client, error) {
	for {
		p.mu.Lock()
		p.buryLocked()
		if p.client != nil {
			c := p.client
			p.mu.Unlock()
			return c, nil
		}
		starting := p.starting
		if starting == nil {
			wait, ok := p.restarts.Wait(p.s.opt.Now())
			if !ok {
				err := fmt.Errorf("%s is not started again after %d failures in a row: %w; the person can start it with /lsp restart", p.alts[p.at].Name, p.restarts.Failures(), p.broken)
				p.mu.Unlock()
				return nil, err
			}
			starting = make(chan struct{})
			p.starting = starting
			go p.start(starting, wait)
		}
		p.mu.Unlock()
		select {
		case <-starting:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		p.mu.Lock()
		err := p.broken
		ok := p.client != nil
		p.mu.Unlock()
		if !ok && err != nil {
			return nil, err
		}
	}
}

// buryLocked drops a server that has ended. How it ended decides how soon it may be
// started again.
func (p *managedServer) buryLocked() {
	c := p.client
	if c == nil {
		return
	}
	why := c.alive()
	if why == nil {
		return
	}
	p.client = nil
	if !c.ending.Load() {
		p.restarts.Lived(p.s.opt.Now().Sub(c.began))
		p.failedLocked(why)
	}
	p.s.remember(c)
}

func (p *managedServer) failedLocked(why error) {
	p.broken = why
	p.restarts.Failed(p.s.opt.Now())
}

// start starts the first available alternative, after a delay.
func (p *managedServer) start(done chan struct{}, wait time.Duration) {
	ctx, cancel := p.s.living()
	defer cancel()
	var c *client
	err := p.s.opt.Sleep(ctx, wait)
	if err == nil {
		c, err = p.startFirst(ctx)
	}
	p.mu.Lock()
	p.starting = nil
	if err == nil {
		p.client, p.broken = c, nil
		p.starts++
	} else {
		p.failedLocked(err)
		if absent := (*AbsentError)(nil); errors.As(err, &absent) || errors.Is(err, errUntrusted) {
			p.restarts.Reset() // it may be installed, or trusted, at any time
		}
	}
	p.mu.Unlock()
	close(done)
}

func (p *managedServer) startFirst(ctx context.Context) (*client, error) {
	var first error
	for i, srv := range p.alts {
		c, err := p.s.launch(ctx, srv, p.root)
		if err == nil {
			p.mu.Lock()
			p.at = i
			p.mu.Unlock()
			return c, nil
		}
		if absent := (*AbsentError)(nil); first == nil || errors.As(first, &absent) && !errors.As(err, &absent) {
			first = err
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, first
}

// stop ends the running server, if any, and permits a new start.
func (p *managedServer) stop(ctx context.Context) {
	p.mu.Lock()
	c := p.client
	p.broken = nil
	p.restarts.Reset()
	p.mu.Unlock()
	if c != nil {
		c.stop(ctx)
		p.mu.Lock()
		p.buryLocked()
		p.mu.Unlock()
	}
}

// running returns the running client, or nil if there is none.
func (p *managedServer) running() *client {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buryLocked()
	return p.client
}

// enqueue queues changes to be reported to the server.
func (p *managedServer) enqueue(cs []tool.CodeChange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.queue = append(p.queue, cs...)
	if p.hurry != nil {
		p.hurry()
	}
	if !p.working && !p.s.closed() {
		p.working = true
		p.idle, p.shown = make(chan struct{}), make(chan struct{})
		p.s.work.Add(1)
		go p.work()
	}
}

// work reports queued changes to the server until none is left.
func (p *managedServer) work() {
	defer p.s.work.Done()
	ctx, cancel := p.s.living()
	defer cancel()
	for {
		p.mu.Lock()
		cs := p.queue
		p.queue = nil
		if len(cs) == 0 || ctx.Err() != nil {
			p.working = false
			if p.hurry != nil {
				p.hurry()
			}
			close(p.idle)
			p.showLocked()
			p.mu.Unlock()
			return
		}
		p.mu.Unlock()
		if c, err := p.get(ctx); err == nil {
			p.tell(ctx, c, cs)
		}
	}
}

// Time limits for the diagnostics of a server. They bound work in the background; a
// caller that waits for it waits at most for Options.Wait.
const (
	loadTime  = 60 * time.Second // for the first reading of its project
	baseTime  = 5 * time.Second  // for the documents as they were before a change
	checkTime = 20 * time.Second // after a change
	owedTime  = 10 * time.Second // after that, for late diagnostics of other files
)

// tell sends changes to a server and waits for its diagnostics. Before that, it collects
// the diagnostics of the files as they were before the change: only the difference shows
// what the change caused.
func (p *managedServer) tell(ctx context.Context, c *client, cs []tool.CodeChange) {
	var paths []string
	made := map[string]bool{}
	for _, ch := range cs {
		path := p.s.abs(ch.Path)
		if !slices.Contains(paths, path) {
			paths = append(paths, path)
			made[path] = !ch.Existed
		}
	}
	opened := p.before(ctx, c, cs, paths)
	if len(opened) > 0 || c.diags.never() {
		limit, still := baseTime, quiet
		if c.diags.never() {
			limit, still = loadTime, quietLoad
		}
		p.check(ctx, c, limit, still)
	}
	c.diags.known(opened, made)
	c.diags.owing(p.s.opt.Now().Add(checkTime + owedTime))
	c.changed(paths)
	p.mu.Lock()
	p.showLocked()
	p.mu.Unlock()
	done := p.check(p.unlessMore(ctx), c, checkTime, quiet)
	c.diags.owing(p.s.opt.Now().Add(owedTime))
	c.diags.mu.Lock()
	if !done && ctx.Err() == nil { // otherwise each check would wait for a server that never reports a document
		clear(c.diags.want)
	}
	c.diags.mu.Unlock()
}

// unlessMore returns a context that ends when more changes come.
func (p *managedServer) unlessMore(ctx context.Context) context.Context {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.hurry != nil {
		p.hurry()
	}
	ctx, p.hurry = context.WithCancel(ctx)
	if len(p.queue) > 0 {
		p.hurry()
	}
	return ctx
}

// before opens the changed documents with their earlier contents, and documents that may
// depend on them. It returns those that it opened.
func (p *managedServer) before(ctx context.Context, c *client, cs []tool.CodeChange, paths []string) (opened []string) {
	done := map[string]bool{}
	for _, ch := range cs {
		path := p.s.abs(ch.Path)
		lang := c.language(path)
		if done[path] || lang == "" {
			continue
		}
		done[path] = true
		if ch.Before == nil || c.version(path) > 0 {
			continue
		}
		if old, err := ch.Before(ctx); err == nil && c.openOld(path, lang, string(old)) {
			opened = append(opened, path)
		}
	}
	if c.server.OpenOnly {
		for _, d := range c.dependents(ctx, paths, dependentLimit) {
			if c.version(d) == 0 {
				if _, err := c.bring(d, c.language(d)); err == nil {
					opened = append(opened, d)
				}
			}
		}
	}
	return opened
}

// check waits for the diagnostics of the documents as they are now, and pulls them if
// they are not pushed. It returns false if they did not all come.
func (p *managedServer) check(ctx context.Context, c *client, limit, still time.Duration) bool {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	if c.pulls() {
		if err := c.pull(ctx, c.opened()); err != nil {
			return false
		}
	}
	return c.settle(ctx, still)
}

// showLocked lets requests continue: the server now has the present contents of the
// files.
func (p *managedServer) showLocked() {
	select {
	case <-p.shown:
	default:
		close(p.shown)
	}
}

// ask returns the running server for a request. While the server has contents from before
// a change, to learn their diagnostics, ask waits.
func (p *managedServer) ask(ctx context.Context) (*client, error) {
	c, err := p.get(ctx)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	shown := p.shown
	p.mu.Unlock()
	select {
	case <-shown:
		return p.get(ctx)
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	case <-c.dead:
		return nil, errGone
	}
}

// catchUp waits until all changes are sent and answered. It returns false if ctx ends
// before that.
func (p *managedServer) catchUp(ctx context.Context) bool {
	p.mu.Lock()
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return true
	case <-ctx.Done():
		return false
	}
}

// unreported returns the diagnostics that changes caused and that were not reported yet.
func (p *managedServer) unreported() []tool.Diagnostic {
	p.mu.Lock()
	c := p.client
	p.mu.Unlock()
	if c == nil {
		return nil
	}
	return p.s.diagnosed(c, c.diags.unreported())
}

// current returns the diagnostics that changes caused, that were reported, and that
// remain.
func (p *managedServer) current() []tool.Diagnostic {
	c := p.running()
	if c == nil {
		return nil
	}
	return p.s.diagnosed(c, c.diags.current())
}

// available reports whether a server is available. Nobody needs to wait for an absent one.
func (p *managedServer) available() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.client != nil {
		return true
	}
	absent := (*AbsentError)(nil)
	_, ok := p.restarts.Wait(p.s.opt.Now())
	return ok && !errors.As(p.broken, &absent) && !errors.Is(p.broken, errUntrusted)
}
