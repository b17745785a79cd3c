package web

import (
	"bytes"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

func b64(t *testing.T, s string) []byte {
	t.Helper()
	raw := must.Get(base64.RawURLEncoding.DecodeString(s))(t)
	return raw
}

// SPEC 21.3: the example of RFC 8291 comes out byte for byte.
func TestPushExample(t *testing.T) {
	once := must.Get(ecdh.P256().NewPrivateKey(b64(t, "yfWPiYE-n46HLnH0KqZOF1fJJU3MYrct3AELtAQ-oRw")))(t)
	s := Subscription{
		P256dh: b64(t, "BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4"),
		Auth:   b64(t, "BTBZMqHH6r4Tts7J_aSIgg"),
	}
	got, err := seal([]byte("When I grow up, I want to be a watermelon"), s, once, b64(t, "DGv6ra1nlYgDCS1FRnbzlw"), 0)
	want := b64(t, "DGv6ra1nlYgDCS1FRnbzlwAAEABBBP4z9KsN6nGRTbVYI_c7VJSPQTBtkgcy27mlmlMoZIIgDll6e3vCYLocInmYWAmS6TlzAC8wEqKK6PBru3jl7A_yl95bQpu6cVPTpK4Mqgkf1CXztLVBSt2Ks3oZwbuwXPXLWyouBWLVWGNWQexSgSxsj_Qulcy4a-fN")
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%v\n%x\nwant\n%x", err, got, want)
	}
}

// phone is a browser with its subscription at a fake push service, push.test.
type phone struct {
	*Client
	key  *ecdh.PrivateKey
	sub  Subscription
	sent []*http.Request
	body []byte
}

func newPhone(t *testing.T, answer http.HandlerFunc) *phone {
	t.Helper()
	p := &phone{}
	srv := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.body, _ = io.ReadAll(r.Body)
		p.sent = append(p.sent, r)
		answer(w, r)
	}))
	t.Cleanup(srv.Close)
	_, port, _ := net.SplitHostPort(srv.Listener.Addr().String())
	roots := x509.NewCertPool()
	roots.AddCert(srv.Certificate())
	p.Client = New(Options{
		Resolver: &names{answers: map[string][]string{"push.example.com": {"127.0.0.1"}, "inside.test": {"10.0.0.1"}, "two.test": {"127.0.0.1 10.0.0.1"}}},
		Allowed:  func(a netip.Addr) bool { return a == netip.MustParseAddr("127.0.0.1") },
		TLS:      &tls.Config{RootCAs: roots, ServerName: "example.com"},
	})
	p.key = must.Get(ecdh.P256().GenerateKey(rand.Reader))(t)
	p.sub = Subscription{Endpoint: "https://push.example.com:" + port + "/sub/1", P256dh: p.key.PublicKey().Bytes(), Auth: []byte("0123456789abcdef")}
	return p
}

// open decrypts what the phone got.
func (p *phone) open(t *testing.T) string {
	t.Helper()
	salt, theirs, text := p.body[:16], p.body[21:86], p.body[86:]
	pub := must.Get(ecdh.P256().NewPublicKey(theirs))(t)
	shared := must.Get(p.key.ECDH(pub))(t)
	ikm, _ := hkdf.Key(sha256.New, shared, p.sub.Auth, "WebPush: info\x00"+string(p.sub.P256dh)+string(theirs), 32)
	key, _ := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	nonce, _ := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	block, _ := aes.NewCipher(key)
	gcm, _ := cipher.NewGCM(block)
	plain := must.Get(gcm.Open(nil, nonce, text, nil))(t)
	return string(bytes.TrimSuffix(bytes.TrimRight(plain, "\x00"), []byte{2}))
}

