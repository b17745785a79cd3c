package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// SPEC 16.18, 4.15: what confined commands may read every tool may read, in every
// mode, with a sandbox and without one; keys, other data of homes and other
// processes stay closed.
func TestReadable(t *testing.T) {
	found := 0
	readable := func() confine.Policy {
		found++
		return confine.New(confine.ReadOnly, confine.Facts{Root: "/w", Home: "/home/u", Reads: []string{"/srv/go1/src", "/srv/venv/lib", "/home/u/.nvmx"}})
	}
	modes := []Mode{AskMode, Plan, AcceptEdits, Auto}
	verdicts := func(c Call) string {
		out := ""
		for _, sb := range []Sandbox{whole, {Off: true}, {}} {
			for _, m := range modes {
				p := New(Config{Mode: m, Root: "/w", Home: "/home/u", State: "/home/u/.state", Sandbox: sb, Readable: readable})
				out += map[Verdict]string{Allow: "a", Ask: "?", Deny: "d"}[p.Decide(c).Verdict]
			}
			out += " "
		}
		return out
	}
	for _, path := range []string{
		"/usr/include/stdio.h", "/usr/lib/python3/dist-packages/x.py", "/lib/modules", "/opt/tool/README", "/etc/os-release", "/etc/ssl/certs/ca.crt",
		"/home/u/go/pkg/mod/m@v1/x.go", "/home/u/.cargo/registry/src/x/lib.rs", "/home/u/.rustup/toolchains/s/lib", "/home/u/.m2/repository/a.jar", "/home/u/.pyenv/versions/3/lib/os.py",
		"/srv/go1/src/fmt/print.go", "/srv/venv/lib/python3/site-packages/six.py", "/home/u/.nvmx/lib/node_modules/npm/index.js",
	} {
		for _, name := range []string{"read", "grep", "glob", "ls"} {
			if got := verdicts(Call{Tool: name, Family: tool.ReadFamily, ReadOnly: true, Footprint: tool.Footprint{Reads: []tool.Span{{Path: path}}}}); got != "aaaa aaaa aaaa " {
				t.Errorf("%s %s: %s", name, path, got)
			}
		}
		for _, line := range []string{"cat ", "grep -n x ", "ls -la ", "head -5 < ", "sed -n 1,20p "} {
			if got := verdicts(bash(line + path)); got != "aaaa aaaa aaaa " {
				t.Errorf("%s%s: %s", line, path, got)
			}
		}
	}
	for line, want := range map[string]string{
		// Where the sandbox holds it, it decides.
		"ls /tmp":                     "?a?a ???? ???? ",
		"ls /home/v":                  "?a?a ???? ???? ",
		"cat /tmp/x":                  "?a?a ???? ???? ",
		"cat /home/v/notes":           "?a?a ???? ???? ",
		"cat /home/u/notes":           "?a?a ???? ???? ",
		"cat /etc/fstab":              "?a?a ???? ???? ",
		"cat /srv/go1/x":              "?a?a ???? ???? ",
		"cat /home/u/.ssh/id_rsa":     "dada dddd dddd ",
		"cat /opt/tool/server.pem":    "dada dddd dddd ",
		"cat /usr/share/x/.env":       "?a?a ???? ???? ",
		"cat /proc/1/cmdline":         "?a?a ???? ???? ",
		"cat /home/u/.state/x":        "dada dddd dddd ",
		"cat /srv/go1/src/../../x":    "?a?a ???? ???? ",
		"cat /srv/go1/srcery/x":       "?a?a ???? ???? ",
		"echo x > /usr/include/new.h": "?a?a ?d?? ?d?? ",
		"cd /usr/share/x && make":     "?aaa ?d?? ?d?? ",
	} {
		if got := verdicts(bash(line)); got != want {
			t.Errorf("%s: %s, want %s", line, got, want)
		}
	}
	p := New(Config{Mode: AcceptEdits, Root: "/w", Home: "/home/u"})
	for line, want := range map[string]string{"cat /srv/x": "/usr", "echo x > /srv/x": "workspace", "make x": "", "cat $X": ""} {
		if got := p.Decide(bash(line)).Instead; want == "" && got != "" || !strings.Contains(got, want) {
			t.Errorf("%s: instead: %q", line, got)
		}
	}
	found = 0
	for _, line := range []string{"ls", "cat a/b.go", "go test ./...", "echo x > y", "cat /usr/include/stdio.h"} {
		verdicts(bash(line))
	}
	if found != 0 {
		t.Errorf("the toolchains were looked for %d times without a path that needs it", found)
	}
}

// SPEC 4.15: a file outside of the workspace that looks like it holds secrets is asked about
// each time.
func TestSecretsAreNotAllowedAlways(t *testing.T) {
	p := New(Config{Mode: AcceptEdits, Root: "/w", Home: "/home/u"})
	for _, path := range []string{"/srv/other/.env", "/srv/other/secrets.yaml", "/srv/other/credentials.json"} {
		d := p.Decide(Call{Tool: "read", Footprint: tool.Footprint{Reads: []tool.Span{{Path: path}}}})
		if d.Verdict != Ask || d.CanAlways {
			t.Errorf("%s: %+v", path, d)
		}
	}
	if d := p.Decide(Call{Tool: "read", Footprint: tool.Footprint{Reads: []tool.Span{{Path: "/srv/other/x.txt"}}}}); d.Verdict != Ask || !d.CanAlways {
		t.Errorf("another file: %+v", d)
	}
}
