package provider

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// transport returns net/http's default transport with two changes: a longer limit for
// idle connections, since a tool may run for minutes between two requests, and
// connections that reuse the buffers through which bodies are sent.
func transport() http.RoundTripper {
	def, ok := http.DefaultTransport.(*http.Transport)
	if !ok {
		return http.DefaultTransport
	}
	t := def.Clone()
	t.IdleConnTimeout = 10 * time.Minute
	if dial := t.DialContext; dial != nil {
		t.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
			c, err := dial(ctx, network, addr)
			if err != nil {
				return nil, err
			}
			return conn{c}, nil
		}
	}
	return t
}

// conn is a connection that writes a body through a buffer of the pool. A net.TCPConn
// would allocate a buffer for each request.
type conn struct{ net.Conn }

const bodyBuffer = 32 << 10

// bodyBuffers holds the buffers through which bodies are sent and read.
var bodyBuffers = sync.Pool{New: func() any { return new([bodyBuffer]byte) }}

func (c conn) ReadFrom(r io.Reader) (int64, error) {
	buf := bodyBuffers.Get().(*[bodyBuffer]byte)
	defer bodyBuffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, r, buf[:])
}
