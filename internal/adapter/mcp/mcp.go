// Package mcp is a client of MCP servers: programs and addresses that offer tools (SPEC
// 17.1). Servers come from the person's own configuration and from the .mcp.json of a
// trusted folder.
//
// It promises:
//   - No server is started, and no address reached, before something of a server is needed
//     that is not stored already.
//   - A server is one process, for a session and all its children.
//   - No server stops a turn. One that hangs, dies, floods or sends garbage causes a failed
//     call with an explanation, after a limited time and in limited memory.
//
// A server's descriptions are untrusted text (SPEC 16.13). They are offered as they were
// first accepted. Changed ones are not offered until a person accepts them. A server's
// claim that a tool is harmless is never trusted.
//
// It refuses sampling: a server must not spend the person's money.
package mcp

import (
	"cmp"
	"context"
	"net/http"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// Options are the options of Servers.
type Options struct {
	Root    string   // the workspace
	Servers []Server // by Parse; of two with one name the first is used
	Start   process.Starter
	// Apart are the folders through which the person's own servers find nothing. Neutral
	// returns the folder in which such a server starts; nil means the root.
	Apart   []string
	Neutral func(Server) (string, error)
	// Confine returns what a server's process may touch.
	Confine func(Server) process.Confine
	// Changed, if set, returns what changed in a server's program since a person
	// trusted it, "" for nothing. A changed server is not started.
	Changed func(Server) string
	Pins    Pins
	// Packages are those that confined servers would fetch.
	Packages Packages
	// Grants stores what servers granted. SignIn, if set, is how a person signs in.
	Grants Grants
	SignIn *SignIn
	// Inside, if set, reaches the servers inside the program that drives pawl.
	Inside  Inside
	Version string
	// HTTP, if set, sends the requests; for tests.
	HTTP http.RoundTripper
	Now  func() time.Time
	// Wait is how long a first request waits; 0 means firstWait.
	Wait time.Duration
	// Sleep waits between starts.
	Sleep func(context.Context, time.Duration) error
}

// Servers are the MCP servers of a session.
type Servers struct {
	opt  Options
	life context.Context
	end  context.CancelFunc
	work tasks

	mu      sync.Mutex
	managed []*managedServer
	notes   []string // for the person
	tokens  []string // tokens in use, which hide removes from texts
	told    map[string]bool
}

// New returns the Servers. It starts nothing.
func New(o Options) *Servers {
	if o.Wait == 0 {
		o.Wait = firstWait
	}
	if o.Neutral == nil {
		o.Neutral = func(Server) (string, error) { return string(filepath.Separator), nil }
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
			p := newManagedServer(s, srv)
			p.given = srv.InProgram()
			s.managed = append(s.managed, p)
		}
	}
	slices.SortFunc(s.managed, func(a, b *managedServer) int { return cmp.Compare(a.srv.Name, b.srv.Name) })
	return s
}

// all returns the servers as they are now.
func (s *Servers) all() []*managedServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.managed)
}

// Set replaces the servers that the program that drives pawl has: those inside it, and those
// of an earlier Set. It waits for new ones outside the program, and returns why a server
// cannot be used. A configured server keeps its name.
func (s *Servers) Set(ctx context.Context, list []Server) (added, removed []string, failed map[string]string) {
	added, removed, failed = []string{}, []string{}, map[string]string{}
	var fresh, stopped []*managedServer
	s.mu.Lock()
	s.managed = slices.DeleteFunc(s.managed, func(p *managedServer) bool {
		i := slices.IndexFunc(list, func(srv Server) bool { return strings.EqualFold(srv.Name, p.srv.Name) })
		switch {
		case !p.given:
			if i >= 0 {
				failed[list[i].Name] = "a configured server has this name"
				list = slices.Delete(list, i, i+1)
			}
			return false
		case i >= 0 && reflect.DeepEqual(list[i], p.srv):
			list = slices.Delete(list, i, i+1)
			return false
		case i < 0:
			removed = append(removed, p.srv.Name)
		}
		stopped = append(stopped, p)
		return true
	})
	for _, srv := range list {
		p := newManagedServer(s, srv)
		p.given, fresh, added = true, append(fresh, p), append(added, srv.Name)
	}
	s.managed = append(s.managed, fresh...)
	slices.SortFunc(s.managed, func(a, b *managedServer) int { return cmp.Compare(a.srv.Name, b.srv.Name) })
	s.mu.Unlock()
	for _, p := range stopped {
		p.mu.Lock()
		p.gone = true
		p.mu.Unlock()
		p.stop()
	}
	for _, p := range fresh {
		p.learnOnce()
	}
	settle(ctx, lateWait, slices.DeleteFunc(slices.Clone(fresh), func(p *managedServer) bool { return p.srv.InProgram() })...)
	for _, p := range fresh {
		if st := p.status(); st.State == "failed" {
			failed[p.srv.Name] = st.Why
		}
	}
	return added, removed, failed
}

