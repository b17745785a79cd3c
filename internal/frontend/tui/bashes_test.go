package tui

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// A command in the background is counted with its server's address, its output can be
// watched, and it can be ended. A view of it leaves no trace.
//
// SPEC 18.2
func TestBackgroundCommands(t *testing.T) {
	r := newTestScreen(t, llmtest.New(
		llmtest.Use("bash", `{"command":"echo first; echo Local: http://0.0.0.0:5173/ ; exec sleep 600","background":true}`),
		llmtest.Use("bash_output", `{"id":"bg1","wait":60}`),
		llmtest.Say("It runs."),
	))
	r.mode = "yolo"
	r.start("")
	r.enter("serve it")
	r.see("It runs.")
	r.rest(1)
	r.see("1 job http://localhost:5173/")
	r.resize(40, 24)
	r.until("counted in a narrow window", func(string) bool { return strings.Contains(r.screen(), "· 1 job\n") })
	r.resize(80, 24)
	r.see("1 job http://localhost:5173/")
	r.enter("/bashes")
	r.see("commands in the background: type to search")
	r.see("Local: http://0.0.0.0:5173/") // the end of what the selected one prints
	r.press("enter")
	r.see("first")
	r.see("bg1 echo first;")
	r.press("q")
	r.until("left", func(string) bool { return !strings.Contains(r.screen(), "q leaves") })
	r.enter("/bashes")
	r.see("end it, with all its processes")
	r.enter("end it")
	r.see("ended bg1")
	r.until("none is counted", func(string) bool { return !strings.Contains(r.screen(), "1 job") })
	r.enter("/tasks ")
	r.see("nothing runs in the background")
}

// SPEC 18.2: the status line says where the commands in the background are.
func TestWhereJobs(t *testing.T) {
	silent := tool.Job{Tail: func() string { return "working\n" }}
	server := tool.Job{Tail: func() string { return "on http://127.0.0.1:80/\n" }}
	if got := whereJobs([]tool.Job{silent}) + " " + whereJobs([]tool.Job{silent, server}); got != "(/bashes) http://127.0.0.1:80/" {
		t.Error(got)
	}
}
