package web

import (
	"context"
	"crypto/ecdh"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	outside "github.com/pawl-agent/pawl/internal/adapter/web"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// loopback resolves every name to this machine.
type loopback struct{}

func (loopback) LookupNetIP(context.Context, string, string) ([]netip.Addr, error) {
	return []netip.Addr{netip.MustParseAddr("127.0.0.1")}, nil
}

// pushService is a fake one. Each request takes the next of its answers, the last one again.
func (r *testServer) pushService(answers ...int) (in Subscription, got chan *http.Request, waited chan time.Duration) {
	r.t.Helper()
	got, waited = make(chan *http.Request, 64), make(chan time.Duration, 16)
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		raw, _ := io.ReadAll(q.Body)
		if strings.Contains(string(raw), "write it") {
			r.t.Error("the push service reads the title")
		}
		status := answers[0]
		if len(answers) > 1 {
			answers = answers[1:]
		}
		w.Header().Set("Retry-After", "9")
		w.WriteHeader(status)
		got <- q
	}))
	r.t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	r.s.push.client = outside.New(outside.Options{
		Resolver: loopback{}, Allowed: func(a netip.Addr) bool { return a.IsLoopback() }, TLS: &tls.Config{RootCAs: roots, ServerName: "example.com"},
	})
	r.s.push.wait = func(_ context.Context, d time.Duration) error { waited <- d; return nil }
	key, err := ecdh.P256().GenerateKey(rand.Reader)
	must.Do(r.t, err)
	return Subscription{Endpoint: "https://push.example.com:" + port + "/s", P256dh: key.PublicKey().Bytes(), Auth: []byte("0123456789abcdef")}, got, waited
}

func (r *testServer) subscribed() string {
	raw, err := os.ReadFile(filepath.Join(r.s.cfg.State, "serve", "push.json"))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		r.t.Fatal(err)
	}
	return string(raw)
}

// SPEC 21.3: nothing is sent before a person switched it on; then a question, an end and a
// failure are told, and nothing after it was switched off.
func TestPush(t *testing.T) {
	r := newTestServer(t, llmtest.New(llmtest.Say("done"), llmtest.Use("write", `{"path":"/etc/pawl-never","content":"x"}`), llmtest.Say("so be it"), llmtest.Say("again")))
	in, got, _ := r.pushService(201)
	cookie := r.paired(Watch)
	r.run("write it")
	if r.subscribed() != "" {
		t.Error("there is a key before anybody wants one")
	}
	before := gotState(r, cookie)
	if before.On || len(before.Key) != 87 || before.Key != gotState(r, cookie).Key {
		t.Errorf("%+v", before)
	}
	for _, bad := range []Subscription{{}, {Endpoint: "http://push.example.com/", P256dh: in.P256dh, Auth: in.Auth}} {
		if code := r.post(cookie, "/api/push", bad); code != 422 {
			t.Error("it is a subscription:", code)
		}
	}
	if code := r.post(cookie, "/api/push", in); code != 200 || !gotState(r, cookie).On {
		t.Fatal(code)
	}
	if info, err := os.Stat(filepath.Join(r.s.cfg.State, "serve", "push.json")); err != nil || info.Mode().Perm() != 0o600 {
		t.Error("others can read the keys:", err)
	}
	must.Done(t)(r.session.Submit(t.Context(), session.Prompt{Text: "write it"}))
	for q := <-got; q.Header.Get("Urgency") != "high"; q = <-got { // the end of the turn before may be told late
		if q.Header.Get("Urgency") != "normal" {
			t.Error(q.Header)
		}
	}
	q := got1(r, cookie)
	steer := r.paired(Steer)
	if code := r.post(steer, "/api/s/s1/answer", Reply{Question: q.ID, Verdicts: []Verdict{{Call: q.Calls[0].Call, Scope: "no"}}}); code != 200 {
		t.Fatal(code)
	}
	if q := <-got; q.Header.Get("Urgency") != "normal" || q.Header.Get("Topic") == "" {
		t.Error("the end:", q.Header)
	}
	if code, _, _ := r.ask(cookie, "DELETE", "/api/push", nil, nil); code != 200 || strings.Contains(r.subscribed(), "push.example.com") {
		t.Error("not unsubscribed:", code)
	}
	r.run("again")
	select {
	case <-got:
		t.Error("it is told after it was switched off")
	default:
	}
}

