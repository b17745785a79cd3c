// Package dial connects to a NATS server, with what proves who one is.
//
// Outside this machine a connection is encrypted, unless one says that it need
// not be: tasks, prompts and code go through it, and a token would be readable.
package dial

import (
	"cmp"
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Options say where a server is and who connects.
type Options struct {
	URL   string // or several, with commas between
	Name  string // of the connection, for who runs the server
	Token string
	Creds string // a file with a JWT and the seed of its key
	NKey  string // a file with the seed of a key
	CA    string // a file with the authorities that the server's certificate may be of
	Cert  string // files with a certificate of one's own and its key
	Key   string
	// Plain allows a connection without TLS to another machine.
	Plain bool
	// Say is told when the connection is lost and when it is back.
	Say func(string)
}

// Waits of a connection. It is never given up: what counts is whether the lease
// is still one.
const (
	connectWait   = 10 * time.Second
	reconnectWait = 500 * time.Millisecond
)

// Connect connects. Nothing is sent before the server is known to be the right
// one, where TLS is used.
func Connect(o Options) (*nats.Conn, error) {
	opts, err := o.options()
	if err != nil {
		return nil, err
	}
	nc, err := nats.Connect(o.URL, opts...)
	if err != nil {
		return nil, o.explain(err)
	}
	return nc, nil
}

func (o Options) options() ([]nats.Option, error) {
	ways := 0
	for _, s := range []string{o.Token, o.Creds, o.NKey} {
		if s != "" {
			ways++
		}
	}
	if ways > 1 {
		return nil, fault.NewConfiguration("give one of them", "a token, a credentials file and an nkey were given together")
	}
	if (o.Cert == "") != (o.Key == "") {
		return nil, fault.NewConfiguration("give both", "a certificate and its key belong together")
	}
	say := o.Say
	if say == nil {
		say = func(string) {}
	}
	opts := []nats.Option{
		nats.Name(cmp.Or(o.Name, "pawl")), nats.Timeout(connectWait), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(100*time.Millisecond, time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: by ourselves
				say("the connection to the NATS server is lost; it is tried again")
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { say("the NATS server says: " + err.Error()) }),
		nats.ReconnectHandler(func(c *nats.Conn) { say("the NATS server is reached again") }),
	}
	far, err := o.far()
	if err != nil {
		return nil, err
	}
	if o.CA != "" {
		opts = append(opts, nats.RootCAs(o.CA))
	}
	if o.Cert != "" {
		opts = append(opts, nats.ClientCert(o.Cert, o.Key))
	}
	// After the two above: they make TLS possible, this makes it a must.
	if far && !o.Plain || o.CA != "" || o.Cert != "" {
		opts = append(opts, nats.Secure())
	}
	switch {
	case o.Token != "":
		opts = append(opts, nats.Token(o.Token))
	case o.Creds != "":
		opts = append(opts, nats.UserCredentials(o.Creds))
	case o.NKey != "":
		k, err := nats.NkeyOptionFromSeed(o.NKey)
		if err != nil {
			return nil, fault.NewConfiguration("give a file with the seed of a user's nkey (it begins with SU)", "%s: %v", o.NKey, err)
		}
		opts = append(opts, k)
	}
	return opts, nil
}

// far reports whether any of the servers is on another machine.
func (o Options) far() (bool, error) {
	far := false
	for one := range strings.SplitSeq(o.URL, ",") {
		one = strings.TrimSpace(one)
		if !strings.Contains(one, "://") {
			one = "nats://" + one
		}
		u, err := url.Parse(one)
		if err != nil || u.Hostname() == "" {
			return false, fault.NewConfiguration("give an address such as nats://host:4222", "the address of the NATS server makes no sense") // it may hold a password
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return false, fault.NewConfiguration("give an address such as nats://host:4222", "a NATS server is not reached by %s", u.Scheme)
		}
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			far = true
		}
	}
	return far, nil
}

// explain says what to do about a connection that could not be made. The address
// may hold a password, so it is not in it.
func (o Options) explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), strings.Contains(err.Error(), "authorization"):
		return fault.NewConfiguration("see doc/swarm.md for --nats-creds, --nats-nkey and PAWL_NATS_TOKEN", "the NATS server does not let this machine in: %v", err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fault.NewConfiguration("set up TLS on the server (doc/swarm.md), or say --nats-plain where the network between is your own", "the NATS server offers no TLS, and it is on another machine")
	case errors.Is(err, nats.ErrNoServers):
		return fault.NewConfiguration("is it running there, and does a firewall let you through? (doc/swarm.md)", "no NATS server was reached")
	}
	return fault.NewConfiguration("see doc/swarm.md", "%v", fmt.Errorf("connect to the NATS server: %w", err))
}
