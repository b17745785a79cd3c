// Package proxy is the way out of a sandbox to hosts that were granted: an HTTP
// proxy, for CONNECT and plain HTTP, that judges the name, looks it up itself,
// judges what it found, and dials exactly that (SPEC 16.10, 16.12).
//
// It promises: no connection to a host or port that is not granted, in whatever
// spelling; none to an address that is not of the public internet and not granted
// itself, also where the name of a granted host leads there, the first time or a later
// one; each plain request is judged alone and written anew, to the host that was judged
// and with its name. What is not granted may be asked for, and the client waits meanwhile.
//
// It does not look into what goes through CONNECT: behind a granted host may be
// others that the same servers answer for.
package proxy

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httputil"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"golang.org/x/net/netutil"

	"github.com/pawl-agent/pawl/internal/policy/host"
)

// Resolver finds the addresses of a host; *net.Resolver is one.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options are what a proxy goes by.
type Options struct {
	Grants []host.Grant
	// Admit returns who makes a request, and whether it is served; nil: everybody
	// is, by the address.
	Admit func(*http.Request) (client string, ok bool)
	// Ask decides about a host that no grant covers, and about an address that is not
	// of the public internet: addr is true, and name is the granted name that leads to it,
	// "" if it was asked for by its number. ctx ends with the client's connection.
	Ask func(ctx context.Context, client, target string, addr bool, name string) bool
	// For tests: nil are the network's own.
	Resolver Resolver
	Public   func(netip.Addr) bool
	Dial     func(ctx context.Context, to netip.AddrPort) (net.Conn, error)
}

// Proxy serves the clients of one sandbox.
type Proxy struct {
	opt    Options
	server *http.Server
	plain  *httputil.ReverseProxy

	mu      sync.Mutex
	tunnels map[net.Conn]bool // nil: closed
}

// maxClients is how many connections are served at once; more wait.
const maxClients = 256

func New(o Options) *Proxy {
	p := &Proxy{opt: o, tunnels: map[net.Conn]bool{}}
	if p.opt.Resolver == nil {
		p.opt.Resolver = net.DefaultResolver
	}
	if p.opt.Public == nil {
		p.opt.Public = host.Public
	}
	if p.opt.Dial == nil {
		p.opt.Dial = p.dialJudged
	}
	silent := log.New(io.Discard, "", 0)
	p.server = &http.Server{
		Handler: p, ErrorLog: silent, ReadHeaderTimeout: 30 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 64 << 10,
	}
	p.plain = &httputil.ReverseProxy{
		// The URL is the one that was judged; its host is the only one sent.
		Rewrite:  func(r *httputil.ProxyRequest) { r.Out.Host = r.Out.URL.Host },
		ErrorLog: silent, FlushInterval: -1, ErrorHandler: func(w http.ResponseWriter, _ *http.Request, err error) { refuse(w, err) },
		Transport: &http.Transport{
			DialContext: func(ctx context.Context, _, address string) (net.Conn, error) {
				name, port, err := split(address, 80)
				if err != nil {
					return nil, err
				}
				return p.dial(ctx, name, port)
			},
			DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: 256 << 10,
		},
	}
	return p
}

// Serve answers what a listener accepts until Close.
func (p *Proxy) Serve(l net.Listener) error {
	return p.server.Serve(netutil.LimitListener(l, maxClients))
}

// Close ends all connections.
func (p *Proxy) Close() error {
	err := p.server.Close()
	p.mu.Lock()
	defer p.mu.Unlock()
	for c := range p.tunnels {
		_ = c.Close()
	}
	p.tunnels = nil
	return err
}

// errMalformed and errRefused decide the status of an answer.
var (
	errMalformed = errors.New("this is not a request to a proxy")
	errRefused   = errors.New("the sandbox refused")
)

func statusOf(err error) int {
	switch {
	case errors.Is(err, errMalformed):
		return http.StatusBadRequest
	case errors.Is(err, errRefused):
		return http.StatusForbidden
	}
	return http.StatusBadGateway
}

