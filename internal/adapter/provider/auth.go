package provider

import (
	"context"
	"net/http"
	"strings"
)

// Auth authorizes requests for which a key in a header is not enough: it signs them, or
// gets a token that expires. It reads and requests nothing before the first request.
type Auth interface {
	// Authorize adds the proof of identity to req; body is what will be sent. Its errors
	// are configuration errors that name what to do, or provider errors.
	Authorize(ctx context.Context, req *http.Request, body [][]byte) error
	// Renew is called after a refusal. It reports whether the next Authorize may use
	// other credentials than those that were refused.
	Renew() bool
	// Secrets returns the texts that no message may show.
	Secrets() []string
}

// authorized sends a request. If cached credentials are refused, it sends the request
// once more with new ones: the old ones may have expired.
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

// masked returns a text without the secrets of this client and without anything that
// looks like a key.
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
