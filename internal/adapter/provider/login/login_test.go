package login

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	theKey  = "sk-or-v1-0123456789abcdef0123456789abcdef"
	theCode = "auth_code_0123456789"
)

// browser is a person's browser: it opens the address and comes back as OpenRouter sends
// it. It returns the challenge that was shown.
func browser(t *testing.T, back func(callback *url.URL) string) (show func(context.Context, string) (string, error), challenge *string) {
	challenge = new(string)
	return func(ctx context.Context, address string) (string, error) {
		u, err := url.Parse(address)
		if err != nil {
			return "", err
		}
		callback, err := url.Parse(u.Query().Get("callback_url"))
		if err != nil || callback.Hostname() != "localhost" || u.Query().Get("code_challenge_method") != "S256" {
			t.Errorf("shown: %s", address)
		}
		*challenge = u.Query().Get("code_challenge")
		return back(callback), nil
	}, challenge
}

// visit opens an address as the browser does.
func visit(t *testing.T, callback *url.URL, path, query string) int {
	u := *callback
	u.Path, u.RawQuery = path, query
	u.Host = "127.0.0.1:" + callback.Port()
	tr := &http.Transport{DisableKeepAlives: true}
	resp, err := tr.RoundTrip(&http.Request{Method: http.MethodGet, URL: &u, Header: http.Header{}})
	if err != nil {
		t.Error(err)
		return 0
	}
	_ = resp.Body.Close()
	return resp.StatusCode
}

// SPEC 17.7: OpenRouter's published sign-in, with a browser here and elsewhere; a refusal
// names its reason and shows neither code nor key.
func TestSignIn(t *testing.T) {
	for _, c := range []struct {
		name   string
		back   func(*testing.T, *url.URL) string
		answer func(http.ResponseWriter, map[string]string)
		want   string // the key, or
		err    string
	}{
		{name: "a browser here", back: func(t *testing.T, u *url.URL) string {
			visit(t, u, u.Path, "code="+theCode)
			return ""
		}, want: theKey},
		{name: "a browser elsewhere", back: func(_ *testing.T, u *url.URL) string { return " " + u.String() + "?code=" + theCode + "\n" }, want: theKey},
		{name: "somebody else's answers first", back: func(t *testing.T, u *url.URL) string {
			for _, path := range []string{"/callback", "/callback/x", "/"} {
				if got := visit(t, u, path, "code=evil"); got != http.StatusNotFound {
					t.Errorf("%s: %d", path, got)
				}
			}
			visit(t, u, u.Path, "code="+theCode)
			return ""
		}, want: theKey},
		{name: "an address of something else", back: func(_ *testing.T, u *url.URL) string { return "https://evil.example/?code=evil" }, err: "not where the browser ends"},
		{name: "refused by the person", back: func(_ *testing.T, u *url.URL) string {
			return u.String() + "?error=access_denied&error_description=no%1b[31m"
		}, err: "refused: access_denied"},
		{name: "no code", back: func(_ *testing.T, u *url.URL) string { return u.String() }, err: "without a code"},
		{
			name: "refused by the service", back: func(_ *testing.T, u *url.URL) string { return u.String() + "?code=" + theCode },
			answer: func(w http.ResponseWriter, got map[string]string) {
				http.Error(w, "bad "+got["code"]+got["code_verifier"], http.StatusForbidden)
			}, err: "gave no key (HTTP 403)",
		},
		{
			name: "sent elsewhere", back: func(_ *testing.T, u *url.URL) string { return u.String() + "?code=" + theCode },
			answer: func(w http.ResponseWriter, _ map[string]string) {
				w.Header().Set("Location", "http://evil.example/")
				w.WriteHeader(http.StatusTemporaryRedirect)
			}, err: "HTTP 307",
		},
		{
			name: "a key that would break a header", back: func(_ *testing.T, u *url.URL) string { return u.String() + "?code=" + theCode },
			answer: func(w http.ResponseWriter, _ map[string]string) {
				_, _ = io.WriteString(w, `{"key":"sk-or-v1-0123456789\r\nX: y"}`)
			}, err: "gave no key",
		},
		{
			name: "an answer without end", back: func(_ *testing.T, u *url.URL) string { return u.String() + "?code=" + theCode },
			answer: func(w http.ResponseWriter, _ map[string]string) {
				_, _ = io.WriteString(w, strings.Repeat(" ", 1<<20)+`{"key":"`+theKey+`"}`)
			}, err: "gave no key",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			show, challenge := browser(t, func(u *url.URL) string { return c.back(t, u) })
			s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				var got map[string]string
				if r.Method != http.MethodPost || json.NewDecoder(r.Body).Decode(&got) != nil {
					t.Errorf("%s", r.Method)
				}
				if c.answer != nil {
					c.answer(w, got)
					return
				}
				sum := sha256.Sum256([]byte(got["code_verifier"]))
				if got["code"] != theCode || got["code_challenge_method"] != "S256" || base64.RawURLEncoding.EncodeToString(sum[:]) != *challenge {
					w.WriteHeader(http.StatusForbidden)
					return
				}
				_, _ = io.WriteString(w, `{"key":"`+theKey+`","user_id":"u"}`)
			}))
			defer s.Close()
			tr := &http.Transport{}
			defer tr.CloseIdleConnections()
			key, err := SignIn(t.Context(), Options{Show: show, HTTP: tr, Auth: "https://openrouter.ai/auth", Keys: s.URL})
			if key != c.want || (c.err == "") != (err == nil) || err != nil && !strings.Contains(err.Error(), c.err) {
				t.Fatalf("%q %v", key, err)
			}
			if err != nil && (strings.Contains(err.Error(), theCode) || strings.Contains(err.Error(), "\x1b")) {
				t.Errorf("%q", err)
			}
		})
	}
}

// SPEC 17.7: nobody waits for a person who cancels.
func TestSignInEnds(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	gone := errors.New("gone")
	_, err := SignIn(ctx, Options{Show: func(ctx context.Context, _ string) (string, error) {
		cancel(gone)
		<-ctx.Done()
		return "", nil
	}})
	if !errors.Is(err, gone) {
		t.Error(err)
	}
}

// SPEC 17.7: for every provider there is a word on what to do.
func TestWays(t *testing.T) {
	for _, w := range ways {
		if w.OAuth == (w.Why != "") || w.Key == "" && w.Provider != "vertex" || w.Key != "" && !strings.HasPrefix(w.Page, "https://") {
			t.Errorf("%+v", w)
		}
	}
}
