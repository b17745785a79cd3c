// Package dial connects to a NATS server with credentials.
//
// A connection to another machine is encrypted unless the person turns that off: tasks,
// prompts and code are sent over it, and a token would be readable.
package dial

import (
	"errors"
	"fmt"
	"net"
	"net/url"
	"strings"
	"time"

	"github.com/nats-io/nats.go"

	"github.com/pawl-agent/pawl/internal/core/fault"
)

// Options are the server's address and the credentials.
type Options struct {
	URL   string // or several, with commas between
	Token string
	Creds string // a file with a JWT and the seed of its key
	NKey  string // a file with the seed of a key
	CA    string // a file with the certificate authorities that are accepted for the server
	Cert  string // files with the client's certificate and its key
	Key   string
	// Plain allows a connection without TLS to another machine.
	Plain bool
	Inbox string // the prefix of the subjects for answers; "": that of NATS
	// Say is called when the connection is lost and when it is back.
	Say func(string)
}

// Timeouts of a connection. Reconnecting never stops: work ends only when its lease ends.
const (
	connectWait   = 10 * time.Second
	reconnectWait = 500 * time.Millisecond
)

// Connect returns a connection. With TLS nothing is sent before the server is
// authenticated.
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
		nats.Name("pawl"), nats.Timeout(connectWait), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(100*time.Millisecond, time.Second),
		nats.DisconnectErrHandler(func(_ *nats.Conn, err error) {
			if err != nil { // nil: closed by this side
				say("the connection to the NATS server is lost; pawl tries again")
			}
		}),
		nats.ErrorHandler(func(_ *nats.Conn, _ *nats.Subscription, err error) { say("the NATS server says: " + err.Error()) }),
		nats.ReconnectHandler(func(c *nats.Conn) { say("the connection to the NATS server is back") }),
	}
	if o.Inbox != "" {
		opts = append(opts, nats.CustomInboxPrefix(o.Inbox))
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
	// The order matters: the two above make TLS possible, this one requires it.
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
			return false, fault.NewConfiguration("give an address such as nats://host:4222", "the address of the NATS server is not valid") // it may hold a password
		}
		switch u.Scheme {
		case "nats", "tls", "ws", "wss":
		default:
			return false, fault.NewConfiguration("give an address such as nats://host:4222", "a NATS server cannot be reached by %s", u.Scheme)
		}
		ip := net.ParseIP(u.Hostname())
		if u.Hostname() != "localhost" && (ip == nil || !ip.IsLoopback()) {
			far = true
		}
	}
	return far, nil
}

// explain returns an error with the remedy for a failed connection. It does not contain
// the address, which may contain a password.
func (o Options) explain(err error) error {
	switch {
	case errors.Is(err, nats.ErrAuthorization), errors.Is(err, nats.ErrAuthExpired), errors.Is(err, nats.ErrAuthRevoked), strings.Contains(err.Error(), "authorization"):
		return fault.NewConfiguration("see doc/swarm.md for --nats-creds, --nats-nkey and PAWL_NATS_TOKEN", "the NATS server does not let this machine in: %v", err)
	case errors.Is(err, nats.ErrSecureConnWanted):
		return fault.NewConfiguration("set up TLS on the server (doc/swarm.md), or use --nats-plain if the network between is your own", "the NATS server offers no TLS, and it is on another machine")
	case errors.Is(err, nats.ErrNoServers):
		return fault.NewConfiguration("is it running there, and does a firewall let you through? (doc/swarm.md)", "no NATS server was reached")
	}
	return fault.NewConfiguration("see doc/swarm.md", "%v", fmt.Errorf("connect to the NATS server: %w", err))
}
