package provider_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/pawl-agent/pawl/internal/adapter/provider"
	"github.com/pawl-agent/pawl/internal/adapter/provider/anthropic"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/must"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	key   = "sk-ant-api03-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	hello = `event: message_start
data: {"type":"message_start","message":{"id":"m1","model":"claude-test","usage":{"input_tokens":3}}}

event: content_block_start
data: {"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}

event: content_block_delta
data: {"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"hello"}}

`
	bye = `event: message_delta
data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":2}}

event: message_stop
data: {"type":"message_stop"}

`
)

func request() *llm.Request {
	return &llm.Request{
		Head:     llm.Head{Model: "claude-test", System: "be brief"},
		Messages: []llm.Message{{Role: llm.User, Parts: []llm.Part{llm.TextPart("hi")}}},
	}
}

// client makes a client of a server's; change may change its configuration.
func client(t *testing.T, address string, change func(*provider.Config)) *provider.Client {
	t.Helper()
	cfg := provider.Config{
		API: anthropic.New(provider.Tuning{}), BaseURL: address, Key: key, KeyName: "ANTHROPIC_API_KEY", URLName: "ANTHROPIC_BASE_URL",
		Info: llm.Info{Provider: "anthropic", Model: "claude-test"},
	}
	if change != nil {
		change(&cfg)
	}
	c := must.Get(provider.New(cfg))(t)
	t.Cleanup(c.Close)
	return c
}

func serve(t *testing.T, h http.HandlerFunc) *httptest.Server {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s
}

// ask returns the text, the reply and the error of one request.
func ask(ctx context.Context, c *provider.Client, r *llm.Request) (text string, reply *llm.Reply, err error) {
	for d, e := range c.Stream(ctx, r) {
		switch {
		case e != nil:
			err = e
		case d.Kind == llm.Done:
			reply = d.Reply
		case d.Kind == llm.DeltaText:
			text += d.Text
		}
	}
	return text, reply, err
}

// faultOf returns an error as *fault.Error, and fails where it has the key.
func faultOf(t *testing.T, err error) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("not a *fault.Error: %v", err)
	}
	if strings.Contains(err.Error(), key) || strings.Contains(fmt.Sprintf("%+v", *f), key[8:24]) {
		t.Fatalf("the key is in %v", err)
	}
	return f
}

// 1,000 requests, one connection: bodies are read to their end. One more is opened where the
// machine is busy, and a reply's connection is not yet free when the next request begins.
func TestOneConnection(t *testing.T) {
	t.Parallel()
	var opened atomic.Int64
	s := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, hello+bye)
	}))
	s.Config.ConnState = func(_ net.Conn, state http.ConnState) {
		if state == http.StateNew {
			opened.Add(1)
		}
	}
	s.Start()
	defer s.Close()
	c := client(t, s.URL, nil)
	for range 1000 {
		if text, reply, err := ask(t.Context(), c, request()); err != nil || reply == nil || text != "hello" {
			t.Fatal(text, reply, err)
		}
	}
	if n := opened.Load(); n > 20 {
		t.Errorf("%d connections for 1,000 requests", n)
	}
}

// The parts of a body are sent as they are, with their length, to the right
// place, and the key in its header only.
func TestRequest(t *testing.T) {
	t.Parallel()
	big := bytes.Repeat([]byte("x"), 3<<20)
	parts := [][]byte{[]byte(`{"a":"`), nil, big, []byte(`"`), []byte(`],"max_tokens":77}`)}
	for base, want := range map[string]string{"": "/v1/messages", "/v1/": "/v1/messages", "/proxy": "/proxy/v1/messages", "/api/v4": "/api/v4/messages"} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			got, err := io.ReadAll(r.Body)
			if err != nil || !bytes.Equal(got, bytes.Join(parts, nil)) || r.ContentLength != int64(len(got)) {
				t.Errorf("body of %d bytes, length %d: %v", len(got), r.ContentLength, err)
			}
			if r.URL.Path != want || r.Header.Get("x-api-key") != key || r.Header.Get("X-Extra") != "1" || r.Header["Idempotency-Key"] != nil {
				t.Errorf("%s %v", r.URL, r.Header)
			}
			_, _ = io.WriteString(w, hello+bye)
		})
		c := client(t, s.URL+base, func(cfg *provider.Config) { cfg.Header = http.Header{"x-extra": {"1"}} })
		r := request()
		r.Body, r.Tail = parts, llm.Tail{MaxTokens: 77}
		if _, _, err := ask(t.Context(), c, r); err != nil {
			t.Error(err)
		}
	}
}

