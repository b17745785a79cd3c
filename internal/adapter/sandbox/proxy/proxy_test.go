package proxy

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// fakeNetwork is a network in one process: names, and what was dialled.
type fakeNetwork struct {
	mu      sync.Mutex
	answers map[string][]string // several: one for each look-up
	dialled []string
	refused []string
	server  string
	seen    []string
	close   func() error
}

func (w *fakeNetwork) LookupNetIP(_ context.Context, _, name string) ([]netip.Addr, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	list := w.answers[name]
	if len(list) == 0 {
		return nil, fmt.Errorf("no host %s", name)
	}
	if len(list) > 1 {
		w.answers[name] = list[1:]
	}
	var out []netip.Addr
	for a := range strings.FieldsSeq(list[0]) {
		out = append(out, netip.MustParseAddr(a))
	}
	return out, nil
}

func (w *fakeNetwork) dial(ctx context.Context, to netip.AddrPort) (net.Conn, error) {
	w.mu.Lock()
	w.dialled = append(w.dialled, to.String())
	w.mu.Unlock()
	var d net.Dialer
	return d.DialContext(ctx, "tcp", w.server)
}

func start(t *testing.T, grants ...string) (*fakeNetwork, string) {
	t.Helper()
	w := &fakeNetwork{answers: map[string][]string{
		"good.test.": {"8.8.8.8"}, "a.wild.test.": {"8.8.4.4"}, "two.test.": {"8.8.8.8 1.1.1.1"}, "private.test.": {"10.0.0.5"}, "local.test.": {"127.0.0.1"},
		"mixed.test.": {"8.8.8.8 192.168.1.1"}, "mapped.test.": {"::ffff:127.0.0.1"}, "meta.test.": {"169.254.169.254"}, "six.test.": {"fd00::1"}, "nat.test.": {"64:ff9b::a00:1"},
		"rebind.test.": {"8.8.8.8", "127.0.0.1"}, "evil.test.": {"8.8.8.8"}, "xn--bcher-kva.test.": {"8.8.8.8"},
	}}
	up := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.mu.Lock()
		w.seen = append(w.seen, fmt.Sprint(r.Method, " ", r.Host, " ", r.RequestURI, " ", string(body), r.Header["Proxy-Authorization"], r.Header["X-Hop"]))
		w.mu.Unlock()
		fmt.Fprintf(rw, "hello from %s", r.Host)
	}))
	t.Cleanup(up.Close)
	w.server = up.Listener.Addr().String()
	o := Options{Resolver: w, Dial: w.dial, Ask: func(_ context.Context, _, target string, addr bool, name string) bool {
		w.mu.Lock()
		defer w.mu.Unlock()
		if addr { // that nobody reaches without being granted it by its number
			target = strings.TrimSuffix("address "+target+" of "+name, " of ")
		}
		w.refused = append(w.refused, target)
		return target == "yes.test"
	}}
	for _, g := range grants {
		grant := must.Get(host.ParseGrant(g))(t)
		o.Grants = append(o.Grants, grant)
	}
	p := New(o)
	w.close = p.Close
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	go func() { _ = p.Serve(l) }()
	t.Cleanup(func() { _ = p.Close() })
	return w, l.Addr().String()
}

// ask sends bytes and gives the status of the answers, n at most.
func ask(t *testing.T, at, raw string, n int) (statuses []int, body string) {
	t.Helper()
	c := must.Get(net.Dial("tcp", at))(t)
	defer c.Close()
	must.Done(t)(io.WriteString(c, raw))
	r := bufio.NewReader(c)
	for range n {
		resp, err := http.ReadResponse(r, nil)
		if err != nil {
			break
		}
		if strings.HasPrefix(raw, "CONNECT") && resp.StatusCode == http.StatusOK {
			return []int{resp.StatusCode}, ""
		}
		b, _ := io.ReadAll(resp.Body)
		statuses, body = append(statuses, resp.StatusCode), body+string(b)
	}
	return statuses, body
}

var granted = []string{
	"good.test", "*.wild.test", "two.test", "private.test", "local.test", "mixed.test", "mapped.test", "meta.test", "six.test", "nat.test", "rebind.test",
	"good.test:8443", "b\u00fccher.test", "9.9.9.9", "nowhere.test",
}

