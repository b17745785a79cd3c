package attach

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/shell"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/permission"
)

// The test binary is also a program that speaks to an owner's socket itself:
// "steer SOCKET" asks to take part, sets the mode, and writes what came of it to
// SOCKET.said before it ends.
func TestMain(m *testing.M) {
	if len(os.Args) == 3 && os.Args[1] == "steer" {
		said := steerRaw(os.Args[2])
		if err := os.WriteFile(os.Args[2]+".saying", []byte(said), 0o600); err == nil {
			_ = os.Rename(os.Args[2]+".saying", os.Args[2]+".said")
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

func steerRaw(socket string) string {
	c, err := net.Dial("unix", socket)
	if err != nil {
		return err.Error()
	}
	defer c.Close()
	for _, line := range []any{
		fromWatcher{Follow: &follow{Protocol: protocol, Steer: true}},
		fromWatcher{N: 1, Op: "mode", Args: json.RawMessage(`{"Mode":"yolo"}`)},
	} {
		if err := writeLine(c, line); err != nil {
			return err.Error()
		}
	}
	for lines := json.NewDecoder(c); ; {
		var m fromOwner
		if err := lines.Decode(&m); err != nil {
			return err.Error()
		}
		if m.Done != nil {
			if m.Done.Error != nil {
				return m.Done.Error.Message
			}
			return "done"
		}
	}
}

// A process that pawl started may watch and not take part, whatever it sends. The same
// holds for an unknown process.
//
// SPEC 18.1, 16.12
func TestOwnProcessesDoNotSteer(t *testing.T) {
	for name, c := range map[string]struct {
		started bool
		err     error
		want    string
	}{
		"pawl's own":         {true, nil, "was started by an agent"},
		"nobody knows whose": {false, errors.New("it is gone"), "cannot find out who"},
	} {
		t.Run(name, func(t *testing.T) {
			dir := state(t)
			cfg, s, _ := servedTo(t, dir, llmtest.New(llmtest.Say("a word")), func(pid int) (bool, error) {
				if pid != os.Getpid() {
					t.Errorf("asked about process %d", pid)
				}
				return c.started, c.err
			})
			if runtime.GOOS != "linux" && runtime.GOOS != "darwin" {
				c.want = "cannot find out who"
			}
			if _, err := Dial(t.Context(), dir, cfg.ID, true); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("--steer: %v", err)
			}
			before := s.View().Mode()
			if said := steerRaw(socketPath(dir, cfg.ID)); !strings.Contains(said, "only watches") || s.View().Mode() != before {
				t.Errorf("a program of its own: %s, the mode is %s", said, s.View().Mode())
			}
			w, _ := attached(t, dir, cfg, false)
			must.Done(t)(s.Submit(t.Context(), session.Prompt{Text: "x"}))
			until(t, w.Events(t.Context(), 0), ended)
		})
	}
}

// The same with processes: a command that is not confined tries it as itself,
// without its environment, and when it has lost all parents.
//
// SPEC 18.1, 16.12
func TestCommandsDoNotSteer(t *testing.T) {
	if runtime.GOOS != "linux" {
		return // elsewhere there is nothing by which an orphan is known
	}
	dir := state(t)
	cfg, s, _ := servedTo(t, dir, llmtest.New(), shell.Started)
	before := s.View().Mode()
	socket := socketPath(dir, cfg.ID)
	sh := shell.New(shell.Options{Root: t.TempDir()})
	defer sh.Close()
	steer := fmt.Sprintf("'%s' steer '%s' > /dev/null 2>&1", os.Args[0], socket)
	wait := fmt.Sprintf("\nuntil [ -e '%s.said' ]; do sleep 0.01; done", socket)
	for name, line := range map[string]string{
		"as it is":                 steer,
		"without its environment":  "env -i " + steer,
		"in its own session":       "env -i setsid " + steer + wait,
		"an orphan":                "(env -i setsid " + steer + " &) &" + wait,
		"an orphan, another limit": "ulimit -S -R unlimited; (env -i setsid " + steer + " &) &" + wait,
	} {
		_ = os.Remove(socket + ".said")
		must.Done(t)(sh.Run(t.Context(), tool.Run{Confine: process.Free, Command: line}))
		said, err := os.ReadFile(socket + ".said")
		if err != nil || !strings.Contains(string(said), "only watches") || s.View().Mode() != before {
			t.Errorf("%s: %s (%v), the mode is %s", name, said, err, s.View().Mode())
		}
	}
	// A person's process is none of these, unless pawl runs the test.
	if byPawl, err := shell.Started(os.Getppid()); byPawl || err != nil {
		return
	}
	_ = os.Remove(socket + ".said")
	// It begins when setsid has ended: before that it still descends from this process.
	line := fmt.Sprintf(`rm -f '%[1]s.go'; setsid -f bash -c 'until [ -e "$1.go" ]; do sleep 0.01; done; exec "$0" steer "$1"' '%[2]s' '%[1]s' > /dev/null 2>&1; touch '%[1]s.go'`, socket, os.Args[0])
	if out, err := exec.Command("bash", "-c", line+wait).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	if said, err := os.ReadFile(socket + ".said"); err != nil || string(said) != "done" || s.View().Mode() != permission.Yolo {
		t.Errorf("a person's: %s (%v), the mode is %s", said, err, s.View().Mode())
	}
}
