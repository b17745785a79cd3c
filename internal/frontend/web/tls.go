package web

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"net"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/atomicfile"
)

// selfLasts is for how long a certificate is made that nobody vouches for.
const selfLasts = 365 * 24 * time.Hour

// SelfCertificate returns pawl's own certificate for these names and addresses, in its
// folder for state. A new one is made if it has expired or was made for others.
func SelfCertificate(state string, names []string, now time.Time) (tls.Certificate, error) {
	path := filepath.Join(state, "serve", "self.pem")
	if raw, err := atomicfile.Read(path, mostFile); err == nil {
		c, err := tls.X509KeyPair(raw, raw)
		if err == nil && now.Before(c.Leaf.NotAfter) && !now.Before(c.Leaf.NotBefore) && !slices.ContainsFunc(names, func(n string) bool { return c.Leaf.VerifyHostname(n) != nil }) {
			return c, nil
		}
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 127))
	if err != nil {
		return tls.Certificate{}, err
	}
	of := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "pawl serve"},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(selfLasts), // clocks differ
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	for _, n := range names {
		if ip := net.ParseIP(n); ip != nil {
			of.IPAddresses = append(of.IPAddresses, ip)
		} else {
			of.DNSNames = append(of.DNSNames, n)
		}
	}
	der, err := x509.CreateCertificate(rand.Reader, of, of, key.Public(), key)
	if err != nil {
		return tls.Certificate{}, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return tls.Certificate{}, err
	}
	raw := slices.Concat(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: secret}))
	if err := atomicfile.Write(path, raw, 0o600); err != nil {
		return tls.Certificate{}, err
	}
	return tls.X509KeyPair(raw, raw)
}

// Fingerprint is the SHA-256 of a certificate, as browsers show it.
func Fingerprint(c tls.Certificate) string {
	sum := sha256.Sum256(c.Certificate[0])
	return strings.ToUpper(hex.EncodeToString(sum[:]))
}

// Addresses are those by which others reach a server that listens at one: all of this
// machine if it listens at any. The others may need a zone, which a browser cannot name.
func Addresses(ip net.IP) (out []string) {
	if !ip.IsUnspecified() {
		return []string{ip.String()}
	}
	all, _ := net.InterfaceAddrs() // without them, names lead here that a person allows
	for _, a := range all {
		if n, ok := a.(*net.IPNet); ok && !n.IP.IsLoopback() && !n.IP.IsLinkLocalUnicast() {
			out = append(out, n.IP.String())
		}
	}
	return out
}
