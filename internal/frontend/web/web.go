// Package web is the page of `pawl serve`: the sessions of one person in a browser.
//
// It promises that a browser sees what a terminal sees, from the same blocks, nothing
// missed and nothing twice; that a viewer which is slow or gone holds up nobody; that
// each device may do what it was paired for and no more (api.go); and that what a model
// or a file wrote is text. It serves only requests for names that were given to it, from
// its own page, of devices that were paired. It refuses to listen beyond this machine.
//
// hub.go has the stream that all viewers read, live.go follows one session, sessions.go
// finds them, acts.go is what a browser may do, devices.go knows who it is, server.go
// judges requests.
package web

import (
	"context"
	"embed"
	"errors"
	"io/fs"
	"net"
	"net/http"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
)

//go:embed assets
var embedded embed.FS

// Config is what a server is made of.
type Config struct {
	Version string
	Store   event.Store
	State   string // pawl's folder for state, where the sockets of sessions are
	Devices *Devices
	// Hosts are the names, besides those of this machine's loopback, by which a proxy
	// reaches it.
	Hosts []string
	// Follow attaches to a session that another process has open.
	Follow func(context.Context, event.Row) (*Opened, error)
	// Open opens a session in this process: the one with this id, or a new one.
	Open func(ctx context.Context, dir, id string) (*Opened, error)
	// Done is called after each act of a device.
	Done func(Act)
	Now  func() time.Time
}

// Act is what a device did.
type Act struct {
	Time    time.Time `json:"time"`
	Device  string    `json:"device"`
	Session string    `json:"session,omitempty"`
	What    string    `json:"what"`
	Detail  string    `json:"detail,omitempty"`
	Error   string    `json:"error,omitempty"` // why it was refused
}

const (
	scanEvery = time.Second
	// slowest is how long a browser may take for what it is sent at once.
	slowest = 10 * time.Second
	// pingEvery shows a proxy, and pawl, that the other one is still there.
	pingEvery = 20 * time.Second
	// sendBuffer is small, so that a browser that does not read is known.
	sendBuffer = 64 << 10
)

// Serve serves until ctx ends, and closes the sessions that it opened.
func Serve(ctx context.Context, l net.Listener, c Config) error {
	if a, ok := l.Addr().(*net.TCPAddr); !ok || !a.IP.IsLoopback() {
		_ = l.Close()
		return errors.New("web: listens on the loopback only")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	s := newServer(ctx, c, l.Addr().(*net.TCPAddr).Port)
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ConnContext: func(ctx context.Context, c net.Conn) context.Context {
			if t, ok := c.(*net.TCPConn); ok {
				_ = t.SetWriteBuffer(sendBuffer)
			}
			return ctx
		},
	}
	go func() {
		tick := time.NewTicker(scanEvery)
		defer tick.Stop()
		for {
			_ = s.sessions.scan(ctx) // the next one tries again
			select {
			case <-tick.C:
			case <-ctx.Done():
				s.hub.publish("bye", struct{}{})
				s.hub.end()
				grace, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
				defer cancel()
				if srv.Shutdown(grace) != nil {
					_ = srv.Close()
				}
				return
			}
		}
	}()
	err := srv.Serve(l)
	stop()
	s.sessions.running.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}

func assets() fs.FS {
	sub, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // it is embedded
	}
	return sub
}
