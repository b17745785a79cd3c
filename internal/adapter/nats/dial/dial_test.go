package dial

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nkeys"

	"github.com/pawl-agent/pawl/internal/adapter/nats/natstest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// tries connects with options, and reports how it went.
func tries(t *testing.T, what string, o Options, want string) {
	t.Helper()
	nc, err := Connect(o)
	if err == nil {
		err = nc.Flush()
		nc.Close()
	}
	switch {
	case want == "" && err != nil:
		t.Errorf("%s: %v", what, err)
	case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
		t.Errorf("%s: %v, want %q", what, err, want)
	}
}

func write(t *testing.T, name string, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	must.Do(t, os.WriteFile(path, data, 0o600))
	return path
}

const locked = "does not let this machine in"

// SPEC 14.6: a token, also in the address.
func TestToken(t *testing.T) {
	s := natstest.Server(t, func(o *server.Options) { o.Authorization = "sesame-and-more" })
	url := s.ClientURL()
	tries(t, "the token", Options{URL: url, Token: "sesame-and-more"}, "")
	tries(t, "another token", Options{URL: url, Token: "another"}, locked)
	tries(t, "none", Options{URL: url}, locked)
	tries(t, "in the address", Options{URL: strings.Replace(url, "nats://", "nats://sesame-and-more@", 1)}, "")
	// What is wrong with an address is said without the secret in it.
	for _, bad := range []string{"nats://sesame-and-more@127.0.0.1:1", "http://sesame-and-more@127.0.0.1", "nats://sesame-and-more@:x:y"} {
		if _, err := Connect(Options{URL: bad}); err == nil || strings.Contains(err.Error(), "sesame") {
			t.Errorf("%s: %v", bad, err)
		}
	}
}

// SPEC 14.6: an nkey.
func TestNKey(t *testing.T) {
	user, seed := newUser(t)
	pub := must.Get(user.PublicKey())(t)
	s := natstest.Server(t, func(o *server.Options) { o.Nkeys = []*server.NkeyUser{{Nkey: pub}} })
	_, other := newUser(t)
	tries(t, "the key", Options{URL: s.ClientURL(), NKey: write(t, "seed", seed)}, "")
	tries(t, "another key", Options{URL: s.ClientURL(), NKey: write(t, "seed", other)}, locked)
	tries(t, "none", Options{URL: s.ClientURL()}, locked)
	tries(t, "no seed", Options{URL: s.ClientURL(), NKey: write(t, "seed", []byte("nonsense"))}, "no nkey seed")
	tries(t, "no file", Options{URL: s.ClientURL(), NKey: filepath.Join(t.TempDir(), "none")}, "none")
}

func newUser(t *testing.T) (nkeys.KeyPair, []byte) {
	t.Helper()
	user := must.Get(nkeys.CreateUser())(t)
	seed := must.Get(user.Seed())(t)
	return user, seed
}

// SPEC 14.6: credentials: a JWT of a user of an account, and its key.
func TestCreds(t *testing.T) {
	operator, err := nkeys.CreateOperator()
	must.Do(t, err)
	made := func() (account nkeys.KeyPair, pub string) {
		if account, err = nkeys.CreateAccount(); err == nil {
			pub, err = account.PublicKey()
		}
		must.Do(t, err)
		return account, pub
	}
	account, accountPub := made()
	opPub := must.Get(operator.PublicKey())(t)
	accountJWT := must.Get(jwt.NewAccountClaims(accountPub).Encode(operator))(t)
	opClaims := jwt.NewOperatorClaims(opPub)
	must.Done(t)(opClaims.Encode(operator))
	resolver := &server.MemAccResolver{}
	must.Do(t, resolver.Store(accountPub, accountJWT))
	s := natstest.Server(t, func(o *server.Options) {
		o.JetStream = false // accounts of it need more
		o.TrustedOperators, o.AccountResolver = []*jwt.OperatorClaims{opClaims}, resolver
	})
	creds := func(by nkeys.KeyPair) string {
		user, seed := newUser(t)
		pub := must.Get(user.PublicKey())(t)
		token := must.Get(jwt.NewUserClaims(pub).Encode(by))(t)
		text := must.Get(jwt.FormatUserConfig(token, seed))(t)
		return write(t, "user.creds", text)
	}
	stranger, _ := made()
	tries(t, "of the account", Options{URL: s.ClientURL(), Creds: creds(account)}, "")
	tries(t, "of another account", Options{URL: s.ClientURL(), Creds: creds(stranger)}, locked)
	tries(t, "none", Options{URL: s.ClientURL()}, locked)
	tries(t, "no file", Options{URL: s.ClientURL(), Creds: filepath.Join(t.TempDir(), "none.creds")}, "none.creds")
}

