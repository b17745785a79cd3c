package shell

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// refusing confines nothing and tells that it refused something.
type refusing []process.Refusal

type refused struct {
	explained
	all []process.Refusal
}

func (r refusing) Confine(cmd *exec.Cmd, _ process.Confine, _ process.Hold) (process.Confined, error) {
	return refused{explained{cmd}, r}, cmd.Start()
}

func (r refused) Refused() []process.Refusal { return r.all }

// SPEC 13.3, 20.2: a command that only waits for a host that the sandbox refused is ended;
// one that works, or was refused something else, runs to its limit.
func TestWaitingForARefusedHostEnds(t *testing.T) {
	t.Parallel()
	host := process.Refusal{Act: process.ActHost, What: "a.example:443"}
	dns := process.Refusal{Act: process.ActConnect, What: "10.0.0.1:53"}
	socket := process.Refusal{Act: process.ActConnect, What: "/run/x.sock"}
	file := process.Refusal{Act: process.ActWrite, What: "/etc/x"}
	for _, c := range []struct {
		name, command string
		refused       refusing
		waited        string
		output        string
		goesOn        bool
	}{
		{"it sleeps", "sleep 1000", refusing{file, host}, "host a.example:443", "", false},
		{"it tries again", "while :; do read -t 0.4 <> <(:); done", refusing{host}, "host a.example:443", "", false},
		{"a child sleeps", "echo x; sh -c 'sleep 1000; :' | cat", refusing{dns}, "connect 10.0.0.1:53", "x\n", true},
		{"a name is told", "sleep 1000", refusing{host, dns}, "host a.example:443", "", false},
		{"the line goes on", "(echo first; sleep 1000; echo second) | cat; echo last", refusing{host}, "host a.example:443", "first\nsecond\nlast\n", true},
		{"it does not end", "trap '' TERM; echo x; while :; do read -t 9 <> <(:); done", refusing{host}, "host a.example:443", "x\n", false},
		{"it works", "while :; do :; done", refusing{host}, "", "", false},
		{"a file was refused", "sleep 1000", refusing{file, socket}, "", "", false},
		{"nothing was refused", "sleep 1000", nil, "", "", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newShell(t, Options{Starter: newStarter(t, StarterOptions{Confiner: c.refused})})
			most := 3 * time.Second
			if c.waited != "" {
				most = time.Hour
			}
			r := must.Get(s.Run(t.Context(), tool.Run{Command: c.command, Confine: process.Confine{Level: process.Workspace}, Timeout: most, Idle: time.Second}))(t)
			got := ""
			if r.Waited != nil {
				got = r.Waited.String()
			}
			if s.patience(host.What, time.Minute) < time.Minute != (got == host.String()) { // the next one waits less for it
				t.Errorf("%q, and it is waited for %s", got, s.patience(host.What, time.Minute))
			}
			if got != c.waited || r.TimedOut != (c.waited == "") || slices.ContainsFunc(strings.Split(c.output, "\n"), func(l string) bool { return !strings.Contains(r.Output, l) }) || (r.Exit != nil) != c.goesOn {
				t.Errorf("%q, %+v", got, r)
			}
		})
	}
}
