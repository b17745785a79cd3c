//go:build unix

package session_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 4.1, 19: eight commands of one step run at once. Each reads a pipe that nobody
// writes to before all eight have opened theirs: one that had to wait for another would
// wait until its time is over.
func TestEightCommandsAtOnce(t *testing.T) {
	lines := []string{
		"cat %s", "sleep 0 && cat %s", "cat < %s", "head -c 100 %s", "cat %s | sort", "cd . && cat %s", "echo got; cat %s", "grep -c . %s",
	}
	var calls []string
	for i, line := range lines {
		line = fmt.Sprintf(line, fmt.Sprint("pipe", i))
		calls = append(calls, "bash", args(map[string]any{"command": line, "timeout": 120}))
	}
	r := newRig(t, "accept-edits", llmtest.New(llmtest.Use(calls...), llmtest.Say("done")))
	for i := range lines {
		must.Do(t, mkfifo(filepath.Join(r.Dir, fmt.Sprint("pipe", i))))
	}
	go func() {
		var open []*os.File
		for i := range lines {
			// It opens once a command reads from it.
			f, err := os.OpenFile(filepath.Join(r.Dir, fmt.Sprint("pipe", i)), os.O_WRONLY, 0)
			if err != nil {
				t.Error(err)
				return
			}
			open = append(open, f)
		}
		for _, f := range open {
			_, _ = f.WriteString("all are here\n")
			_ = f.Close()
		}
	}()
	done := find[event.CallDone](r.Run("read all", nil))
	if len(done) != len(lines) {
		t.Fatalf("%d results", len(done))
	}
	for i, d := range done {
		if d.Outcome != event.OK {
			t.Errorf("%s: %s %q", lines[i], d.Outcome, d.Result.Text)
		}
	}
}
