// Package web fetches pages for the model, as text, under the rules of SPEC 16.10.
//
// It promises: only http and https; no host except the requested one (and the same with
// or without "www."); it connects to exactly the address that was checked, again at every
// redirect (at most 5); loopback, private, link-local, carrier, multicast, documentation
// and other special addresses are refused, in every notation and inside mapped, 6to4,
// Teredo and NAT64 forms; at most 2 MB after decompression and 30 s in all; no cookies,
// no credentials, no proxy unless one is configured. The result is valid text in which
// invisible characters are shown as <U+200B>.
//
// It refuses types that are not text, and it runs no scripts. It does not ask for
// consent: the caller has done that for the host. The text of a page is data.
package web

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"mime"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/tool"
	hosts "github.com/pawl-agent/pawl/internal/policy/host"
)

// Errors that callers distinguish; each is wrapped in a sentence.
var (
	// ErrAddress means that the address is not on the public internet.
	ErrAddress = errors.New("not a public address")
	// ErrURL means that the URL is not http or https, has no valid host, or has
	// credentials.
	ErrURL = errors.New("not a web address")
	// ErrType means that the page is not text.
	ErrType = errors.New("not a text page")
	// ErrRedirects means too many redirects, or one without a valid target.
	ErrRedirects = errors.New("redirected too often")
	// ErrOtherHost means that the page is on another host than the requested one. Consent
	// is for one host, so another host is another fetch.
	ErrOtherHost = errors.New("redirected to another host")
)

// Resolver returns the addresses of a host; *net.Resolver implements it.
type Resolver interface {
	LookupNetIP(ctx context.Context, network, host string) ([]netip.Addr, error)
}

// Options changes the defaults; the zero value is right outside tests.
type Options struct {
	Resolver Resolver // nil: the system's
	// Allowed reports whether an address may be dialled; nil: host.Public.
	Allowed func(netip.Addr) bool
	// Timeout limits a whole fetch; 0 means 30 s.
	Timeout time.Duration
	// MaxBytes limits the page after decompression; 0 means 2 MB.
	MaxBytes int64
	// Proxy, if set, selects the proxy of each request, as in http.Transport. The host is
	// still resolved and checked, but the proxy connects.
	Proxy func(*http.Request) (*url.URL, error)
	// TLS is for tests; nil: the system's certificates.
	TLS *tls.Config
	// Follow reports whether a redirect may be followed; nil: sameSite.
	Follow func(from, to *url.URL) bool
	// Agent is the User-Agent; "" is "pawl".
	Agent string
}

const maxRedirects = 5

// Client fetches pages. It stores nothing between fetches and is safe for concurrent use.
type Client struct {
	opt  Options
	http *http.Client
}

var _ tool.Web = (*Client)(nil)

// New returns a Client. It opens no connection.
func New(o Options) *Client {
	if o.Resolver == nil {
		o.Resolver = net.DefaultResolver
	}
	if o.Allowed == nil {
		o.Allowed = hosts.Public
	}
	if o.Timeout <= 0 {
		o.Timeout = 30 * time.Second
	}
	if o.MaxBytes <= 0 {
		o.MaxBytes = 2 << 20
	}
	if o.Follow == nil {
		o.Follow = sameSite
	}
	o.Agent = cmp.Or(o.Agent, "pawl")
	c := &Client{opt: o}
	c.http = &http.Client{
		// fetch follows redirects itself, so that each is checked like the first address.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
		Transport:     c.transport(nil, c.dial),
	}
	return c
}

// Fetch gets a page and returns it as text: HTML as Markdown, other text unchanged. An
// HTTP error status is not an error; the page states it.
func (c *Client) Fetch(ctx context.Context, address string) (tool.Page, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, c.opt.Timeout, fmt.Errorf("no answer within %s", c.opt.Timeout))
	defer cancel()
	page, err := c.fetch(ctx, address)
	if err != nil && ctx.Err() != nil && context.Cause(ctx) != nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return tool.Page{}, fmt.Errorf("fetch %s: %w", shorten(address), shortError(err))
	}
	return page, nil
}

func (c *Client) fetch(ctx context.Context, address string) (tool.Page, error) {
	u, err := parseURL(address)
	if err != nil {
		return tool.Page{}, err
	}
	for range maxRedirects + 1 {
		resp, err := c.get(ctx, u)
		if err != nil {
			return tool.Page{}, err
		}
		switch resp.StatusCode {
		case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
			to := resp.Header.Get("Location")
			_ = resp.Body.Close()
			next, err := u.Parse(to)
			if to == "" || err != nil {
				return tool.Page{}, fmt.Errorf("%w: %s sends on to %q", ErrRedirects, u.Redacted(), shorten(to))
			}
			if next, err = check(next); err != nil {
				return tool.Page{}, fmt.Errorf("redirected to %s: %w", shorten(to), err)
			}
			if !c.opt.Follow(u, next) {
				return tool.Page{}, fmt.Errorf("%w: fetch %s if that is what you want", ErrOtherHost, shorten(next.String()))
			}
			u = next
			continue
		}
		defer resp.Body.Close()
		return c.page(u, resp)
	}
	return tool.Page{}, fmt.Errorf("%w: more than %d times", ErrRedirects, maxRedirects)
}

