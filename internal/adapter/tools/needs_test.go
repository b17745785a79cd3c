package tools

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/command"
)

// SPEC 16.12: what the sandbox is known to have refused stands last, and how to
// ask for it; nothing is guessed from what a command printed.
func TestRefusedNote(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	t.Setenv("GOPATH", "")
	t.Setenv("GOMODCACHE", "")
	exit := func(n int) *int { return &n }
	for _, c := range []struct {
		name string
		ran  tool.Ran
		line string
		want string
	}{
		{"nothing", tool.Ran{Exit: exit(1), Output: "x: Permission denied\n"}, "./x", ""},
		{"one", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/home/x/.cfg"}}}, "npm i", `[the sandbox refused: write /home/x/.cfg; if the command cannot do without it, name it with "needs": ["write /home/x/.cfg"] in the same call]`},
		{"one, headless", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/home/x/.cfg"}}}, "npm i", `[the sandbox refused: write /home/x/.cfg; nobody is here to allow it, a run with --allow 'edit(/home/x/.cfg)' may do it]`},
		{"many", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "listen", What: "10.0.0.1:80"}, {Act: "host", What: "a.b"}, {Act: "write", What: "/1"}, {Act: "write", What: "/2"}, {Act: "write", What: "/3"}, {Act: "write", What: "/4"}}}, "x", `[the sandbox refused: listen 10.0.0.1:80, host a.b, write /1, write /2, write /3, and 1 more; nobody is here to allow it, a run with --allow 'network(a.b)' may do it]`},
		{"a cloud's metadata is never offered", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "connect", What: "169.254.169.254:80"}}}, "x", `[the sandbox refused: connect 169.254.169.254:80]`},
		{"an address", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "connect", What: "10.0.0.5:5432"}, {Act: "connect", What: "/run/x.sock"}}}, "x", `[the sandbox refused: connect 10.0.0.5:5432, connect /run/x.sock; nobody is here to allow it, a run with --allow 'network(10.0.0.5:5432)' may do it]`},
		{"a host that is not named", tool.Ran{Exit: exit(1), Nameless: true}, "x", `[commands reach no host but those that were granted; if one is needed, ask for it with "needs": ["host NAME"] in the same call]`},
		{"and headless", tool.Ran{Exit: exit(1), Nameless: true}, "x", `[commands reach no host but those that were granted; a run with --allow 'network(NAME)' may reach one]`},
		{"a read", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "read", What: "/srv/x"}}}, "x", `[the sandbox refused: read /srv/x; if the command cannot do without it, name it with "needs": ["read /srv/x"] in the same call]`},
		{"a change where changes ask", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "change", What: "/w/x"}}}, "x", `[the sandbox refused: change /w/x; nobody is here to allow changes by this command, a run with --permission-mode auto may make them]`},
		{"what nobody grants", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "listen", What: "10.0.0.1:80"}, {Act: "write", What: "/home/x/.ssh/id"}}}, "x", `[the sandbox refused: listen 10.0.0.1:80, write /home/x/.ssh/id]`},
		{"a protected file", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/w/AGENTS.md"}}}, "x", `[the sandbox refused: write /w/AGENTS.md; nobody is here to allow it, a run with --allow 'edit(AGENTS.md)' may do it]`},
		{"git's own", tool.Ran{Exit: exit(128), Refused: []process.Refusal{{Act: "write", What: "/w/.git/worktrees"}}}, "cd a && git worktree add ../x", `[the sandbox refused: write /w/.git/worktrees; nobody is here to allow it, a run with --allow 'unconfined(git worktree add ../x)' may do it]`},
		{"a rule", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "read", What: "/w/.env", Rule: "read(.env)"}}}, "x", `[the sandbox refused: read /w/.env, about which there is the rule read(.env); if the command cannot do without it, name it with "needs": ["read /w/.env"] in the same call]`},
		{"what a rule denies", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "read", What: "/w/.env", Rule: "read(.e*)", Closed: "the rule read(.e*) denies"}}}, "x", `[the sandbox refused: read /w/.env, which the rule read(.e*) denies]`},
		{"a rule that still asks", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "read", What: "/w/a.env", Rule: "read(a.env)"}}}, "x", `[the sandbox refused: read /w/a.env, about which there is the rule read(a.env)]`},
		{"git's own, with a person", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/w/.git/rebase-merge"}}}, "sh x", `[the sandbox refused: write /w/.git/rebase-merge; if the command cannot do without it, name it with "needs": ["unconfined"] in the same call]`},
		{"git's settings", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/w/.git/config.lock"}}}, "git remote add o x", `[the sandbox refused: write /w/.git/config.lock; git's settings and hooks stay closed to commands: say what the person should change]`},
		{"a Go module", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/home/x/go/pkg/mod/cache/download/a.b/c/@v/v1.lock"}}}, "go vet", `[the sandbox refused: write /home/x/go/pkg/mod/cache/download/a.b/c/@v/v1.lock; Go modules are missing: run go mod download as a call of its own with "needs": ["unconfined"]]`},
		{"the first Go module", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/home/x/go"}}}, "go vet", `[the sandbox refused: write /home/x/go; Go modules are missing, a run with --allow 'unconfined(go mod download)' may get them]`},
		{"a folder of all homes", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/home"}}}, "x", `[the sandbox refused: write /home; nobody is here to allow it, a run with --allow 'edit(/home)' may do it]`},
		{"a file in a folder of modules", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/home/x/go/pkg/mod/a.b/c@v1/x.go"}}}, "x", `[the sandbox refused: write /home/x/go/pkg/mod/a.b/c@v1/x.go; nobody is here to allow it, a run with --allow 'edit(/home/x/go/pkg/mod/a.b/c@v1/x.go)' may do it]`},
		{"a program's own counters", tool.Ran{Exit: exit(0), Refused: []process.Refusal{{Act: "write", What: "/home/x/.config/go/telemetry/local/n"}}}, "go vet", ""},
		{"where it failed by them", tool.Ran{Exit: exit(1), Refused: []process.Refusal{{Act: "write", What: "/home/x/.config/y"}}}, "y", `[the sandbox refused: write /home/x/.config/y; nobody is here to allow it, a run with --allow 'edit(/home/x/.config/y)' may do it]`},
		{"git stash pop", tool.Ran{Exit: exit(0), Output: "Dropped refs/stash@{0}\n\tmodified: .gitignore\n", Refused: []process.Refusal{{Act: "remove", What: "/w/.git"}}}, "git stash pop", ""},
		{"a probe for a writable folder", tool.Ran{Exit: exit(0), Output: "ok 3 tests\n", Refused: []process.Refusal{{Act: "write", What: "/home/x/.rustup"}, {Act: "host", What: "pypi.org"}, {Act: "write", What: "/opt/t"}}}, "x", ""},
		{"a pipe hides a failure", tool.Ran{Exit: exit(0), Output: "sh: /srv/out: Permission denied\n", Refused: []process.Refusal{{Act: "write", What: "/srv/out"}, {Act: "write", What: "/srv/other"}}}, "x | tail", `[the sandbox refused: write /srv/out; nobody is here to allow it, a run with --allow 'edit(/srv/out)' may do it]`},
		{"a pipe hides a host", tool.Ran{Exit: exit(0), Output: "curl: (6) Could not resolve host: a.test\n", Refused: []process.Refusal{{Act: "host", What: "a.test:8443"}}}, "curl a.test | head", `[the sandbox refused: host a.test:8443; nobody is here to allow it, a run with --allow 'network(a.test:8443)' may do it]`},
		{"read-only", tool.Ran{Exit: exit(2), ReadOnly: true}, "make x", "[it ran read-only: no file can be changed, and there is no network]"},
		{"read-only and well", tool.Ran{Exit: exit(0), ReadOnly: true}, "make x", ""},
		{"a reader that finds nothing", tool.Ran{Exit: exit(1), ReadOnly: true}, "grep x a", ""},
		{"stopped", tool.Ran{Signal: "SIGKILL", Stopped: "too many processes"}, "x", "[the sandbox stopped it: too many processes]"},
	} {
		cmds := must.Get(command.Parse(c.line, "/w"))(t)
		env := tool.Env{Files: places{}, Nobody: !strings.Contains(c.want, "\"needs\"")}
		if got := refusedNote(env, c.ran, cmds); got != c.want {
			t.Errorf("%s: %s\nwant %s", c.name, got, c.want)
		}
	}
}

// SPEC 16.12: a person is asked only where the command failed and may have failed
// by that.
func TestBlamed(t *testing.T) {
	t.Setenv("HOME", "/home/x")
	exit := func(n int) *int { return &n }
	log, other := process.Refusal{Act: "write", What: "/home/x/.npm/_logs/1.log"}, process.Refusal{Act: "write", What: "/srv/x"}
	for _, c := range []struct {
		name string
		ran  tool.Ran
		want int
	}{
		{"it ended well", tool.Ran{Exit: exit(0), Refused: []process.Refusal{other}}, 0},
		{"it failed", tool.Ran{Exit: exit(1), Refused: []process.Refusal{other}}, 1},
		{"a program's own log", tool.Ran{Exit: exit(1), Refused: []process.Refusal{log, other}}, 1},
		{"which it names", tool.Ran{Exit: exit(1), Output: "cannot open 1.log", Refused: []process.Refusal{log, other}}, 2},
		{"it was stopped", tool.Ran{Exit: exit(1), Stopped: "x", Refused: []process.Refusal{other}}, 0},
		{"its time was over", tool.Ran{Exit: exit(1), TimedOut: true, Refused: []process.Refusal{other}}, 0},
		{"it was killed", tool.Ran{Signal: "SIGKILL", Refused: []process.Refusal{other}}, 0},
	} {
		if got := Blamed(c.ran); len(got) != c.want {
			t.Errorf("%s: %v", c.name, got)
		}
	}
}

// A call asks in the words of the refusal.
func TestNeeds(t *testing.T) {
	env := tool.Env{Files: places{}}
	for _, c := range []struct {
		needs string
		want  string // what of the footprint, or of the error
	}{
		{`["write /home/x/.npmrc"]`, "w /home/x/.npmrc"},
		{`["remove /home/x/y", "read /opt2/z"]`, "w /home/x/y r /opt2/z"},
		{`["host registry.npmjs.org", "connect example.org:8443"]`, "h registry.npmjs.org h example.org:8443"},
		{`["unconfined"]`, "free"},
		{`["write AGENTS.md"]`, "w /w/AGENTS.md"},
		{`["listen 0.0.0.0:80"]`, "there is no need"},
		{`["host 10.0.0.1"]`, "h 10.0.0.1"},
		{`["connect localhost:5432"]`, "h localhost:5432"},
		{`["host *.org"]`, "say a host as"},
		{`["host intranet"]`, "say a host as"},
		{`["write"]`, "needs holds"},
		{`["everything"]`, "needs holds"},
		{`["unconfined please"]`, "there is no need"},
	} {
		var needs []string
		must.Do(t, json.Unmarshal([]byte(c.needs), &needs))
		var f tool.Footprint
		err := addNeeds(env, &f, needs)
		var got []string
		for _, l := range f.Resolved {
			got = append(got, map[bool]string{true: "w ", false: "r "}[l.Write]+l.Path)
		}
		for _, h := range f.Hosts {
			got = append(got, "h "+h)
		}
		if f.Unconfined {
			got = append(got, "free")
		}
		if err != nil {
			got = []string{err.Error()}
		}
		if s := strings.Join(got, " "); err == nil && s != c.want || err != nil && !strings.Contains(s, c.want) {
			t.Errorf("%s: %s, want %s", c.needs, s, c.want)
		}
	}
}

// places are files of which only the names matter.
type places struct{ tool.Files }

func (places) Root() string { return "/w" }

func (places) Resolve(p string) (string, bool, error) { return p, !strings.HasPrefix(p, "/"), nil }

// SPEC 16.12: a person reads beside a command that failed what the sandbox refused it.
func TestRefusedIsOnTheScreen(t *testing.T) {
	t.Setenv("HOME", "/home/u")
	t.Setenv("GOPATH", "")
	t.Setenv("GOMODCACHE", "")
	lock := process.Refusal{Act: process.ActChange, What: "/w/.git/index.lock"}
	version := process.Refusal{Act: process.ActWrite, What: "/home/u/go/pkg/mod/cache/download/a.b/c/@v/v0.0.0-2026.info123.tmp"}
	host, file, own := process.Refusal{Act: process.ActHost, What: "a.example:443"}, process.Refusal{Act: process.ActWrite, What: "/etc/x"}, process.Refusal{Act: process.ActWrite, What: "/home/u/.npm/log"}
	for want, ran := range map[string]tool.Ran{
		"exit code 1, 0ms; the sandbox refused host a.example:443":                  {Exit: procCode(1), Refused: []process.Refusal{own, host}},
		"stopped after 2m; the sandbox refused write /etc/x and 1 more":             {TimedOut: true, Duration: 2 * time.Minute, Refused: []process.Refusal{file, host}},
		"exit code 128, 0ms, 1 line; the sandbox refused change /w/.git/index.lock": {Exit: procCode(128), Refused: []process.Refusal{lock}, Output: "fatal: cannot lock /w/.git/index.lock\n"},
		"exit code 0, 0ms; the sandbox refused host a.example:443":                  {Exit: procCode(0), Checks: []tool.Ended{{Command: "go test .", Exit: 1}}, Refused: []process.Refusal{host}},
		"exit code 3, 0ms":       {Exit: procCode(3), Refused: []process.Refusal{lock, version}},
		"exit code 0, 0ms":       {Exit: procCode(0), Refused: []process.Refusal{host}},
		"exit code 2, 0ms":       {Exit: procCode(2), Refused: []process.Refusal{own}},
		"killed by SIGKILL, 0ms": {Signal: "SIGKILL"},
	} {
		if r := procCall(t, Bash(), tool.Env{Shell: &procShell{ran: &ran}}, `{"command":"x"}`); r.Note != want {
			t.Errorf("%q, want %q", r.Note, want)
		}
	}
}

// SPEC 16.12: git's lock is what a git that only looks does without, and one that changes the
// repository does not: git stash says nothing of it.
func TestGitsLock(t *testing.T) {
	lock := process.Refusal{Act: process.ActChange, What: "/w/.git/index.lock"}
	for _, c := range []struct {
		line string
		exit int
		want bool // it is told
	}{
		{"git stash", 1, true}, {"git -C sub stash -q", 1, true}, {"cd sub && git stash; false", 1, true},
		{"git stash", 0, false}, {"git status", 1, false}, {"git diff --exit-code", 1, false}, {"git diff > out; exit 2", 2, false},
		{"git stash list", 1, false}, {"sh x", 1, false},
	} {
		ran := tool.Ran{Exit: &c.exit, Refused: []process.Refusal{lock}}
		cmds := must.Get(command.Parse(c.line, "/w"))(t)
		r := withRefused(tool.Env{Nobody: true}, tool.Result{}, ran, cmds)
		if told := strings.Contains(r.Text, "--permission-mode auto") && len(r.Refused) == 1 && strings.Contains(r.Note, "index.lock"); told != c.want || !told && r.Text+r.Note != "" {
			t.Errorf("%s, exit code %d: %q, %q", c.line, c.exit, r.Text, r.Note)
		}
	}
}
