package web

import (
	"bytes"
	"compress/gzip"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// names is a resolver that knows some hosts; each look-up of a name takes the
// next of its answers.
type names struct {
	answers map[string][]string
	asked   atomic.Int64
}

func (n *names) LookupNetIP(_ context.Context, _, host string) ([]netip.Addr, error) {
	i := int(n.asked.Add(1)) - 1
	all, ok := n.answers[host]
	if !ok {
		return nil, &net.DNSError{Err: "no such host", Name: host, IsNotFound: true}
	}
	var out []netip.Addr
	for a := range strings.SplitSeq(all[min(i, len(all)-1)], " ") {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

// local serves h as site.test, which resolves to loopback; only that address
// is taken for public.
func local(t *testing.T, h http.HandlerFunc) (*Client, string) {
	t.Helper()
	srv := httptest.NewServer(h)
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	c := New(Options{
		Resolver: &names{answers: map[string][]string{"site.test": {"127.0.0.1"}, "private.test": {"10.0.0.1"}}},
		Allowed:  func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") },
		Follow:   func(_, _ *url.URL) bool { return true },
	})
	return c, "http://site.test:" + port
}

// SPEC 16.10: what is refused by its form, its address or the addresses of its name.
func TestRefusedURLs(t *testing.T) {
	t.Parallel()
	dialled := &names{answers: map[string][]string{
		"private.test": {"10.0.0.1"}, "mixed.test": {"8.8.8.8 127.0.0.1"}, "mapped.test": {"::ffff:127.0.0.1"},
		"metadata.test": {"169.254.169.254"}, "localhost": {"127.0.0.1"}, "nat.test": {"64:ff9b::7f00:1"},
	}}
	c := New(Options{Resolver: dialled})
	for u, want := range map[string]error{
		"": ErrURL, "http://": ErrURL, "file:///etc/passwd": ErrURL, "ftp://example.com/": ErrURL, "gopher://example.com/": ErrURL,
		"javascript:alert(1)": ErrURL, "data:text/plain,hi": ErrURL, "mailto:a@b.c": ErrURL, "http:example.com": ErrURL,
		"http://user:pass@example.com/": ErrURL, "http://user@example.com/": ErrURL, "http://exa mple.com/": ErrURL, "http://a..b/": ErrURL,
		"http://127.1/": ErrURL, "http://2130706433/": ErrURL, "http://0x7f000001/": ErrURL, "http://0177.0.0.1/": ErrURL, "http://0x7f.0.0.1/": ErrURL,
		"http://127.0.0.1/": ErrAddress, "http://127.0.0.1.:80/": ErrAddress, "http://[::1]/": ErrAddress, "http://[::ffff:127.0.0.1]/": ErrAddress,
		"http://[fe80::1%25eth0]/": ErrAddress, "http://[64:ff9b::7f00:1]/": ErrAddress, "http://0.0.0.0:1/": ErrAddress, "http://[::]/": ErrAddress,
		"http://169.254.169.254/latest/meta-data/": ErrAddress, "http://10.1.2.3/": ErrAddress, "http://100.100.100.100/": ErrAddress,
		"http://private.test/": ErrAddress, "https://private.test/": ErrAddress, "http://mixed.test/": ErrAddress, "http://mapped.test/": ErrAddress,
		"http://metadata.test/": ErrAddress, "http://localhost/": ErrAddress, "http://LOCALHOST./": ErrAddress, "http://nat.test/": ErrAddress,
		"private.test/x": ErrAddress,
	} {
		if _, err := c.Fetch(t.Context(), u); !errors.Is(err, want) {
			t.Errorf("%s: %v", u, err)
		}
	}
	if _, err := c.Fetch(t.Context(), "http://nowhere.test/"); err == nil || !strings.Contains(err.Error(), "no host nowhere.test") {
		t.Errorf("%v", err)
	}
}

// SPEC 16.10: the name is looked up once, and what was checked is dialled.
func TestRebinding(t *testing.T) {
	t.Parallel()
	hit := false
	srv := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { hit = true }))
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	// First an address nobody listens on (taken for public), then loopback.
	n := &names{answers: map[string][]string{"evil.test": {"127.0.0.99", "127.0.0.1"}}}
	c := New(Options{Resolver: n, Allowed: func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.99") }})
	if _, err := c.Fetch(t.Context(), "http://evil.test:"+port); err == nil || hit {
		t.Errorf("hit %v, %v", hit, err)
	}
	if n.asked.Load() != 1 {
		t.Errorf("looked up %d times for one connection", n.asked.Load())
	}
	if _, err := c.Fetch(t.Context(), "http://evil.test:"+port); !errors.Is(err, ErrAddress) || hit {
		t.Errorf("hit %v, %v", hit, err)
	}
}

func TestRedirects(t *testing.T) {
	t.Parallel()
	var last atomic.Value
	c, site := local(t, func(w http.ResponseWriter, r *http.Request) {
		last.Store(r.URL.Path)
		if r.URL.Path == "/end" {
			fmt.Fprint(w, "here")
			return
		}
		if n, ok := strings.CutPrefix(r.URL.Path, "/hop/"); ok && n != "0" {
			http.Redirect(w, r, "/hop/"+string(n[0]-1), http.StatusFound)
			return
		}
		to := r.URL.Query().Get("to")
		if to == "" {
			to = "/end"
		}
		w.Header().Set("Location", to)
		w.WriteHeader(http.StatusMovedPermanently)
	})
	p, err := c.Fetch(t.Context(), site+"/hop/4")
	if err != nil || p.Text != "here" || p.URL != site+"/end" || p.Status != 200 {
		t.Errorf("five redirects: %+v %v", p, err)
	}
	if _, err := c.Fetch(t.Context(), site+"/hop/5"); !errors.Is(err, ErrRedirects) {
		t.Errorf("six redirects: %v", err)
	}
	for to, want := range map[string]error{
		"http://private.test/": ErrAddress, "http://10.0.0.1/": ErrAddress, "//[::1]/": ErrAddress, "http://169.254.169.254/": ErrAddress,
		"file:///etc/passwd": ErrURL, "http://u:p@site.test/": ErrURL, "javascript:1": ErrURL, "http://127.1/": ErrURL,
	} {
		last.Store("")
		if _, err := c.Fetch(t.Context(), site+"/?to="+url.QueryEscape(to)); !errors.Is(err, want) {
			t.Errorf("to %s: %v", to, err)
		}
		if last.Load() != "/" {
			t.Errorf("to %s: it was followed", to)
		}
	}
}

// SPEC 16.10: the same name may mean another address at the next hop.
func TestRedirectRebinding(t *testing.T) {
	t.Parallel()
	c, site := local(t, func(w http.ResponseWriter, r *http.Request) { http.Redirect(w, r, "/secret", http.StatusFound) })
	c.opt.Resolver = &names{answers: map[string][]string{"site.test": {"127.0.0.1", "10.0.0.1"}}}
	if _, err := c.Fetch(t.Context(), site); !errors.Is(err, ErrAddress) {
		t.Error(err)
	}
}

// Consent is for a host: another one is another call.
func TestSameSite(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		from, to string
		want     bool
	}{
		{"http://a.com/x", "http://a.com/y", true},
		{"http://a.com/", "https://a.com/", true},
		{"http://a.com/", "https://www.a.com/", true},
		{"https://www.a.com/", "https://a.com/", true},
		{"http://a.com:80/", "https://a.com:443/", true},
		{"https://a.com/", "http://a.com/", false},
		{"https://a.com/", "https://b.com/", false},
		{"https://a.com/", "https://a.com.evil.com/", false},
		{"https://a.com/", "https://x.a.com/", false},
		{"http://a.com/", "http://a.com:22/", false},
		{"http://a.com:8080/", "https://a.com/", false},
	} {
		from, _ := url.Parse(x.from)
		to, _ := url.Parse(x.to)
		if got := sameSite(from, to); got != x.want {
			t.Errorf("%s -> %s: %v", x.from, x.to, got)
		}
	}
	c, site := local(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, "https://other.test/x?a=b", http.StatusFound)
	})
	c.opt.Follow = sameSite
	if _, err := c.Fetch(t.Context(), site); !errors.Is(err, ErrOtherHost) || !strings.Contains(err.Error(), "https://other.test/x?a=b") {
		t.Error(err)
	}
}

