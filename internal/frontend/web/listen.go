package web

import (
	"net"
	"slices"
	"sync"
	"time"
)

// mostConnections is how many may be open: more than streams, which are limited with an
// answer that says so.
const mostConnections = mostViewers + 500

// bounded is a listener that refuses connections above a limit, and those of others than
// the proxies if there are some.
type bounded struct {
	net.Listener
	proxies []string

	mu   sync.Mutex
	open int
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		if t, ok := c.(*net.TCPConn); ok {
			_ = t.SetWriteBuffer(sendBuffer)
		}
		b.mu.Lock()
		ok := b.open < mostConnections && (len(b.proxies) == 0 || slices.Contains(b.proxies, addressOf(c.RemoteAddr().String())))
		if ok {
			b.open++
		}
		b.mu.Unlock()
		if ok {
			return &connection{Conn: c, left: sync.OnceFunc(func() {
				b.mu.Lock()
				defer b.mu.Unlock()
				b.open--
			})}, nil
		}
		_ = c.Close()
	}
}

type connection struct {
	net.Conn
	left func()
}

func (c *connection) Close() error {
	c.left()
	return c.Conn.Close()
}

// addressOf returns the address of one at the other end.
func addressOf(remote string) string {
	host, _, err := net.SplitHostPort(remote)
	if err != nil {
		return remote
	}
	if ip := net.ParseIP(host); ip != nil {
		return ip.String()
	}
	return host
}

// limit is how often something may be done: a number of times at once, and again each
// time that `every` has passed. It is kept for each name.
type limit struct {
	atOnce int
	every  time.Duration

	mu sync.Mutex
	of map[string]time.Time // when all of it is there again
}

// mostLimited is how many names are known: where there are more, some begin anew.
const mostLimited = 4096

// allows reports whether it may be done now, and counts that.
func (l *limit) allows(name string, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	full := l.of[name]
	if full.Before(now) {
		full = now
	}
	full = full.Add(l.every)
	if full.Sub(now) > time.Duration(l.atOnce)*l.every {
		return false
	}
	if l.of == nil || len(l.of) >= mostLimited {
		l.of = map[string]time.Time{}
	}
	l.of[name] = full
	return true
}
