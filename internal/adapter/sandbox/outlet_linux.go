//go:build amd64 || arm64

package sandbox

import (
	"context"
	"errors"
	"net"
	"net/netip"
	"sync"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/proxy"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// outlet is the proxy of a box. It listens on the loopback, where anybody can connect,
// and serves only the connections that pawl made for the box's commands. So clients
// need no credentials.
type outlet struct {
	at    netip.AddrPort
	l     net.Listener
	proxy *proxy.Proxy

	mu      sync.Mutex
	settled sync.Cond
	joining int
	joined  map[string]*supervisor // by the client's address, until it is accepted
	clients map[string]*supervisor // from then on
}

// openOutlet starts the proxy of a box to what was granted. opt is how it
// reaches the network.
func openOutlet(grants []string, opt proxy.Options) (*outlet, error) {
	o := &outlet{joined: map[string]*supervisor{}, clients: map[string]*supervisor{}}
	o.settled.L = &o.mu
	var err error
	if opt.Grants, err = host.ParseGrants(grants); err != nil {
		return nil, err
	}
	if o.l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	o.at = o.l.Addr().(*net.TCPAddr).AddrPort()
	opt.Ask = o.ask
	o.proxy = proxy.New(opt)
	go func() { _ = o.proxy.Serve(o) }() // until close
	return o, nil
}

func (o *outlet) close() error {
	if o == nil {
		return nil
	}
	return errors.Join(o.proxy.Close(), o.Close())
}

func (o *outlet) ask(ctx context.Context, client, target string, addr bool, name string) bool {
	o.mu.Lock()
	s := o.clients[client]
	o.mu.Unlock()
	return s != nil && s.allowed(ctx, process.Refusal{Act: hostAct(addr), What: target, Name: name})
}

// Accept returns the next connection of a command: outlet is the proxy's listener.
func (o *outlet) Accept() (net.Conn, error) {
	for {
		c, err := o.l.Accept()
		if err != nil {
			return nil, err
		}
		if from := c.RemoteAddr().String(); o.admits(from) {
			return &client{TCPConn: c.(*net.TCPConn), from: from, o: o}, nil
		}
		_ = c.Close()
	}
}

func (o *outlet) Close() error {
	if err := o.l.Close(); err != nil && !errors.Is(err, net.ErrClosed) {
		return err
	}
	return nil
}

func (o *outlet) Addr() net.Addr { return o.l.Addr() }

func (o *outlet) admits(from string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	for {
		if s, ok := o.joined[from]; ok {
			delete(o.joined, from)
			o.clients[from] = s
			return true
		}
		if o.joining == 0 {
			return false
		}
		o.settled.Wait()
	}
}

// client is a connection of a command.
type client struct {
	*net.TCPConn
	from string
	o    *outlet
}

func (c *client) Close() error {
	c.o.mu.Lock()
	delete(c.o.clients, c.from)
	c.o.mu.Unlock()
	return c.TCPConn.Close()
}

// join connects a command's socket to the proxy.
func (o *outlet) join(s *supervisor, t *took) error {
	o.mu.Lock()
	o.joining++
	o.mu.Unlock()
	err := t.reach(o.at)
	var name unix.Sockaddr
	if err == nil {
		name, err = unix.Getsockname(t.fd)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if err == nil {
		o.joined[unmapped(addrPort(name)).String()] = s
	}
	o.joining--
	o.settled.Broadcast()
	return err
}

// connectProxy is a connect to the box's proxy.
func (c caller) connectProxy(t *took, o *outlet) error {
	for {
		if err := o.join(c.s, t); !errors.Is(err, errBusy) {
			return err
		}
		if !c.s.valid(c.n) {
			return unix.EINTR
		}
		time.Sleep(5 * time.Millisecond)
	}
}

// environ returns the settings of a command about the network; nil is no proxy.
func (o *outlet) environ(env []string) []string {
	if o == nil {
		return withoutNetwork(env)
	}
	return withProxy(env, "http://"+o.at.String())
}
