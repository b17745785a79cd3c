package web

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

const searchKey = "Xk2mQ9vT4sLp7Zr1Wc8Yb3Nd"

func envOf(m map[string]string) func(string) string { return func(k string) string { return m[k] } }

var searchEnv = envOf(map[string]string{"BRAVE_API_KEY": searchKey, "TAVILY_API_KEY": searchKey})

// SPEC 17.7: the published requests and answers of the services.
func TestSearch(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ api, want, header, value, answer string }{
		{
			"brave", "GET /res/v1/web/search?count=10&q=go+1.26", "X-Subscription-Token", searchKey,
			`{"type":"search","web":{"type":"search","results":[{"title":"Go <strong>1.26</strong>","url":"https://go.dev/doc/go1.26","description":"What&#39;s new"},{"title":"x","url":"javascript:alert(1)","description":""}]}}`,
		},
		{
			"tavily", `POST /search {"max_results":10,"query":"go 1.26"}`, "Authorization", "Bearer " + searchKey,
			`{"query":"go 1.26","answer":null,"results":[{"title":"Go 1.26","url":"https://go.dev/doc/go1.26","content":"What's new","score":0.9,"raw_content":null}],"response_time":1.2}`,
		},
		{
			"searxng", "GET /search?format=json&q=go+1.26", "Authorization", "",
			`{"query":"go 1.26","results":[{"url":"https://go.dev/doc/go1.26","title":"Go 1.26","content":"What's new","engine":"x"}]}`,
		},
	} {
		srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			body, _ := io.ReadAll(r.Body)
			if got := strings.TrimSpace(r.Method + " " + r.URL.RequestURI() + " " + string(body)); got != c.want || r.Header.Get(c.header) != c.value {
				t.Errorf("%s: asked %s with %q", c.api, got, r.Header.Get(c.header))
			}
			_, _ = io.WriteString(w, c.answer)
		}))
		defer srv.Close()
		s := must.Get(NewSearch(SearchOptions{API: c.api, URL: srv.URL + "/", Env: searchEnv}))(t)
		got, err := s.Search(t.Context(), "go 1.26")
		if err != nil || len(got.Hits) != 1 || got.Hits[0].Title != "Go 1.26" || got.Hits[0].URL != "https://go.dev/doc/go1.26" || got.Hits[0].Text != "What's new" {
			t.Errorf("%s: %+v %v", c.api, got, err)
		}
		if s.Host() != "127.0.0.1" {
			t.Errorf("%s", s.Host())
		}
	}
}

// SPEC 17.7, 16.10: the error for a wrong configuration names what to set; a hostile answer
// becomes an error without the key, and the key goes to no other server.
func TestSearchFailures(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]SearchOptions{
		"brave, tavily, searxng":  {API: "goggle"},
		"set BRAVE_API_KEY":       {API: "brave", Env: envOf(nil)},
		"set search.url":          {API: "searxng"},
		"search.url":              {API: "searxng", URL: "file:///etc/passwd"},
		"a user name or password": {API: "searxng", URL: "http://me:pw@host/"},
	} {
		if o.Env == nil {
			o.Env = searchEnv
		}
		if _, err := NewSearch(o); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another server was asked") }))
	defer other.Close()
	for name, c := range map[string]struct {
		answer http.HandlerFunc
		want   string
	}{
		"redirected": {func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, other.URL, http.StatusTemporaryRedirect)
		}, "HTTP 307"},
		"refused": {func(w http.ResponseWriter, r *http.Request) {
			http.Error(w, "no "+r.Header.Get("X-Subscription-Token"), http.StatusUnauthorized)
		}, "refuses the key"},
		"limited":       {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusTooManyRequests) }, "limit"},
		"broken":        {func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusBadGateway) }, "HTTP 502"},
		"a page":        {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "<html>") }, "does not follow its API"},
		"another shape": {func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"web":{"results":"x"}}`) }, "does not follow its API"},
		"without an end": {func(w http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(w, `{"web":`+strings.Repeat(" ", 3<<20))
		}, "too long"},
		"cut": {func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Length", "100")
			_, _ = io.WriteString(w, `{"web"`)
		}, "EOF"},
		"a header too big": {func(w http.ResponseWriter, _ *http.Request) { w.Header().Set("X", strings.Repeat("x", 400<<10)) }, "header"},
	} {
		srv := httptest.NewServer(c.answer)
		s, err := NewSearch(SearchOptions{API: "brave", URL: srv.URL, Env: searchEnv})
		must.Do(t, err)
		_, err = s.Search(t.Context(), "q")
		if err == nil || !strings.Contains(err.Error(), c.want) || strings.Contains(fmt.Sprintf("%+v", err), searchKey) {
			t.Errorf("%s: %v", name, err)
		}
		srv.Close()
	}
}

// SPEC 16.10: only a service whose own address is local is asked on this machine: a public
// name that leads here is refused, as for pages.
func TestSearchOfNames(t *testing.T) {
	t.Parallel()
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, `{"results":[]}`) }))
	defer srv.Close()
	_, port, _ := strings.Cut(strings.TrimPrefix(srv.URL, "http://"), ":")
	n := &names{answers: map[string][]string{"search.example.com": {"127.0.0.1"}, "searx.lan": {"127.0.0.1"}}}
	for host, want := range map[string]error{"127.0.0.1": nil, "searx.lan": nil, "search.example.com": ErrAddress} {
		s := must.Get(NewSearch(SearchOptions{API: "searxng", URL: "http://" + host + ":" + port, Env: searchEnv, Base: Options{Resolver: n}}))(t)
		if _, err := s.Search(t.Context(), "q"); !errors.Is(err, want) {
			t.Errorf("%s: %v", host, err)
		}
	}
}

// SPEC 17.7: a silent service is not waited for.
func TestSearchStalls(t *testing.T) {
	t.Parallel()
	gone := make(chan struct{})
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { <-gone }))
	defer srv.Close()
	defer close(gone)
	s := must.Get(NewSearch(SearchOptions{API: "searxng", URL: srv.URL, Env: searchEnv, Base: Options{Timeout: time.Millisecond, Allowed: func(netip.Addr) bool { return true }}}))(t)
	if _, err := s.Search(t.Context(), "q"); err == nil || !strings.Contains(err.Error(), "no answer within") {
		t.Error(err)
	}
}