// SPEC 16.10: no credentials, no cookies, no proxy of the environment.
func TestCarriesNothing(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	t.Setenv("http_proxy", "http://127.0.0.1:1")
	var seen []string
	c, site := local(t, func(w http.ResponseWriter, r *http.Request) {
		for _, h := range []string{"Cookie", "Authorization", "Proxy-Authorization", "Referer"} {
			seen = append(seen, r.Header.Get(h))
		}
		http.SetCookie(w, &http.Cookie{Name: "a", Value: "b"})
		if r.URL.Path == "/" {
			http.Redirect(w, r, "/2", http.StatusFound)
		}
	})
	must.Done(t)(c.Fetch(t.Context(), site))
	if s := strings.Join(seen, ""); len(seen) != 8 || s != "" {
		t.Errorf("%q", seen)
	}
}

func TestProxyThatWasOptedFor(t *testing.T) {
	t.Parallel()
	proxy := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprint(w, "through the proxy: "+r.URL.String())
	}))
	defer proxy.Close()
	at, _ := url.Parse(proxy.URL)
	c := New(Options{
		Resolver: &names{answers: map[string][]string{"public.test": {"8.8.8.8"}, "private.test": {"10.0.0.1"}}},
		Proxy:    func(*http.Request) (*url.URL, error) { return at, nil },
	})
	if p, err := c.Fetch(t.Context(), "http://public.test/a"); err != nil || p.Text != "through the proxy: http://public.test/a" {
		t.Errorf("%+v %v", p, err)
	}
	c.opt.Resolver = &names{answers: map[string][]string{"private.test": {"10.0.0.1"}}}
	if _, err := c.Fetch(t.Context(), "http://private.test/a"); !errors.Is(err, ErrAddress) {
		t.Errorf("%v", err)
	}
}