func refuse(w http.ResponseWriter, err error) {
	w.Header().Set("Connection", "close")
	http.Error(w, "pawl: "+err.Error(), statusOf(err))
}

// refuseTunnel writes the reason in the status line too: most programs show nothing
// else of the answer to a CONNECT.
func refuseTunnel(w http.ResponseWriter, err error) {
	c, _, hijacked := http.NewResponseController(w).Hijack()
	if hijacked != nil {
		refuse(w, err)
		return
	}
	defer c.Close()
	text := "pawl: " + strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' {
			return '?'
		}
		return r
	}, err.Error())
	_ = c.SetWriteDeadline(time.Now().Add(10 * time.Second))
	_, _ = fmt.Fprintf(c, "HTTP/1.1 %d %s\r\nContent-Type: text/plain\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s\n", statusOf(err), text, len(text)+1, text)
}

func (p *Proxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	client := r.RemoteAddr
	if p.opt.Admit != nil {
		var ok bool
		if client, ok = p.opt.Admit(r); !ok {
			w.Header().Set("Proxy-Authenticate", `Basic realm="pawl"`)
			http.Error(w, "pawl: this proxy serves one command only", http.StatusProxyAuthRequired)
			return
		}
	}
	r = r.WithContext(context.WithValue(r.Context(), clientKey{}, client))
	if r.Method == http.MethodConnect {
		p.connect(w, r)
		return
	}
	u := r.URL
	if !strings.EqualFold(u.Scheme, "http") || u.Host == "" || u.User != nil || u.Opaque != "" {
		refuse(w, fmt.Errorf("%w: it takes http://HOST/... without a user, and CONNECT HOST:PORT", errMalformed))
		return
	}
	name, port, err := split(u.Host, 80)
	if err == nil {
		err = p.granted(r.Context(), name, port)
	}
	if err != nil {
		refuse(w, err)
		return
	}
	if u.Host = join(name, port); port == 80 {
		u.Host = strings.TrimSuffix(u.Host, ":80")
	}
	p.plain.ServeHTTP(w, r)
}

// split takes an authority apart: a name in its one spelling, and a port.
func split(authority string, port uint16) (string, uint16, error) {
	name := authority
	if h, digits, err := net.SplitHostPort(authority); err == nil {
		n, err := strconv.ParseUint(digits, 10, 16)
		if err != nil || n == 0 {
			return "", 0, fmt.Errorf("%w: %q has no port", errMalformed, authority)
		}
		name, port = h, uint16(n)
	} else if strings.HasPrefix(name, "[") && strings.HasSuffix(name, "]") {
		name = name[1 : len(name)-1]
	}
	name, err := host.Name(name)
	switch {
	case err != nil:
		return "", 0, fmt.Errorf("%w: %w", errMalformed, err)
	case port == 0:
		return "", 0, fmt.Errorf("%w: %q has no port", errMalformed, authority)
	}
	return name, port, nil
}

func join(name string, port uint16) string {
	return net.JoinHostPort(name, strconv.Itoa(int(port)))
}

// granted returns why a host is refused, nil where it is granted.
func (p *Proxy) granted(ctx context.Context, name string, port uint16) error {
	for _, g := range p.opt.Grants {
		if g.Covers(name, port) {
			return nil
		}
	}
	label := host.Label(name, port)
	if a, err := netip.ParseAddr(name); err == nil && !p.opt.Public(a) {
		if p.address(ctx, a.Unmap(), port, "") {
			return nil
		}
	} else if p.ask(ctx, label, false, "") {
		return nil
	}
	return fmt.Errorf("%w: host %s is not granted", errRefused, label)
}

// clientKey is the key of a request's client in its context.
type clientKey struct{}

// ask reports whether a request's client may have a host that no grant covers.
func (p *Proxy) ask(ctx context.Context, label string, addr bool, name string) bool {
	client, ok := ctx.Value(clientKey{}).(string)
	return ok && p.opt.Ask != nil && p.opt.Ask(ctx, client, label, addr, name)
}

