package permission

import (
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 16.12: only what a person can well say yes to is put before them, and
// what a rule speaks of is not asked about.
func TestOpenings(t *testing.T) {
	for _, c := range []struct {
		act, what string
		want      string // the rule, "" where it is not offered
		always    bool
	}{
		{"write", "/home/u/.cache/x", "edit(/home/u/.cache/x)", true},
		{"remove", "/home/u/sib/x", "edit(/home/u/sib/x)", true},
		{"host", "Registry.npmjs.org", "network(registry.npmjs.org)", true},
		{"host", "example.org:8443", "network(example.org:8443)", true},
		{"host", "denied.org", "", false},
		{"host", "allowed.org", "", false},
		{"host", "127.0.0.1", "", false},
		{"host", "*.org", "", false},
		{"connect", "93.184.216.34:443", "", false},
		{"listen", "0.0.0.0:80", "", false},
		{"read", "/home/u/x", "", false},
		{"write", "/home/u/no/x", "", false},
		{"write", "/home/u/hooks/pre-push", "", false},
		{"write", "/w/x", "", false},
		{"write", "/w/.git/hooks/pre-push", "", false},
		{"write", "/home/u/other/.git/config", "", false},
		{"write", "/home/u/other/.GIT/index", "", false},
		{"write", "/home/u/other/.pawl/x", "", false},
		{"write", "/home/u/other/AGENTS.md", "", false},
		{"write", "/home/u/.ssh/known_hosts", "", false},
		{"write", "/home/u/.config/gh/hosts.yml", "", false},
		{"write", "/home/u/.state/log", "", false},
		{"write", "/home/u/.bashrc", "", false},
		{"write", "/home/u/.config/systemd/user/x.service", "", false},
		{"write", "/home/u/.local/bin/ls", "", false},
		{"write", "/home/u", "", false},
		{"write", "/home", "", false},
		{"write", "/", "", false},
		{"write", "/home/u/../v", "", false},
		{"write", "/usr/lib/x", "", false},
		{"write", "/dev/sda", "", false},
		{"write", "relative", "", false},
		{"write", "/home/u/a*", "", false},
		{"write", "/home/u/a\nb", "", false},
	} {
		p := confinedPolicy(t, Auto, whole, []string{"network(allowed.org)"}, nil, []string{"network(denied.org)", "edit(/home/u/no/**)"})
		got := p.Openings([]process.Refusal{{Act: c.act, What: c.what}, {Act: c.act, What: c.what}}, []tool.GitUse{{Path: "/home/u/hooks", Setting: "core.hookspath"}})
		rule, always := "", false
		if len(got) == 1 {
			rule, always = got[0].Rule, got[0].Always
		}
		if len(got) > 1 || rule != c.want || always != c.always {
			t.Errorf("%s %q: %+v, want %q", c.act, c.what, got, c.want)
		}
	}
	for _, p := range []*Policy{confinedPolicy(t, Plan, whole, nil, nil, nil), confinedPolicy(t, Auto, Sandbox{ReadOnly: true, Workspace: true, Narrow: true}, nil, nil, nil)} {
		if got := p.Openings([]process.Refusal{{Act: "write", What: "/home/u/.cache/x"}}, nil); len(got) > 0 {
			t.Errorf("nothing can be opened here: %+v", got)
		}
	}
}

// What is opened changes nothing of a narrower level, nor of who was given.
func TestOpen(t *testing.T) {
	given := process.Confine{Level: process.Workspace, Writes: []string{"/b"}}
	os := []Opening{{Refusal: process.Refusal{Act: "write", What: "/a"}}, {Refusal: process.Refusal{Act: "write", What: "/b"}}, {Refusal: process.Refusal{Act: "host", What: "h"}}}
	got := Open(given, os)
	if !slices.Equal(got.Writes, []string{"/a", "/b"}) || !slices.Equal(got.Hosts, []string{"h"}) || len(given.Writes) != 1 {
		t.Errorf("%+v of %+v", got, given)
	}
	for _, l := range []process.Level{process.ReadOnly, process.Unconfined} {
		if c := Open(process.Confine{Level: l}, os); len(c.Writes)+len(c.Hosts) > 0 {
			t.Errorf("%s: %+v", l, c)
		}
	}
}