func TestTLS(t *testing.T) {
	t.Parallel()
	srv := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "secret") }))
	srv.Config.ErrorLog = log.New(io.Discard, "", 0)
	srv.StartTLS()
	defer srv.Close()
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	o := Options{
		Resolver: &names{answers: map[string][]string{"example.com": {"127.0.0.1"}}},
		Allowed:  func(netip.Addr) bool { return true },
		TLS:      &tls.Config{RootCAs: srv.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs},
	}
	if p, err := New(o).Fetch(t.Context(), "example.com:"+port); err != nil || p.Text != "secret" {
		t.Errorf("%+v %v", p, err)
	}
	o.TLS = nil
	if _, err := New(o).Fetch(t.Context(), "https://example.com:"+port); err == nil {
		t.Error("a certificate nobody signed was accepted")
	}
}

// SPEC 16.10: the decompressed size is what counts.
func TestSize(t *testing.T) {
	t.Parallel()
	var bomb bytes.Buffer
	z := gzip.NewWriter(&bomb)
	for range 8 {
		_, _ = z.Write(make([]byte, 1<<20))
	}
	_ = z.Close()
	c, site := local(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain")
		switch r.URL.Path {
		case "/bomb":
			w.Header().Set("Content-Encoding", "gzip")
			_, _ = w.Write(bomb.Bytes())
		case "/endless":
			for r.Context().Err() == nil {
				if _, err := io.WriteString(w, strings.Repeat("€", 1000)); err != nil {
					return
				}
			}
		case "/exact":
			_, _ = w.Write(bytes.Repeat([]byte("x"), 1<<17))
		case "/short":
			w.Header().Set("Content-Length", "100")
			fmt.Fprint(w, "cut")
		case "/brotli":
			w.Header().Set("Content-Encoding", "br")
			fmt.Fprint(w, "x")
		}
	})
	if c.opt.MaxBytes != 2<<20 {
		t.Errorf("the default is %d bytes", c.opt.MaxBytes)
	}
	c.opt.MaxBytes = 1 << 17
	for path, want := range map[string]struct {
		n   int
		cut bool
	}{"/endless": {1 << 17 / 3 * 3, true}, "/exact": {1 << 17, false}, "/short": {3, true}} {
		if p, err := c.Fetch(t.Context(), site+path); err != nil || len(p.Text) != want.n || p.Truncated != want.cut {
			t.Errorf("%s: %d bytes, truncated %v, %v", path, len(p.Text), p.Truncated, err)
		}
	}
	if p, err := c.Fetch(t.Context(), site+"/bomb"); err != nil || !p.Truncated {
		t.Errorf("bomb: truncated %v, %v", p.Truncated, err)
	}
	if _, err := c.Fetch(t.Context(), site+"/brotli"); !errors.Is(err, ErrType) {
		t.Errorf("brotli: %v", err)
	}
}

func TestCancelled(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancelCause(t.Context())
	why := errors.New("the person said stop")
	c, site := local(t, func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(200)
		w.(http.Flusher).Flush()
		cancel(why)
		<-r.Context().Done()
	})
	if _, err := c.Fetch(ctx, site); !errors.Is(err, why) {
		t.Error(err)
	}
}

