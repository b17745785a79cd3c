package mcp

import (
	"cmp"
	"context"
	"crypto"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
)

// authority is an authorization server, and the MCP server that wants its tokens.
type authority struct {
	*httptest.Server
	// bend, if set, changes what it answers under a path.
	bend func(path string, doc map[string]any)
	// back, if set, changes where it sends the browser.
	back func(u *url.URL, q url.Values)
	// client is the client that it knows; "" is the one that registered.
	client string
	// public verifies what a client signed.
	public crypto.PublicKey

	mu        sync.Mutex
	challenge string
	resource  string
	redirect  string
	good      string // the token that counts
	refresh   string
	scope     string
	need      string // the scope that a call needs
	n         int
	asked     []string // scopes of each sign-in
	requests  []string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	mcp := sdk.NewStreamableHTTPHandler(func(*http.Request) *sdk.Server { return greeter() }, &sdk.StreamableHTTPOptions{Stateless: true})
	a.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { a.serve(w, r, mcp) }))
	t.Cleanup(a.Close)
	return a
}

func (a *authority) doc(w http.ResponseWriter, r *http.Request, doc map[string]any) {
	if a.bend != nil {
		a.bend(r.URL.Path, doc)
	}
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(doc)
}

func (a *authority) serve(w http.ResponseWriter, r *http.Request, mcp http.Handler) {
	a.mu.Lock()
	a.requests = append(a.requests, r.Method+" "+r.URL.Path)
	a.mu.Unlock()
	switch r.URL.Path {
	case "/mcp":
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		a.mu.Lock()
		ok, enough := a.good != "" && r.Header.Get("Authorization") == "Bearer "+a.good, !strings.Contains(string(body), "tools/call") || strings.Contains(a.scope, a.need)
		a.mu.Unlock()
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", `Bearer resource_metadata="`+a.URL+`/.well-known/oauth-protected-resource/mcp", scope="read"`)
			w.WriteHeader(http.StatusUnauthorized)
		case !enough:
			w.Header().Set("WWW-Authenticate", `Bearer error="insufficient_scope", scope="`+a.need+`"`)
			w.WriteHeader(http.StatusForbidden)
		default:
			mcp.ServeHTTP(w, r)
		}
	case "/.well-known/oauth-protected-resource/mcp":
		a.doc(w, r, map[string]any{"resource": a.URL + "/mcp", "authorization_servers": []string{a.URL}})
	case "/.well-known/oauth-authorization-server":
		a.doc(w, r, map[string]any{
			"issuer": a.URL, "authorization_endpoint": a.URL + "/authorize", "token_endpoint": a.URL + "/token", "registration_endpoint": a.URL + "/register",
			"response_types_supported": []string{"code"}, "code_challenge_methods_supported": []string{"S256"}, "token_endpoint_auth_methods_supported": []string{"none"},
			"authorization_response_iss_parameter_supported": true, "scopes_supported": []string{"read", "offline_access"},
		})
	case "/register":
		var in map[string]any
		_ = json.NewDecoder(r.Body).Decode(&in)
		w.WriteHeader(http.StatusCreated)
		_ = json.NewEncoder(w).Encode(map[string]any{"client_id": "pawl-1", "redirect_uris": in["redirect_uris"], "token_endpoint_auth_method": "none"})
	case "/authorize":
		q := r.URL.Query()
		a.mu.Lock()
		a.challenge, a.resource, a.redirect = q.Get("code_challenge"), q.Get("resource"), q.Get("redirect_uri")
		a.asked = append(a.asked, q.Get("scope"))
		a.mu.Unlock()
		u, _ := url.Parse(q.Get("redirect_uri"))
		back := url.Values{"code": {"c0de"}, "state": {q.Get("state")}, "iss": {a.URL}}
		if a.back != nil {
			a.back(u, back)
		}
		u.RawQuery = back.Encode()
		http.Redirect(w, r, u.String(), http.StatusFound)
	case "/token":
		a.token(w, r)
	default:
		http.NotFound(w, r)
	}
}

