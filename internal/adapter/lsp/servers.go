// Package lsp runs language servers and sends them requests about code.
//
// What is promised:
//   - A server is started when it is first needed, one for each project root, and shared by
//     all callers. It is stopped when nobody used it for ten minutes, and started again at
//     most three times in a row when it dies or hangs. It is gone when Close returns.
//     Nothing is started before code is used.
//   - Its program comes from the table (table.go) or the person's configuration. A project's
//     own copy is used in trusted folders only, and so are servers that run the project's code.
//   - For callers, places are counted from 1 and in characters; for the server, in the units
//     that were negotiated (text.go).
//   - It changes no file. Changes that a server proposes are returned as writes.
//   - A server that floods, stalls, or sends garbage or unexpected answers causes an error
//     for its caller, and blocks nobody (stream.go, client.go).
//
// The files: table.go and detect.go define the servers and their files; managed.go
// restarts one; client.go, handle.go and stream.go implement the protocol; documents.go
// reports files; diagnostics.go stores earlier diagnostics; ask.go, names.go,
// workspace.go and edits.go answer requests; status.go reports the state.
package lsp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Options are the options of servers. Root, Table and Start are required.
type Options struct {
	Root  string // the workspace's real path
	Table []Server
	Start process.Starter
	// Confine is how servers are confined.
	Confine process.Confine
	// Apart are folders through which an untrusted server that is not confined finds no
	// program. It does not start in the workspace either.
	Apart []string
	// Trusted reports whether a server may run code that the project names, and be the
	// project's own copy. nil means that no server may.
	Trusted func(server string) bool
	// Find finds a program on the person's PATH; nil means exec.LookPath.
	Find func(name string) (string, error)
	// Version is pawl's, sent to servers.
	Version string
	// Hung is how long a request may take (0: 30 s). Idle is how long an unused server
	// is kept running (0: 10 min). Wait is how long a call waits for the diagnostics that
	// it caused (0: 1.5 s). Goodbye is how long a server may take to end (0: 500 ms).
	Hung, Idle, Wait, Goodbye time.Duration
	// Memory is how many bytes a server with all its processes may use (0: 4 GB).
	Memory int64
	// Usage returns how many bytes a process group uses; nil means memoryOf, which knows
	// it on Linux only.
	Usage func(pid int) int64
	// Asked, if set, returns the last request of another process to restart servers: its
	// time and the server's name ("": all).
	Asked func() (at time.Time, name string)
	Now   func() time.Time
	Sleep func(context.Context, time.Duration) error
}

