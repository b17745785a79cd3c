package mcp

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// This file connects to servers over HTTP. A person's own server may be on this machine
// or in their network: they named it. Redirects are followed only to the server's own
// scheme, host and port, since requests contain the person's token. The same holds for
// the address to which messages for an old (SSE) server are sent.

// maxBody is the size limit of one answer that is not a stream.
const maxBody = 4 * maxMessage

// maxRedirects is how many redirects on the server itself are followed.
const maxRedirects = 3

func (s *Servers) remote(srv Server) (sdk.Transport, error) {
	u, err := address(srv.URL)
	if err != nil {
		return nil, err
	}
	next := s.opt.HTTP
	if next == nil {
		t := http.DefaultTransport.(*http.Transport).Clone() // always one
		t.ResponseHeaderTimeout = 2 * time.Minute
		next = t
	}
	to := &originTransport{to: u, headers: srv.Headers, next: next}
	client := &http.Client{
		Transport: to,
		CheckRedirect: func(r *http.Request, via []*http.Request) error {
			if !sameOrigin(u, r.URL) {
				return fmt.Errorf("%w: to %s", errElsewhere, r.URL.Host)
			}
			if len(via) >= maxRedirects {
				return errors.New("it redirects too often")
			}
			return nil
		},
	}
	var in *signin
	if srv.SignsIn() {
		if err := srv.OAuth.check(); err != nil {
			return nil, err
		}
		in = s.signin(srv, u)
	}
	if srv.Transport == "sse" {
		to.in = in
		return &sdk.SSEClientTransport{Endpoint: srv.URL, HTTPClient: client, MaxEventSize: maxMessage}, nil
	}
	t := &sdk.StreamableClientTransport{Endpoint: srv.URL, HTTPClient: client, MaxEventSize: maxMessage, MaxRetries: 2}
	if in != nil {
		t.OAuthHandler = in
	}
	return t, nil
}

var errElsewhere = errors.New("the server points elsewhere, which is not followed")

// originTransport sends requests to one origin only, with the headers configured for it.
type originTransport struct {
	to      *url.URL
	headers map[string]string
	next    http.RoundTripper
	in      *signin // of an old server, whose transport does not support sign-in; or nil
}

func (b *originTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if !sameOrigin(b.to, r.URL) {
		return nil, fmt.Errorf("%w: to %s", errElsewhere, r.URL.Host)
	}
	r = r.Clone(r.Context())
	for k, v := range b.headers {
		r.Header.Set(k, v)
	}
	if b.in != nil {
		if src, err := b.in.TokenSource(r.Context()); err != nil {
			return nil, err
		} else if src != nil {
			t, err := src.Token()
			if err != nil {
				return nil, err
			}
			r.Header.Set("Authorization", "Bearer "+t.AccessToken)
		}
	}
	resp, err := b.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if b.in != nil && resp.StatusCode == http.StatusUnauthorized {
		_ = resp.Body.Close()
		return nil, &SignInError{Server: b.in.srv.Name}
	}
	if !strings.HasPrefix(resp.Header.Get("Content-Type"), "text/event-stream") {
		resp.Body = limited(resp.Body, maxBody)
	}
	return resp, nil
}

// sameOrigin reports whether two addresses belong to one server. The case of
// the host is ignored, and so is an explicit default port.
func sameOrigin(a, b *url.URL) bool {
	port := func(u *url.URL) string {
		if p := u.Port(); p != "" {
			return p
		}
		return map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	return a.Scheme == b.Scheme && strings.EqualFold(a.Hostname(), b.Hostname()) && port(a) == port(b)
}

// limitedBody fails if a body is too long, since its reader keeps all of it in memory.
type limitedBody struct {
	io.ReadCloser
	max, left int64 // bytes
}

func limited(body io.ReadCloser, max int64) *limitedBody { return &limitedBody{body, max, max} }

func (l *limitedBody) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("it sent more than %d MB", l.max>>20)
	}
	n, err := l.ReadCloser.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