func (a *authority) token(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	_ = r.ParseForm()
	sum := sha256.Sum256([]byte(r.Form.Get("code_verifier")))
	ok := r.Form.Get("resource") == a.URL+"/mcp"
	if r.Form.Get("grant_type") == "authorization_code" || r.Form.Get("grant_type") == "refresh_token" {
		ok = ok && r.Form.Get("client_id") == cmp.Or(a.client, "pawl-1")
	}
	switch r.Form.Get("grant_type") {
	case "authorization_code":
		ok = ok && r.Form.Get("code") == "c0de" && base64.RawURLEncoding.EncodeToString(sum[:]) == a.challenge && r.Form.Get("redirect_uri") == a.redirect && a.resource == a.URL+"/mcp"
	case asService:
		id, secret, _ := r.BasicAuth()
		ok = ok && id == "service-1" && secret == "s3cret-of-service"
		if said := r.Form.Get("client_assertion"); said != "" {
			c := a.verified(said)
			ok = r.Form.Get("client_secret") == "" && c["iss"] == "service-1" && c["sub"] == "service-1" && c["aud"] == a.URL
		}
	case "urn:ietf:params:oauth:grant-type:token-exchange": // as a company's identity provider
		if r.Form.Get("client_id") == "pawl-at-company" && r.Form.Get("subject_token") == "id-token-of-person" && r.Form.Get("audience") == a.URL && r.Form.Get("resource") == a.URL+"/mcp" {
			w.Header().Set("Content-Type", "application/json")
			_, _ = io.WriteString(w, `{"access_token":"vouched","issued_token_type":"urn:ietf:params:oauth:token-type:id-jag","token_type":"N_A"}`)
			return
		}
		ok = false
	case "urn:ietf:params:oauth:grant-type:jwt-bearer":
		id, secret, _ := r.BasicAuth()
		ok = id == "service-1" && secret == "s3cret-of-service" && r.Form.Get("assertion") == "vouched"
	case "refresh_token":
		ok = ok && a.refresh != "" && r.Form.Get("refresh_token") == a.refresh
	}
	if !ok {
		w.WriteHeader(http.StatusBadRequest)
		_, _ = io.WriteString(w, `{"error":"invalid_grant"}`)
		return
	}
	a.n++
	a.good, a.refresh, a.scope = fmt.Sprintf("access-token-%d", a.n), fmt.Sprintf("refresh-token-%d", a.n), last(a.asked)
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(map[string]any{"access_token": a.good, "token_type": "Bearer", "refresh_token": a.refresh, "expires_in": 3600, "scope": a.scope})
}

func last(s []string) string {
	if len(s) == 0 {
		return ""
	}
	return s[len(s)-1]
}

// signer is Servers of which one is behind a sign-in; the clock is the test's.
type signer struct {
	*Servers
	clock *time.Time
	dir   string
}

func newSigner(t *testing.T, a *authority, dir string, in *SignIn) signer {
	t.Helper()
	s := signer{clock: new(time.Time), dir: dir}
	*s.clock = time.Now()
	s.Servers = New(Options{
		Root: t.TempDir(), Servers: []Server{{Name: "s", Transport: "http", URL: a.URL + "/mcp", start: []string{a.URL}}}, Pins: NewPins(""), Version: "test",
		Grants: Grants{Dir: dir}, SignIn: in, Wait: time.Minute, Now: func() time.Time { return *s.clock },
		Confine: func(Server) process.Confine { return process.Free }, Sleep: func(ctx context.Context, _ time.Duration) error { return ctx.Err() },
	})
	t.Cleanup(func() {
		_ = s.Servers.Close()
		http.DefaultClient.CloseIdleConnections()
	})
	return s
}

// browser opens the address as a browser does.
func browser() *SignIn {
	return &SignIn{Show: func(ctx context.Context, address string) (string, error) {
		req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
		if err != nil {
			return "", err
		}
		resp, err := http.DefaultClient.Do(req)
		if err != nil {
			return "", nil // the other way ended the sign-in
		}
		defer resp.Body.Close()
		if page, _ := io.ReadAll(resp.Body); resp.StatusCode != http.StatusOK || !strings.Contains(string(page), "go back to pawl") {
			return "", fmt.Errorf("the browser shows %d %s", resp.StatusCode, page)
		}
		return "", nil
	}}
}