// A kept connection that the server has closed meanwhile is not a failure.
func TestConnectionGone(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, hello+bye)
	})
	c := client(t, s.URL, nil)
	for range 20 {
		if _, _, err := ask(t.Context(), c, request()); err != nil {
			t.Fatal(err)
		}
		s.CloseClientConnections()
	}
}

func TestGzip(t *testing.T) {
	t.Parallel()
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(r.Header.Get("Accept-Encoding"), "gzip") {
			t.Error("gzip is not asked for")
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, hello+bye)
		_ = z.Close()
	})
	if text, _, err := ask(t.Context(), client(t, s.URL, nil), request()); err != nil || text != "hello" {
		t.Error(text, err)
	}
}

// clockwork stands for time: a timer fires when the test advances it.
type clockwork struct {
	mu    sync.Mutex
	fire  func()
	waits []time.Duration
}

func (c *clockwork) after(d time.Duration, f func()) provider.Timer {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.fire = f
	c.waits = append(c.waits, d)
	return c
}

func (c *clockwork) Reset(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.waits = append(c.waits, d)
	return true
}

func (c *clockwork) Stop() bool { return true }

func (c *clockwork) now() {
	c.mu.Lock()
	f := c.fire
	c.mu.Unlock()
	f()
}

func (c *clockwork) last() time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waits[len(c.waits)-1]
}

// SPEC 3.4: 600 s to the first byte, 90 s between bytes.
func TestStall(t *testing.T) {
	t.Parallel()
	asked := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if r.Header.Get("x-part") != "" {
			_, _ = io.WriteString(w, hello)
			_ = http.NewResponseController(w).Flush()
		}
		asked <- struct{}{}
		<-r.Context().Done()
	})
	var clock clockwork
	c := client(t, s.URL, func(cfg *provider.Config) { cfg.AfterFunc = clock.after })
	go func() {
		<-asked
		clock.now()
	}()
	_, reply, err := ask(t.Context(), c, request())
	f := faultOf(t, err)
	if reply != nil || !errors.Is(err, fault.ErrStalled) || !f.Retryable || clock.last() != 600*time.Second {
		t.Errorf("%v after %v", err, clock.last())
	}

	c = client(t, s.URL, func(cfg *provider.Config) {
		cfg.AfterFunc = clock.after
		cfg.Header = http.Header{"x-part": {"1"}}
	})
	text := ""
	for d, e := range c.Stream(t.Context(), request()) {
		if text += d.Text; d.Kind == llm.DeltaText {
			<-asked
			if clock.last() != 90*time.Second {
				t.Errorf("waits %v between bytes", clock.last())
			}
			clock.now()
		}
		if err = e; d.Kind == llm.Done {
			t.Error("half a stream became a reply")
		}
	}
	if f := faultOf(t, err); text != "hello" || !errors.Is(err, fault.ErrStalled) || !f.Retryable {
		t.Errorf("%q, %v", text, err)
	}
}

// A server that keeps the connection open after the last event has answered.
func TestOpenAfterTheEnd(t *testing.T) {
	t.Parallel()
	var clock clockwork
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, hello+bye)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c := client(t, s.URL, func(cfg *provider.Config) {
		cfg.AfterFunc = func(d time.Duration, f func()) provider.Timer {
			clock.after(d, f)
			return lingers{&clock}
		}
	})
	if text, reply, err := ask(t.Context(), c, request()); err != nil || reply == nil || text != "hello" {
		t.Error(text, reply, err)
	}
}

// lingers fires as soon as only the end of the body is waited for.
type lingers struct{ *clockwork }

func (l lingers) Reset(d time.Duration) bool {
	if d == 2*time.Second {
		go l.now()
	}
	return true
}

