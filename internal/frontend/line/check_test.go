package line

import (
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/core/llm/llmtest"
	"github.com/pawl-agent/pawl/internal/team/autofix"
)

// SPEC 13.3, 4.15, 16.4: a person sees the checks of a turn, is asked about
// them once, and again when the agent changed what they are.
func TestChecks(t *testing.T) {
	m := llmtest.New(
		llmtest.Use("write", `{"path":"a.c","content":"bad"}`), llmtest.Say("It is good."),
		llmtest.Use("read", `{"files":[{"path":"a.c"}]}`, "write", `{"path":"a.c","content":"good"}`), llmtest.Say("Now it is."),
		llmtest.Use("read", `{"files":[{"path":"check.sh"}]}`, "write", `{"path":"check.sh","content":"exit 0"}`), llmtest.Say("The check is easier now."),
	)
	r := newTestConversation(t, m, keysOf("make it good", "y", "s", "y", "ease the check", "y", "n", "again", "quit")...)
	r.put("check.sh", "! grep bad a.c || { echo error: a.c is bad; exit 1; }\necho 1 passed in 0.01s\n")
	r.fixer = autofix.New(autofix.Config{Find: (&checks.Finder{Root: r.dir, Configured: []checks.Configured{{Name: "ours", Command: "sh check.sh"}}}).Find})
	_, seen := r.run()
	shown(t, "checks", seen)
	safe(t, seen)
}

// SPEC 18.2: what a failing command printed is seen here as well, its beginning and
// its end; of what succeeds the first lines.
func TestFailedOutput(t *testing.T) {
	m := llmtest.New(llmtest.Use("bash", `{"command":"seq 10000; echo oops; exit 3"}`), llmtest.Use("bash", `{"command":"echo fine"}`), llmtest.Say("Done."))
	r := newTestConversation(t, m, keysOf("go", "yes", "quit")...)
	_, seen := r.run()
	for _, want := range []string{"exit code 3", "\n    1\n    2\n    3\n    4\n    … 9989 lines between\n    9994\n", "    oops\n  bash echo fine"} {
		if !strings.Contains(seen, want) {
			t.Errorf("%q is not seen:\n%s", want, seen)
		}
	}
	if !strings.Contains(seen, "1 line\n    fine\nDone.") {
		t.Errorf("a success shows something else:\n%s", seen)
	}
}