// SPEC 17.1: a person signs in; sessions use what was granted, renew it, and
// ask nobody.
func TestSignIn(t *testing.T) {
	a, dir := newAuthority(t), filepath.Join(t.TempDir(), "tokens")
	_, notes := newSigner(t, a, dir, nil).Offer(t.Context(), modelOf(200_000), true)
	if text := strings.Join(notes, "\n"); !strings.Contains(text, "the MCP server s cannot be used: you have to sign in: pawl mcp login s") {
		t.Fatal(text)
	}
	must.Do(t, newSigner(t, a, dir, browser()).SignIn(t.Context(), "s"))
	files := must.Get(os.ReadDir(dir))(t)
	for _, f := range files {
		if st, err := f.Info(); err != nil || st.Mode().Perm() != 0o600 {
			t.Errorf("%s: %v %v", f.Name(), st.Mode(), err)
		}
	}
	s := newSigner(t, a, dir, nil)
	set, notes := s.Offer(t.Context(), modelOf(200_000), true)
	if len(set) != 2 {
		t.Fatal(set.Names(), notes)
	}
	if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"access-token-1"}`); err != nil || !strings.HasPrefix(r.Text, "hi [token]") {
		t.Errorf("a token is shown: %+v %v", r, err)
	}
	// A token that ended is renewed, once for all who have it.
	*s.clock = s.clock.Add(2 * time.Hour)
	if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"x"}`); err != nil || r.Error || a.n != 2 {
		t.Errorf("%+v %v after %d tokens", r, err, a.n)
	}
	other := newSigner(t, a, dir, nil)
	if set, notes := other.Offer(t.Context(), modelOf(200_000), true); len(set) != 2 || a.n != 2 {
		t.Error(notes, a.n)
	}
	// One that the server withdrew is renewed as well.
	a.good = "another"
	if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"x"}`); err != nil || r.Error || a.n != 3 {
		t.Errorf("%+v %v after %d tokens", r, err, a.n)
	}
	// And where nothing renews it, the person is told.
	a.good, a.refresh = "another", "another"
	if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"x"}`); err != nil || !r.Error || !strings.Contains(r.Text, "you have to sign in: pawl mcp login s") {
		t.Errorf("%+v %v", r, err)
	}
	if had, err := s.SignOut(t.Context(), "s"); !had || err != nil {
		t.Error(had, err)
	}
	if had, err := s.SignOut(t.Context(), "s"); had || err != nil {
		t.Error(had, err)
	}
}

