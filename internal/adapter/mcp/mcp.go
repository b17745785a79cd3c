// Package mcp is a client of MCP servers: programs and addresses that offer
// tools (SPEC 17.1). Servers come from the person's own configuration and from
// the .mcp.json of a folder that is trusted.
//
// It promises: nothing is started, and no address reached, before something of
// a server is needed that is not known from before; a server is one process, for
// a session and all its children; and no server stops a turn: one that hangs,
// dies, floods or sends garbage is a failed call in words, after a bounded time
// and in bounded memory.
//
// What a server says of itself is untrusted text (SPEC 16.13): it is offered as
// it was accepted first, and what says something else later is not offered until
// a person accepts that. What it says of its own harmlessness is believed never.
//
// It refuses sampling: a server does not spend the person's money.
package mcp

import (
	"cmp"
	"context"
	"net/http"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// Options are what Servers work with.
type Options struct {
	Root    string   // the workspace
	Servers []Server // by Parse; of two of one name the first counts
	Start   process.Starter
	// Confine says what a server's process may touch.
	Confine func(Server) process.Confine
	Pins    Pins
	Version string
	// HTTP, if set, is what requests go out by; for tests.
	HTTP http.RoundTripper
	Now  func() time.Time
	// Wait is how long a first request waits, 0: FirstWait.
	Wait time.Duration
	// Sleep waits between starts.
	Sleep func(context.Context, time.Duration) error
}

// Servers are the MCP servers of a session.
type Servers struct {
	opt   Options
	posts []*post
	life  context.Context
	end   context.CancelFunc
	work  sync.WaitGroup

	mu    sync.Mutex
	notes []string // for the person
	told  map[string]bool
}

// New makes Servers. It starts nothing.
func New(o Options) *Servers {
	if o.Wait == 0 {
		o.Wait = FirstWait
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Sleep == nil {
		o.Sleep = sleep
	}
	s := &Servers{opt: o}
	s.life, s.end = context.WithCancel(context.Background())
	seen := map[string]bool{}
	for _, srv := range o.Servers {
		if fold := strings.ToLower(srv.Name); !seen[fold] && !srv.Disabled {
			seen[fold] = true
			s.posts = append(s.posts, newPost(s, srv))
		}
	}
	slices.SortFunc(s.posts, func(a, b *post) int { return cmp.Compare(a.srv.Name, b.srv.Name) })
	return s
}

// Begin starts, beside what goes on, the servers of which nothing is known yet,
// so that their tools can join.
func (s *Servers) Begin() {
	for _, p := range s.posts {
		if p.known() == nil && p.begin() {
			s.work.Go(func() { p.learn(s.life) })
		}
	}
}

// Settle waits until the servers that Begin started are known, at most for a
// time, and returns the names of those that are not.
func (s *Servers) Settle(ctx context.Context, most time.Duration) (slow []string) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, p := range s.posts {
		if p.known() == nil && !p.settled(ctx) {
			slow = append(slow, p.srv.Name)
		}
	}
	return slow
}

// Notes returns what is to be told since the last time.
func (s *Servers) Notes() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := s.notes
	s.notes = nil
	return out
}

func (s *Servers) note(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notes = append(s.notes, text)
}

// Close ends all servers. Calls that run fail.
func (s *Servers) Close() error {
	s.end()
	s.work.Wait()
	for _, p := range s.posts {
		p.stop()
	}
	return nil
}

// Restart ends the servers of a name, or all, and forgets their failures: the
// next need starts them again. It returns how many there are.
func (s *Servers) Restart(name string) int {
	n := 0
	for _, p := range s.posts {
		if name == "" || p.srv.Name == name {
			p.stop()
			n++
		}
	}
	return n
}

// Status is how a server stands.
type Status struct {
	Server Server
	State  string // "not started", "starting", "runs", "failed"
	PID    int
	Starts int
	Tools  int      // that are offered
	Held   []string // what is not offered, and why
	Why    string   // why it failed
	Log    []string // what it printed last
}

// Status lists the servers.
func (s *Servers) Status() []Status {
	out := make([]Status, len(s.posts))
	for i, p := range s.posts {
		out[i] = p.status()
	}
	return out
}

func sleep(ctx context.Context, d time.Duration) error {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// dir is where a server runs.
func (s *Servers) dir(srv Server) string {
	if srv.Dir != "" && !filepath.IsAbs(srv.Dir) {
		return filepath.Join(s.opt.Root, srv.Dir)
	}
	return cmp.Or(srv.Dir, s.opt.Root)
}
