package web

import (
	"bytes"
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/hkdf"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// This file sends Web Push messages: encrypted for one browser (RFC 8291, RFC 8188) and
// signed (VAPID, RFC 8292). A push service is a third party: it sees when and how much,
// not what.

// Subscription is where a browser can be told something, and the keys to encrypt for it.
type Subscription struct {
	Endpoint string `json:"endpoint"`
	P256dh   []byte `json:"p256dh"` // its public key
	Auth     []byte `json:"auth"`
}

// PushKey signs messages: a browser accepts them only of the key that it subscribed with.
type PushKey struct{ key *ecdsa.PrivateKey }

func NewPushKey() (PushKey, error) {
	k, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return PushKey{k}, err
}

// ReadPushKey reads what Private returned.
func ReadPushKey(raw []byte) (PushKey, error) {
	k, err := ecdsa.ParseRawPrivateKey(elliptic.P256(), raw)
	return PushKey{k}, err
}

// Private is the key itself, Public what browsers get.
func (k PushKey) Private() ([]byte, error) { return k.key.Bytes() }

func (k PushKey) Public() ([]byte, error) { return k.key.PublicKey.Bytes() }

// PushMessage is a message. One with a Topic replaces an earlier one that was not
// delivered yet.
type PushMessage struct {
	Text   []byte
	Topic  string // up to 32 letters, digits, - and _
	Urgent bool
	Lasts  time.Duration // how long the service keeps it for a browser that is away
}

var (
	// ErrUnsubscribed means that the browser wants nothing any more.
	ErrUnsubscribed = errors.New("the browser has unsubscribed")
	// ErrSubscription means that a subscription cannot be used.
	ErrSubscription = errors.New("not a subscription to web push")
)

// BusyError means that the service wants less for a while.
type BusyError struct{ After time.Duration }

func (e *BusyError) Error() string {
	return fmt.Sprintf("the push service wants to be asked again in %s", e.After)
}

// CheckSubscription returns why a subscription cannot be used: it leads to https at a
// public name, and nowhere else.
func (c *Client) CheckSubscription(s Subscription) error {
	u, err := url.Parse(s.Endpoint)
	switch {
	case err != nil || u.Scheme != "https" || u.Hostname() == "" || u.User != nil || u.Fragment != "" || len(s.Endpoint) > 2048:
		return fmt.Errorf("%w: its endpoint is not https", ErrSubscription)
	case c.Refuses(u.Hostname()):
		return fmt.Errorf("%w: %w", ErrSubscription, ErrAddress)
	case len(s.Auth) != 16:
		return fmt.Errorf("%w: its secret has %d bytes", ErrSubscription, len(s.Auth))
	}
	if _, err := ecdh.P256().NewPublicKey(s.P256dh); err != nil {
		return fmt.Errorf("%w: %w", ErrSubscription, err)
	}
	return nil
}

// pushPad is what messages are filled up to, so that their length says nothing.
const pushPad = 512

// Push sends a message to one browser. It follows no redirect.
func (c *Client) Push(ctx context.Context, s Subscription, k PushKey, m PushMessage, now time.Time) error {
	if err := c.CheckSubscription(s); err != nil {
		return err
	}
	once, err := ecdh.P256().GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	salt := make([]byte, 16)
	_, _ = rand.Read(salt) // which never fails
	body, err := seal(m.Text, s, once, salt, pushPad)
	if err != nil {
		return err
	}
	signed, err := k.sign(s.Endpoint, now)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, c.opt.Timeout)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, s.Endpoint, bytes.NewReader(body))
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSubscription, err)
	}
	r.Header = http.Header{
		"Authorization": {signed}, "Content-Encoding": {"aes128gcm"}, "Content-Type": {"application/octet-stream"},
		"Ttl": {strconv.Itoa(int(m.Lasts.Seconds()))}, "Urgency": {map[bool]string{true: "high", false: "normal"}[m.Urgent]}, "User-Agent": {c.opt.Agent},
	}
	if m.Topic != "" {
		r.Header.Set("Topic", m.Topic)
	}
	a, err := c.http.Do(r)
	if err != nil {
		return fmt.Errorf("push: %w", shortError(err))
	}
	defer a.Body.Close()
	_, _ = io.CopyN(io.Discard, a.Body, 16<<10) // it says nothing that is needed
	switch {
	case a.StatusCode >= 200 && a.StatusCode < 300:
		return nil
	case a.StatusCode == http.StatusNotFound, a.StatusCode == http.StatusGone:
		return ErrUnsubscribed
	case a.StatusCode == http.StatusTooManyRequests, a.StatusCode == http.StatusServiceUnavailable:
		return &BusyError{retryAfter(a.Header.Get("Retry-After"), now)}
	}
	return fmt.Errorf("push: %s answered with status %d", r.URL.Hostname(), a.StatusCode)
}

