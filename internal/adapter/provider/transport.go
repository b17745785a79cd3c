package provider

import (
	"context"
	"io"
	"net"
	"net/http"
	"sync"
	"time"
)

// transport is net/http's own with a longer limit for idle connections, since a tool
// may run for minutes between two requests, and with connections that reuse the memory
// through which a body is sent.
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

// conn is a connection that a body is written to through a buffer of the pool. A
// net.TCPConn would make one for each request.
type conn struct{ net.Conn }

const bodyBuffer = 32 << 10

// bodyBuffers are what bodies are sent and read through.
var bodyBuffers = sync.Pool{New: func() any { return new([bodyBuffer]byte) }}

// ReadFrom implements io.ReaderFrom.
func (c conn) ReadFrom(r io.Reader) (int64, error) {
	buf := bodyBuffers.Get().(*[bodyBuffer]byte)
	defer bodyBuffers.Put(buf)
	return io.CopyBuffer(struct{ io.Writer }{c.Conn}, r, buf[:])
}
