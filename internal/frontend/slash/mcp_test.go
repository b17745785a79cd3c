package slash

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/mcp"
)

type fakeMCP struct{ restarted []string }

func (f *fakeMCP) Status() []mcp.Status {
	return []mcp.Status{{Server: mcp.Server{Name: "a"}, State: "runs", PID: 4, Tools: 2, Starts: 2, Held: []string{"tool:x: changed\x1b[2J"}}, {Server: mcp.Server{Name: "b"}, State: "failed", Why: "no such program"},
		{Server: mcp.Server{Name: "c"}, State: "not started", Why: "c is not fetched: pawl mcp fetch c"}}
}

func (f *fakeMCP) Restart(name string) int {
	if name == "none" {
		return 0
	}
	f.restarted = append(f.restarted, name)
	return 1
}

func (f *fakeMCP) Accept(_ context.Context, name string) (mcp.Report, error) {
	if name != "a" {
		return mcp.Report{}, errors.New("there is none")
	}
	return mcp.Report{}, nil
}

// SPEC 17.1: /mcp shows how servers stand, and does what the person says.
func TestMCP(t *testing.T) {
	for _, c := range []struct {
		args, want string
		rejoins    int
		bad        bool
	}{
		{"restart a", "stopped", 0, false},
		{"restart none", "", 0, true},
		{"reload", "the next prompt uses the servers' current tools", 1, false},
		{"accept a", "accepted the current state of a", 1, false},
		{"accept b", "", 0, true},
		{"what", "", 0, true},
	} {
		var out strings.Builder
		rejoins := 0
		err := mcpRun(t.Context(), &fakeMCP{}, func() error { rejoins++; return nil }, &out, c.args)
		if (err != nil) != c.bad || !strings.Contains(out.String(), c.want) || rejoins != c.rejoins || strings.Contains(out.String(), "\x1b") {
			t.Errorf("%q: %q %v, %d", c.args, out.String(), err, rejoins)
		}
	}
}

// A server that changed can be accepted as well, and what changed is shown.
func TestServerItems(t *testing.T) {
	got := serverItems((&fakeMCP{}).Status())
	if len(got) != 4 || got[3].Text != "start it" || got[3].Group != "c: not started, 0 tools: c is not fetched: pawl mcp fetch c" || got[0].Group != "a: runs, 2 tools, process 4, started 2 times" || got[0].ID != "restart a" ||
		got[1].ID != "accept a" || !strings.Contains(got[1].More, "tool:x: changed") || got[2].Group != "b: failed, 0 tools: no such program" {
		t.Errorf("%+v", got)
	}
}