func (o *Options) defaults() {
	o.Hung = cmp.Or(o.Hung, 30*time.Second)
	o.Idle = cmp.Or(o.Idle, 10*time.Minute)
	o.Wait = cmp.Or(o.Wait, 1500*time.Millisecond)
	o.Goodbye = cmp.Or(o.Goodbye, 500*time.Millisecond)
	o.Memory = cmp.Or(o.Memory, 4<<30)
	if o.Find == nil {
		o.Find = exec.LookPath
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Usage == nil {
		o.Usage = memoryOf
	}
	if o.Trusted == nil {
		o.Trusted = func(string) bool { return false }
	}
	if o.Sleep == nil {
		o.Sleep = func(ctx context.Context, d time.Duration) error {
			waitFor(ctx, nil, d)
			return ctx.Err()
		}
	}
}

// Servers are the language servers of a workspace. They are safe for concurrent use.
type Servers struct {
	opt   Options
	table []Server
	life  context.Context
	end   context.CancelFunc
	work  sync.WaitGroup

	mu       sync.Mutex
	managed  map[serverKey]*managedServer
	order    []serverKey
	reported map[string]bool // absent servers that were reported to the person
	sweeping bool
	logs     map[string][]string // of ended servers
}

type serverKey struct{ group, root string }

var (
	_ tool.Code      = (*Servers)(nil)
	_ tool.CodeWatch = (*Servers)(nil)
)

// Errors that callers branch on.
var (
	errUntrusted = errors.New("this folder is not trusted")
	errNoServer  = errors.New("no language server knows this file")
	errOver      = errors.New("the session has ended")
)

// AbsentError means that a server is not installed.
type AbsentError struct{ Name, Install string }

func (e *AbsentError) Error() string {
	return fmt.Sprintf("the language server %s is not installed; the person can install it with: %s", e.Name, e.Install)
}

// New returns the servers of a workspace. It starts nothing and reads nothing.
func New(o Options) *Servers {
	o.defaults()
	s := &Servers{opt: o, table: o.Table, managed: map[serverKey]*managedServer{}, reported: map[string]bool{}, logs: map[string][]string{}}
	s.life, s.end = context.WithCancel(context.Background())
	return s
}

// living returns a context that ends with the servers.
func (s *Servers) living() (context.Context, context.CancelFunc) { return context.WithCancel(s.life) }

func (s *Servers) closed() bool { return s.life.Err() != nil }

// Close ends all servers and waits until they have ended.
func (s *Servers) Close() error {
	s.end()
	s.mu.Lock()
	managed := s.listLocked()
	s.mu.Unlock()
	var wg sync.WaitGroup
	for _, p := range managed {
		wg.Go(func() { p.stop(context.Background()) })
	}
	wg.Wait()
	s.work.Wait()
	for _, p := range managed { // a start may have been in progress
		p.mu.Lock()
		starting := p.starting
		p.mu.Unlock()
		if starting != nil {
			<-starting
		}
		p.stop(context.Background())
	}
	return nil
}

func (s *Servers) listLocked() []*managedServer {
	var out []*managedServer
	for _, k := range s.order {
		out = append(out, s.managed[k])
	}
	return out
}

func (s *Servers) list() []*managedServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.listLocked()
}

// abs returns the absolute path for a path of a tool.Span.
func (s *Servers) abs(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(s.opt.Root, filepath.FromSlash(path))
}

// rel makes a path inside the workspace relative; it is the inverse of abs.
func (s *Servers) rel(path string) string {
	if r, err := filepath.Rel(s.opt.Root, path); err == nil && within(s.opt.Root, path) {
		return filepath.ToSlash(r)
	}
	return filepath.ToSlash(path)
}

// serversFor returns the servers of a file: one for each group of servers that know it.
func (s *Servers) serversFor(file string) []*managedServer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var keys []serverKey
	alts := map[serverKey][]*Server{}
	if !within(s.opt.Root, file) {
		return nil
	}
	for _, pl := range s.places(file) {
		k := serverKey{cmp.Or(pl.server.Group, pl.server.Name), pl.root}
		if alts[k] == nil {
			keys = append(keys, k)
		}
		alts[k] = append(alts[k], pl.server)
	}
	var out []*managedServer
	for _, k := range keys {
		if s.managed[k] == nil {
			s.managed[k] = newManagedServer(s, alts[k], k.root)
			s.order = append(s.order, k)
		}
		out = append(out, s.managed[k])
	}
	return out
}

// Serves reports whether a server looks at a file, or will when it has started.
func (s *Servers) Serves(path string) bool {
	return !s.closed() && slices.ContainsFunc(s.serversFor(s.abs(path)), (*managedServer).available)
}

// concerned returns the servers that must be told of a changed file: those that know it,
// and running ones that watch it, for example as a file of their settings.
func (s *Servers) concerned(file string) []*managedServer {
	out := s.serversFor(file)
	for _, p := range s.list() {
		if slices.Contains(out, p) || !within(p.root, file) {
			continue
		}
		if c := p.running(); c != nil && c.watches(file) {
			out = append(out, p)
		}
	}
	return out
}

