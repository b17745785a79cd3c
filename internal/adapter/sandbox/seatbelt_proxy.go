//go:build unix

package sandbox

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net"
	"net/http"
	"sync"

	"github.com/pawl-agent/pawl/internal/adapter/sandbox/proxy"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// loopbackProxy is the proxy of a seatbeltBox. Any process of the machine can connect to
// it, so each command has a password, by which its refusals are known, too.
type loopbackProxy struct {
	l     net.Listener
	proxy *proxy.Proxy

	mu       sync.Mutex
	children map[string]*seatbeltChild // by password
}

func openLoopbackProxy(grants []string) (*loopbackProxy, error) {
	o := &loopbackProxy{children: map[string]*seatbeltChild{}}
	opt := proxy.Options{Admit: o.admit, Ask: o.ask}
	var err error
	if opt.Grants, err = host.ParseGrants(grants); err != nil {
		return nil, err
	}
	if o.l, err = net.Listen("tcp4", "127.0.0.1:0"); err != nil {
		return nil, err
	}
	o.proxy = proxy.New(opt)
	go func() { _ = o.proxy.Serve(o.l) }() // until close
	return o, nil
}

func (o *loopbackProxy) port() int { return o.l.Addr().(*net.TCPAddr).Port }

func (o *loopbackProxy) close() error {
	if o == nil {
		return nil
	}
	err := o.proxy.Close()
	if l := o.l.Close(); !errors.Is(l, net.ErrClosed) {
		err = errors.Join(err, l)
	}
	return err
}

// admit returns the password in a request, and whether it is a command's.
func (o *loopbackProxy) admit(r *http.Request) (string, bool) {
	// Proxy-Authorization has the form of Authorization.
	as := http.Request{Header: http.Header{"Authorization": r.Header["Proxy-Authorization"]}}
	_, word, _ := as.BasicAuth()
	o.mu.Lock()
	defer o.mu.Unlock()
	_, ok := o.children[word]
	return word, ok
}

// ask refuses what is not granted: nobody can be asked while a command waits here.
func (o *loopbackProxy) ask(_ context.Context, word, target string, addr bool, _ string) bool {
	o.mu.Lock()
	c := o.children[word]
	o.mu.Unlock()
	if c != nil {
		c.refusals.add(hostAct(addr), target)
	}
	return false
}

// environ returns a command's environment with the proxy's settings and a new password.
func (o *loopbackProxy) environ(env []string, c *seatbeltChild) []string {
	if o == nil {
		return withoutNetwork(env)
	}
	word := rand.Text()
	o.mu.Lock()
	o.children[word] = c
	o.mu.Unlock()
	return withProxy(env, fmt.Sprintf("http://pawl:%s@127.0.0.1:%d", word, o.port()))
}

// forget removes a command's password.
func (o *loopbackProxy) forget(c *seatbeltChild) {
	if o == nil {
		return
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	for word, of := range o.children {
		if of == c {
			delete(o.children, word)
		}
	}
}