// authority signs certificates.
type authority struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	file string
}

func newAuthority(t *testing.T) *authority {
	t.Helper()
	a := &authority{}
	der, key := a.sign(t, true)
	cert := must.Get(x509.ParseCertificate(der))(t)
	a.cert, a.key = cert, key
	a.file = write(t, "ca.pem", pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
	return a
}

func (a *authority) sign(t *testing.T, ca bool) ([]byte, *ecdsa.PrivateKey) {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	tmpl := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "test"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, DNSNames: []string{"localhost"}, IsCA: ca, BasicConstraintsValid: true,
		KeyUsage:    x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth},
	}
	parent, signer := a.cert, a.key
	if ca {
		parent, signer = tmpl, key
	}
	der := must.Get(x509.CreateCertificate(rand.Reader, tmpl, parent, &key.PublicKey, signer))(t)
	return der, key
}

// pair returns files with a certificate and its key, and both in one value.
func (a *authority) pair(t *testing.T) (certFile, keyFile string, pair tls.Certificate) {
	t.Helper()
	der, key := a.sign(t, false)
	raw := must.Get(x509.MarshalECPrivateKey(key))(t)
	cert, private := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "EC PRIVATE KEY", Bytes: raw})
	pair = must.Get(tls.X509KeyPair(cert, private))(t)
	return write(t, "cert.pem", cert), write(t, "key.pem", private), pair
}

// SPEC 14.6: TLS, with a certificate of the server's, and one of one's own.
func TestTLS(t *testing.T) {
	ca := newAuthority(t)
	_, _, pair := ca.pair(t)
	pool := x509.NewCertPool()
	pool.AddCert(ca.cert)
	s := natstest.Server(t, func(o *server.Options) {
		o.TLS, o.TLSTimeout = true, 5
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, MinVersion: tls.VersionTLS12}
	})
	url := s.ClientURL()
	tries(t, "the authority", Options{URL: url, CA: ca.file}, "")
	tries(t, "another authority", Options{URL: url, CA: newAuthority(t).file}, "certificate")
	tries(t, "no authority", Options{URL: url}, "certificate")
	tries(t, "no such file", Options{URL: url, CA: filepath.Join(t.TempDir(), "none.pem")}, "none.pem")

	both := natstest.Server(t, func(o *server.Options) {
		o.TLS, o.TLSTimeout, o.TLSVerify = true, 5, true
		o.TLSConfig = &tls.Config{Certificates: []tls.Certificate{pair}, ClientCAs: pool, ClientAuth: tls.RequireAndVerifyClientCert, MinVersion: tls.VersionTLS12}
	})
	cert, key, _ := ca.pair(t)
	strangerCert, strangerKey, _ := newAuthority(t).pair(t)
	tries(t, "one's own", Options{URL: both.ClientURL(), CA: ca.file, Cert: cert, Key: key}, "")
	tries(t, "a stranger's", Options{URL: both.ClientURL(), CA: ca.file, Cert: strangerCert, Key: strangerKey}, "connect to the NATS server")
	tries(t, "no certificate", Options{URL: both.ClientURL(), CA: ca.file}, "connect to the NATS server")
	tries(t, "a certificate without its key", Options{URL: both.ClientURL(), Cert: cert}, "belong together")
}

// Nothing leaves this machine without TLS unless the address asks for that, and a
// local server without TLS is not taken for one that has it.
func TestPlain(t *testing.T) {
	for url, far := range map[string]bool{
		"nats://127.0.0.1:4222": false, "localhost": false, "nats://[::1]:4222": false, "127.0.0.2:4222": false,
		"nats://10.0.0.1": true, "nats://example.com": true, "nats://127.0.0.1,nats://example.com": true, "nats://localhost.example.com": true,
		"nats://127.0.0.1.example.com": true, "nats://user:127.0.0.1@example.com": true, "example.com:4222": true,
	} {
		if got, err := (Options{URL: url}).far(); err != nil || got != far {
			t.Errorf("%s: %v, %v", url, got, err)
		}
	}
	s := natstest.Server(t)
	tries(t, "TLS is a must", Options{URL: s.ClientURL(), CA: newAuthority(t).file}, "no TLS")
	tries(t, "two ways at once", Options{URL: s.ClientURL(), Token: "x", NKey: "y"}, "together")
}
