// Package web is the page of `pawl serve`: the sessions of one person in a browser.
//
// It promises that a browser sees what a terminal sees, from the same blocks, nothing
// missed and nothing twice; that a viewer which is slow or gone holds up nobody; that
// each device may do what it was paired for and no more (api.go); and that what a model
// or a file wrote is text. It serves only requests for names that were given to it, from
// its own page, of devices that were paired. It refuses to listen beyond this machine
// without TLS, but for a proxy that was named.
//
// api.go has the routes, hub.go the stream that all viewers read, live.go follows one session, sessions.go
// finds them, acts.go is what a browser may do, devices.go knows who it is, server.go
// judges requests.
package web

import (
	"context"
	"crypto/tls"
	"embed"
	"errors"
	"io"
	"io/fs"
	"log"
	"net"
	"net/http"
	"time"

	outside "github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

//go:embed assets
var embedded embed.FS

// Config is what a server is made of.
type Config struct {
	Version string
	Store   event.Store
	State   string // pawl's folder for state, where the sockets of sessions are
	Dir     string // where the server was started: a first session may begin there; "" for nowhere
	Devices *Devices
	// Hosts are the names, besides those of this machine's loopback, by which a proxy
	// reaches it.
	Hosts []string
	// TLS, if set, is spoken. SelfMade: nobody vouches for its certificate.
	TLS      *tls.Config
	SelfMade bool
	// Proxies, if any, are the addresses of those that speak TLS: nobody else may connect.
	Proxies []string
	// Here, if set, returns the session that a terminal has open in this process.
	Here func() *session.Session
	// Follow attaches to a session that another process has open.
	Follow func(context.Context, event.Row) (*Opened, error)
	// Open opens a session in this process.
	Open func(context.Context, Start) (*Opened, error)
	// Models lists the models that can be used.
	Models func(context.Context) []UsableModel
	// Swarms may be nil: there are none.
	Swarms Swarms
	// Done is called after each act of a device.
	Done func(Act)
	Now  func() time.Time
	// Push sends to push services; nil: to public addresses only. Wait waits for a time;
	// nil: the clock's.
	Push *outside.Client
	Wait func(context.Context, time.Duration) error
}

// Start is a session to open: the one with an id, or a new one.
type Start struct {
	Dir, ID string
	// Fork: a new one that begins as a copy, up to the event At; 0: all of it.
	Fork        bool
	At          int64
	Model, Mode string // of a fork; "": as the session says
	Worktree    bool   // a new one in a new working tree
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
	a, ok := l.Addr().(*net.TCPAddr)
	if !ok || !a.IP.IsLoopback() && c.TLS == nil && len(c.Proxies) == 0 {
		_ = l.Close()
		return errors.New("web: listens beyond the loopback only with TLS, or for a proxy")
	}
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	c.Hosts = append(Addresses(a.IP), c.Hosts...)
	s := newServer(ctx, c, a.Port)
	srv := &http.Server{
		Handler: s, ReadHeaderTimeout: 5 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 16 << 10,
		ErrorLog:  log.New(io.Discard, "", 0), // strangers do not write on the person's terminal
		Protocols: new(http.Protocols),
	}
	srv.Protocols.SetHTTP1(true) // a stream of HTTP/2 has no place where a slow reader is noticed
	l = &bounded{Listener: l, proxies: c.Proxies}
	if c.TLS != nil {
		conf := c.TLS.Clone()
		conf.MinVersion, conf.NextProtos = tls.VersionTLS12, []string{"http/1.1"}
		l = tls.NewListener(l, conf)
	}
	go func() {
		tick := time.NewTicker(scanEvery)
		defer tick.Stop()
		for {
			s.look()
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

// look finds what other processes did: sessions that they opened, devices that they revoked.
func (s *server) look() {
	s.sessions.takeHere()
	_ = s.sessions.scan(s.sessions.ctx) // the next one tries again
	s.viewers.dismiss(func(id string) bool { return !s.cfg.Devices.known(id) })
}

func assets() fs.FS {
	sub, err := fs.Sub(embedded, "assets")
	if err != nil {
		panic(err) // it is embedded
	}
	return sub
}
