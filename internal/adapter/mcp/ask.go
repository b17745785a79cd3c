package mcp

import (
	"context"
	"errors"
	"fmt"

	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Report is the result of trying a server.
type Report struct {
	Server   Server
	Name     string // its own name, with its version
	Protocol string
	Tools    []trust.Item
	// Pinning is how it differs from what was accepted.
	Pinning trust.Pinning

	instructions string
}

// Try starts a server and asks what it offers. It accepts nothing.
func (s *Servers) Try(ctx context.Context, name string) (Report, error) {
	p := s.find(name)
	if p == nil {
		return Report{}, fmt.Errorf("there is no MCP server %s", name)
	}
	if p.srv.Problem != "" {
		return Report{Server: p.srv}, errors.New(p.srv.Problem)
	}
	r := Report{Server: p.srv}
	c, err := s.dial(ctx, p.srv, p.log)
	if err != nil {
		return r, p.withLog(err)
	}
	defer c.kill(stopTime)
	if r.instructions, r.Tools, err = c.list(ctx); err != nil {
		return r, p.withLog(err)
	}
	if init := c.ss.InitializeResult(); init != nil {
		r.Protocol = init.ProtocolVersion
		if init.ServerInfo != nil {
			r.Name = cut(visible(init.ServerInfo.Name+" "+init.ServerInfo.Version), 100)
		}
	}
	var pin *trust.Pin
	if a := p.known(); a != nil {
		pin = &a.Pin
	}
	r.Pinning = pin.Pinned(p.srv.identity(r.instructions, r.Tools))
	return r, nil
}

// Accept accepts the server's present descriptions.
func (s *Servers) Accept(ctx context.Context, name string) (Report, error) {
	r, err := s.Try(ctx, name)
	if err != nil {
		return r, err
	}
	p := s.find(name)
	a, err := s.opt.Pins.Keep(p.srv, r.instructions, r.Tools)
	if err != nil {
		return r, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted, p.looked = a, true
	if p.judged {
		p.now = a.Pin.Pinned(p.srv.identity(r.instructions, r.Tools))
	}
	return r, nil
}

func (s *Servers) find(name string) *post {
	for _, p := range s.posts {
		if p.srv.Name == name {
			return p
		}
	}
	return nil
}
