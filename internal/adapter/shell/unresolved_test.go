package shell

import (
	"strings"
	"testing"
)

// SPEC 16.12: the host that a command without a network wanted is known from
// what programs print; other names are left out.
func TestHostsMissed(t *testing.T) {
	for output, want := range map[string]string{
		"curl: (6) Could not resolve host: example.org\n":                                                                           "example.org",
		"fatal: unable to access 'https://github.com/a/b/': Could not resolve host: github.com":                                     "github.com",
		"ssh: Could not resolve hostname git.example.org: Temporary failure in name resolution":                                     "git.example.org",
		"wget: unable to resolve host address ‘example.org’":                                                                        "example.org",
		"npm error network request to https://registry.npmjs.org/left-pad failed, reason: getaddrinfo EAI_AGAIN registry.npmjs.org": "registry.npmjs.org",
		"Error: getaddrinfo ENOTFOUND api.example.org":                                                                              "api.example.org",
		`go: example.org/x@v1: Get "https://proxy.golang.org/x": dial tcp: lookup proxy.golang.org on 1.1.1.1:53: dial udp`:         "proxy.golang.org",
		"E: Temporary failure resolving 'deb.debian.org'":                                                                           "deb.debian.org",
		"java.net.UnknownHostException: repo1.maven.org":                                                                            "repo1.maven.org",
		"HTTPSConnectionPool(host='pypi.org', port=443): Max retries exceeded":                                                      "pypi.org",
		"error: Failed to fetch: `https://pypi.org/simple/six/`":                                                                    "pypi.org",
		"error sending request for url (https://index.crates.io/config.json)":                                                       "index.crates.io",
		"Could not resolve host: a.org Could not resolve host: b.org\nCould not resolve host: A.ORG":                                "a.org b.org",
		"Could not resolve host: localhost":                                                                                         "",
		"Could not resolve host: 10.0.0.1":                                                                                          "",
		"Could not resolve host: *.org":                                                                                             "",
		"Could not resolve host: granted.org\nCould not resolve host: a.wild.org\nCould not resolve host: b.org":                    "b.org",
		"see https://example.org for help":                                                                                          "",
		"lookup example.org":                                                                                                        "",
		"":                                                                                                                          "",
	} {
		var got []string
		for _, r := range hostsMissed(output, []string{"granted.org", "*.wild.org"}) {
			got = append(got, r.What)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%q: %q, want %q", output, got, want)
		}
	}
}