// Begin starts, in the background, the servers whose tools are not known yet, so that
// their tools can be offered.
func (s *Servers) Begin() {
	for _, p := range s.all() {
		p.learnOnce()
	}
}

// WaitReady waits, at most for the duration most, until the tools of all servers are known
// that Begin started. It returns the names of the servers that are still starting.
func (s *Servers) WaitReady(ctx context.Context, most time.Duration) (slow []string) {
	return settle(ctx, most, s.all()...)
}

func settle(ctx context.Context, most time.Duration, of ...*managedServer) (slow []string) {
	ctx, cancel := context.WithTimeout(ctx, most)
	defer cancel()
	for _, p := range of {
		if p.wasAccepted() == nil && !p.settled(ctx) {
			slow = append(slow, p.srv.Name)
		}
	}
	return slow
}

// Notes returns the notes for the person since its last call.
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

// holds adds a token to those that hide removes. Tokens of less than 8 bytes are ignored.
func (s *Servers) holds(token string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(token) >= 8 && !slices.Contains(s.tokens, token) {
		s.tokens = append(s.tokens, token)
	}
}

// hide returns a text with all tokens replaced.
func (s *Servers) hide(text string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.tokens {
		text = strings.ReplaceAll(text, t, "[token]")
	}
	return text
}

// Close ends all servers. Running calls fail.
func (s *Servers) Close() error {
	s.end()
	s.work.wait()
	for _, p := range s.all() {
		p.stop()
	}
	return nil
}

// Restart ends the servers with a name, or all for "", and forgets their failures. They
// start again when they are needed. It returns how many there are.
func (s *Servers) Restart(name string) int {
	n := 0
	for _, p := range s.all() {
		if name == "" || p.srv.Name == name {
			p.stop()
			n++
		}
	}
	return n
}

// Status is the state of a server.
type Status struct {
	Server Server
	State  string // "not started", "starting", "runs", "failed"
	PID    int
	Starts int
	Tools  int      // tools that are offered
	Held   []string // tools that are not offered, and why
	Why    string   // why it failed
	Err    error    // the error of which Why is the text, nil if it is another reason
	Log    []string // its last output
}

// Status returns the state of each server.
func (s *Servers) Status() []Status {
	var out []Status
	for _, p := range s.all() {
		out = append(out, p.status())
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

// program returns how a server's process starts. The person's own server starts in a
// folder of pawl's and finds nothing through the workspace (SPEC 16.16): what a clone
// contains must not decide what npx or python3 -m runs.
func (s *Servers) program(srv Server) (process.Program, error) {
	p := process.Program{Path: srv.Command[0], Args: srv.Command[1:], Dir: srv.Dir, Pipes: true, Confine: s.opt.Confine(srv)}
	if of, ok := s.packaged(srv); ok {
		if err := s.opt.Packages.start(of, srv, &p); err != nil {
			return p, err
		}
	}
	for k, v := range srv.Env {
		p.Env = append(p.Env, k+"="+v)
	}
	slices.Sort(p.Env)
	if srv.Own() {
		var err error
		if p.Dir == "" {
			p.Dir, err = s.opt.Neutral(srv)
		}
		p.Apart = s.opt.Apart
		return p, err
	}
	if p.Dir = cmp.Or(p.Dir, s.opt.Root); !filepath.IsAbs(p.Dir) {
		p.Dir = filepath.Join(s.opt.Root, p.Dir)
	}
	p.Env = append([]string{process.NoByteCode}, p.Env...)
	return p, nil
}
