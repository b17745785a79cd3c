package mcp

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
)

// This file signs in to servers over HTTP that require it (OAuth 2.1). The SDK does
// discovery, registration, PKCE, and the checks of state, issuer and resource. Here is
// decided where a sign-in may lead (reach.go) and what is stored (grants.go). Only a
// person begins a sign-in: a session uses a grant and renews it. Without a grant it
// returns an error that names the command to run.

// SignIn is how a person signs in.
type SignIn struct {
	// Show shows a person the address to open. It returns the address at which their
	// browser ended, if the person types it in, or "" when ctx ends.
	Show func(ctx context.Context, address string) (ended string, err error)
}

// signInTime is how long a person may take.
const signInTime = 10 * time.Minute

// SignInError means that a server wants a person to sign in.
type SignInError struct{ Server, For string }

func (e *SignInError) Error() string {
	return "you have to sign in" + e.For + ": pawl mcp login " + e.Server
}

// signin is the right to call one server. It implements auth.OAuthHandler and
// oauth2.TokenSource.
type signin struct {
	s   *Servers
	srv Server
	to  *url.URL
	by  *SignIn // nil: nobody is there

	mu     sync.Mutex
	g      *Grant
	loaded bool
}

func (s *Servers) signin(srv Server, to *url.URL) *signin {
	return &signin{s: s, srv: srv, to: to, by: s.opt.SignIn}
}

func (a *signin) key() string { return a.s.opt.Pins.key(a.srv) }

func (p *managedServer) key() string { return p.s.opt.Pins.key(p.srv) }

// signInError returns the error that tells the person what to do.
func (a *signin) signInError(what string) error { return &SignInError{a.srv.Name, what} }

// grant returns the stored grant, or nil if there is none. Callers hold mu.
func (a *signin) grant() (*Grant, error) {
	if !a.loaded && a.srv.OAuth.Grant == "" {
		g, err := a.s.opt.Grants.Get(a.key())
		if err != nil {
			return nil, err
		}
		if g != nil && g.URL != a.srv.URL {
			g = nil // of another address: its token is only for that one
		}
		a.use(g)
	}
	return a.g, nil
}

// use sets the grant for later calls. Callers hold mu.
func (a *signin) use(g *Grant) {
	a.g, a.loaded = g, true
	if g != nil {
		a.s.holds(g.Access)
		a.s.holds(g.Refresh)
	}
}

func (a *signin) TokenSource(context.Context) (oauth2.TokenSource, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, err := a.grant()
	if g == nil || g.Access == "" || err != nil {
		return nil, err
	}
	return a, nil
}

// Token implements oauth2.TokenSource. A token that is about to end is renewed.
func (a *signin) Token() (*oauth2.Token, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	g, err := a.grant()
	if err != nil {
		return nil, err
	}
	if g == nil {
		return nil, a.signInError("")
	}
	if g.Refresh != "" && g.over(a.s.opt.Now()) {
		if err := a.renew(a.s.life, g.Access); err != nil {
			return nil, err
		}
	}
	return &oauth2.Token{AccessToken: a.g.Access, TokenType: "Bearer"}, nil
}

// Authorize implements auth.OAuthHandler. The SDK calls it when the server refused a
// request, and sends the request again if it returns nil.
func (a *signin) Authorize(ctx context.Context, req *http.Request, resp *http.Response) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	scopes, more := asked(resp)
	if resp.StatusCode == http.StatusForbidden && !more {
		_ = resp.Body.Close()
		return nil // signing in does not help: the second answer is reported
	}
	g, err := a.grant()
	if err != nil {
		_ = resp.Body.Close()
		return err
	}
	if a.srv.OAuth.Grant != "" {
		_ = resp.Body.Close()
		return a.serve(ctx, scopes)
	}
	used := strings.TrimPrefix(req.Header.Get("Authorization"), "Bearer ")
	if g != nil && !more && (g.Access != used || g.Refresh != "") {
		err := error(nil)
		if g.Access == used {
			err = a.renew(ctx, used)
		}
		if err == nil {
			_ = resp.Body.Close()
			return nil
		}
	}
	if a.by != nil {
		return a.signIn(ctx, req, resp)
	}
	_ = resp.Body.Close()
	if more && g != nil {
		// The next sign-in asks for these, too.
		g.Wanted = union(g.Wanted, scopes)
		_ = a.s.opt.Grants.Update(ctx, a.key(), func(*Grant) (*Grant, error) { return g, nil })
		return a.signInError(" again, for more rights (" + cut(visible(strings.Join(scopes, " ")), 200) + ")")
	}
	return a.signInError("")
}

// asked returns the scopes that a refusal names, and whether the refusal is because they
// are missing.
func asked(resp *http.Response) (scopes []string, more bool) {
	all, err := oauthex.ParseWWWAuthenticate(resp.Header.Values("WWW-Authenticate"))
	if err != nil {
		return nil, false
	}
	for _, c := range all {
		if c.Scheme == "bearer" {
			more = more || c.Params["error"] == "insufficient_scope"
			scopes = append(scopes, strings.Fields(c.Params["scope"])...)
		}
	}
	return scopes, more && resp.StatusCode == http.StatusForbidden
}