// server returns a running server for a file, and starts one if there is none.
func (s *Servers) server(ctx context.Context, file string) (*client, error) {
	if s.closed() {
		return nil, errOver
	}
	managed := s.serversFor(file)
	if len(managed) == 0 {
		return nil, fmt.Errorf("%w: %s (%s)", errNoServer, s.rel(file), s.knows())
	}
	return managed[0].ask(ctx)
}

// knows returns a text that lists the servers of the table.
func (s *Servers) knows() string {
	var names []string
	for _, srv := range s.table {
		names = append(names, srv.Name)
	}
	return "there are " + strings.Join(names, ", ")
}

// program returns the command line of a server: a trusted project's own copy, otherwise
// the program on the PATH. One on the PATH that is in the workspace is used only if it is
// trusted.
func (s *Servers) program(srv *Server, root string) (argv []string, err error) {
	for _, cmd := range srv.Commands {
		name := cmd[0]
		if srv.Local != "" && s.opt.Trusted(srv.Name) {
			for _, dir := range []string{root, s.opt.Root} {
				p := filepath.Join(dir, srv.Local, name)
				if st, err := os.Stat(p); err == nil && !st.IsDir() && st.Mode()&0o111 != 0 {
					return append([]string{p}, cmd[1:]...), nil
				}
			}
		}
		found, err := s.opt.Find(name)
		if err != nil {
			continue
		}
		if !filepath.IsAbs(found) || s.ofProject(found) && !s.opt.Trusted(srv.Name) {
			continue
		}
		return append([]string{found}, cmd[1:]...), nil
	}
	return nil, &AbsentError{Name: srv.Name, Install: srv.Install}
}

// ofProject reports whether a program is in the workspace, by its path or by the target
// of a link.
func (s *Servers) ofProject(path string) bool {
	real, err := filepath.EvalSymlinks(path)
	return err != nil || within(s.opt.Root, path) || within(s.opt.Root, real)
}

// closedGit prevents the git that servers and their tools run from running programs that
// a repository's configuration names.
var closedGit = []string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_CONFIG_COUNT=2",
	"GIT_CONFIG_KEY_0=core.fsmonitor", "GIT_CONFIG_VALUE_0=false",
	"GIT_CONFIG_KEY_1=core.hooksPath", "GIT_CONFIG_VALUE_1=/dev/null",
}

// readable lets a confined server read its own program, wherever it is installed: the
// file, and for a server that runs in node the packages next to it.
func readable(c process.Confine, program string) process.Confine {
	if c.Level == process.Unconfined {
		return c
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return c
	}
	c.Reads = append(slices.Clone(c.Reads), real)
	const packages = string(filepath.Separator) + "node_modules"
	if i := strings.Index(real, packages+string(filepath.Separator)); i >= 0 {
		c.Reads = append(c.Reads, real[:i+len(packages)])
	}
	return c
}

// launch starts a server and makes the handshake.
func (s *Servers) launch(ctx context.Context, srv *Server, root string) (*client, error) {
	if srv.Runs && !s.opt.Trusted(srv.Name) {
		return nil, fmt.Errorf("%w: %s would run code of the project", errUntrusted, srv.Name)
	}
	argv, err := s.program(srv, root)
	if err != nil {
		return nil, err
	}
	dir, apart := root, []string(nil)
	if s.opt.Confine.Level == process.Unconfined && !s.opt.Trusted(srv.Name) {
		dir, apart = filepath.VolumeName(root)+string(filepath.Separator), s.opt.Apart
	}
	said := &tail{}
	// It belongs to the managed server: it continues when the call that started it ends.
	proc, err := s.opt.Start.Start(context.WithoutCancel(ctx), process.Program{
		Path: argv[0], Args: argv[1:], Dir: dir, Apart: apart, Env: append(slices.Clip(closedGit), process.NoByteCode), Pipes: true, Stderr: said, Confine: readable(s.opt.Confine, argv[0]),
	})
	if err != nil {
		return nil, fmt.Errorf("start the language server %s: %w", srv.Name, err)
	}
	c := connect(srv, root, &s.opt, proc, said)
	if err := c.start(ctx); err != nil {
		c.fail(err)
		<-c.dead
		if lines := said.all(); len(lines) > 0 {
			why := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(strings.ToLower(l), "error") })
			if why < 0 {
				why = len(lines) - 1
			}
			err = fmt.Errorf("%w; it said: %s", err, lines[why])
		}
		s.remember(c)
		return nil, fmt.Errorf("start the language server %s: %w", srv.Name, err)
	}
	c.refresh(true)
	s.sweep()
	return c, nil
}

