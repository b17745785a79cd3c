package host

import (
	"net/netip"
	"testing"
)

// SPEC 16.10: every form of an address that is not the public internet.
func TestAddresses(t *testing.T) {
	t.Parallel()
	for a, want := range map[string]bool{
		"8.8.8.8": true, "1.1.1.1": true, "172.32.0.1": true, "100.128.0.1": true, "192.0.1.1": true, "223.255.255.255": true,
		"2606:4700:4700::1111": true, "2001:4860:4860::8888": true, "64:ff9b::808:808": true, "::ffff:8.8.8.8": true,
		"0.0.0.0": false, "0.1.2.3": false, "10.0.0.1": false, "100.64.0.1": false, "100.127.255.255": false,
		"127.0.0.1": false, "127.255.255.254": false, "169.254.169.254": false, "172.16.0.1": false, "172.31.255.255": false,
		"192.0.0.8": false, "192.0.2.1": false, "192.88.99.1": false, "192.168.1.1": false, "198.18.0.1": false, "198.19.255.255": false,
		"198.51.100.1": false, "203.0.113.1": false, "224.0.0.1": false, "239.1.1.1": false, "240.0.0.1": false, "255.255.255.255": false,
		"::": false, "::1": false, "fe80::1": false, "fe80::1%eth0": false, "febf::1": false, "fec0::1": false, "fc00::1": false, "fd12::1": false,
		"ff02::1": false, "ff0e::1": false, "100::1": false, "2001::1": false, "2001:db8::1": false, "2002:7f00:1::": false, "2002:808:808::": false,
		"3fff::1": false, "5f00::1": false, "4000::1": false,
		"::ffff:127.0.0.1": false, "::ffff:10.0.0.1": false, "::ffff:169.254.169.254": false, "::127.0.0.1": false, "::8.8.8.8": false,
		"64:ff9b::7f00:1": false, "64:ff9b::a9fe:a9fe": false, "64:ff9b::a00:1": false, "64:ff9b:1::808:808": false,
	} {
		if got := Public(netip.MustParseAddr(a)); got != want {
			t.Errorf("Public(%s) = %v", a, got)
		}
	}
	if Public(netip.Addr{}) {
		t.Error("no address is public")
	}
}

// SPEC 16.12: a name has one spelling; what only deceives is none.
func TestName(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"example.org": "example.org", "EXAMPLE.Org.": "example.org", "a_b.example.org": "a_b.example.org",
		"b\u00fccher.example": "xn--bcher-kva.example", "B\u00dcCHER.example": "xn--bcher-kva.example", "xn--bcher-kva.example": "xn--bcher-kva.example",
		"example\u3002org": "example.org", "\uff45xample.org": "example.org", "93.184.216.34": "93.184.216.34", "2606:4700::1": "2606:4700::1",
		"::ffff:8.8.8.8": "8.8.8.8",
		"":               "", ".": "", "example.org..": "", ".example.org": "", "a..b": "", "localhost": "", "com": "", "127.1": "", "2130706433": "", "0x7f.1": "",
		"0x7f000001": "", "0177.0.0.1": "", "a.0x1": "", "1.2.3.4.5": "", "exa mple.org": "", "example.org:80": "", "user@example.org": "", "example.org/x": "",
		"example.org\x00": "", "example.org\n": "", "*.example.org": "", "-a.example.org": "", "a-.example.org": "", "fe80::1%eth0": "", "[::1]": "", "exa%6dple.org": "",
		"xn--a.example": "", "\u200bexample.org": "example.org", "127\u30020\u30020\u30021": "", "\u2460\u2461\u2466.0.0.1": "",
	} {
		got, err := Name(in)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("Name(%q) = %q, %v; want %q", in, got, err, want)
		}
	}
}

// SPEC 16.12: what a grant covers.
func TestGrant(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		grant, name string
		port        uint16
		want        bool
	}{
		{"example.org", "example.org", 443, true}, {"example.org", "example.org", 80, true}, {"Example.Org.", "example.org", 443, true},
		{"example.org", "example.org", 22, false}, {"example.org", "example.org", 8080, false}, {"example.org:8443", "example.org", 8443, true},
		{"example.org:8443", "example.org", 443, false}, {"example.org", "www.example.org", 443, false}, {"example.org", "evilexample.org", 443, false},
		{"example.org", "example.org.evil.net", 443, false}, {"*.example.org", "a.example.org", 443, true}, {"*.example.org", "a.b.example.org", 443, true},
		{"*.example.org", "example.org", 443, false}, {"*.example.org", "evilexample.org", 443, false}, {"*.example.org:81", "a.example.org", 81, true},
		{"b\u00fccher.example", "xn--bcher-kva.example", 443, true}, {"8.8.8.8", "8.8.8.8", 443, true}, {"[2606:4700::1]:8443", "2606:4700::1", 8443, true},
		{"2606:4700::1", "2606:4700::1", 443, true},
		// What is not of the public internet is covered by its own number alone.
		{"localhost:5432", "127.0.0.1", 5432, true}, {"127.0.0.1:5432", "127.0.0.1", 5433, false}, {"10.0.0.5", "10.0.0.5", 80, true}, {"10.0.0.5", "10.0.0.6", 80, false},
		{"[::1]:8080", "::1", 8080, true}, {"::ffff:127.0.0.1", "127.0.0.1", 80, true}, {"169.254.169.254", "169.254.169.254", 80, true}, {"*.example.org", "169.254.169.254", 80, false},
	} {
		g, err := ParseGrant(c.grant)
		if err != nil {
			t.Errorf("%s: %v", c.grant, err)
		} else if got := g.Covers(c.name, c.port); got != c.want {
			t.Errorf("%s covers %s:%d: %v", c.grant, c.name, c.port, got)
		}
		if again, err := ParseGrant(g.String()); err != nil || again != g {
			t.Errorf("%s is written %s: %v", c.grant, g, err)
		}
	}
	for _, bad := range []string{
		"", "*", "*.org", "*.*.org", "a.*.org", "a*.example.org", "*example.org", "http://example.org", "example.org/x", "u@example.org", "example.org:0", "example.org:65536",
		"example.org:http", "example.org:", "example.org:+443", "*.localhost", "*.8.8.8.8", "*.1.2", "*.127.0.0.1", "*.169.254", "2130706433", "0x7f.1",
	} {
		if g, err := ParseGrant(bad); err == nil {
			t.Errorf("%q is taken for %v", bad, g)
		}
	}
}
