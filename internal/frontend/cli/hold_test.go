//go:build unix

package cli

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// also runs another pawl beside a running one.
func (r *running) also(args ...string) (code int, stdout, stderr string) {
	r.t.Helper()
	c := pawl(r.t, r.dir, r.home, r.cmd.Env[3:], args...)
	var out, errs strings.Builder
	c.Stdout, c.Stderr = &out, &errs
	_ = c.Run() // the code says it
	return c.ProcessState.ExitCode(), out.String(), errs.String()
}

// SPEC 4.8, 10.4: a second pawl on a running session is refused in one sentence
// that says who has it and what to do, whatever flags it was given. It closes
// none of the other's calls, and the first one's turn ends as if it had been
// alone. Another session, or a fork, is free.
func TestASecondPawlIsRefused(t *testing.T) {
	t.Parallel()
	on, made := make(chan struct{}), make(chan struct{})
	r := begin(t, &llmtest.Server{Reply: func(n int, body []byte) llmtest.Turn {
		switch {
		case strings.Contains(string(body), "beside"):
			return llmtest.Say("beside it")
		case n == 0:
			<-made // the command's pipe
			return llmtest.Use("bash", `{"command":"echo begun > begun.txt; read -r x < gate; echo done > done.txt"}`)
		}
		<-on
		return llmtest.Say("all done")
	}}, "--output-format", "stream-json", "first")
	gate := filepath.Join(r.dir, "gate")
	err := syscall.Mkfifo(gate, 0o600)
	close(made)
	must.Do(t, err)
	r.until("call_started")
	var e struct{ Session string }
	must.Do(t, json.Unmarshal(r.last, &e))
	model := []string{"-m", "anthropic/claude-script"}
	for _, args := range [][]string{
		{"run", "-c", "beside"}, {"run", "--resume", e.Session, "beside"}, {"run", "--resume", e.Session[:8], "--permission-mode", "plan", "beside"},
		{"run", "--continue", "--output-format", "json", "beside"}, {"sessions", "delete", "--yes", e.Session},
	} {
		if args[0] == "run" {
			args = append(args, model...)
		}
		code, _, stderr := r.also(args...)
		if code != 3 || !strings.Contains(stderr, fmt.Sprintf("open in another pawl (process %d, since ", r.cmd.Process.Pid)) || strings.Count(stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d: %s", args, code, stderr)
		}
	}
	if code, out, stderr := r.also(append([]string{"run", "-c", "--fork-session", "beside"}, model...)...); code != 0 || !strings.Contains(out, "beside it") {
		t.Errorf("a fork: exit code %d: %s%s", code, out, stderr)
	}
	if code, out, stderr := r.also(append([]string{"run", "beside"}, model...)...); code != 0 || !strings.Contains(out, "beside it") {
		t.Errorf("another session: exit code %d: %s%s", code, out, stderr)
	}
	w, err := os.OpenFile(gate, os.O_WRONLY, 0) // the command reads it
	must.Do(t, err)
	must.Done(t)(w.WriteString("go\n"))
	_ = w.Close()
	close(on)
	if code := r.end(); code != 0 {
		t.Errorf("the first one: exit code %d: %s", code, r.stderr.String())
	}
	if _, err := os.Stat(filepath.Join(r.dir, "done.txt")); err != nil {
		t.Error(err)
	}
	code, out, stderr := r.also("sessions", "export", e.Session, "--format", "jsonl")
	if code != 0 || strings.Contains(out, string(event.UnknownDone)+`"`) && strings.Contains(out, "Outcome unknown") {
		t.Errorf("%d %s%s", code, out, stderr)
	}
	// Once it is over, the session is free again.
	if code, _, stderr := r.also(append([]string{"run", "--resume", e.Session, "beside"}, model...)...); code != 0 {
		t.Error(stderr)
	}
}

// SPEC 10.4: --no-session keeps nothing: of a run with a result that is too
// long for the model, a preview, changed files and a background command, no
// file is left, whether it ended by itself, was interrupted, or failed.
func TestNoSessionLeavesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		sig  syscall.Signal
		code int
	}{"ends": {0, 0}, "interrupted": {syscall.SIGINT, 130}, "terminated": {syscall.SIGTERM, 143}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := begin(t, &llmtest.Server{Reply: func(n int, _ []byte) llmtest.Turn {
				switch {
				case n == 0:
					return llmtest.Use("bash", `{"command":"seq 1 200000; echo x > made.txt"}`, "remember", `{"note":"tabs"}`)
				case n == 1 && tc.sig != 0:
					return llmtest.Use("bash", `{"command":"seq 1 200000; echo $$ > parent; echo started; sleep 1000; true"}`)
				}
				return llmtest.Say("over")
			}}, "--no-session", "--output-format", "stream-json", "hello")
			if tc.sig != 0 {
				r.until(`started\n`)
				r.signal(tc.sig)
			}
			if code := r.end(); code != tc.code {
				t.Errorf("exit code %d: %s", code, r.stderr.String())
			}
			err := filepath.WalkDir(r.home, func(path string, _ fs.DirEntry, err error) error {
				if err == nil && path != r.home && path != r.temp {
					t.Errorf("%s is left", path)
				}
				return err
			})
			if err != nil {
				t.Error(err)
			}
		})
	}
}
