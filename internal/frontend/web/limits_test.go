package web

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 21.4: who guesses codes or cookies is slowed down, and voids no code with that; a
// device that asks without end is, too. Neither stops the others.
func TestTooOften(t *testing.T) {
	r := newTestServer(t, say("x"))
	watches, other := r.paired(Watch), r.paired(Watch)
	guess := func() int { return r.post("", "/api/pair", Pairing{Code: "AAAAAAAAAAAA"}) }
	for range r.s.tries.atOnce {
		guess()
	}
	code := r.devices.NewCode(Steer)
	for range 100 {
		if got := guess(); got != 429 {
			t.Fatal("a guess is answered:", got)
		}
		if got, _, h := r.ask(r.s.cookie+"=AAAA", "GET", "/api/sessions", nil, nil); got != 429 || h.Get("Retry-After") == "" {
			t.Fatal("a guessed cookie is answered:", got)
		}
	}
	if got, _, _ := r.ask(watches, "GET", "/api/sessions", nil, nil); got != 200 {
		t.Error("a paired device pays for the guesses:", got)
	}
	r.later(r.s.tries.every)
	if got := r.post("", "/api/pair", Pairing{Code: code}); got != 200 {
		t.Error("the guesses that were not answered voided the code:", got)
	}
	for range r.s.requests.atOnce {
		r.ask(watches, "GET", "/api/devices", nil, nil)
	}
	if got, _, _ := r.ask(watches, "GET", "/api/devices", nil, nil); got != 429 {
		t.Error("a device may ask without end:", got)
	}
	if got, _, _ := r.ask(other, "GET", "/api/devices", nil, nil); got != 200 {
		t.Error("another device pays for it:", got)
	}
	r.later(time.Second)
	if got, _, _ := r.ask(watches, "GET", "/api/devices", nil, nil); got != 200 {
		t.Error("a device is refused later, too:", got)
	}
	var l limit
	l.atOnce, l.every = 1, time.Hour
	for i := range 3 * mostLimited {
		if !l.allows(fmt.Sprint(i), r.clock()) || len(l.of) > mostLimited {
			t.Fatal("names are kept without end, or some refuse others:", len(l.of))
		}
	}
}

// stream is a viewer that reads in this process.
func (r *testServer) stream(ctx context.Context, cookie string) (*pipe, chan int) {
	q := httptest.NewRequestWithContext(ctx, "GET", "http://localhost:7295/api/events", nil)
	q.Header.Set("Cookie", cookie)
	p, left := &pipe{header: http.Header{}, got: make(chan string, 100)}, make(chan int, 1)
	go func() {
		r.s.ServeHTTP(p, q)
		left <- p.code
	}()
	return p, left
}

type pipe struct {
	header http.Header
	code   int
	got    chan string
}

func (p *pipe) Header() http.Header { return p.header }
func (p *pipe) WriteHeader(c int)   { p.code = c }
func (p *pipe) Flush()              {}
func (p *pipe) Write(b []byte) (int, error) {
	p.got <- string(b)
	return len(b), nil
}

// SPEC 21.4: a thousand pages see the same, one more is told why it does not, and a device
// does not take the places of others.
func TestThousandViewers(t *testing.T) {
	r := newTestServer(t, say("x"))
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	var pages []*pipe
	var ends []chan int
	full := r.paired(Watch)
	cookie := full
	for i := range mostViewers {
		if i > 0 && i%mostOfDevice == 0 {
			cookie = r.paired(Watch)
		}
		p, left := r.stream(ctx, cookie)
		<-p.got
		pages, ends = append(pages, p), append(ends, left)
	}
	if p, refused := r.stream(ctx, full); <-refused != 429 || !strings.Contains(<-p.got, "of this device") {
		t.Error("a device has no limit")
	}
	if p, refused := r.stream(ctx, r.paired(Watch)); <-refused != 429 || !strings.Contains(<-p.got, "1000 pages are open") {
		t.Error("one more than may be")
	}
	r.s.hub.publish("gone", Gone{"s1", "block"})
	for _, p := range pages {
		for !strings.Contains(<-p.got, "event: gone") {
		}
	}
	leave()
	for _, left := range ends {
		<-left
	}
	if len(r.s.viewers.of) != 0 || r.s.viewers.all != 0 {
		t.Error("places are lost:", r.s.viewers.all)
	}
}