func union(a, b []string) []string {
	out := slices.Clone(a)
	for _, s := range b {
		if !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// signIn lets the person sign in. Callers hold mu.
func (a *signin) signIn(ctx context.Context, req *http.Request, resp *http.Response) error {
	ctx, cancel := context.WithTimeoutCause(ctx, signInTime, errors.New("nobody signed in"))
	defer cancel()
	l, err := (&net.ListenConfig{}).Listen(ctx, "tcp", fmt.Sprintf("127.0.0.1:%d", a.srv.OAuth.CallbackPort))
	if err != nil {
		return fmt.Errorf("the sign-in cannot come back to this machine: %w", err)
	}
	defer l.Close()
	name := "127.0.0.1"
	if a.srv.OAuth.CallbackPort != 0 { // registered by a person, who wrote what others write
		name = "localhost"
	}
	back := fmt.Sprintf("http://%s:%d/callback", name, l.Addr().(*net.TCPAddr).Port)
	var authURL string
	var had []string
	if a.g != nil {
		had = union(a.g.Scopes, a.g.Wanted)
	}
	conf := &auth.AuthorizationCodeHandlerConfig{
		RedirectURL: back, RequestRefreshToken: true, AcceptUnadvertisedIss: true, Client: a.client(),
		ScopeFilter: func(found []string) []string { return union(union(found, had), a.srv.OAuth.Scopes) },
		AuthorizationCodeFetcher: func(ctx context.Context, args *auth.AuthorizationArgs) (*auth.AuthorizationResult, error) {
			authURL = args.URL
			return a.browse(ctx, l, args.URL)
		},
		NewTokenSource: func(ctx context.Context, c *oauth2.Config, t *oauth2.Token) (oauth2.TokenSource, error) {
			return oauth2.StaticTokenSource(t), a.keep(ctx, &Grant{
				URL: a.srv.URL, Resource: queryOf(authURL, "resource"), TokenURL: c.Endpoint.TokenURL, SignedInAt: origin(authURL),
				Client: c.ClientID, Secret: c.ClientSecret, Style: c.Endpoint.AuthStyle, Scopes: granted(t, c.Scopes),
				Access: t.AccessToken, Refresh: t.RefreshToken, Expires: t.Expiry,
			})
		},
	}
	if o := a.srv.OAuth; o.ClientID != "" && !o.documented() {
		conf.PreregisteredClient = &oauthex.ClientCredentials{ClientID: o.ClientID}
		if o.ClientSecret != "" {
			conf.PreregisteredClient.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}
		}
	} else {
		conf.DynamicClientRegistrationConfig = &auth.DynamicClientRegistrationConfig{Metadata: &oauthex.ClientRegistrationMetadata{
			ClientName: "pawl", RedirectURIs: []string{back}, GrantTypes: []string{"authorization_code", "refresh_token"},
			ResponseTypes: []string{"code"}, TokenEndpointAuthMethod: "none",
		}}
		if o.documented() {
			conf.ClientIDMetadataDocumentConfig = &auth.ClientIDMetadataDocumentConfig{URL: o.ClientID}
		}
	}
	flow, err := auth.NewAuthorizationCodeHandler(conf)
	if err != nil {
		_ = resp.Body.Close()
		return err
	}
	if err := flow.Authorize(ctx, req, resp); err != nil {
		if ctx.Err() != nil {
			err = context.Cause(ctx)
		}
		return fmt.Errorf("the sign-in failed: %w", err)
	}
	return nil
}

// granted returns the scopes of a token: those that it names, otherwise those requested.
func granted(t *oauth2.Token, asked []string) []string {
	if s, _ := t.Extra("scope").(string); s != "" {
		return strings.Fields(s)
	}
	return asked
}

func queryOf(address, name string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Query().Get(name)
}

func origin(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// keep stores a new grant. Callers hold mu.
func (a *signin) keep(ctx context.Context, g *Grant) error {
	a.use(g)
	return a.s.opt.Grants.Update(ctx, a.key(), func(*Grant) (*Grant, error) { return g, nil })
}

// renew renews the token, unless another pawl has done so. Callers hold mu.
func (a *signin) renew(ctx context.Context, used string) error {
	ctx, cancel := context.WithTimeout(ctx, authTime)
	defer cancel()
	return a.s.opt.Grants.Update(ctx, a.key(), func(g *Grant) (*Grant, error) {
		if g == nil || g.URL != a.srv.URL {
			return g, a.signInError("")
		}
		if g.Access == used || g.over(a.s.opt.Now()) {
			if g.Refresh == "" {
				return g, a.signInError(" again")
			}
			next, err := a.refreshed(ctx, *g)
			if err != nil {
				return g, err
			}
			g = next
		}
		a.use(g)
		return g, nil
	})
}

// refreshed asks the token endpoint for a new token, for the same resource.
func (a *signin) refreshed(ctx context.Context, g Grant) (*Grant, error) {
	form := url.Values{"grant_type": {"refresh_token"}, "refresh_token": {g.Refresh}}
	if g.Resource != "" {
		form.Set("resource", g.Resource)
	}
	if g.Style != oauth2.AuthStyleInHeader {
		form.Set("client_id", g.Client)
		if g.Secret != "" {
			form.Set("client_secret", g.Secret)
		}
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.TokenURL, strings.NewReader(form.Encode()))
	if err != nil {
		return nil, err
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	req.Header.Set("Accept", "application/json")
	if g.Style == oauth2.AuthStyleInHeader {
		req.SetBasicAuth(url.QueryEscape(g.Client), url.QueryEscape(g.Secret))
	}
	resp, err := a.client().Do(req)
	if err != nil {
		return nil, err
	}
	defer resp.Body.Close()
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	t, err := parseToken(resp.StatusCode, raw)
	if err != nil {
		return nil, a.signInError(" again (" + err.Error() + ")")
	}
	g.Access, g.Refresh = t.Access, cmp.Or(t.Refresh, g.Refresh)
	g.Expires = time.Time{}
	if t.Seconds > 0 {
		g.Expires = a.s.opt.Now().Add(time.Duration(t.Seconds) * time.Second)
	}
	return &g, nil
}