func (c *Client) get(ctx context.Context, u *url.URL) (*http.Response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, u.String(), nil)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrURL, err)
	}
	req.Header.Set("User-Agent", c.opt.Agent)
	req.Header.Set("Accept", "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.1")
	req.Header.Set("Accept-Language", "en, *;q=0.5")
	if c.opt.Proxy == nil {
		return c.http.Do(req)
	}
	via, err := c.opt.Proxy(req)
	if err != nil || via == nil {
		if err != nil {
			return nil, err
		}
		return c.http.Do(req)
	}
	if _, err := c.resolve(ctx, u.Hostname()); err != nil {
		return nil, err
	}
	client := *c.http
	client.Transport = c.transport(http.ProxyURL(via), nil)
	return client.Do(req)
}

func (c *Client) transport(proxy func(*http.Request) (*url.URL, error), dial func(context.Context, string, string) (net.Conn, error)) *http.Transport {
	return &http.Transport{
		Proxy: proxy, DialContext: dial, TLSClientConfig: c.opt.TLS, ForceAttemptHTTP2: true,
		DisableKeepAlives: true, TLSHandshakeTimeout: 10 * time.Second, MaxResponseHeaderBytes: 256 << 10,
	}
}

// dial connects only to an address that was checked: it resolves the name once, here.
func (c *Client) dial(ctx context.Context, network, address string) (net.Conn, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	addrs, err := c.resolve(ctx, host)
	if err != nil {
		return nil, err
	}
	d := net.Dialer{Timeout: 10 * time.Second}
	// Check again on the socket itself.
	d.Control = func(_, address string, _ syscall.RawConn) error {
		ap, err := netip.ParseAddrPort(address)
		if err != nil || !c.opt.Allowed(ap.Addr()) {
			return fmt.Errorf("%w: %s", ErrAddress, address)
		}
		return nil
	}
	var last error
	for _, a := range addrs {
		conn, err := d.DialContext(ctx, network, net.JoinHostPort(a.String(), port))
		if err == nil {
			return conn, nil
		}
		if last = err; ctx.Err() != nil {
			break
		}
	}
	return nil, last
}

// resolve returns the addresses of a host if all of them are allowed: a name
// with one private address among public ones is not trusted at all.
func (c *Client) resolve(ctx context.Context, host string) ([]netip.Addr, error) {
	var addrs []netip.Addr
	if a, err := netip.ParseAddr(host); err == nil {
		addrs = []netip.Addr{a}
	} else {
		if addrs, err = c.opt.Resolver.LookupNetIP(ctx, "ip", host); err != nil {
			return nil, err
		}
		if len(addrs) == 0 {
			return nil, fmt.Errorf("%s has no address", host)
		}
	}
	for _, a := range addrs {
		if !c.opt.Allowed(a) {
			return nil, fmt.Errorf("%w: %s is %s", ErrAddress, host, a)
		}
	}
	return addrs, nil
}

// Refuses reports whether a host's name alone shows that it is not public, so that Fetch
// would fail even with consent.
func (c *Client) Refuses(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	if a, err := netip.ParseAddr(host); err == nil {
		return !c.opt.Allowed(a)
	}
	last := host[strings.LastIndexByte(host, '.')+1:]
	switch last {
	case "localhost", "local", "internal", "lan", "localdomain", "":
		return !c.opt.Allowed(netip.AddrFrom4([4]byte{127, 0, 0, 1}))
	}
	// 127.1, 0x7f000001 and the like: some resolvers treat them as addresses.
	return strings.Trim(last, "0123456789") == "" || strings.HasPrefix(last, "0x")
}

// page reads a reply and returns it as text.
func (c *Client) page(u *url.URL, resp *http.Response) (tool.Page, error) {
	p := tool.Page{URL: u.String(), Status: resp.StatusCode}
	if enc := resp.Header.Get("Content-Encoding"); enc != "" && enc != "identity" {
		return p, fmt.Errorf("%w: %s compresses with %q, which was not asked for", ErrType, u.Host, shorten(enc))
	}
	body, err := io.ReadAll(io.LimitReader(resp.Body, c.opt.MaxBytes+1))
	if int64(len(body)) > c.opt.MaxBytes {
		body, p.Truncated = body[:c.opt.MaxBytes], true
	} else if err != nil {
		if len(body) == 0 {
			return p, err
		}
		p.Truncated = true // an incomplete page is useful too
	}
	header := resp.Header.Get("Content-Type")
	if header == "" {
		header = http.DetectContentType(body)
	}
	typ, params, err := mime.ParseMediaType(header)
	if err != nil {
		typ, _, _ = strings.Cut(header, ";")
		typ = strings.ToLower(strings.TrimSpace(typ))
	}
	p.Type = typ
	kind := kindOf(typ)
	if kind == other {
		return p, fmt.Errorf("%w: %s is %s; only text, HTML, JSON and XML can be read", ErrType, u.Host, shorten(typ))
	}
	text := decode(body, params["charset"], kind == html_)
	if kind == html_ {
		text = toMarkdown(text, u)
	}
	p.Text = visible(text)
	return p, nil
}