// remember stores the log of an ended server.
func (s *Servers) remember(c *client) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.logs[c.server.Name+" "+s.rel(c.root)] = c.log.all()
}

// sweepEvery is how often servers are checked for idle time and memory.
const sweepEvery = 5 * time.Second

// sweep starts a goroutine that checks the servers until none runs.
func (s *Servers) sweep() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.sweeping || s.closed() {
		return
	}
	s.sweeping = true
	s.work.Add(1)
	go func() {
		defer s.work.Done()
		for s.opt.Sleep(s.life, sweepEvery) == nil {
			if !s.inspect() {
				s.mu.Lock()
				s.sweeping = false
				s.mu.Unlock()
				return
			}
		}
	}()
}

// inspect stops servers that nobody needs, or whose restart was requested, and ends those
// that use too much memory. It reports whether any still runs or starts.
func (s *Servers) inspect() bool {
	any := false
	for _, p := range s.list() {
		p.mu.Lock()
		starting := p.starting != nil
		p.mu.Unlock()
		c := p.running()
		any = any || c != nil || starting
		if c == nil {
			continue
		}
		if s.opt.Asked != nil {
			if at, name := s.opt.Asked(); at.After(c.began) && (name == "" || name == c.server.Name) {
				p.stop(s.life)
				continue
			}
		}
		idle := s.opt.Now().Sub(time.Unix(0, c.used.Load()))
		switch used := s.opt.Usage(c.proc.Pid()); {
		case used > s.opt.Memory:
			c.fail(fmt.Errorf("it used %d MB of memory, over the limit of %d", used>>20, s.opt.Memory>>20))
		case idle >= s.opt.Idle: // no request is as long
			c.stop(s.life)
		}
	}
	return any
}

func (s *Servers) Remaining() []tool.Diagnostic {
	var out []tool.Diagnostic
	for _, p := range s.list() {
		out = append(out, p.current()...)
	}
	sortDiagnostics(out)
	return out
}

func (s *Servers) Wait(ctx context.Context) { s.settle(ctx, s.list()) }

// settle waits for the available servers, for at most Options.Wait.
func (s *Servers) settle(ctx context.Context, managed []*managedServer) {
	ctx, cancel := context.WithTimeout(ctx, s.opt.Wait)
	defer cancel()
	for _, p := range managed {
		if p.available() {
			p.catchUp(ctx)
		}
	}
}

func (s *Servers) Changed(ctx context.Context, cs []tool.CodeChange) []tool.Diagnostic {
	if s.closed() {
		return nil
	}
	by := map[*managedServer][]tool.CodeChange{}
	var touched []*managedServer
	for _, ch := range cs {
		for _, p := range s.concerned(s.abs(ch.Path)) {
			if by[p] == nil {
				touched = append(touched, p)
			}
			by[p] = append(by[p], ch)
		}
	}
	for _, p := range touched {
		p.enqueue(by[p])
	}
	s.settle(ctx, touched)
	var out []tool.Diagnostic
	for _, p := range s.list() {
		found := p.unreported()
		if by[p] == nil {
			for i := range found {
				found[i].Earlier = true
			}
		}
		out = append(out, found...)
	}
	sortDiagnostics(out)
	return out
}