func gotState(r *testServer, cookie string) PushState { return got[PushState](r, cookie, "/api/push") }

// got1 returns the open question.
func got1(r *testServer, cookie string) Question {
	r.t.Helper()
	s := got[State](r, cookie, "/api/s/s1")
	if len(s.Questions) != 1 {
		r.t.Fatalf("%+v", s)
	}
	return s.Questions[0]
}

// SPEC 21.3: who has unsubscribed or is revoked is forgotten; a busy service is asked again
// when it wants, with what is newest then.
func TestPushAnswers(t *testing.T) {
	for _, status := range []int{404, 410} {
		r := newTestServer(t, say("x"))
		in, sent, _ := r.pushService(status)
		cookie := r.paired(Watch)
		if code := r.post(cookie, "/api/push", in); code != 422 {
			t.Error("a subscription without a key:", code)
		}
		gotState(r, cookie)
		if code := r.post(cookie, "/api/push", in); code != 200 {
			t.Fatal(code)
		}
		r.tellAll(pushed{Session: "s1", What: "asks", block: "1"})
		<-sent
		if strings.Contains(r.subscribed(), "push.example.com") {
			t.Error(status, "and it is kept")
		}
	}
	r := newTestServer(t, say("x"))
	in, sent, waited := r.pushService(429, 201)
	cookie := r.paired(Watch)
	gotState(r, cookie)
	if code := r.post(cookie, "/api/push", in); code != 200 {
		t.Fatal(code)
	}
	r.tellAll(pushed{Session: "s1", What: "asks", block: "1"})
	if d := <-waited; d != 9*time.Second {
		t.Error("it waited", d)
	}
	if len(sent) != 2 {
		t.Errorf("%d requests", len(sent))
	}
	for range 2 {
		<-sent
	}
	for _, d := range got[Paired](r, cookie, "/api/devices").Devices {
		must.Do(t, r.devices.Revoke(d.ID))
	}
	r.tellAll(pushed{Session: "s1", What: "asks", block: "2"})
	if len(sent) != 0 || strings.Contains(r.subscribed(), "push.example.com") {
		t.Error("a revoked device is told")
	}
}

// tellAll tells, and waits until all is sent.
func (r *testServer) tellAll(m pushed) {
	r.s.push.tell(r.t.Context(), m)
	for range mostPushes {
		r.s.push.slots <- struct{}{}
	}
	for range mostPushes {
		<-r.s.push.slots
	}
}

// SPEC 21.3: of several servers with one folder for state exactly one tells, whichever sees it
// first; one that is killed keeps no other from telling what comes next.
func TestPushOnce(t *testing.T) {
	r := newTestServer(t, say("x"))
	in, sent, _ := r.pushService(201)
	cookie := r.paired(Watch)
	gotState(r, cookie)
	if code := r.post(cookie, "/api/push", in); code != 200 {
		t.Fatal(code)
	}
	const rounds = 10
	for i := range rounds {
		var all sync.WaitGroup
		for range 3 { // servers
			p := newPusher(r.s.cfg)
			p.client, p.slots = r.s.push.client, r.s.push.slots
			all.Go(func() { p.told(t.Context(), "s1")("title", "asks", fmt.Sprint("e-", i)) })
		}
		all.Wait()
	}
	r.tellAll(pushed{Session: "s1", What: "asks", block: "e-0"})
	if len(sent) != rounds {
		t.Errorf("%d messages were sent, of %d", len(sent), rounds)
	}
	claims := filepath.Join(r.s.cfg.State, "serve", "told")
	old, err := os.ReadDir(claims)
	if err != nil || len(old) != rounds {
		t.Fatal(len(old), err)
	}
	for _, e := range old {
		must.Do(t, os.Chtimes(filepath.Join(claims, e.Name()), time.Time{}, time.Now().Add(-pushLasts-time.Minute)))
	}
	r.tellAll(pushed{Session: "s1", What: "asks", block: "new"})
	if left, err := os.ReadDir(claims); err != nil || len(left) != 1 {
		t.Error("claims are kept without end:", len(left), err)
	}
}
