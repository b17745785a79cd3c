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
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// verified returns the claims of a signed token, nil if its signature is wrong.
func (a *authority) verified(said string) (claims map[string]any) {
	parts := strings.Split(said, ".")
	sig, _ := base64.RawURLEncoding.DecodeString(parts[2])
	sum := sha256.Sum256([]byte(parts[0] + "." + parts[1]))
	switch k := a.public.(type) {
	case *rsa.PublicKey:
		if rsa.VerifyPKCS1v15(k, crypto.SHA256, sum[:], sig) != nil {
			return nil
		}
	case *ecdsa.PublicKey:
		if len(sig) != 64 || !ecdsa.Verify(k, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
			return nil
		}
	}
	raw, _ := base64.RawURLEncoding.DecodeString(parts[1])
	_ = json.Unmarshal(raw, &claims)
	return claims
}

func keyPEM(t *testing.T, k crypto.Signer) string {
	t.Helper()
	raw := must.Get(x509.MarshalPKCS8PrivateKey(k))(t)
	return string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: raw}))
}

// SPEC 17.1: a server that knows pawl as a service, by a secret or a key, or whose company
// vouches for the person, gets its token without a person; the secret goes to the configured
// authorization server alone, and nothing is kept.
func TestService(t *testing.T) {
	signs := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	other := must.Get(ecdsa.GenerateKey(elliptic.P384(), rand.Reader))(t)
	long := must.Get(rsa.GenerateKey(rand.Reader, 2048))(t)
	for name, c := range map[string]struct {
		change func(o *OAuth)
		public crypto.PublicKey
		err    string
	}{
		"in":                 {},
		"by a key":           {change: func(o *OAuth) { o.ClientSecret, o.PrivateKey = "", keyPEM(t, signs) }, public: signs.Public()},
		"by a long key":      {change: func(o *OAuth) { o.ClientSecret, o.PrivateKey = "", keyPEM(t, long) }, public: long.Public()},
		"by another key":     {change: func(o *OAuth) { o.ClientSecret, o.PrivateKey = "", keyPEM(t, signs) }, public: long.Public(), err: "the sign-in as a service failed"},
		"by a key of P-384":  {change: func(o *OAuth) { o.PrivateKey = keyPEM(t, other) }, err: "must be an RSA or a P-256 key"},
		"by no key":          {change: func(o *OAuth) { o.PrivateKey = "s3cret" }, err: "not a PEM key"},
		"by a company":       {change: func(o *OAuth) { o.Grant = byCompany }},
		"of no company":      {change: func(o *OAuth) { o.Grant, o.Company.IDToken = byCompany, "" }, err: "needs idp"},
		"of another company": {change: func(o *OAuth) { o.Grant, o.Company.IDToken = byCompany, "s3cret-token" }, err: "does not confirm who you are"},
		"a wrong secret":     {change: func(o *OAuth) { o.ClientSecret = "s3cret-of-nobody" }, err: "the sign-in as a service failed"},
		"another authority":  {change: func(o *OAuth) { o.Issuer += "/other" }, err: "has no metadata"},
		"no authority named": {change: func(o *OAuth) { o.Issuer = "" }, err: "needs clientId, clientSecret or privateKey, and issuer"},
		"no secret":          {change: func(o *OAuth) { o.ClientSecret = "" }, err: "needs clientId, clientSecret or privateKey, and issuer"},
		"an unknown grant":   {change: func(o *OAuth) { o.Grant = "password" }, err: "use client_credentials or jwt-bearer"},
	} {
		t.Run(name, func(t *testing.T) {
			a, dir := newAuthority(t), filepath.Join(t.TempDir(), "tokens")
			a.public = c.public
			a.bend = func(path string, doc map[string]any) {
				if strings.HasSuffix(path, "oauth-authorization-server") {
					doc["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
				} else { // what the server says of its authority does not count
					doc["authorization_servers"] = []string{a.URL + "/elsewhere"}
				}
			}
			o := OAuth{
				Grant: asService, ClientID: "service-1", ClientSecret: "s3cret-of-service", Issuer: a.URL,
				Company: Company{TokenEndpoint: a.URL + "/token", ClientID: "pawl-at-company", IDToken: "id-token-of-person"},
			}
			if c.change != nil {
				c.change(&o)
			}
			s := New(Options{
				Root: t.TempDir(), Servers: []Server{{Name: "s", Transport: "http", URL: a.URL + "/mcp", start: []string{a.URL}, OAuth: o}}, Pins: NewPins(""), Version: "test",
				Grants: Grants{Dir: dir}, Wait: time.Minute, Now: time.Now,
				Confine: func(Server) process.Confine { return process.Free }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
			})
			t.Cleanup(func() {
				_ = s.Close()
				http.DefaultClient.CloseIdleConnections()
			})
			set, notes := s.Offer(t.Context(), modelOf(200_000), true)
			if text := strings.Join(notes, "\n"); (len(set) == 2) != (c.err == "") || !strings.Contains(text, c.err) || strings.Contains(text, "s3cret") {
				t.Fatal(set.Names(), text)
			}
			if c.err != "" {
				if strings.Contains(c.err, "needs") && slices.Contains(a.requests, "POST /token") {
					t.Error("the secret was sent")
				}
				return
			}
			if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"access-token-1 `+o.ClientSecret+`"}`); err != nil || r.Error || strings.Contains(r.Text, "access-token") || strings.Contains(r.Text, "s3cret") {
				t.Errorf("a secret is shown: %+v %v", r, err)
			}
			a.mu.Lock()
			a.good = "another"
			a.mu.Unlock()
			if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"x"}`); err != nil || r.Error || a.n != 2 {
				t.Errorf("%+v %v after %d tokens", r, err, a.n)
			}
			if files, err := os.ReadDir(dir); len(files) > 0 {
				t.Errorf("%v %v", files, err)
			}
		})
	}
}

// SPEC 17.1: a client identifier that is the address of a client metadata document is used
// with the authorization servers that support it; with the others pawl registers itself.
func TestClientDocument(t *testing.T) {
	const document = "https://pawl.example/client.json"
	for name, c := range map[string]struct {
		id, secret string
		supported  bool
		client     string // that the authority knows
		registers  bool
		err        string
	}{
		"supported":            {id: document, supported: true, client: document},
		"not supported":        {id: document, registers: true},
		"with a secret":        {id: document, secret: "s3cret", supported: true, err: "such a client has no secret"},
		"an ordinary id":       {id: "mine", supported: true, client: "mine"},
		"an address without a": {id: "https://pawl.example", supported: true, client: "https://pawl.example"},
		"not over https":       {id: "http://pawl.example/client.json", supported: true, client: "http://pawl.example/client.json"},
	} {
		t.Run(name, func(t *testing.T) {
			a := newAuthority(t)
			a.client = c.client
			a.bend = func(path string, doc map[string]any) {
				if strings.HasSuffix(path, "oauth-authorization-server") {
					doc["client_id_metadata_document_supported"] = c.supported
				}
			}
			s := newSigner(t, a, t.TempDir(), browser())
			s.managed[0].srv.OAuth = OAuth{ClientID: c.id, ClientSecret: c.secret}
			err := s.SignIn(t.Context(), "s")
			if (err == nil) != (c.err == "") || err != nil && (!strings.Contains(err.Error(), c.err) || strings.Contains(err.Error(), c.secret)) {
				t.Fatal(err)
			}
			if got := slices.Contains(a.requests, "POST /register"); got != c.registers {
				t.Errorf("registered: %v, %q", got, a.requests)
			}
		})
	}
}
