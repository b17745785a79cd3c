// Package host decides which hosts of the network may be reached: by their
// address (Public) and by their name (Name, Grant), for code that connects to
// hosts that somebody else names (SPEC 16.10, 16.12).
//
// It promises: a name has one spelling, an address in an old notation is
// refused, and a grant covers what a person expects.
package host

import (
	"net/netip"
	"slices"
	"sync"
)

// special are the ranges of the IANA special-purpose registries that are not
// the public internet. For IPv6 only 2000::/3 is public, so the others need no
// entry.
var special = sync.OnceValue(func() []netip.Prefix {
	var out []netip.Prefix
	for _, s := range [...]string{
		"0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "172.16.0.0/12",
		"192.0.0.0/24", "192.0.2.0/24", "192.31.196.0/24", "192.52.193.0/24", "192.88.99.0/24", "192.168.0.0/16",
		"192.175.48.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24", "224.0.0.0/4", "240.0.0.0/4",
		// inside 2000::/3
		"2001::/23",     // protocol assignments: Teredo, benchmarking, ORCHID
		"2001:db8::/32", // documentation
		"2002::/16",     // 6to4: an IPv4 address in disguise
		"2620:4f:8000::/48",
		"3fff::/20", // documentation
	} {
		out = append(out, netip.MustParsePrefix(s))
	}
	return out
})

// Public reports whether an address belongs to the public internet: not to this
// machine, this network, a carrier or a special purpose, not even in a form
// that a gateway would translate to one of these.
func Public(a netip.Addr) bool {
	if !a.IsValid() || a.Zone() != "" {
		return false
	}
	a = a.Unmap()
	if a.Is6() {
		b := a.As16()
		if netip.PrefixFrom(netip.AddrFrom16([16]byte{1: 0x64, 2: 0xff, 3: 0x9b}), 96).Contains(a) {
			// NAT64, used by IPv6-only networks.
			return Public(netip.AddrFrom4([4]byte(b[12:])))
		}
		if b[0]>>5 != 1 { // 2000::/3
			return false
		}
	}
	return !slices.ContainsFunc(special(), func(p netip.Prefix) bool { return p.Contains(a) })
}
