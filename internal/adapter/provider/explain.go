package provider

import (
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"
	"syscall"

	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// This file writes the messages for failures between pawl and a server, for a reader who
// must act on them. No message contains a key.

// cancelled reports whether the caller ended the exchange, not the stall timer.
func cancelled(ctx context.Context) bool {
	return ctx.Err() != nil && !errors.Is(context.Cause(ctx), fault.ErrStalled)
}

// stalled returns err, or an error about the silence if the stall timer ended the
// exchange.
func (c *Client) stalled(ctx context.Context, w *stallTimer, err error) error {
	if !errors.Is(context.Cause(ctx), fault.ErrStalled) {
		return err
	}
	f := fault.NewProvider(c.cfg.Info.Provider, 0, "", nil)
	f.Kind = fault.ErrStalled
	f.Message = fmt.Sprintf("%s sent nothing for %s", c.cfg.Info.From, c.cfg.Between)
	if w.read() == waiting {
		f.Message = fmt.Sprintf("%s sent no byte within %s", c.cfg.Info.From, c.cfg.FirstByte)
	}
	return f
}

// unreachable returns an error that explains why no answer came.
func (c *Client) unreachable(err error) error {
	if ue, ok := errors.AsType[*url.Error](err); ok {
		err = ue.Err // the host is named anyway
	}
	f := fault.NewProvider(c.cfg.Info.Provider, 0, "no answer from "+c.cfg.Info.From, err)
	check := setTo(c.cfg.URLName, "the right address")
	var (
		dns  *net.DNSError
		host x509.HostnameError
		auth x509.UnknownAuthorityError
		cert *tls.CertificateVerificationError
		rec  tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &dns):
		// This includes a name that is not found: a laptop that wakes up, a VPN (SPEC
		// 3.4).
		f.Hint = "check the network, or " + check
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Hint = "is a server running there? if not, start it or " + check
	case errors.As(err, &host), errors.As(err, &auth), errors.As(err, &cert):
		f.Retryable = false
		f.Hint = "its certificate is not trusted here; SSL_CERT_FILE can name another authority"
	case errors.As(err, &rec), strings.Contains(err.Error(), "malformed HTTP"),
		strings.Contains(err.Error(), "HTTP response to HTTPS client"):
		f.Retryable = false
		f.Message = c.cfg.Info.From + " does not speak " + strings.ToUpper(c.scheme())
		f.Err, f.Hint = nil, check
	}
	return f
}

func (c *Client) scheme() string {
	scheme, _, _ := strings.Cut(c.cfg.BaseURL, "://")
	return scheme
}

// foreign returns an error that explains a 2xx answer that is not a model's reply.
func (c *Client) foreign(resp *http.Response, why error, start []byte) error {
	f := fault.NewProvider(c.cfg.Info.Provider, resp.StatusCode, "", nil)
	if errors.Is(why, errNothing) {
		f.Retryable = true
		f.Message = fmt.Sprintf("%s answered %d without content", c.cfg.Info.From, resp.StatusCode)
		return f
	}
	f.Retryable = false
	f.Message = fmt.Sprintf("%s answered %d with something that is not a model's reply: %s",
		c.cfg.Info.From, resp.StatusCode, describe(start[:min(len(start), 200)]))
	f.Hint = setTo(c.cfg.URLName, "the address of a server for "+c.cfg.API.Name())
	return f
}

// incomplete adds to a decoder's error about a missing end (why) how the body ended
// (how).
func (c *Client) incomplete(how, why error) error {
	var f *fault.Error
	if !errors.As(why, &f) {
		f = fault.NewProvider(c.cfg.Info.Provider, http.StatusOK, "", nil)
		f.Message = c.cfg.Info.From + ": " + why.Error()
		f.Retryable = true
	}
	if how != nil && f.Err == nil {
		f.Err = how
	}
	return f
}

