package mcp

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/policy/host"
)

// This file decides which addresses a sign-in may use. A server names the addresses, so
// the rules are those of web_fetch (SPEC 16.10): https, public, and no redirect to
// another host. A server that a person runs on this machine or in their own network may
// name others there.

// authTime is the time limit of one request, maxAuth the size of its answer.
const (
	authTime = 30 * time.Second
	maxAuth  = 1 << 20
)

var errReach = errors.New("pawl does not go there")

// mayReach returns why an address that a server named is not requested or shown, or nil.
func (a *signin) mayReach(u *url.URL) error {
	if u.User != nil || u.Hostname() == "" {
		return fmt.Errorf("%w: %s", errReach, cut(u.Redacted(), 200))
	}
	if u.Scheme == "https" || u.Scheme == "http" && a.srv.Here() && (Server{Transport: "http", URL: u.String()}).Here() {
		return nil
	}
	return fmt.Errorf("%w: %s is not https", errReach, cut(u.Redacted(), 200))
}

// client returns the HTTP client for a sign-in's requests.
func (a *signin) client() *http.Client {
	next := a.s.opt.HTTP
	if next == nil {
		d := net.Dialer{Timeout: 10 * time.Second, ControlContext: func(ctx context.Context, _, address string, _ syscall.RawConn) error {
			ap, err := netip.ParseAddrPort(address)
			if err != nil {
				return err
			}
			return a.mayDial(ctx, ap.Addr())
		}}
		next = &http.Transport{
			DialContext: d.DialContext, Proxy: a.proxy, ForceAttemptHTTP2: true, DisableKeepAlives: true,
			TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 256 << 10,
		}
	}
	return &http.Client{
		Timeout: authTime, Transport: &signinTransport{a, next},
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !sameOrigin(via[0].URL, r.URL) {
				return fmt.Errorf("%w: redirected to %s", errReach, r.URL.Host)
			}
			if len(via) >= maxRedirects {
				return errors.New("it redirects too often")
			}
			return nil
		},
	}
}

// proxy returns the proxy of the person's environment. Addresses behind a proxy are not
// visible here, so names are looked up before.
func (a *signin) proxy(r *http.Request) (*url.URL, error) {
	via, err := http.ProxyFromEnvironment(r)
	if via == nil || err != nil {
		return nil, err
	}
	addrs, err := lookup(r.Context(), r.URL.Hostname())
	if err != nil {
		return nil, err
	}
	for _, ip := range addrs {
		if err := a.mayDial(r.Context(), ip); err != nil {
			return nil, err
		}
	}
	return via, nil
}

// signinTransport checks the address of each request, and bounds the response.
type signinTransport struct {
	a    *signin
	next http.RoundTripper
}

func (l *signinTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := l.a.mayReach(r.URL); err != nil {
		return nil, err
	}
	resp, err := l.next.RoundTrip(r)
	if err == nil {
		resp.Body = limited(resp.Body, maxAuth)
	}
	return resp, err
}

// mayDial returns why an address is not connected to, or nil.
func (a *signin) mayDial(ctx context.Context, ip netip.Addr) error {
	ip = ip.Unmap()
	if host.Public(ip) {
		return nil
	}
	own, err := lookup(ctx, a.to.Hostname())
	if err != nil {
		return err
	}
	for _, o := range own {
		if o = o.Unmap(); o.IsLoopback() && ip.IsLoopback() || o.IsPrivate() && ip.IsPrivate() {
			return nil
		}
	}
	return fmt.Errorf("%w: %s is not on the public internet", errReach, ip)
}

func lookup(ctx context.Context, name string) ([]netip.Addr, error) {
	if ip, err := netip.ParseAddr(name); err == nil {
		return []netip.Addr{ip}, nil
	}
	return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
}
