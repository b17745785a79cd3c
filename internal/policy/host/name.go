package host

import (
	"errors"
	"fmt"
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"
)

// ErrName means that a text is not the name or address of a host.
var ErrName = errors.New("not a host name")

// Name returns the one spelling of a host's name or address: lower case, ASCII,
// without the dot of the root. A name has several parts: a single part is a
// name of this machine or network.
func Name(s string) (string, error) {
	bad := func() (string, error) { return "", fmt.Errorf("%w: %q", ErrName, s) }
	if a, err := netip.ParseAddr(s); err == nil {
		if a.Zone() != "" {
			return bad()
		}
		return a.Unmap().String(), nil
	}
	name, err := idna.Lookup.ToASCII(strings.ReplaceAll(s, "_", "a")) // underscores occur in names, though not of hosts
	if err != nil {
		return bad()
	}
	if strings.Contains(s, "_") {
		if name = strings.ToLower(s); !ascii(s) {
			return bad()
		}
	}
	name = strings.TrimSuffix(name, ".")
	if _, err := netip.ParseAddr(name); err == nil || !strings.Contains(name, ".") || !Plain(name) {
		return bad()
	}
	return name, nil
}

func ascii(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// Plain reports whether a name consists of parts of lower-case letters, digits,
// hyphens and underscores. A name whose last part is a number is an address in
// an old notation (127.1, 0x7f000001, 2130706433), which is only used to
// deceive.
func Plain(name string) bool {
	if len(name) > 253 {
		return false
	}
	labels := strings.Split(name, ".")
	for _, l := range labels {
		if l == "" || len(l) > 63 {
			return false
		}
		for _, c := range []byte(l) {
			if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' && c != '_' {
				return false
			}
		}
	}
	last := labels[len(labels)-1]
	return strings.Trim(last, "0123456789") != "" && !strings.HasPrefix(last, "0x")
}

// Grant is a host, or all hosts below a name, that may be reached.
type Grant struct {
	name string
	all  bool   // the hosts below the name, without the name itself
	port uint16 // 0: the ports of the web, 80 and 443
}

// ParseGrant reads a grant: NAME, *.NAME or an address, with :PORT for ports other than
// those of the web. localhost is 127.0.0.1. A wildcard covers no address, so what is not
// of the public internet, a server of this machine or a cloud's metadata, is granted only
// by its own number.
func ParseGrant(s string) (Grant, error) {
	var g Grant
	rest := s
	if i := strings.LastIndexByte(s, ':'); i >= 0 && (!strings.Contains(s[:i], ":") || strings.HasSuffix(s[:i], "]")) {
		n, err := strconv.ParseUint(s[i+1:], 10, 16)
		if err != nil || n == 0 {
			return g, fmt.Errorf("%q is not a host: the port is a number up to 65535", s)
		}
		rest, g.port = s[:i], uint16(n)
	}
	if strings.HasPrefix(rest, "[") && strings.HasSuffix(rest, "]") {
		rest = rest[1 : len(rest)-1]
	}
	if strings.EqualFold(rest, "localhost") {
		rest = "127.0.0.1"
	}
	rest, g.all = strings.CutPrefix(rest, "*.")
	name, err := Name(rest)
	if err != nil {
		return g, fmt.Errorf("%q is not a host: use a name such as example.org, *.example.org or example.org:8443", s)
	}
	g.name = name
	if _, err := netip.ParseAddr(name); err == nil && g.all {
		return g, fmt.Errorf("%q is not a host: an address has no subdomains", s)
	}
	return g, nil
}

// ParseGrants is ParseGrant of several.
func ParseGrants(list []string) ([]Grant, error) {
	out := make([]Grant, len(list))
	for i, s := range list {
		g, err := ParseGrant(s)
		if err != nil {
			return nil, err
		}
		out[i] = g
	}
	return out, nil
}

// Covers reports whether a grant covers a host, given by its one spelling, and a port.
func (g Grant) Covers(name string, port uint16) bool {
	if g.port == 0 && port != 80 && port != 443 || g.port != 0 && port != g.port {
		return false
	}
	if g.all {
		return strings.HasSuffix(name, "."+g.name)
	}
	return name == g.name
}

// LinkLocal reports whether a grant is for an address of this link alone, such as that of
// a cloud's metadata, which gives keys to whoever asks.
func (g Grant) LinkLocal() bool {
	a, err := netip.ParseAddr(g.name)
	return err == nil && a.IsLinkLocalUnicast()
}

func (g Grant) String() string {
	out := g.name
	if g.all {
		out = "*." + out
	}
	return Label(out, g.port)
}

// Label returns a host in the form of a grant; the ports 80, 443 and 0 are omitted.
func Label(name string, port uint16) string {
	if port == 0 || port == 80 || port == 443 {
		return name
	}
	if strings.Contains(name, ":") {
		name = "[" + name + "]"
	}
	return name + ":" + strconv.Itoa(int(port))
}
