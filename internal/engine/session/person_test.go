package session_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/engine/session"
	"github.com/pawl-agent/pawl/internal/policy/window"
)

// SPEC 4.11, 9.2: of a person's command the model is shown as much as of a
// tool's result, with the file that has the whole.
func TestPersonRunsLong(t *testing.T) {
	for name, command := range map[string]string{
		"within the shell's bound": "seq 1 4000",
		"over it":                  "seq 1 90000",
		"one line":                 "head -c 20000 /dev/zero | tr '\\0' x; echo; echo end",
	} {
		t.Run(name, func(t *testing.T) {
			m := llmtest.New()
			m.InfoValue.Window = 16_000
			r := newRig(t, "ask", m)
			must.Done(t)(r.do(session.RunCommand{Command: command}))
			ran := find[event.PersonRan](r.Log())[0]
			if n := (window.Estimate{}).Count(ran.Output); n > 2000 || n < 100 {
				t.Errorf("%d tokens", n)
			}
			if !strings.Contains(ran.Output, " left out; the whole is in ") {
				t.Fatalf("%.300s", ran.Output)
			}
			_, file, _ := strings.Cut(ran.Output, "the whole is in ")
			file, _, _ = strings.Cut(file, " …]")
			whole := must.Get(os.ReadFile(file))(t)
			want, err := exec.Command("bash", "-c", command).Output()
			if err != nil || string(whole) != string(want) {
				t.Errorf("%d bytes in the file, want %d; %v", len(whole), len(want), err)
			}
			r.Run("what did I run?", nil)
			for _, sent := range m.Requests()[0].Messages {
				if text := sent.Text(); strings.Contains(text, command) && !strings.Contains(text, ran.Output) {
					t.Errorf("the model was told otherwise: %.300s", text)
				}
			}
		})
	}
}