// malformed turns a decoder's error into an error of the model, unless it is already a
// *fault.Error.
func (c *Client) malformed(err error) error {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f
	}
	return fault.NewLLM("%s sent a reply that cannot be read: %s", c.cfg.Info.Ref(), Clean(err.Error()))
}

// hint adds what to do to a failure that a person can fix.
func (c *Client) hint(f *fault.Error, body []byte) error {
	if f.Hint != "" {
		return f
	}
	said := strings.ToLower(f.Message)
	key := f.Status == http.StatusUnauthorized ||
		(f.Status == http.StatusForbidden || f.Status == http.StatusBadRequest) &&
			(strings.Contains(said, "api key") || strings.Contains(said, "api_key") || strings.Contains(said, "unregistered callers"))
	switch {
	case key && c.cfg.Key == "":
		f.Hint = setTo(c.cfg.KeyName, "a key of this provider")
	case key:
		f.Hint = setTo(c.cfg.KeyName, "a key that is valid for "+c.cfg.Info.From)
	case f.Status == http.StatusNotFound || f.Status == http.StatusMethodNotAllowed:
		if b := bytes.TrimSpace(body); len(b) == 0 || b[0] != '{' && b[0] != '[' {
			f.Hint = setTo(c.cfg.URLName, "the address of a server for "+c.cfg.API.Name())
		} else {
			f.Hint = "pawl models lists what is usable"
		}
	case f.Status == http.StatusForbidden:
		f.Hint = "this key may not do that: use another one, or another model (/model, or -m)"
	case f.Status == http.StatusBadRequest && f.Kind == nil:
		f.Hint = "change the prompt, take the last one back with /rewind, or use another model (/model, or -m)"
	}
	return f
}

// setTo returns a hint to set a value, with the name of the setting if it has one.
func setTo(name, what string) string {
	if name == "" {
		return "configure " + what
	}
	return "set " + name + " to " + what
}

// mask returns a copy of an error without the secrets and anything like a key.
func (c *Client) mask(f *fault.Error) *fault.Error {
	g := *f
	g.Message, g.Hint = c.masked(g.Message), c.masked(g.Hint)
	if g.Err != nil {
		if was := g.Err.Error(); c.masked(was) != was {
			g.Err = errors.New(c.masked(was))
		}
	}
	if g.Details != nil {
		g.Details = make(map[string]string, len(f.Details))
		for k, v := range f.Details {
			g.Details[k] = c.masked(v)
		}
	}
	return &g
}

const masked = "[key]"

// maskKey replaces every part of at least 8 bytes that a text shares with the key, and
// every word that looks like a key. A key that is a short or common word, as for local
// servers, is not masked: that would remove ordinary words from the text.
func maskKey(s, key string) string {
	const least = 8
	if !secrets.Distinct(key) {
		key = ""
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 0
		if len(key) >= least && i+least <= len(s) && strings.Contains(key, s[i:i+least]) {
			for n = least; i+n < len(s) && strings.Contains(key, s[i:i+n+1]); n++ {
			}
		} else if i == 0 || !wordByte(s[i-1]) {
			n = keyLike(s[i:])
		}
		if n > 0 {
			b.WriteString(masked)
			i += n
			continue
		}
		b.WriteByte(s[i])
		i++
	}
	return b.String()
}

// keyLike returns the length of the word at the start of s if it has the prefix of a
// known kind of key and at least 20 bytes; else 0.
func keyLike(s string) int {
	n := 0
	for n < len(s) && wordByte(s[n]) {
		n++
	}
	if n < 20 {
		return 0
	}
	for _, p := range []string{"sk-", "AIza", "gsk_", "xai-", "hf_", "pplx-", "AKIA", "ya29.", "r8_", "csk-", "fw_", "nvapi-"} {
		if strings.HasPrefix(s, p) {
			return n
		}
	}
	return 0
}

func wordByte(c byte) bool {
	return c == '-' || c == '_' || c == '.' || c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
