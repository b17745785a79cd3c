package mcp

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/auth/extauth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
)

// asService is the value of OAuth.Grant for a server that knows pawl as a service: with
// an identifier and a secret, and without a person.
const asService = "client_credentials"

// check returns why the configuration of a sign-in cannot be used.
func (o OAuth) check() error {
	switch {
	case o.documented() && (o.ClientSecret != "" || o.Grant != ""):
		return errors.New("oauth.clientId is the address of a client metadata document: such a client has no secret and no grant of its own")
	case o.Grant == "":
		return nil
	case o.Grant != asService:
		return fmt.Errorf("oauth.grant is %q: there is only %s", o.Grant, asService)
	case o.ClientID == "" || o.ClientSecret == "" || o.Issuer == "":
		return fmt.Errorf("oauth.grant %s needs clientId, clientSecret and issuer: the one authorization server that gets the secret", asService)
	}
	return nil
}

// documented reports whether the client identifier is the address of a document that
// describes the client: authorization servers that support these need no registration.
// With the others, pawl registers itself.
func (o OAuth) documented() bool {
	u, err := url.Parse(o.ClientID)
	return err == nil && u.Scheme == "https" && u.Host != "" && strings.Trim(u.Path, "/") != ""
}

// serve gets a token as a service. The token is only in memory: the secret gets another
// one. Callers hold mu.
func (a *signin) serve(ctx context.Context, req *http.Request, resp *http.Response) error {
	o := a.srv.OAuth
	a.s.holds(o.ClientSecret)
	flow, err := extauth.NewClientCredentialsHandler(&extauth.ClientCredentialsHandlerConfig{
		Credentials: &oauthex.ClientCredentials{ClientID: o.ClientID, ClientSecretAuth: &oauthex.ClientSecretAuth{ClientSecret: o.ClientSecret}, Issuer: o.Issuer},
		HTTPClient:  a.client(),
	})
	if err != nil {
		_ = resp.Body.Close()
		return err
	}
	if err := flow.Authorize(ctx, req, resp); err != nil {
		return fmt.Errorf("the sign-in as a service failed: %w", err)
	}
	tokens, err := flow.TokenSource(ctx)
	if err != nil {
		return err
	}
	t, err := tokens.Token()
	if err != nil {
		return fmt.Errorf("%s did not issue a token for the client %s: %w", o.Issuer, o.ClientID, err)
	}
	a.use(&Grant{URL: a.srv.URL, Access: t.AccessToken, Expires: t.Expiry})
	return nil
}
