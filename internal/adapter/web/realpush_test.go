//go:build realpush

package web

import (
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// service does what a push service and a browser do, with node's cryptography and the
// http_ece of npm: it checks who sends and for whom (RFC 8292), and decrypts (RFC 8291).
const service = `
const crypto = require('crypto'), ece = require(process.env.PAWL_ECE);
const it = JSON.parse(require('fs').readFileSync(0)), buf = (s) => Buffer.from(s, 'base64');
const [, token, k] = /^vapid t=([^,]+), k=(.+)$/.exec(it.authorization), [head, claims, sig] = token.split('.');
const point = Buffer.from(k, 'base64url'), enc = (b) => b.toString('base64url');
if (!point.equals(buf(it.server))) throw Error('another key than the one that was subscribed with');
const key = crypto.createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: enc(point.subarray(1, 33)), y: enc(point.subarray(33)) } });
if (!crypto.verify('sha256', Buffer.from(head + '.' + claims), { key, dsaEncoding: 'ieee-p1363' }, Buffer.from(sig, 'base64url'))) throw Error('the signature');
const phone = crypto.createECDH('prime256v1');
phone.setPrivateKey(buf(it.phone));
const text = ece.decrypt(buf(it.body), { version: 'aes128gcm', privateKey: phone, authSecret: buf(it.auth) });
process.stdout.write(JSON.stringify({ ...JSON.parse(Buffer.from(claims, 'base64url')), ...JSON.parse(Buffer.from(head, 'base64url')), text: text.toString() }));`

// SPEC 21.3: another implementation than pawl's accepts and reads what pawl sends, with the
// keys as they are stored. PAWL_ECE names http_ece of npm; .ci/run installs it.
func TestRealPush(t *testing.T) {
	p := newPhone(t, func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(201) })
	key, err := NewPushKey()
	must.Do(t, err)
	public, err := key.Public()
	must.Do(t, err)
	for _, text := range []string{`{"title":"Grüße 🦀"}`, "", strings.Repeat("x", 3500)} {
		must.Do(t, p.Push(t.Context(), p.sub, key, PushMessage{Text: []byte(text), Lasts: time.Hour}, time.Now()))
		in, err := json.Marshal(map[string]any{
			"authorization": p.sent[len(p.sent)-1].Header.Get("Authorization"), "body": p.body, "server": public, "phone": p.key.Bytes(), "auth": p.sub.Auth,
		})
		must.Do(t, err)
		node := exec.Command("node", "-e", service)
		node.Stdin, node.Stderr = strings.NewReader(string(in)), os.Stderr
		out, err := node.Output()
		var got struct{ Typ, Alg, Aud, Text string }
		if err != nil || json.Unmarshal(out, &got) != nil {
			t.Fatalf("%v: %s", err, out)
		}
		if got.Text != text || got.Typ != "JWT" || got.Alg != "ES256" || got.Aud+"/sub/1" != p.sub.Endpoint {
			t.Errorf("read: %+v", got)
		}
	}
}