// retryAfter reads when to ask again: seconds, or a date. It is a minute if nothing is said.
func retryAfter(said string, now time.Time) time.Duration {
	if n, err := strconv.ParseUint(strings.TrimSpace(said), 10, 31); err == nil {
		return time.Duration(n) * time.Second
	}
	if at, err := http.ParseTime(said); err == nil {
		return max(0, at.Sub(now))
	}
	return time.Minute
}

// seal encrypts a message for a browser (RFC 8291), in one record, filled up to pad.
func seal(text []byte, s Subscription, once *ecdh.PrivateKey, salt []byte, pad int) ([]byte, error) {
	const record = 4096
	theirs, err := ecdh.P256().NewPublicKey(s.P256dh)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrSubscription, err)
	}
	shared, err := once.ECDH(theirs)
	if err != nil {
		return nil, err
	}
	mine := once.PublicKey().Bytes()
	ikm, err := hkdf.Key(sha256.New, shared, s.Auth, "WebPush: info\x00"+string(s.P256dh)+string(mine), 32)
	if err != nil {
		return nil, err
	}
	key, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: aes128gcm\x00", 16)
	if err != nil {
		return nil, err
	}
	nonce, err := hkdf.Key(sha256.New, ikm, salt, "Content-Encoding: nonce\x00", 12)
	if err != nil {
		return nil, err
	}
	plain := append(bytes.Clone(text), 2) // 2 ends the last record
	plain = append(plain, make([]byte, max(0, pad-len(plain)))...)
	if len(plain)+16 > record-86 {
		return nil, fmt.Errorf("the message has %d bytes, too many for a push", len(text))
	}
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	gcm, err := cipher.NewGCM(block)
	if err != nil {
		return nil, err
	}
	out := binary.BigEndian.AppendUint32(bytes.Clone(salt), record)
	out = append(append(out, byte(len(mine))), mine...)
	return gcm.Seal(out, nonce, plain, nil), nil
}

// sign returns the header that tells a push service who sends (RFC 8292).
func (k PushKey) sign(endpoint string, now time.Time) (string, error) {
	u, err := url.Parse(endpoint)
	if err != nil {
		return "", err
	}
	claims, err := json.Marshal(map[string]any{"aud": u.Scheme + "://" + u.Host, "exp": now.Add(12 * time.Hour).Unix(), "sub": "https://github.com/pawl-agent/pawl"})
	if err != nil {
		return "", err
	}
	enc := base64.RawURLEncoding.EncodeToString
	token := enc([]byte(`{"typ":"JWT","alg":"ES256"}`)) + "." + enc(claims)
	sum := sha256.Sum256([]byte(token))
	r, s, err := ecdsa.Sign(rand.Reader, k.key, sum[:])
	if err != nil {
		return "", err
	}
	public, err := k.Public()
	if err != nil {
		return "", err
	}
	sig := make([]byte, 64)
	r.FillBytes(sig[:32])
	s.FillBytes(sig[32:])
	return "vapid t=" + token + "." + enc(sig) + ", k=" + enc(public), nil
}
