package provider

import (
	"context"
	"net/http"
	"strings"
)

// Auth authorizes requests where a key in a header is not enough: it signs them,
// or gets a token that expires. Nothing is read or asked before the first request.
type Auth interface {
	// Authorize adds what proves who asks. body is what will be sent. Its errors
	// are configuration errors that name what to do, or provider errors.
	Authorize(ctx context.Context, req *http.Request, body [][]byte) error
	// Renew is called after a refusal. It reports whether the next Authorize may
	// use other credentials than the refused ones.
	Renew() bool
	// Secrets returns what no message may show.
	Secrets() []string
}

// authorized sends a request. One that is refused with credentials that were kept is sent
// once more with new ones: they may have expired.
func (c *Client) authorized(ctx context.Context, build func() (*http.Request, error), parts [][]byte) (*http.Response, error) {
	for again := false; ; again = true {
		req, err := build()
		if err != nil {
			return nil, err
		}
		if c.cfg.Auth != nil {
			if err := c.cfg.Auth.Authorize(ctx, req, parts); err != nil {
				return nil, err
			}
		}
		resp, err := c.send(req)
		if err != nil {
			return nil, c.unreachable(err)
		}
		refused := resp.StatusCode == http.StatusUnauthorized || resp.StatusCode == http.StatusForbidden
		if again || !refused || c.cfg.Auth == nil || !c.cfg.Auth.Renew() {
			return resp, nil
		}
		_ = resp.Body.Close()
	}
}

// masked removes the secrets of this client from a text, and everything like a key.
func (c *Client) masked(s string) string {
	s = maskKey(s, c.cfg.Key)
	if c.cfg.Auth != nil {
		for _, secret := range c.cfg.Auth.Secrets() {
			if strings.TrimSpace(secret) != "" {
				s = maskKey(s, secret)
			}
		}
	}
	return s
}
