package mcp

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/auth"
	"github.com/modelcontextprotocol/go-sdk/oauthex"
	"golang.org/x/oauth2"
	"golang.org/x/oauth2/clientcredentials"
)

// This file gets tokens without a person: pawl is a service that the authorization server
// knows by a secret or a key, or a company vouches for the person (SEP-1046, SEP-990).

// asService is the value of OAuth.Grant for a server that knows pawl as a service: with
// an identifier and a secret or a private key, and without a person. byCompany is the one
// where the token of a company's identity provider is exchanged.
const (
	asService = "client_credentials"
	byCompany = "jwt-bearer"
)

// check returns why the configuration of a sign-in cannot be used.
func (o OAuth) check() error {
	switch {
	case o.documented() && (o.ClientSecret != "" || o.Grant != ""):
		return errors.New("oauth.clientId is the address of a client metadata document: such a client has no secret and no grant of its own")
	case o.Grant == "":
		return nil
	case o.Grant != asService && o.Grant != byCompany:
		return fmt.Errorf("oauth.grant is %q: use %s or %s", o.Grant, asService, byCompany)
	case o.ClientID == "" || o.ClientSecret == "" && o.PrivateKey == "" || o.Issuer == "":
		return fmt.Errorf("oauth.grant %s needs clientId, clientSecret or privateKey, and issuer: the one authorization server that gets the secret", o.Grant)
	case o.Grant == byCompany && (o.Company.TokenEndpoint == "" || o.Company.ClientID == "" || o.Company.IDToken == ""):
		return fmt.Errorf("oauth.grant %s needs idp, with tokenEndpoint, clientId and idToken of the company's identity provider", byCompany)
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

// serve gets a token as a service. What the MCP server says of authorization servers is
// ignored, since the person named theirs. The token is only in memory: the secret gets
// another one. Callers hold mu.
func (a *signin) serve(ctx context.Context, scopes []string) error {
	o := a.srv.OAuth
	a.s.holds(o.ClientSecret)
	a.s.holds(o.Company.IDToken)
	ctx = context.WithValue(ctx, oauth2.HTTPClient, a.client())
	t, err := a.serviceToken(ctx, o, scopes)
	if err != nil {
		return fmt.Errorf("the sign-in as a service failed: %s did not issue a token for the client %s: %w", o.Issuer, o.ClientID, err)
	}
	a.use(&Grant{URL: a.srv.URL, Access: t.AccessToken, Expires: t.Expiry})
	return nil
}

func (a *signin) serviceToken(ctx context.Context, o OAuth, scopes []string) (*oauth2.Token, error) {
	at, err := auth.GetAuthServerMetadata(ctx, o.Issuer, a.client())
	if err == nil && at == nil {
		err = fmt.Errorf("%s has no metadata under /.well-known", o.Issuer)
	}
	if err != nil {
		return nil, err
	}
	conf := clientcredentials.Config{
		ClientID: o.ClientID, ClientSecret: o.ClientSecret, TokenURL: at.TokenEndpoint, AuthStyle: oauth2.AuthStyleInHeader,
		Scopes: union(scopes, o.Scopes), EndpointParams: url.Values{"resource": {a.srv.URL}},
	}
	if slices.Contains(at.TokenEndpointAuthMethodsSupported, "client_secret_post") {
		conf.AuthStyle = oauth2.AuthStyleInParams
	}
	if o.PrivateKey != "" {
		now := a.s.opt.Now()
		assertion, err := signed(o.PrivateKey, map[string]any{
			"iss": o.ClientID, "sub": o.ClientID, "aud": at.Issuer, "iat": now.Unix(), "exp": now.Add(time.Minute).Unix(), "jti": rand.Text(),
		})
		if err != nil {
			return nil, err
		}
		conf.AuthStyle, conf.ClientSecret = oauth2.AuthStyleInParams, ""
		conf.EndpointParams.Set("client_assertion_type", "urn:ietf:params:oauth:client-assertion-type:jwt-bearer")
		conf.EndpointParams.Set("client_assertion", assertion)
	}
	if o.Grant == byCompany {
		vouched, err := a.vouched(ctx, o.Company, at.Issuer, conf.Scopes)
		if err != nil {
			return nil, err
		}
		conf.EndpointParams.Set("grant_type", "urn:ietf:params:oauth:grant-type:jwt-bearer")
		conf.EndpointParams.Set("assertion", vouched)
	}
	return conf.Token(ctx)
}

// vouched exchanges the company's token for one with which an authorization server issues
// tokens for the MCP server.
func (a *signin) vouched(ctx context.Context, by Company, issuer string, scopes []string) (string, error) {
	creds := &oauthex.ClientCredentials{ClientID: by.ClientID}
	if by.ClientSecret != "" {
		creds.ClientSecretAuth = &oauthex.ClientSecretAuth{ClientSecret: by.ClientSecret}
	}
	t, err := oauthex.ExchangeToken(ctx, by.TokenEndpoint, &oauthex.TokenExchangeRequest{
		RequestedTokenType: oauthex.TokenTypeIDJAG, Audience: issuer, Resource: a.srv.URL, Scope: scopes,
		SubjectToken: by.IDToken, SubjectTokenType: oauthex.TokenTypeIDToken,
	}, creds, a.client())
	if err != nil {
		return "", fmt.Errorf("%s does not confirm who you are: %w", by.TokenEndpoint, err)
	}
	return t.AccessToken, nil
}

// signed returns claims as a token that a private key has signed (RFC 7523).
func signed(key string, claims map[string]any) (string, error) {
	block, _ := pem.Decode([]byte(key))
	if block == nil {
		return "", errors.New("oauth.privateKey is not a PEM key")
	}
	k, err := x509.ParsePKCS8PrivateKey(block.Bytes)
	if err != nil {
		return "", errors.New("oauth.privateKey is not a PKCS #8 key")
	}
	alg := "RS256"
	if _, ok := k.(*ecdsa.PrivateKey); ok {
		alg = "ES256"
	}
	body, err := json.Marshal(claims)
	if err != nil {
		return "", err
	}
	b64 := base64.RawURLEncoding.EncodeToString
	text := b64([]byte(`{"alg":"`+alg+`","typ":"JWT"}`)) + "." + b64(body)
	sum := sha256.Sum256([]byte(text))
	switch k := k.(type) {
	case *rsa.PrivateKey:
		sig, err := rsa.SignPKCS1v15(rand.Reader, k, crypto.SHA256, sum[:])
		return text + "." + b64(sig), err
	case *ecdsa.PrivateKey: // its two numbers, not in ASN.1
		if k.Curve == elliptic.P256() {
			r, s, err := ecdsa.Sign(rand.Reader, k, sum[:])
			if err != nil {
				return "", err
			}
			return text + "." + b64(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...)), nil
		}
	}
	return "", errors.New("oauth.privateKey must be an RSA or a P-256 key")
}