// SPEC 21.4: a stolen cookie is worth nothing once it is revoked, and what is open with it
// ends: by a device, or by `pawl serve revoke` in another process.
func TestRevokedAtOnce(t *testing.T) {
	r := newTestServer(t, say("x"))
	steers, stolen, other := r.paired(Steer), r.paired(Steer), r.paired(Watch)
	p, left := r.stream(t.Context(), stolen)
	<-p.got
	id := got[Paired](r, stolen, "/api/devices")
	for _, d := range id.Devices {
		if d.This {
			if code, _, _ := r.ask(steers, "DELETE", "/api/devices/"+d.ID, nil, nil); code != 200 {
				t.Fatal(code)
			}
		}
	}
	<-left
	if got := r.post(stolen, "/api/s/s1/prompt", Prompt{ID: "12345678", Text: "x"}); got != 401 {
		t.Error("a revoked device prompts:", got)
	}
	p, left = r.stream(t.Context(), other)
	<-p.got
	elsewhere := must.Get(OpenDevices(r.s.cfg.State, r.clock))(t)
	for _, d := range got[Paired](r, other, "/api/devices").Devices {
		if d.This {
			must.Do(t, elsewhere.Revoke(d.ID))
		}
	}
	r.s.look()
	<-left
}

// SPEC 21.4: who has no right sends nothing that pawl reads; who has it sends no more than
// a prompt with its images may be, also without saying how much it is.
func TestHugeUploads(t *testing.T) {
	r := newTestServer(t, say("x"))
	steers := r.paired(Steer)
	read := 0
	endless := func(q *http.Request) {
		q.Body, q.ContentLength = io.NopCloser(io.MultiReader(strings.NewReader(`{"id":"12345678","text":"`), readsAs(func(b []byte) (int, error) {
			read += len(b)
			for i := range b {
				b[i] = 'x'
			}
			return len(b), nil
		}))), -1
	}
	in := func(cookie string) int {
		q := httptest.NewRequestWithContext(t.Context(), "POST", "http://localhost:7295/api/s/s1/prompt", nil)
		q.Header.Set("Cookie", cookie)
		q.Header.Set("Content-Type", "application/json")
		endless(q)
		a := httptest.NewRecorder()
		r.s.ServeHTTP(a, q)
		return a.Code
	}
	if code := in(r.paired(Answer)); code != 403 || read > 0 {
		t.Error("read from one without the right:", code, read)
	}
	if code := in(steers); code != 413 || read > 2*mostPrompt {
		t.Error(code, read)
	}
	big := Prompt{ID: "12345678", Text: "x"}
	for range mostImages + 1 {
		big.Images = append(big.Images, Image{Type: "image/png", Data: []byte{1}})
	}
	if code := r.post(steers, "/api/s/s1/prompt", big); code != 422 {
		t.Error("so many images:", code)
	}
	if code := r.post(steers, "/api/s/s1/prompt", Prompt{ID: "12345678", Images: []Image{{Type: "image/svg+xml", Data: []byte("<svg/>")}}}); code != 422 {
		t.Error("an image that runs scripts:", code)
	}
	tried := 0
	for e, err := range r.s.cfg.Store.Read(t.Context(), "s1", 3) {
		if _, ok := e.Body.(event.RemoteAct); err != nil || !ok {
			t.Errorf("something was done: %+v, %v", e.Body, err)
		}
		tried++
	}
	if tried > 2 { // the two that could be read stand in the log as tried
		t.Error("tried:", tried)
	}
}

type readsAs func([]byte) (int, error)

func (f readsAs) Read(b []byte) (int, error) { return f(b) }