type kind int

const (
	other kind = iota
	html_
	text_
)

func kindOf(typ string) kind {
	switch {
	case typ == "text/html" || typ == "application/xhtml+xml":
		return html_
	case strings.HasPrefix(typ, "text/"), strings.HasSuffix(typ, "+json"), strings.HasSuffix(typ, "+xml") && typ != "image/svg+xml":
		return text_
	}
	switch typ {
	case "application/json", "application/ld+json", "application/x-ndjson", "application/jsonl", "application/xml",
		"application/javascript", "application/x-javascript", "application/ecmascript", "application/typescript",
		"application/yaml", "application/x-yaml", "application/toml", "application/sql", "application/x-sh",
		"application/graphql", "application/x-httpd-php", "image/svg+xml", "message/rfc822":
		return text_
	}
	return other
}

// parseURL parses an address that Fetch accepts: http or https, with a host, without
// credentials. "example.com/a" means https.
func parseURL(address string) (*url.URL, error) {
	address = strings.TrimSpace(address)
	if !strings.Contains(address, "://") && !strings.HasPrefix(address, "//") && !hasScheme(address) {
		address = "https://" + address
	}
	u, err := url.Parse(address)
	if err != nil {
		return nil, fmt.Errorf("%w: %q", ErrURL, shorten(address))
	}
	return check(u)
}

// check returns the normalized URL, or an error if Fetch does not accept it.
func check(u *url.URL) (*url.URL, error) {
	u.Scheme = strings.ToLower(u.Scheme)
	switch {
	case u.Scheme != "http" && u.Scheme != "https":
		return nil, fmt.Errorf("%w: only http and https can be fetched, not %q", ErrURL, shorten(u.Scheme))
	case u.User != nil:
		return nil, fmt.Errorf("%w: it holds a user name or password, and those are never sent", ErrURL)
	case u.Opaque != "":
		return nil, fmt.Errorf("%w: %q", ErrURL, shorten(u.Redacted()))
	}
	host := strings.ToLower(strings.TrimSuffix(u.Hostname(), "."))
	if host == "" {
		return nil, fmt.Errorf("%w: %q names no host", ErrURL, shorten(u.Redacted()))
	}
	if a, err := netip.ParseAddr(host); err == nil {
		if a.Zone() != "" {
			return nil, fmt.Errorf("%w: %s", ErrAddress, host)
		}
	} else if !hosts.Plain(host) {
		return nil, fmt.Errorf("%w: %q is not a host name", ErrURL, shorten(host))
	}
	port := u.Port()
	if strings.Contains(host, ":") {
		host = "[" + host + "]"
	}
	if u.Host = host; port != "" {
		u.Host += ":" + port
	}
	u.Fragment, u.RawFragment = "", ""
	return u, nil
}

// sameSite reports whether to is on the host of from, ignoring "www.", and not less
// protected: then consent for one covers the other.
func sameSite(from, to *url.URL) bool {
	if strings.TrimPrefix(from.Hostname(), "www.") != strings.TrimPrefix(to.Hostname(), "www.") {
		return false
	}
	if from.Scheme == "https" && to.Scheme == "http" {
		return false
	}
	return from.Port() == to.Port() || from.Scheme != to.Scheme && usualPort(from) && usualPort(to)
}

func usualPort(u *url.URL) bool {
	p := u.Port()
	return p == "" || p == "80" && u.Scheme == "http" || p == "443" && u.Scheme == "https"
}

// hasScheme reports whether an address has a scheme: mailto:x has one, host:80/x has not.
func hasScheme(s string) bool {
	before, after, ok := strings.Cut(s, ":")
	return ok && !strings.ContainsAny(before, "./[") && (after == "" || after[0] < '0' || after[0] > '9')
}

// shortError returns a network error without the address, which the message already
// names.
func shortError(err error) error {
	if u, ok := errors.AsType[*url.Error](err); ok {
		err = u.Err
	}
	if d, ok := errors.AsType[*net.DNSError](err); ok && d.IsNotFound {
		return fmt.Errorf("there is no host %s: %w", d.Name, err)
	}
	return err
}

func shorten(s string) string {
	return cut.Runes(visible(strings.ToValidUTF8(s, "\uFFFD")), 200)
}
