package mcp

import (
	"context"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/process"
)

// SPEC 17.1: a server that knows pawl as a service gets its token without a person; the
// secret goes to the configured authorization server alone, and nothing is kept.
func TestService(t *testing.T) {
	for name, c := range map[string]struct {
		change func(o *OAuth)
		err    string
	}{
		"in":                 {},
		"a wrong secret":     {change: func(o *OAuth) { o.ClientSecret = "s3cret-of-nobody" }, err: "the sign-in as a service failed"},
		"another authority":  {change: func(o *OAuth) { o.Issuer = "https://issuer.example" }, err: "does not match"},
		"no authority named": {change: func(o *OAuth) { o.Issuer = "" }, err: "needs clientId, clientSecret and issuer"},
		"no secret":          {change: func(o *OAuth) { o.ClientSecret = "" }, err: "needs clientId, clientSecret and issuer"},
		"an unknown grant":   {change: func(o *OAuth) { o.Grant = "password" }, err: "there is only client_credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			a, dir := newAuthority(t), filepath.Join(t.TempDir(), "tokens")
			a.bend = func(path string, doc map[string]any) {
				if strings.HasSuffix(path, "oauth-authorization-server") {
					doc["token_endpoint_auth_methods_supported"] = []string{"client_secret_basic"}
				}
			}
			o := OAuth{Grant: asService, ClientID: "service-1", ClientSecret: "s3cret-of-service", Issuer: a.URL}
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
				if name != "a wrong secret" && slices.Contains(a.requests, "POST /token") {
					t.Error("the secret was sent")
				}
				return
			}
			if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"access-token-1 s3cret-of-service"}`); err != nil || r.Error || strings.Contains(r.Text, "access-token") || strings.Contains(r.Text, "s3cret") {
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
