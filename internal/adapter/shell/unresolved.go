package shell

import (
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/policy/host"
)

// A confined command without a granted host cannot look up a name, and a program that
// does not know proxies never can. The kernel refuses it without naming the host. The
// command's own message names it, so a person can be asked for that host (SPEC 16.12).

// unresolved matches messages of programs that could not look up a host.
var unresolved = lazyregexp.New(`(?i)(?:` + strings.Join([]string{
	`could not resolve (?:host(?:name)?|proxy):? +`,                           // curl, git, cargo, ssh
	`unable to resolve host(?: address)? +`,                                   // wget
	`getaddrinfo (?:for |failed for )?(?:(?:ENOTFOUND|EAI_AGAIN|EAI_FAIL) )?`, // node, php
	`dial tcp: lookup +`,                         // go
	`temporary failure resolving +`,              // apt
	`UnknownHostException: +`,                    // java
	`ConnectionPool\(host=`,                      // python
	`failed to lookup address information for +`, // rust
	`(?:failed|unable|could not|cannot) (?:to )?(?:fetch|connect to|download|open|reach)[: ]+["'<(\x60]*https?://`, // with a URL
	`for url \(https?://`,
	`request to https?://`,
}, "|") + `)["'‘<\x60(]*([a-z0-9-]+(?:\.[a-z0-9-]+)+)`)

// nameless matches messages of the system's resolver, which do not name the host.
var nameless = lazyregexp.New(`(?i)temporary failure in name resolution|name or service not known|nodename nor servname provided|no address associated with hostname|\b(?:EAI_AGAIN|ENOTFOUND)\b`)

// maxUnresolved is how many hosts are taken from one output.
const maxUnresolved = 3

// hostsMissed returns the internet hosts that a command could not look up, as its output
// reports them, except those that are granted.
func hostsMissed(output string, hosts []string) []process.Refusal {
	var out []process.Refusal
	for _, m := range unresolved().FindAllStringSubmatch(output, 20*maxUnresolved) {
		name := strings.ToLower(m[1])
		if _, err := host.ParseGrant(name); err != nil || covered(hosts, name) || !strings.ContainsAny(name, "abcdefghijklmnopqrstuvwxyz") {
			continue
		}
		if r := (process.Refusal{Act: process.ActHost, What: name}); !slices.Contains(out, r) && len(out) < maxUnresolved {
			out = append(out, r)
		}
	}
	return out
}

// covered reports whether a host is granted, at one of the usual ports.
func covered(grants []string, name string) bool {
	return slices.ContainsFunc(grants, func(s string) bool {
		g, err := host.ParseGrant(s)
		return err == nil && (g.Covers(name, 443) || g.Covers(name, 80))
	})
}
