package shell

import (
	"os/exec"
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
	}{
		{"it sleeps", "sleep 1000", refusing{file, host}, "host a.example:443"},
		{"it tries again", "while :; do read -t 0.4 <> <(:); done", refusing{host}, "host a.example:443"},
		{"a child sleeps", "echo x; sh -c 'sleep 1000; :' | cat", refusing{dns}, "connect 10.0.0.1:53"},
		{"a name is told", "sleep 1000", refusing{host, dns}, "host a.example:443"},
		{"it works", "while :; do :; done", refusing{host}, ""},
		{"a file was refused", "sleep 1000", refusing{file, socket}, ""},
		{"nothing was refused", "sleep 1000", nil, ""},
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
			if got != c.waited || r.TimedOut != (c.waited == "") || r.Exit != nil {
				t.Errorf("%q, %+v", got, r)
			}
		})
	}
}