// SPEC 17.1: more rights are asked for at the next sign-in, beside those granted.
func TestStepUp(t *testing.T) {
	a, dir := newAuthority(t), t.TempDir()
	a.need = "write"
	must.Do(t, newSigner(t, a, dir, browser()).SignIn(t.Context(), "s"))
	s := newSigner(t, a, dir, nil)
	set, _ := s.Offer(t.Context(), modelOf(200_000), true)
	if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"x"}`); err != nil || !strings.Contains(r.Text, "sign in again, for more rights (write): pawl mcp login s") {
		t.Fatalf("%+v %v", r, err)
	}
	must.Do(t, newSigner(t, a, dir, browser()).SignIn(t.Context(), "s"))
	again := strings.Fields(last(a.asked))
	slices.Sort(again)
	if got := strings.Join(again, " "); got != "offline_access read write" || len(a.asked) != 2 {
		t.Error(a.asked)
	}
	s = newSigner(t, a, dir, nil)
	set, _ = s.Offer(t.Context(), modelOf(200_000), true)
	if r, err := call(t, t.Context(), set, "mcp__s__greet", `{"name":"x"}`); err != nil || r.Error {
		t.Errorf("%+v %v", r, err)
	}
}

// SPEC 17.1: the address that a browser elsewhere ended at is typed in.
func TestTypedIn(t *testing.T) {
	a := newAuthority(t)
	typed := &SignIn{Show: func(_ context.Context, address string) (string, error) {
		c := http.Client{CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }}
		resp, err := c.Get(address)
		if err != nil {
			return "", err
		}
		_ = resp.Body.Close()
		return " " + resp.Header.Get("Location") + "\n", nil
	}}
	must.Do(t, newSigner(t, a, t.TempDir(), typed).SignIn(t.Context(), "s"))
}

// SPEC 17.1, 16.10: what a hostile server, or authorization server, does to a
// sign-in ends it.
func TestHostileSignIn(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { t.Errorf("%s was asked", r.URL) }))
	defer elsewhere.Close()
	set := func(path, key string, v any) func(*authority) {
		return func(a *authority) {
			a.bend = func(p string, doc map[string]any) {
				if p == path {
					doc[key] = v
				}
			}
		}
	}
	const resource, server = "/.well-known/oauth-protected-resource/mcp", "/.well-known/oauth-authorization-server"
	for name, c := range map[string]struct {
		bend func(*authority)
		want string
	}{
		"issuer elsewhere":        {set(server, "issuer", "https://other.example"), ""},
		"script as address":       {set(server, "authorization_endpoint", "javascript:alert(1)"), ""},
		"file as address":         {set(server, "authorization_endpoint", "file:///etc/passwd"), "HTTPS"},
		"no https":                {set(server, "authorization_endpoint", "http://login.example/"), ""},
		"token without https":     {set(server, "token_endpoint", "http://login.example/"), ""},
		"password in the address": {set(server, "authorization_endpoint", "https://u:p@login.example/"), "pawl does not go there"},
		"no PKCE":                 {set(server, "code_challenge_methods_supported", nil), "PKCE"},
		"wrong issuer of a code":  {func(a *authority) { a.back = func(_ *url.URL, q url.Values) { q.Set("iss", "https://other.example") } }, "issuer"},
		"no issuer of a code":     {func(a *authority) { a.back = func(_ *url.URL, q url.Values) { q.Del("iss") } }, "iss"},
		"refused": {func(a *authority) {
			a.back = func(_ *url.URL, q url.Values) { q.Del("code"); q.Set("error", "access_denied\x1b[2J") }
		}, "access_denied"},
		"10 MB of metadata": {set(server, "scopes_supported", []string{strings.Repeat("x", 10<<20)}), ""},
	} {
		t.Run(name, func(t *testing.T) {
			a, dir := newAuthority(t), t.TempDir()
			c.bend(a)
			err := newSigner(t, a, dir, browser()).SignIn(t.Context(), "s")
			if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(err.Error(), "\x1b") {
				t.Fatalf("%v, want %q", err, c.want)
			}
			if a.good != "" {
				t.Error("a token was given")
			}
			if g, err := (Grants{Dir: dir}).Get(newSigner(t, a, dir, nil).managed[0].key()); g != nil || err != nil {
				t.Error("something is kept", g, err)
			}
		})
	}
	t.Run("redirected", func(t *testing.T) {
		a := newAuthority(t)
		front := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
		defer front.Close()
		set(server, "token_endpoint", front.URL)(a)
		if err := newSigner(t, a, t.TempDir(), browser()).SignIn(t.Context(), "s"); err == nil || !strings.Contains(err.Error(), "redirected to") {
			t.Error(err)
		}
	})
	t.Run("another resource", func(t *testing.T) {
		// What names another resource is not believed: the token is for this server.
		a := newAuthority(t)
		set(resource, "resource", "https://bank.example/mcp")(a)
		if err := newSigner(t, a, t.TempDir(), browser()).SignIn(t.Context(), "s"); err != nil || a.resource != a.URL+"/mcp" {
			t.Error(err, a.resource)
		}
	})
	t.Run("another state", func(t *testing.T) {
		// Somebody else's answer is none; the right one still counts.
		a := newAuthority(t)
		show := browser().Show
		first := &SignIn{Show: func(ctx context.Context, address string) (string, error) {
			u, _ := url.Parse(address)
			for _, q := range []string{"?code=evil&state=evil", "?error=access_denied", "/../x?code=evil", ""} {
				resp, err := http.Get(u.Query().Get("redirect_uri") + q)
				if err != nil || resp.StatusCode != http.StatusNotFound {
					t.Error(q, err)
				}
				_ = resp.Body.Close()
			}
			return show(ctx, address)
		}}
		if err := newSigner(t, a, t.TempDir(), first).SignIn(t.Context(), "s"); err != nil {
			t.Error(err)
		}
	})
	t.Run("nobody comes", func(t *testing.T) {
		ctx, cancel := context.WithCancelCause(t.Context())
		nobody := &SignIn{Show: func(ctx context.Context, _ string) (string, error) {
			cancel(errors.New("gone"))
			<-ctx.Done()
			return "", nil
		}}
		if err := newSigner(t, newAuthority(t), t.TempDir(), nobody).SignIn(ctx, "s"); err == nil || !strings.Contains(err.Error(), "gone") {
			t.Error(err)
		}
	})
}

// SPEC 16.10: which addresses a server may name for signing in.
func TestMayReach(t *testing.T) {
	for _, c := range []struct {
		server, address string
		ok              bool
	}{
		{"https://mcp.example/", "https://login.example/", true},
		{"https://mcp.example/", "http://login.example/", false},
		{"https://mcp.example/", "http://127.0.0.1/", false},
		{"http://127.0.0.1:9/", "http://localhost:8/", true},
		{"http://127.0.0.1:9/", "http://login.example/", false},
		{"https://mcp.example/", "ftp://login.example/", false},
		{"https://mcp.example/", "https:///x", false},
	} {
		to, _ := url.Parse(c.server)
		a := &signin{srv: Server{Transport: "http", URL: c.server}, to: to}
		u, _ := url.Parse(c.address)
		if err := a.mayReach(u); (err == nil) != c.ok {
			t.Errorf("%s names %s: %v", c.server, c.address, err)
		}
	}
	for _, c := range []struct {
		server, ip string
		ok         bool
	}{
		{"https://8.8.8.8/", "1.1.1.1", true},
		{"https://8.8.8.8/", "127.0.0.1", false},
		{"https://8.8.8.8/", "10.0.0.1", false},
		{"https://8.8.8.8/", "::ffff:169.254.169.254", false},
		{"https://10.0.0.1/", "10.0.0.2", true},
		{"https://10.0.0.1/", "127.0.0.1", false},
		{"https://10.0.0.1/", "169.254.169.254", false},
		{"http://127.0.0.1/", "::1", true},
		{"http://127.0.0.1/", "192.168.0.1", false},
	} {
		to, _ := url.Parse(c.server)
		a := &signin{srv: Server{Transport: "http", URL: c.server}, to: to}
		if err := a.mayDial(t.Context(), netip.MustParseAddr(c.ip)); (err == nil) != c.ok {
			t.Errorf("%s names %s: %v", c.server, c.ip, err)
		}
	}
}

// ring is a keyring in memory.
type ring struct {
	m    map[string]string
	full bool
}

func (r *ring) Get(n string) (string, error) {
	if v, ok := r.m[n]; ok {
		return v, nil
	}
	return "", errors.New("not found")
}
func (r *ring) Delete(n string) error { delete(r.m, n); return nil }
func (r *ring) Set(n, v string) error {
	if r.full {
		return errors.New("too long")
	}
	r.m[n] = v
	return nil
}

// SPEC 17.1: tokens are in the keyring, and where it does not take them in a
// file that only the person reads.
func TestGrants(t *testing.T) {
	keep := func(*Grant) (*Grant, error) { return &Grant{URL: "u", Access: "s3cr3t"}, nil }
	for _, full := range []bool{false, true} {
		r := &ring{m: map[string]string{}, full: full}
		g := Grants{Dir: filepath.Join(t.TempDir(), "d"), Ring: r}
		if got, err := g.Get("k"); got != nil || err != nil {
			t.Fatal(got, err)
		}
		must.Do(t, g.Update(t.Context(), "k", keep))
		if got, err := g.Get("k"); err != nil || got.Access != "s3cr3t" {
			t.Error(got, err)
		}
		raw, err := os.ReadFile(filepath.Join(g.Dir, "k.json"))
		if err != nil || strings.Contains(string(raw), "s3cr3t") != full {
			t.Errorf("%s %v", raw, err)
		}
		if _, err := (Grants{Dir: g.Dir}).Get("k"); (err == nil) != full {
			t.Error("without the keyring:", err)
		}
		if err := g.Update(t.Context(), "k", func(*Grant) (*Grant, error) { return nil, nil }); err != nil || len(r.m) != 0 {
			t.Error(err, r.m)
		}
		if got, err := g.Get("k"); got != nil || err != nil {
			t.Error(got, err)
		}
	}
	// One waits for another.
	g := Grants{Dir: t.TempDir()}
	unlock := must.Get(g.lock(t.Context(), "k"))(t)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := g.Update(ctx, "k", keep); err == nil {
		t.Error("it did not wait")
	}
	unlock()
	must.Do(t, g.Update(t.Context(), "k", keep))
}