func TestTypes(t *testing.T) {
	t.Parallel()
	c, site := local(t, func(w http.ResponseWriter, r *http.Request) {
		q := r.URL.Query()
		if q.Get("t") != "" {
			w.Header().Set("Content-Type", q.Get("t"))
		}
		if q.Get("s") != "" {
			w.WriteHeader(http.StatusNotFound)
		}
		fmt.Fprint(w, q.Get("b"))
	})
	get := func(typ, body string) (string, error) {
		p, err := c.Fetch(t.Context(), site+"/?t="+url.QueryEscape(typ)+"&b="+url.QueryEscape(body))
		return p.Text, err
	}
	for _, x := range []struct{ typ, body, want string }{
		{"application/json", `{"a": "<b>"}`, `{"a": "<b>"}`},
		{"application/problem+json; charset=utf-8", "{}", "{}"},
		{"text/plain", "a\r\nb", "a\nb"},
		{"text/plain; charset=iso-8859-1", "caf\xe9 \x80", "café €"},
		{"text/plain; charset=utf-16le", "h\x00i\x00", "hi"},
		{"text/plain", "\xff\xfeh\x00i\x00", "hi"},
		{"text/plain", "bad \xff byte", "bad \uFFFD byte"},
		{"text/html", "<meta charset=windows-1252><p>caf\xe9", "café"},
		{"text/html; charset=Shift_JIS", "<p>\x93\xfa\x96\x7b", "日本"},
		{"text/html", "<meta charset='EUC-JP'><p>\xc6\xfc\xcb\xdc", "日本"},
		{"text/html", "<meta http-equiv=Content-Type content='text/html; charset=gb2312'><p>\xd6\xd0\xce\xc4", "中文"},
		{"text/html; charset=gb18030", "<p>\x81\x30\x81\x30\xd6\xd0", "<U+0080>中"},
		{"text/plain; charset=big5", "\xa4\xa4\xa4\xe5", "中文"},
		{"text/plain; charset=EUC-KR", "\xc7\xd1\xb1\xdb", "한글"},
		{"text/plain; charset=ISO-2022-JP", "\x1b$BF|K\\\x1b(B.", "日本."},
		{"text/plain; charset=koi8-r", "\xc4\xc1", "да"},
		{"text/plain; charset=windows-1251", "\xe4\xe0", "да"},
		{"text/plain; charset=iso-8859-2", "\xb3\xf3d\xbc", "łódź"},
		// What is named wrongly, twice, in a comment or not at all.
		{"text/html; charset=big5", "<meta charset=utf-8><p>\xa4\xa4", "中"},
		{"text/html", "<!-- charset=big5 --><p>中文", "中文"},
		{"text/plain; charset=iso-8859-1", "中文", "中文"},
		{"text/plain; charset=nonsense", "中 \xff", "中 \uFFFD"},
		{"text/plain; charset=iso-2022-kr", "abc", "abc"},
		{"text/html", "<p>one broken \xe9 byte of 中文", "one broken \uFFFD byte of 中文"},
		{"text/html", "<p>" + strings.Repeat("a", 2000) + "é", strings.Repeat("a", 2000) + "é"},
		// A body cut inside its last character.
		{"text/plain; charset=big5", "\xa4\xa4\xa4", "中"},
		{"text/plain; charset=utf-16le", "h\x00i", "h"},
		{"text/plain", "中\xe4\xb8", "中"},
		{"text/html", "<p>one<p>two", "one\n\ntwo"},
		{"", "<!doctype html><p>sniffed", "sniffed"},
		{"text/plain", "<p>as it is", "<p>as it is"},
	} {
		if got, err := get(x.typ, x.body); err != nil || got != x.want {
			t.Errorf("%s %q: %q %v", x.typ, x.body, got, err)
		}
	}
	for _, typ := range []string{"image/png", "application/pdf", "application/octet-stream", "application/zip", "video/mp4", "nonsense"} {
		if _, err := get(typ, "x"); !errors.Is(err, ErrType) || !strings.Contains(err.Error(), typ) {
			t.Errorf("%s: %v", typ, err)
		}
	}
	if p, err := c.Fetch(t.Context(), site+"/?t=text/plain&b=gone&s=1"); err != nil || p.Status != 404 || p.Text != "gone" {
		t.Errorf("%+v %v", p, err)
	}
}

// SPEC 16.9, 16.10: what a reader would not see is shown.
func TestVisible(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"plain\ttext\n": "plain\ttext\n", "é€漢字": "é€漢字",
		"a\u200bb": "a<U+200B>b", "a\u202eb": "a<U+202E>b", "a\u2066b": "a<U+2066>b", "\ufeffx": "<U+FEFF>x",
		"x\U000e0041": "x<U+E0041>", "a\x1b[31m": "a<U+001B>[31m", "a\u00a0b": "a b", "soft\u00adhyphen": "softhyphen",
		"a\u2028b": "a\nb", "a\rb": "a\nb", "\u3164": "<U+3164>", "a\ufe0fb": "a<U+FE0F>b", "\u009b": "<U+009B>",
		"a" + strings.Repeat("\x00", 9) + "b\x00": "a<U+0000 x 9>b<U+0000>", "\u200b\u200c": "<U+200B><U+200C>", "a\ufe0f\ufe0fb": "a<U+FE0F><U+FE0F>b",
		"👩\u200d💻 ok": "👩\u200d💻 ok", "❤\ufe0f": "❤\ufe0f", "a\u200db": "a<U+200D>b",
	} {
		if got := visible(in); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}