// SPEC 10.3: cancelling ends the stream at once, with its cause.
func TestCancel(t *testing.T) {
	t.Parallel()
	why := errors.New("the person pressed a key")
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = io.WriteString(w, hello)
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	c := client(t, s.URL, nil)
	ctx, cancel := context.WithCancelCause(t.Context())
	defer cancel(nil)
	var err error
	for d, e := range c.Stream(ctx, request()) {
		if err = e; d.Kind == llm.DeltaText {
			cancel(why)
		}
	}
	if f := faultOf(t, err); f.Category != fault.Cancellation || f.Retryable || !errors.Is(err, why) {
		t.Errorf("%+v", f)
	}
	if _, _, err := ask(ctx, c, request()); faultOf(t, err).Category != fault.Cancellation {
		t.Errorf("a request after the cancellation: %v", err)
	}
	for range c.Stream(t.Context(), request()) { // a reader may stop without more
		break
	}
}

// Bad input of a server becomes one clear sentence with what to do.
func TestBadServers(t *testing.T) {
	t.Parallel()
	echo := key
	for _, c := range []struct {
		name, kind string
		status     int
		body       string
		retry      bool
		says       []string
	}{
		{"HTML", "text/html", 200, "<html><head><title>Welcome\nto nginx</title></head></html>", false, []string{"HTML page", "Welcome to nginx", "set ANTHROPIC_BASE_URL"}},
		{"HTML of a gateway", "text/html", 502, "<html><title>Bad Gateway</title>", true, []string{"502", "Bad Gateway"}},
		{"garbage", "", 200, "\x1b[31m\x00\x01garbage\n\n", false, []string{"not a model's reply", "garbage", "set ANTHROPIC_BASE_URL"}},
		{"another API", "application/json", 200, `{"choices":[]}`, true, []string{"broke off the reply"}},
		{"nothing", "", 200, "", true, []string{"without content"}},
		{"half a stream", "text/event-stream", 200, hello, true, []string{"broke off"}},
		{"broken JSON", "text/event-stream", 200, "data: {\"type\":}\n\n" + bye, true, []string{"cannot be read"}},
		{"wrong key", "application/json", 401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key ` + echo + `"}}`, false, []string{"401", "invalid x-api-key [key]", "set ANTHROPIC_API_KEY"}},
		{"part of the key", "", 401, `{"error":{"message":"bad: ` + echo[5:25] + `..."}}`, false, []string{"bad: [key]..."}},
		{"no such path", "text/plain", 404, "404 page not found", false, []string{"404", "set ANTHROPIC_BASE_URL"}},
		{"no such model", "", 404, `{"type":"error","error":{"type":"not_found_error","message":"model: claude-tset"}}`, false, []string{"claude-tset", "pawl models"}},
		{"a long explanation", "", 400, strings.Repeat("why ", 10000), false, []string{"why why", "…"}},
		{"overloaded in the stream", "text/event-stream", 200, hello + "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"overloaded_error\",\"message\":\"Overloaded\"}}\n\n", true, []string{"Overloaded"}},
		{"refused in the stream", "text/event-stream", 200, "event: error\ndata: {\"type\":\"error\",\"error\":{\"type\":\"invalid_request_error\",\"message\":\"no\"}}\n\n", false, []string{"no"}},
	} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			if c.kind != "" {
				w.Header().Set("Content-Type", c.kind)
			}
			w.WriteHeader(c.status)
			_, _ = io.WriteString(w, c.body)
		})
		_, reply, err := ask(t.Context(), client(t, s.URL, nil), request())
		f := faultOf(t, err)
		if reply != nil || f.Retryable != c.retry || (f.Category != fault.Provider && f.Category != fault.LLM) {
			t.Errorf("%s: %+v", c.name, f)
		}
		for _, want := range c.says {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s: the message lacks %q: %v", c.name, want, err)
			}
		}
		if strings.ContainsFunc(err.Error(), func(r rune) bool { return r < ' ' }) || len(err.Error()) > 1000 {
			t.Errorf("%s: not one clear sentence: %q", c.name, err)
		}
	}
}

// brokenNet is a transport to nowhere.
type brokenNet struct{ err error }

func (b brokenNet) RoundTrip(*http.Request) (*http.Response, error) { return nil, b.err }

