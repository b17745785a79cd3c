package session_test

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/engine/session"
)

// What the model is told of a command's output is what a person sees of it, once and short,
// also where the middle is left out: of a tool's call, and of a command of the person's.
func TestReadableOutput(t *testing.T) {
	for name, c := range map[string]struct{ command, has string }{
		"progress":    {`for i in $(seq 2000); do printf '\r\033[2K\033[32m%d of 2000 of the files\033[0m' $i; done; echo; echo ready`, "2000 of 2000 of the files\nready\n"},
		"binary":      {`for i in $(seq 2000); do printf '\177ELF\001\000\000\000\000\000\000\000\000\000'; done`, "[binary output, "},
		"equal lines": {`for i in $(seq 3000); do echo the same line; done`, "[the line above "},
	} {
		r := newRig(t, "yolo", llmtest.New(llmtest.Use("bash", args(j{"command": c.command})), llmtest.Say("seen")))
		if _, err := r.RunPrompt(t.Context(), session.Prompt{Text: "go"}, session.Observer{}); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Do(t.Context(), session.RunCommand{Command: c.command}); err != nil {
			t.Fatal(err)
		}
		for _, e := range r.Log() {
			text := ""
			switch b := e.Body.(type) {
			case event.CallDone:
				text = b.Result.Text
			case event.PersonRan:
				if text = b.Output; name == "equal lines" {
					continue
				}
			default:
				continue
			}
			if len(text) > 800 || !strings.Contains(text, c.has) {
				t.Errorf("%s: %s: %d bytes: %q", name, e.Body.Kind(), len(text), text[:min(len(text), 1500)])
			}
		}
	}
}