// dial looks a granted host up, once, and connects to what it found. A name that
// has one private address among public ones is not to be trusted with any.
func (p *Proxy) dial(ctx context.Context, name string, port uint16) (net.Conn, error) {
	limit := func() (context.Context, context.CancelFunc) { return context.WithTimeout(ctx, 30*time.Second) }
	var addrs []netip.Addr
	if a, err := netip.ParseAddr(name); err == nil {
		addrs = []netip.Addr{a.Unmap()} // it was granted by its number
	} else {
		look, cancel := limit()
		addrs, err = p.opt.Resolver.LookupNetIP(look, "ip", name+".") // no search domains
		if cancel(); err != nil {
			return nil, fmt.Errorf("look up %s: %w", name, err)
		}
		for i, a := range addrs {
			if addrs[i] = a.Unmap(); !p.opt.Public(a) && !p.address(ctx, addrs[i], port, name) {
				return nil, fmt.Errorf("%w: %s is %s, which is not of the public internet", errRefused, name, a)
			}
		}
	}
	ctx, cancel := limit()
	defer cancel()
	err := fmt.Errorf("%s has no address", name)
	for _, a := range addrs {
		var c net.Conn
		if c, err = p.opt.Dial(ctx, netip.AddrPortFrom(a, port)); err == nil {
			return c, nil
		}
		if ctx.Err() != nil {
			break
		}
	}
	return nil, err
}

// address reports whether an address that is not of the public internet, and that a name
// leads to, may be reached.
func (p *Proxy) address(ctx context.Context, a netip.Addr, port uint16, name string) bool {
	if slices.ContainsFunc(p.opt.Grants, func(g host.Grant) bool { return g.Covers(a.String(), port) }) {
		return true
	}
	return p.ask(ctx, host.Label(a.String(), port), true, name)
}

// dialJudged dials an address, which is judged once more on the socket itself.
func (p *Proxy) dialJudged(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second, Control: func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil || ap.Addr().Unmap() != to.Addr() || !p.opt.Public(to.Addr()) && !p.address(ctx, to.Addr(), to.Port(), "") {
			return fmt.Errorf("%w: %s", errRefused, address)
		}
		return nil
	}}
	return d.DialContext(ctx, "tcp", to.String())
}

// connect makes a tunnel.
func (p *Proxy) connect(w http.ResponseWriter, r *http.Request) {
	if _, _, err := net.SplitHostPort(r.RequestURI); err != nil {
		refuseTunnel(w, fmt.Errorf("%w: CONNECT takes HOST:PORT", errMalformed))
		return
	}
	name, port, err := split(r.RequestURI, 0)
	if err == nil {
		err = p.granted(r.Context(), name, port)
	}
	if err != nil {
		refuseTunnel(w, err)
		return
	}
	up, err := p.dial(r.Context(), name, port)
	if err != nil {
		refuseTunnel(w, err)
		return
	}
	defer up.Close()
	down, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer down.Close()
	if !p.track(up, down) {
		return
	}
	defer p.forget(up, down)
	_ = down.SetDeadline(time.Time{})
	if _, err := io.WriteString(down, "HTTP/1.1 200 Connection established\r\n\r\n"); err != nil {
		return
	}
	both(up, down, buffered.Reader)
}

// both copies in both directions until both have ended.
func both(up, down net.Conn, from *bufio.Reader) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = io.Copy(up, from)
		ended(up)
	}()
	_, _ = io.Copy(down, up)
	ended(down)
	<-done
}

// ended passes the end of one direction on.
func ended(c net.Conn) {
	if w, ok := c.(interface{ CloseWrite() error }); ok && w.CloseWrite() == nil {
		return
	}
	_ = c.Close()
}

func (p *Proxy) track(cs ...net.Conn) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.tunnels == nil {
		return false
	}
	for _, c := range cs {
		p.tunnels[c] = true
	}
	return true
}

func (p *Proxy) forget(cs ...net.Conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, c := range cs {
		delete(p.tunnels, c)
	}
}
