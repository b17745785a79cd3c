package permission

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 16.14: what a running command meets is asked with what a yes opens, and only what a
// person can well say yes to; what a rule speaks of is not asked about.
func TestHeldAccess(t *testing.T) {
	for _, c := range []struct {
		act, what string
		verdict   Verdict
		opens     string
		rule      string
		always    bool
	}{
		{"write", "/home/u/sib/x", Ask, "/home/u/sib", "edit(/home/u/sib)", true},
		{"remove", "/home/u/sib/deep/x", Ask, "/home/u/sib/deep", "edit(/home/u/sib/deep)", true},
		{"write", "/home/u/x", Ask, "/home/u/x", "edit(/home/u/x)", true},                // the home is more than one would allow
		{"write", "/data/x", Ask, "/data/x", "edit(/data/x)", true},                      // and so is a folder at the top
		{"write", "/home/u/part/x", Ask, "/home/u/part/x", "edit(/home/u/part/x)", true}, // something in it is denied
		{"write", "/home/u/allowed/x", Allow, "/home/u/allowed/x", "", false},
		{"host", "Registry.npmjs.org", Ask, "registry.npmjs.org", "network(registry.npmjs.org)", true},
		{"host", "example.org:8443", Ask, "example.org:8443", "network(example.org:8443)", true},
		{"host", "allowed.org", Allow, "allowed.org", "", false},
		{"connect", "127.0.0.1:5432", Ask, "127.0.0.1:5432", "network(127.0.0.1:5432)", true},
		{"connect", "[::1]:8080", Ask, "[::1]:8080", "network([::1]:8080)", true},
		{"connect", "10.0.0.5", Ask, "10.0.0.5", "network(10.0.0.5)", true},
		{"connect", "93.184.216.34:22", Ask, "93.184.216.34:22", "network(93.184.216.34:22)", true},
		{"host", "denied.org", Deny, "", "", false},
		{"connect", "169.254.169.254", Deny, "", "", false},
		{"connect", "[fe80::1]:80", Deny, "", "", false},
		{"host", "*.org", Deny, "", "", false},
		{"connect", "/run/docker.sock", Ask, "/run/docker.sock", "", false},
		{"connect", "/tmp/ssh-x/agent.7", Ask, "/tmp/ssh-x/agent.7", "", false},
		{"connect", "/run/user/1000/gnupg/S.gpg-agent", Ask, "/run/user/1000/gnupg/S.gpg-agent", "", false},
		{"connect", "/run/nscd/socket", Deny, "", "", false}, // the C library's own look-up
		{"connect", "/run/systemd/userdb/io.systemd.DynamicUser", Deny, "", "", false},
		{"listen", "0.0.0.0:80", Deny, "", "", false},
		{"read", "/home/u/sib/x", Ask, "/home/u/sib", "read(/home/u/sib)", true},
		{"read", "/home/u/x", Ask, "/home/u/x", "read(/home/u/x)", true},
		{"read", "/home/u/sib/.env", Deny, "", "", false},
		{"read", "/home/u/.ssh/id_rsa", Ask, "/home/u/.ssh/id_rsa", "", false}, // as the person
		{"read", "/home/u/.config/gh/hosts.yml", Ask, "/home/u/.config/gh/hosts.yml", "", false},
		{"read", "/home/u/.gnupg/pubring.kbx", Ask, "/home/u/.gnupg/pubring.kbx", "", false},
		{"read", "/etc/ssh/ssh_config", Ask, "/etc/ssh/ssh_config", "", false},
		{"read", "/etc/ssh/ssh_host_ed25519_key", Deny, "", "", false},
		{"read", "/home/u/.npmrc", Deny, "", "", false}, // npm always tries, and does without
		{"git", "/home/u/src/remote.git", Ask, "/home/u/src/remote.git", "", false},
		{"git", "/home/u/src/.git", Deny, "", "", false},
		{"git", "/w/vendor/x.git", Deny, "", "", false},
		{"read", "/home/u/.config/x", Deny, "", "", false},
		{"read", "/etc/shadow", Deny, "", "", false},
		{"write", "/home/u/no/x", Deny, "", "", false},
		{"write", "/home/u/hooks/pre-push", Deny, "", "", false},
		{"write", "/w/x", Deny, "", "", false},
		{"write", "/w/AGENTS.md", Ask, "/w/AGENTS.md", "edit(AGENTS.md)", false},
		{"remove", "/w/sub/.vscode/tasks.json", Ask, "/w/sub/.vscode/tasks.json", "edit(sub/.vscode/tasks.json)", false},
		{"write", "/w/.gitmodules", Deny, "", "", false},
		{"write", "/w/sub/HEAD", Deny, "", "", false},
		{"write", "/w/.git/hooks/pre-push", Deny, "", "", false},
		{"write", "/home/u/other/.git/config", Deny, "", "", false},
		{"write", "/home/u/other/.GIT/index", Deny, "", "", false},
		{"write", "/home/u/other/.pawl/x", Deny, "", "", false},
		{"write", "/home/u/other/AGENTS.md", Deny, "", "", false},
		{"write", "/home/u/.ssh/known_hosts", Deny, "", "", false},
		{"write", "/home/u/.cache/x", Deny, "", "", false}, // a program's own, which it does without
		{"write", "/home/u/.config/gh/hosts.yml", Deny, "", "", false},
		{"write", "/home/u/.state/log", Deny, "", "", false},
		{"write", "/home/u/.bashrc", Deny, "", "", false},
		{"write", "/home/u/bin/ls", Deny, "", "", false},
		{"write", "/home/u", Deny, "", "", false},
		{"write", "/home", Deny, "", "", false},
		{"write", "/", Deny, "", "", false},
		{"write", "/home/u/../v", Deny, "", "", false},
		{"write", "/usr/lib/x", Deny, "", "", false},
		{"write", "/dev/sda", Deny, "", "", false},
		{"write", "relative", Deny, "", "", false},
		{"write", "/home/u/a*", Deny, "", "", false},
		{"write", "/home/u/a\nb", Deny, "", "", false},
	} {
		p := confinedPolicy(t, Auto, whole, []string{"network(allowed.org)", "edit(/home/u/allowed/**)"}, nil, []string{"network(denied.org)", "edit(/home/u/no/**)", "edit(/home/u/part/secret)"})
		o, v := p.Held(process.Refusal{Act: c.act, What: c.what}, []tool.GitUse{{Path: "/home/u/hooks", Setting: "core.hookspath"}})
		if v != c.verdict || v != Deny && o.Opens != c.opens || v == Ask && (o.Rule != c.rule || o.Always != c.always) {
			t.Errorf("%s %q: %s %+v", c.act, c.what, v, o)
		}
	}
	for _, p := range []*Policy{confinedPolicy(t, Plan, whole, nil, nil, nil), confinedPolicy(t, Auto, Sandbox{ReadOnly: true, Workspace: true, Narrow: true}, nil, nil, nil)} {
		for _, r := range []process.Refusal{{Act: "write", What: "/home/u/sib/x"}, {Act: "read", What: "/home/u/.ssh/id_rsa"}, {Act: "connect", What: "/run/docker.sock"}, {Act: "git", What: "/home/u/src/remote.git"}} {
			if _, v := p.Held(r, nil); v != Deny {
				t.Errorf("nothing can be opened here: %s: %s", r, v)
			}
		}
	}
	asking := confinedPolicy(t, Auto, whole, nil, []string{"network(asked.org)"}, nil)
	if o, v := asking.Held(process.Refusal{Act: "host", What: "asked.org"}, nil); v != Ask || o.Rule != "" {
		t.Errorf("an ask rule asks each time: %s %+v", v, o)
	}
}