// SPEC 16.10, 16.12: plain requests and tunnels, each form of a name.
func TestHostile(t *testing.T) {
	t.Parallel()
	get := func(target string) string {
		return "GET " + target + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
	}
	tunnel := func(target string) string { return "CONNECT " + target + " HTTP/1.1\r\nHost: " + target + "\r\n\r\n" }
	for _, c := range []struct {
		raw     string
		status  int
		dialled string
		refused string
	}{
		{get("http://good.test/"), 200, "8.8.8.8:80", ""},
		{get("http://good.test:443/"), 200, "8.8.8.8:443", ""},
		{get("http://GOOD.Test./"), 200, "8.8.8.8:80", ""},
		{get("HTTP://good.test/"), 200, "8.8.8.8:80", ""},
		{get("http://a.wild.test/"), 200, "8.8.4.4:80", ""},
		{get("http://two.test/"), 200, "8.8.8.8:80", ""},
		{get("http://xn--bcher-kva.test/"), 200, "8.8.8.8:80", ""},
		{get("http://b%C3%BCcher.test/"), 200, "8.8.8.8:80", ""},
		{get("http://9.9.9.9/"), 200, "9.9.9.9:80", ""},
		{get("http://[::ffff:9.9.9.9]/"), 200, "9.9.9.9:80", ""},
		{get("http://evil.test/"), 403, "", "evil.test"},
		{get("http://wild.test/"), 403, "", "wild.test"},
		{get("http://evilwild.test/"), 403, "", "evilwild.test"},
		{get("http://good.test.evil.test/"), 403, "", "good.test.evil.test"},
		{get("http://good.test:22/"), 403, "", "good.test:22"},
		{get("http://good.test:8443/"), 200, "8.8.8.8:8443", ""},
		{get("http://good.test@evil.test/"), 400, "", ""},
		{get("http://evil.test@good.test/"), 400, "", ""},
		{get("http://evil.test#@good.test/"), 400, "", ""},
		{get("http://evil.test\\@good.test/"), 400, "", ""},
		{get("http://good.test%2eevil.test/"), 400, "", ""},
		{get("http://good.test%00.evil.test/"), 400, "", ""},
		{get("http://good.test%0d%0aHost:evil/"), 400, "", ""},
		{get("http://127.0.0.1/"), 403, "", "address 127.0.0.1"},
		{get("http://127.1/"), 400, "", ""},
		{get("http://2130706433/"), 400, "", ""},
		{get("http://0x7f.0.0.1/"), 400, "", ""},
		{get("http://0177.0.0.1/"), 400, "", ""},
		{get("http://[::1]/"), 403, "", "address ::1"},
		{get("http://[::ffff:127.0.0.1]/"), 403, "", "address 127.0.0.1"},
		{get("http://[fe80::1%25eth0]/"), 400, "", ""},
		{get("http://localhost/"), 400, "", ""},
		{get("http://private.test/"), 403, "", "address 10.0.0.5 of private.test"},
		{get("http://local.test/"), 403, "", "address 127.0.0.1 of local.test"},
		{get("http://mixed.test/"), 403, "", "address 192.168.1.1 of mixed.test"},
		{get("http://mapped.test/"), 403, "", "address 127.0.0.1 of mapped.test"},
		{get("http://meta.test/"), 403, "", "address 169.254.169.254 of meta.test"},
		{get("http://six.test/"), 403, "", "address fd00::1 of six.test"},
		{get("http://nat.test/"), 403, "", "address 64:ff9b::a00:1 of nat.test"},
		{get("http://nowhere.test/"), 502, "", ""},
		{get("https://good.test/"), 400, "", ""},
		{get("ftp://good.test/"), 400, "", ""},
		{get("file:///etc/passwd"), 400, "", ""},
		{get("/"), 400, "", ""},
		{get("*"), 400, "", ""},
		{get("http:good.test/"), 400, "", ""},
		{get("http:///"), 400, "", ""},
		{get("//good.test/"), 400, "", ""},
		{tunnel("good.test:443"), 200, "8.8.8.8:443", ""},
		{tunnel("good.test.:443"), 200, "8.8.8.8:443", ""},
		{tunnel("good.test:22"), 403, "", "good.test:22"},
		{tunnel("good.test:25"), 403, "", "good.test:25"},
		{tunnel("evil.test:443"), 403, "", "evil.test"},
		{tunnel("evil.test:53"), 403, "", "evil.test:53"},
		{tunnel("good.test"), 400, "", ""},
		{tunnel("good.test:"), 400, "", ""},
		{tunnel("good.test:0"), 400, "", ""},
		{tunnel("good.test:65979"), 400, "", ""},
		{tunnel("good.test:https"), 400, "", ""},
		{tunnel("u:p@good.test:443"), 400, "", ""},
		{tunnel("good.test:443@evil.test:443"), 400, "", ""},
		{tunnel("good.test:443/x"), 400, "", ""},
		{tunnel("/good.test:443"), 400, "", ""},
		{tunnel("http://good.test:443"), 400, "", ""},
		{tunnel("private.test:443"), 403, "", "address 10.0.0.5 of private.test"},
		{tunnel("meta.test:80"), 403, "", "address 169.254.169.254 of meta.test"},
		{tunnel("127.0.0.1:443"), 403, "", "address 127.0.0.1"},
		{tunnel("[::1]:443"), 403, "", "address ::1"},
		{tunnel("10.0.0.5:5432"), 403, "", "address 10.0.0.5:5432"},
		{tunnel("yes.test:443"), 502, "", "yes.test"},
		{tunnel("2130706433:443"), 400, "", ""},
		{tunnel("localhost:443"), 400, "", ""},
		{"CONNECT good.test:443 HTTP/1.1\r\nHost: evil.test:443\r\n\r\n", 200, "8.8.8.8:443", ""},
		{"CONNECT evil.test:443 HTTP/1.1\r\nHost: good.test:443\r\n\r\n", 403, "", "evil.test"},
		{"CONNECT good.test:443 evil.test:443 HTTP/1.1\r\n\r\n", 400, "", ""},
		{"GET http://evil.test/ HTTP/1.1\r\nHost: good.test\r\n\r\n", 403, "", "evil.test"},
		{"GET / HTTP/1.1\r\nHost: good.test\r\n\r\n", 400, "", ""},
		{"GET http://good.test/ HTTP/1.1\r\nHost: good.test\r\nHost: evil.test\r\n\r\n", 400, "", ""},
		{"GET http://good.test/ HTTP/1.1\r\nHost : good.test\r\n\r\n", 400, "", ""},
		{"GET http://good.test/ HTTP/1.1\nHost: x\n X: y\nContent-Length: 1\nContent-Length: 2\n\n", 400, "", ""},
		{"GET http://good.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", 501, "", ""},
		{"GET http://good.test/ HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 501, "", ""},
		{"GET http://good.test/ HTTP/2.0\r\nHost: x\r\n\r\n", 505, "", ""},
		{"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400, "", ""},
	} {
		w, at := start(t, granted...)
		statuses, body := ask(t, at, c.raw, 1)
		if len(statuses) == 0 || statuses[0] != c.status {
			t.Errorf("%q: %v %s, want %d", c.raw, statuses, body, c.status)
		}
		if got := strings.Join(w.dialled, " "); got != c.dialled {
			t.Errorf("%q: dialled %s, want %s", c.raw, got, c.dialled)
		}
		if got := strings.Join(w.refused, " "); got != c.refused {
			t.Errorf("%q: refused %q, want %q", c.raw, got, c.refused)
		}
	}
}

// SPEC 16.12: the answer to a refused tunnel names the host in its status line,
// of which programs show more than of the text.
func TestRefusedTunnelNamesTheHost(t *testing.T) {
	t.Parallel()
	for target, want := range map[string]string{
		"evil.test:443":    "403 pawl: the sandbox refused: host evil.test is not granted",
		"good.test:22":     "403 pawl: the sandbox refused: host good.test:22 is not granted",
		"private.test:443": "403 pawl: the sandbox refused: private.test is 10.0.0.5, which is not of the public internet",
		"nowhere.test:443": "502 pawl: look up nowhere.test: no host nowhere.test.",
		"good.test:0":      `400 pawl: this is not a request to a proxy: "good.test:0" has no port`,
	} {
		_, at := start(t, granted...)
		c := must.Get(net.Dial("tcp", at))(t)
		fmt.Fprintf(c, "CONNECT %s HTTP/1.1\r\nHost: %s\r\n\r\n", target, target)
		resp := must.Get(http.ReadResponse(bufio.NewReader(c), &http.Request{Method: http.MethodConnect}))(t)
		if resp.Status != want {
			t.Errorf("%s: %s", target, resp.Status)
		}
		_ = c.Close()
	}
}

// SPEC 16.12: what is sent has the name that was judged, whatever the client's
// header says, and each request of a connection is judged.
func TestWhatIsSent(t *testing.T) {
	t.Parallel()
	w, at := start(t, granted...)
	statuses, _ := ask(t, at, "GET http://good.test/a HTTP/1.1\r\nHost: evil.test\r\nProxy-Authorization: secret\r\nConnection: X-Hop\r\nX-Hop: 1\r\n\r\n"+
		"GET http://evil.test/b HTTP/1.1\r\nHost: good.test\r\n\r\n", 2)
	if !slices.Equal(statuses, []int{200, 403}) || len(w.seen) != 1 || w.seen[0] != "GET good.test /a [] []" {
		t.Errorf("%v %q", statuses, w.seen)
	}
	// Two lengths: what is hidden behind the first is a request to the proxy, or
	// a body; never a second request at the server.
	w, at = start(t, granted...)
	statuses, _ = ask(t, at, "POST http://good.test/ HTTP/1.1\r\nHost: x\r\nContent-Length: 40\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nGET http://evil.test/hidden HTTP/1.1\r\nHost: x\r\n\r\n", 2)
	for _, s := range w.seen {
		if strings.Contains(s, "hidden") {
			t.Errorf("%v %q", statuses, w.seen)
		}
	}
	if slices.Contains(w.dialled, "evil") || len(w.dialled) > 1 {
		t.Error(w.dialled)
	}
}

// SPEC 16.10: a name that leads elsewhere the second time is judged again.
func TestRebinding(t *testing.T) {
	t.Parallel()
	w, at := start(t, granted...)
	one := "GET http://rebind.test/ HTTP/1.1\r\nHost: x\r\n\r\n"
	if statuses, _ := ask(t, at, one+one, 2); !slices.Equal(statuses, []int{200, 403}) || !slices.Equal(w.dialled, []string{"8.8.8.8:80"}) {
		t.Errorf("%v %v", statuses, w.dialled)
	}
}

// SPEC 16.12: a tunnel passes bytes, also those sent with the request, and ends
// with the proxy.
func TestTunnel(t *testing.T) {
	t.Parallel()
	w, at := start(t, granted...)
	open := must.Get(net.Dial("tcp", at))(t)
	defer open.Close()
	must.Done(t)(io.WriteString(open, "CONNECT good.test:80 HTTP/1.1\r\n\r\n"))
	must.Done(t)(http.ReadResponse(bufio.NewReader(open), nil))
	c := must.Get(net.Dial("tcp", at))(t)
	defer c.Close()
	must.Done(t)(io.WriteString(c, "CONNECT good.test:80 HTTP/1.1\r\n\r\nGET /through HTTP/1.1\r\nHost: inner\r\nConnection: close\r\n\r\n"))
	all, err := io.ReadAll(c)
	if err != nil || !strings.HasPrefix(string(all), "HTTP/1.1 200 Connection established\r\n\r\nHTTP/1.1 200 OK") || !strings.HasSuffix(string(all), "hello from inner") {
		t.Errorf("%q %v", all, err)
	}
	must.Do(t, w.close())
	if rest, _ := io.ReadAll(open); len(rest) > 0 {
		t.Errorf("%q", rest)
	}
}

// SPEC 16.10: the real dialer connects to no address that is not public, even
// where it is asked to.
func TestDialIsJudged(t *testing.T) {
	t.Parallel()
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	defer l.Close()
	p := New(Options{})
	if c, err := p.dialJudged(t.Context(), netip.MustParseAddrPort(l.Addr().String())); err == nil {
		c.Close()
		t.Error("connected")
	}
}