// SPEC 3.4: a network that is missing now may be back in a minute: a laptop wakes
// up, a VPN comes back.
func TestNoNetwork(t *testing.T) {
	t.Parallel()
	dial := func(err error) error { return &net.OpError{Op: "dial", Net: "tcp", Err: err} }
	for name, cause := range map[string]error{
		"a name that is not found":    dial(&net.DNSError{Err: "no such host", Name: "api.test", IsNotFound: true}),
		"a name server that is gone":  dial(&net.DNSError{Err: "server misbehaving", Name: "api.test", IsTemporary: true}),
		"a name server that is slow":  dial(&net.DNSError{Err: "i/o timeout", Name: "api.test", IsTimeout: true}),
		"refused":                     dial(syscall.ECONNREFUSED),
		"reset":                       &net.OpError{Op: "read", Net: "tcp", Err: syscall.ECONNRESET},
		"no way to the host":          dial(syscall.EHOSTUNREACH),
		"no way to the network":       dial(syscall.ENETUNREACH),
		"the network is down":         dial(syscall.ENETDOWN),
		"timed out":                   dial(os.ErrDeadlineExceeded),
		"a broken pipe":               &net.OpError{Op: "write", Net: "tcp", Err: syscall.EPIPE},
		"ended before the answer":     io.EOF,
		"ended in the answer":         io.ErrUnexpectedEOF,
		"a TLS handshake that stalls": errors.New("net/http: TLS handshake timeout"),
	} {
		_, _, err := ask(t.Context(), client(t, "https://api.test", func(c *provider.Config) {
			c.HTTP = &http.Client{Transport: brokenNet{cause}}
		}), request())
		if f := faultOf(t, err); !f.Retryable || f.Category != fault.Provider || f.Status != 0 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

func TestUnreachable(t *testing.T) {
	t.Parallel()
	closed := httptest.NewServer(nil)
	closed.Close()
	_, _, err := ask(t.Context(), client(t, closed.URL, nil), request())
	if f := faultOf(t, err); !f.Retryable || f.Status != 0 || !strings.Contains(err.Error(), "set ANTHROPIC_BASE_URL") {
		t.Errorf("refused: %+v", f)
	}

	plain := serve(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hi") })
	_, _, err = ask(t.Context(), client(t, strings.Replace(plain.URL, "http:", "https:", 1), nil), request())
	if f := faultOf(t, err); f.Retryable || !strings.Contains(err.Error(), "does not speak HTTPS") {
		t.Errorf("no TLS: %+v", f)
	}

	tls := httptest.NewUnstartedServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) {}))
	tls.Config.ErrorLog = log.New(io.Discard, "", 0)
	tls.StartTLS()
	defer tls.Close()
	_, _, err = ask(t.Context(), client(t, tls.URL, nil), request())
	if f := faultOf(t, err); f.Retryable || !strings.Contains(err.Error(), "certificate") {
		t.Errorf("a certificate of nobody: %+v", f)
	}

	for _, base := range []string{"", "localhost:11434", "ftp://host", "http://", "http://user:pass@host", "http://h?x=1", "::"} {
		_, err := provider.New(provider.Config{API: anthropic.New(provider.Tuning{}), BaseURL: base, URLName: "X_BASE_URL"})
		if err == nil || fault.CategoryOf(err) != fault.Configuration || !strings.Contains(err.Error(), "X_BASE_URL") || strings.Contains(err.Error(), "pass") {
			t.Errorf("%q: %v", base, err)
		}
	}
}

// A redirect to another host gets neither the request nor the key.
func TestRedirect(t *testing.T) {
	t.Parallel()
	other := serve(t, func(_ http.ResponseWriter, r *http.Request) { t.Errorf("followed, with %v", r.Header) })
	u := must.Get(url.Parse(other.URL))(t)
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := serve(t, func(w http.ResponseWriter, r *http.Request) {
			http.Redirect(w, r, "http://localhost:"+u.Port()+"/v1/messages", code)
		})
		_, _, err := ask(t.Context(), client(t, s.URL, nil), request())
		if f := faultOf(t, err); f.Retryable || f.Status != code || !strings.Contains(err.Error(), "redirects to") {
			t.Errorf("%d: %+v", code, f)
		}
	}
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v1/messages" {
			http.Redirect(w, r, "/v2/messages", http.StatusTemporaryRedirect)
			return
		}
		if n, err := io.Copy(io.Discard, r.Body); err != nil || n == 0 || r.Header.Get("x-api-key") != key {
			t.Errorf("%d bytes, %v", n, err)
		}
		_, _ = io.WriteString(w, hello+bye)
	})
	if text, _, err := ask(t.Context(), client(t, s.URL, nil), request()); err != nil || text != "hello" {
		t.Errorf("on the same host: %q, %v", text, err)
	}
}
