package natstest

import (
	"context"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
)

// Double sends messages below a subject again until ctx ends: offers, and questions of
// workers.
func Double(t testing.TB, ctx context.Context, nc *nats.Conn, under string, all *sync.WaitGroup, seed uint64) {
	seen := make(chan *nats.Msg, 1000)
	for _, subject := range []string{under + ".ask", under + ".task.>"} {
		if _, err := nc.ChanSubscribe(subject, seen); err != nil {
			t.Fatal(err)
		}
	}
	all.Go(func() {
		random := rand.New(rand.NewPCG(seed, 2))
		var old []*nats.Msg
		for {
			select {
			case m := <-seen:
				if len(old) < 200 {
					old = append(old, m)
				} else {
					old[random.IntN(len(old))] = m
				}
				if random.IntN(3) == 0 { // Double receives its own messages too: less than one copy each
					again := old[random.IntN(len(old))]
					_ = nc.Publish(again.Subject, again.Data)
				}
			case <-ctx.Done():
				return
			}
		}
	})
}

// Proxy is a connection to a server that can be made to fail.
type Proxy struct {
	l  net.Listener
	to string

	mu    sync.Mutex
	conns []net.Conn
	dead  bool
	delay time.Duration
	each  time.Duration // for each KiB
}

// NewProxy listens for connections to an address until the test ends.
func NewProxy(t testing.TB, to string) *Proxy {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	p := &Proxy{l: l, to: to}
	go p.serve()
	t.Cleanup(func() { _ = l.Close(); p.Kill() })
	return p
}

// Addr returns the address on which it listens.
func (p *Proxy) Addr() string { return p.l.Addr().String() }

func (p *Proxy) serve() {
	for {
		in, err := p.l.Accept()
		if err != nil {
			return
		}
		out, err := net.Dial("tcp", p.to)
		p.mu.Lock()
		if err != nil || p.dead {
			p.mu.Unlock()
			_ = in.Close()
			if out != nil {
				_ = out.Close()
			}
			continue
		}
		p.conns = append(p.conns, in, out)
		p.mu.Unlock()
		go p.copy(out, in)
		go p.copy(in, out)
	}
}

func (p *Proxy) copy(to, from net.Conn) {
	buf := make([]byte, 4096)
	for {
		n, err := from.Read(buf)
		p.mu.Lock()
		wait := p.delay + p.each*time.Duration(max(0, n))/1024
		p.delay = 0
		p.mu.Unlock()
		if wait > 0 {
			time.Sleep(wait) // it is the slow connection
		}
		if n > 0 {
			if _, err := to.Write(buf[:n]); err != nil {
				break
			}
		}
		if err != nil {
			break
		}
	}
	_ = to.Close()
	_ = from.Close()
}

// Cut closes the connections; new ones can be made.
func (p *Proxy) Cut() {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range p.conns {
		_ = c.Close()
	}
	p.conns = nil
}

// Slow delays later data by d.
func (p *Proxy) Slow(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.delay = d
}

// Narrow makes each KiB of later data take d.
func (p *Proxy) Narrow(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.each = d
}

// Kill behaves like a machine that lost its power: connections end, and no new ones are
// made.
func (p *Proxy) Kill() {
	p.mu.Lock()
	p.dead = true
	p.mu.Unlock()
	p.Cut()
}
