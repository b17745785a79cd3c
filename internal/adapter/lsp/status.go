package lsp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Status is the state of one server.
type Status struct {
	Name, Root string
	State      string // starting, running, working, stopped, failed, absent, not trusted
	Problem    string // why it failed, or its task in progress
	PID        int
	Memory     int64 // bytes
	Documents  int   // open
	Starts     int
	Idle       time.Duration
	Can        []string // its capabilities
}

// Status returns the state of each server that was needed so far.
func (s *Servers) Status() []Status {
	var out []Status
	for _, p := range s.list() {
		out = append(out, p.status())
	}
	return out
}

func (p *managedServer) status() Status {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.buryLocked()
	srv := p.alts[p.at]
	st := Status{Name: srv.Name, Root: p.s.rel(p.root), Starts: p.starts, State: "stopped"}
	absent := (*AbsentError)(nil)
	switch c := p.client; {
	case c != nil:
		st.State, st.PID, st.Documents = "running", c.proc.Pid(), len(c.opened())
		st.Memory = p.s.opt.Usage(st.PID)
		st.Idle = p.s.opt.Now().Sub(time.Unix(0, c.used.Load()))
		st.Can = c.abilities()
		if work := c.work(); len(work) > 0 {
			st.State, st.Problem = "working", strings.Join(work, ", ")
		}
	case p.starting != nil:
		st.State = "starting"
	case errors.As(p.broken, &absent):
		st.State, st.Problem = "absent", p.broken.Error()
	case errors.Is(p.broken, errUntrusted):
		st.State, st.Problem = "not trusted", p.broken.Error()
	case p.broken != nil:
		st.State, st.Problem = "failed", p.broken.Error()
	}
	return st
}

// abilities returns the names of a server's capabilities.
func (c *client) abilities() []string {
	var out []string
	for _, a := range []struct {
		f            feature
		method, name string
	}{
		{c.caps.Definition, "textDocument/definition", "definition"},
		{c.caps.References, "textDocument/references", "references"},
		{c.caps.Hover, "textDocument/hover", "hover"},
		{c.caps.Completion, "textDocument/completion", "completion"},
		{c.caps.DocumentSymbol, "textDocument/documentSymbol", "symbols"},
		{c.caps.WorkspaceSymbol, "workspace/symbol", "workspace symbols"},
		{c.caps.Rename, "textDocument/rename", "rename"},
		{c.caps.CodeAction, "textDocument/codeAction", "actions"},
	} {
		if c.can(a.f, a.method, "") == nil {
			out = append(out, a.name)
		}
	}
	if c.pulls() {
		return append(out, "diagnostics (asked for)")
	}
	return append(out, "diagnostics")
}

// Restart stops the servers with a name, or all for "", and forgets their failures. They
// start again when they are needed. It returns how many there are.
func (s *Servers) Restart(ctx context.Context, name string) int {
	n := 0
	for _, p := range s.list() {
		if name == "" || slices.ContainsFunc(p.alts, func(srv *Server) bool { return srv.Name == name }) {
			p.stop(ctx)
			n++
		}
	}
	return n
}

// Logs returns the last lines that each server printed, by its name and root.
func (s *Servers) Logs() map[string][]string {
	out := map[string][]string{}
	s.mu.Lock()
	for k, l := range s.logs {
		out[k] = l
	}
	s.mu.Unlock()
	for _, p := range s.list() {
		if c := p.running(); c != nil {
			out[c.server.Name+" "+s.rel(c.root)] = c.log.all()
		}
	}
	return out
}

func (s *Servers) Missing() []string {
	var out []string
	for _, p := range s.list() {
		p.mu.Lock()
		absent := (*AbsentError)(nil)
		// A person who edits a JSON file or a script now and then does not need a server
		// for it.
		is := errors.As(p.broken, &absent) && len(p.alts[0].Roots) > 0
		p.mu.Unlock()
		if !is {
			continue
		}
		s.mu.Lock()
		if !s.reported[absent.Name] {
			s.reported[absent.Name] = true
			out = append(out, fmt.Sprintf("no language server %s, so errors after an edit are found later; to install it: %s", absent.Name, absent.Install))
		}
		s.mu.Unlock()
	}
	return out
}

// Here describes a server for files of the workspace.
type Here struct {
	Name      string
	Program   string // "" if it is not installed
	Install   string
	Untrusted bool // it would run code that the project names, and the folder is not trusted
	server    *Server
}

// Here lists the servers for the files at the top of the workspace. It starts nothing.
func (s *Servers) Here() []Here {
	var out []Here
	for _, srv := range s.atTop(func(*Server) bool { return true }) {
		h := Here{Name: srv.Name, Install: srv.Install, server: srv}
		if argv, err := s.program(srv, s.opt.Root); err == nil {
			h.Program = strings.Join(argv, " ")
			h.Untrusted = srv.Runs && !s.opt.Trusted(srv.Name)
		}
		out = append(out, h)
	}
	return out
}

// Try starts a server and returns its state. The start may take as long as a request
// (Options.Hung).
func (s *Servers) Try(ctx context.Context, h Here) (Status, error) {
	p := newManagedServer(s, []*Server{h.server}, s.opt.Root)
	defer p.stop(context.WithoutCancel(ctx))
	limited, cancel := context.WithTimeoutCause(ctx, s.opt.Hung, errHung)
	defer cancel()
	switch _, err := p.get(limited); {
	case err == nil:
		return p.status(), nil
	case errors.Is(err, errHung) && ctx.Err() == nil:
		return Status{}, fmt.Errorf("the server did not answer within %s; its log may tell why: pawl lsp logs", s.opt.Hung)
	default:
		return Status{}, err
	}
}