// served is a server as pawl runs it, at the address where it listens.
func served(t *testing.T, r *testServer, at string, change func(*Config)) string {
	t.Helper()
	l := must.Get(net.Listen("tcp", at))(t)
	c := r.s.cfg
	c.State = t.TempDir()
	if change != nil {
		change(&c)
	}
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan error, 1)
	go func() { done <- Serve(ctx, l, c) }()
	t.Cleanup(func() {
		stop()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	return l.Addr().String()
}

// SPEC 21.4: who connects and says nothing, or more than there is room for, holds up
// nobody.
func TestSilentConnections(t *testing.T) {
	r := newTestServer(t, say("x"))
	at := served(t, r, "127.0.0.1:0", nil)
	var open []net.Conn
	defer func() {
		for _, c := range open {
			_ = c.Close()
		}
	}()
	for i := range 200 {
		c := must.Get(net.Dial("tcp", at))(t)
		if open = append(open, c); i%2 == 0 {
			fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: localhost\r\nX: ")
		}
	}
	a := must.Get(http.Get("http://" + at + "/"))(t)
	defer a.Body.Close()
	if a.StatusCode != 200 {
		t.Error(a.StatusCode)
	}
	l := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	full := &bounded{Listener: l, open: mostConnections - 1}
	var all sync.WaitGroup
	all.Go(func() {
		for {
			c, err := full.Accept()
			if err != nil {
				return
			}
			all.Go(func() {
				fmt.Fprint(c, "in")
				_, _ = io.ReadAll(c)
				_ = c.Close()
			})
		}
	})
	dial := func() (net.Conn, string) {
		c := must.Get(net.Dial("tcp", l.Addr().String()))(t)
		b := make([]byte, 2)
		n, _ := io.ReadFull(c, b)
		return c, string(b[:n])
	}
	last, said := dial()
	if said != "in" {
		t.Fatal("the last place is not given")
	}
	if c, said := dial(); said != "" {
		t.Error("there is no limit")
	} else {
		_ = c.Close()
	}
	_ = last.Close()
	for said = ""; said == ""; { // the place is free once the server has seen that
		var c net.Conn
		c, said = dial()
		_ = c.Close()
	}
	_ = l.Close()
	all.Wait()
}

// SPEC 21.4: who says that a body comes and does not send it keeps no connection, whether
// somebody reads it or not.
func TestBodiesThatDoNotCome(t *testing.T) {
	r := newTestServer(t, say("x"))
	steers := r.paired(Steer)
	for _, head := range []string{"POST /api/pair", "POST /api/s/s1/prompt", "POST /api/s/s1/none", "DELETE /api/push", "GET /", "GET /api/hello"} {
		for _, length := range []string{"Content-Length: 100", "Transfer-Encoding: chunked"} {
			synctest.Test(t, func(t *testing.T) {
				theirs, mine := net.Pipe()
				l := &one{conn: make(chan net.Conn, 1), closed: make(chan struct{})}
				l.conn <- theirs
				srv := &http.Server{Handler: r.s}
				go func() { _ = srv.Serve(l) }()
				go fmt.Fprintf(mine, "%s HTTP/1.1\r\nHost: localhost\r\nCookie: %s\r\nContent-Type: application/json\r\n%s\r\n\r\n1\r\n{", head, steers, length)
				from := time.Now()
				if said, err := io.ReadAll(mine); err != nil || time.Since(from) > time.Minute {
					t.Errorf("%s: %q, %v, after %v", head, said, err, time.Since(from))
				}
				_ = mine.Close()
				_ = srv.Close()
			})
		}
	}
}

// one is a listener with one connection.
type one struct {
	conn   chan net.Conn
	closed chan struct{}
}

func (o *one) Addr() net.Addr { return &net.TCPAddr{} }
func (o *one) Close() error   { close(o.closed); return nil }
func (o *one) Accept() (net.Conn, error) {
	select {
	case c := <-o.conn:
		return c, nil
	case <-o.closed:
		return nil, net.ErrClosed
	}
}

// SPEC 21.4: beyond the loopback pawl speaks TLS, or to a proxy that was named.
func TestBeyondTheLoopback(t *testing.T) {
	r := newTestServer(t, say("x"))
	l := must.Get(net.Listen("tcp", "0.0.0.0:0"))(t)
	if err := Serve(t.Context(), l, r.s.cfg); err == nil {
		t.Fatal("it listens without TLS")
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Error("it still listens", err)
	}
	state := t.TempDir()
	must.Do(t, os.Mkdir(filepath.Join(state, "serve"), 0o700))
	self := func(now time.Time, names ...string) (tls.Certificate, string) {
		t.Helper()
		c := must.Get(SelfCertificate(state, append(names, "127.0.0.1", "localhost"), now))(t)
		return c, Fingerprint(c)
	}
	now := time.Now()
	cert, first := self(now)
	if _, again := self(now.Add(selfLasts - time.Minute)); again != first {
		t.Error("it is another one each time")
	}
	if _, again := self(now.Add(selfLasts + time.Minute)); again == first {
		t.Error("an expired one is kept")
	}
	cert, first = self(now)
	if info, err := os.Stat(filepath.Join(state, "serve", "self.pem")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error("others may read the key", info, err)
	}
	if _, other := self(now, "pawl.example"); other == first {
		t.Error("it is not for a name that was added")
	}
	roots := x509.NewCertPool()
	roots.AddCert(cert.Leaf)
	client := func(most uint16) *http.Client {
		return &http.Client{Transport: &http.Transport{DisableKeepAlives: true, TLSClientConfig: &tls.Config{RootCAs: roots, MaxVersion: most}}}
	}
	for _, made := range []bool{true, false} {
		at := served(t, r, "0.0.0.0:0", func(c *Config) {
			c.TLS, c.SelfMade = &tls.Config{Certificates: []tls.Certificate{cert}}, made
		})
		_, port, _ := net.SplitHostPort(at)
		code := r.devices.NewCode(Watch)
		a, err := client(0).Post("https://127.0.0.1:"+port+"/api/pair", "application/json", strings.NewReader(`{"code":"`+code+`"}`))
		must.Do(t, err)
		_ = a.Body.Close()
		if a.StatusCode != 200 || !strings.Contains(a.Header.Get("Set-Cookie"), "Secure") || (a.Header.Get("Strict-Transport-Security") == "") != made {
			t.Errorf("self-made %v: %d %v", made, a.StatusCode, a.Header)
		}
		if a, err = client(0).Get("https://localhost:" + port + "/"); err != nil {
			t.Fatal(err)
		}
		if _ = a.Body.Close(); a.Header.Get("Strict-Transport-Security") != "" {
			t.Error("the other servers of this machine would have to speak TLS")
		}
		if a, err := client(tls.VersionTLS11).Get("https://127.0.0.1:" + port + "/"); err == nil {
			_ = a.Body.Close()
			t.Error("old TLS is spoken")
		}
	}
	for proxy, want := range map[string]bool{"127.0.0.1": true, "192.0.2.1": false} {
		at := served(t, r, "0.0.0.0:0", func(c *Config) { c.Proxies = []string{proxy} })
		_, port, _ := net.SplitHostPort(at)
		c := must.Get(net.Dial("tcp", "127.0.0.1:"+port))(t)
		fmt.Fprint(c, "GET / HTTP/1.1\r\nHost: pawl.example\r\nConnection: close\r\n\r\n")
		status, err := bufio.NewReader(c).ReadString('\n')
		if (err == nil && strings.Contains(status, "200")) != want {
			t.Error(proxy, status, err)
		}
		_ = c.Close()
	}
}

// SPEC 21.4: a server is known by the addresses at which it listens, and by no others.
func TestAddresses(t *testing.T) {
	if got := Addresses(net.ParseIP("192.0.2.7")); len(got) != 1 || got[0] != "192.0.2.7" {
		t.Error(got)
	}
	for _, a := range Addresses(net.IPv4zero) {
		if ip := net.ParseIP(a); ip == nil || ip.IsUnspecified() || ip.IsLoopback() {
			t.Error("not an address that others reach:", a)
		}
	}
	s := &server{cfg: Config{Hosts: Addresses(net.ParseIP("192.0.2.7"))}}
	if !s.knows("192.0.2.7:7295") || s.knows("192.0.2.8:7295") || s.knows("evil.example") {
		t.Error("a server at an address answers to others, or not to that")
	}
}