// SPEC 21.3: a message reaches the browser, and only it can read it; its length says
// nothing; the service can check who sent it, and for whom.
func TestPush(t *testing.T) {
	p := newPhone(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) })
	key := must.Get(NewPushKey())(t)
	raw := must.Get(key.Private())(t)
	key = must.Get(ReadPushKey(raw))(t)
	now := time.Unix(1_790_000_000, 0)
	sizes := map[int]bool{}
	for _, text := range []string{"x", strings.Repeat("long ", 60)} {
		must.Do(t, p.Push(t.Context(), p.sub, key, PushMessage{Text: []byte(text), Topic: "abc", Urgent: true, Lasts: time.Hour}, now))
		if got := p.open(t); got != text {
			t.Errorf("the browser reads %q", got)
		}
		sizes[len(p.body)] = true
	}
	if len(sizes) != 1 {
		t.Errorf("the lengths differ: %v", sizes)
	}
	h := p.sent[0].Header
	if h.Get("TTL") != "3600" || h.Get("Topic") != "abc" || h.Get("Urgency") != "high" || h.Get("Content-Encoding") != "aes128gcm" {
		t.Errorf("%v", h)
	}
	token, public, ok := strings.Cut(strings.TrimPrefix(h.Get("Authorization"), "vapid t="), ", k=")
	parts := strings.Split(token, ".")
	if !ok || len(parts) != 3 {
		t.Fatal(h.Get("Authorization"))
	}
	pub := must.Get(ecdsa.ParseUncompressedPublicKey(elliptic.P256(), b64(t, public)))(t)
	sum, sig := sha256.Sum256([]byte(parts[0]+"."+parts[1])), b64(t, parts[2])
	if len(sig) != 64 || !ecdsa.Verify(pub, sum[:], new(big.Int).SetBytes(sig[:32]), new(big.Int).SetBytes(sig[32:])) {
		t.Error("the signature is not valid")
	}
	var claims struct {
		Aud, Sub string
		Exp      int64
	}
	if err := json.Unmarshal(b64(t, parts[1]), &claims); err != nil || claims.Aud != strings.TrimSuffix(p.sub.Endpoint, "/sub/1") || claims.Exp-now.Unix() > 24*3600 || claims.Exp <= now.Unix() || !strings.HasPrefix(claims.Sub, "https:") {
		t.Errorf("%+v %v", claims, err)
	}
	if err := p.Push(t.Context(), p.sub, key, PushMessage{Text: make([]byte, 4096)}, now); err == nil {
		t.Error("a message that is too long is sent")
	}
}

// SPEC 21.3: what a push service answers.
func TestPushAnswers(t *testing.T) {
	key := must.Get(NewPushKey())(t)
	now := time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)
	busy := &BusyError{}
	for _, c := range []struct {
		status int
		after  string
		is     func(error) bool
	}{
		{404, "", func(e error) bool { return errors.Is(e, ErrUnsubscribed) }},
		{410, "", func(e error) bool { return errors.Is(e, ErrUnsubscribed) }},
		{429, "7", func(e error) bool { return errors.As(e, &busy) && busy.After == 7*time.Second }},
		{503, "Mon, 23 Nov 2026 12:02:00 GMT", func(e error) bool { return errors.As(e, &busy) && busy.After == 2*time.Minute }},
		{429, "soon", func(e error) bool { return errors.As(e, &busy) && busy.After == time.Minute }},
		{400, "", func(e error) bool { return e != nil && strings.Contains(e.Error(), "status 400") }},
		{307, "", func(e error) bool { return e != nil && strings.Contains(e.Error(), "status 307") }},
	} {
		p := newPhone(t, func(w http.ResponseWriter, r *http.Request) {
			w.Header().Set("Retry-After", c.after)
			w.Header().Set("Location", "https://inside.test/")
			w.WriteHeader(c.status)
		})
		if err := p.Push(t.Context(), p.sub, key, PushMessage{Text: []byte("x")}, now); !c.is(err) || len(p.sent) != 1 {
			t.Errorf("%d %s: %v, %d requests", c.status, c.after, err, len(p.sent))
		}
	}
}

// SPEC 21.3, 16.10: pawl sends to https at public addresses only, whatever a browser
// registers and its name leads to.
func TestPushRefuses(t *testing.T) {
	p := newPhone(t, func(http.ResponseWriter, *http.Request) { t.Error("something was sent") })
	key := must.Get(NewPushKey())(t)
	for _, at := range []string{
		"", "http://push.example.com/", "https://me:secret@push.example.com/", "https://10.0.0.1/", "https://[::1]/", "https://inside.test/", "https://two.test/",
		"file:///etc/passwd", "https://push.example.com/#x", "https://push.example.com/" + strings.Repeat("x", 3000), "https://nonesuch.test/",
	} {
		s := p.sub
		s.Endpoint = at
		if err := p.Push(t.Context(), s, key, PushMessage{Text: []byte("x")}, time.Now()); err == nil {
			t.Errorf("%.60s was asked", at)
		}
	}
	for _, s := range []Subscription{{Endpoint: p.sub.Endpoint, P256dh: []byte{4}, Auth: p.sub.Auth}, {Endpoint: p.sub.Endpoint, P256dh: p.sub.P256dh, Auth: []byte("short")}} {
		if err := p.CheckSubscription(s); !errors.Is(err, ErrSubscription) {
			t.Errorf("%+v: %v", s, err)
		}
	}
	if err := New(Options{}).CheckSubscription(Subscription{Endpoint: "https://localhost/x", P256dh: p.sub.P256dh, Auth: p.sub.Auth}); !errors.Is(err, ErrAddress) {
		t.Errorf("localhost: %v", err)
	}
}
