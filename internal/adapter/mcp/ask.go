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
	Name     string // the server's own name, with its version
	Protocol string
	Tools    []trust.Item
	Prompts  []trust.Item
	// Pinning is how the descriptions differ from the accepted ones.
	Pinning trust.Pinning

	listed listed
}

// Try starts a server and reads what it offers. It accepts nothing.
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
	if r.listed, err = c.list(ctx); err != nil {
		return r, p.withLog(err)
	}
	for _, i := range r.listed.items {
		if i.Kind == "tool" {
			r.Tools = append(r.Tools, i)
		} else {
			r.Prompts = append(r.Prompts, i)
		}
	}
	if init := c.ss.InitializeResult(); init != nil {
		r.Protocol = init.ProtocolVersion
		if init.ServerInfo != nil {
			r.Name = cut(visible(init.ServerInfo.Name+" "+init.ServerInfo.Version), 100)
		}
	}
	var pin *trust.Pin
	if a := p.wasAccepted(); a != nil {
		pin = &a.Pin
	}
	r.Pinning = pin.Pinned(p.srv.identity(r.listed.instructions, r.listed.items))
	return r, nil
}

// SignIn lets the person sign in to a server. An earlier grant is replaced.
func (s *Servers) SignIn(ctx context.Context, name string) error {
	p := s.find(name)
	switch {
	case p == nil:
		return fmt.Errorf("there is no MCP server %s", name)
	case p.srv.Problem != "":
		return errors.New(p.srv.Problem)
	case p.srv.Transport == "stdio":
		return fmt.Errorf("%s runs on this machine: it signs in by itself, if it has to", name)
	case !p.srv.SignsIn():
		return fmt.Errorf("an Authorization header is configured for %s, which is sent as it is", name)
	case s.opt.SignIn == nil:
		return errors.New("nobody is there to sign in")
	}
	u, err := address(p.srv.URL)
	if err == nil {
		err = p.srv.OAuth.check()
	}
	if err != nil {
		return err
	}
	a := s.signin(p.srv, u)
	a.mu.Lock()
	defer a.mu.Unlock()
	_, _ = a.grant() // an unreadable grant is replaced
	req, resp, err := a.refusal(ctx)
	if err != nil {
		return err
	}
	return a.signIn(ctx, req, resp)
}

// SignOut removes the grant of a server. It reports whether there was one.
func (s *Servers) SignOut(ctx context.Context, name string) (bool, error) {
	p := s.find(name)
	if p == nil {
		return false, fmt.Errorf("there is no MCP server %s", name)
	}
	key, had := p.key(), false
	err := s.opt.Grants.Update(ctx, key, func(g *Grant) (*Grant, error) {
		had = g != nil
		return nil, nil
	})
	return had, err
}

// Accept accepts the server's present descriptions.
func (s *Servers) Accept(ctx context.Context, name string) (Report, error) {
	r, err := s.Try(ctx, name)
	if err != nil {
		return r, err
	}
	p := s.find(name)
	a, err := s.opt.Pins.Keep(p.srv, r.listed)
	if err != nil {
		return r, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.accepted, p.looked = a, true
	if p.judged {
		p.now = a.Pin.Pinned(p.srv.identity(r.listed.instructions, r.listed.items))
	}
	return r, nil
}

func (s *Servers) find(name string) *managedServer {
	for _, p := range s.all() {
		if p.srv.Name == name {
			return p
		}
	}
	return nil
}