// SPEC 16.18: what the session makes in /tmp needs no question, by a tool or by a command;
// what others have there does, and so does what looks like a secret. Rules and plan mode win.
func TestScratchIsFree(t *testing.T) {
	sb := Sandbox{ReadOnly: true, Workspace: true, Holds: true}
	writes := func(path string) Call {
		return Call{Tool: "write", Family: tool.EditFamily, Footprint: tool.Footprint{Writes: []tool.Span{{Path: path}}}}
	}
	reads := func(path string) Call {
		return Call{Tool: "read", Family: tool.ReadFamily, Footprint: tool.Footprint{Reads: []tool.Span{{Path: path}}}}
	}
	for _, m := range []Mode{AskMode, AcceptEdits, Auto, Plan} {
		p := New(Config{Mode: m, Root: "/w", Home: "/home/u", Sandbox: sb, Scratch: func(path string, write bool) bool {
			return path == "/tmp/mine" || strings.HasPrefix(path, "/tmp/mine/") || write && strings.HasPrefix(path, "/tmp/new")
		}})
		must.Do(t, p.Add(User, nil, nil, []string{"edit(/tmp/new-denied)"}))
		free, asked := Allow, Ask
		if m == Plan {
			free, asked = Deny, Deny
		}
		for _, c := range []struct {
			name string
			call Call
			want Verdict
		}{
			{"read its own", reads("/tmp/mine"), Allow},
			{"read below its own", reads("/tmp/mine/deep/f"), Allow},
			{"read another's", reads("/tmp/theirs"), Ask},
			{"read what is not there", reads("/tmp/new"), Ask},
			{"change its own", writes("/tmp/mine"), free},
			{"make one", writes("/tmp/new.go"), free},
			{"make a key", writes("/tmp/new/id_rsa"), Deny},
			{"make one that looks secret", writes("/tmp/new/credentials.json"), asked},
			{"change another's", writes("/tmp/theirs"), asked},
			{"a rule", writes("/tmp/new-denied"), Deny},
		} {
			if d := p.Decide(c.call); d.Verdict != c.want {
				t.Errorf("%s, %s: %s %s", m, c.name, d.Verdict, d.Reason)
			}
		}
		if m == Plan {
			continue
		}
		for line, want := range map[string]Verdict{
			"rm /tmp/mine": Allow, "rm -r /tmp/mine/d": Allow, "mv /tmp/mine /tmp/new && cat /tmp/new && rm /tmp/new": Allow,
			"rm /tmp/theirs": Allow /* the kernel holds it */, "rm -rf /tmp": Deny,
		} {
			if d := p.Decide(Call{Tool: "bash", Family: tool.CommandFamily, Footprint: tool.Footprint{Shell: line, Unknown: true}}); d.Verdict != want {
				t.Errorf("%s, %s: %s %s", m, line, d.Verdict, d.Reason)
			}
		}
	}
}

// SPEC 16.14: a question about an address says which name leads to it; what a yes allows is
// the address alone.
func TestAddressIsNamed(t *testing.T) {
	p := policy(t, AskMode, User, nil, nil, nil)
	o, v := p.Held(process.Refusal{Act: process.ActConnect, What: "10.0.0.5:443", Name: "registry.example.org"}, nil)
	if v != Ask || o.Opens != "10.0.0.5" || o.Rule != "network(10.0.0.5)" || o.String() != "connect to 10.0.0.5, the address of registry.example.org" {
		t.Errorf("%v: %+v, %s", v, o, o)
	}
}
