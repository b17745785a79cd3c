package progress

import (
	"encoding/json"
	"fmt"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
)

// SPEC 6.4: what a command does decides how it counts.
func TestCommandKind(t *testing.T) {
	t.Parallel()
	for line, want := range map[string]Kind{
		"go test ./...":                     Test,
		"cd sub && npm test":                Test,
		"sleep 30 && tail build.log":        Wait,
		"sleep 2; curl -s localhost/health": Wait,
		"sleep 5":                           Wait,
		"sleep 1 && ./deploy.sh":            Exec,
		"grep -rn foo .":                    Search,
		"cat a.go | head":                   Read,
		"python3 x.py":                      Exec,
		"rm -rf build":                      Exec,
		"if then":                           Exec,
	} {
		if got := CommandKind(line); got != want {
			t.Errorf("%q is %s, want %s", line, got, want)
		}
	}
	for does, want := range map[tool.Kind]Kind{tool.Read: Read, tool.Search: Search, tool.Edit: Edit, tool.Wait: Wait, tool.Note: Think, tool.Exec: Exec, "": Exec} {
		if got := describe(event.CallAsked{Does: does, Args: json.RawMessage(`{}`)}).kind; got != want {
			t.Errorf("%q is %s, want %s", does, got, want)
		}
	}
	for text, want := range map[string]bool{"HTTP 429": true, "Too Many Requests": true, "line 4290": false, "error": false} {
		if normalize.RateLimited(text) != want {
			t.Errorf("normalize.RateLimited(%q) = %v", text, !want)
		}
	}
}

// SPEC 6.3: an action with an error that was seen weighs two, a look that
// failed as well; one that found nothing weighs one.
func TestFailedLooksWeigh(t *testing.T) {
	t.Parallel()
	missing := func(i int) []Step { return []Step{failed(read(fmt.Sprint("gone", i), ""), "does not exist")} }
	if _, _, raw := play(only("staleness"), times(30, missing)...); raw.Halt == nil || *raw.Halt != 10 {
		t.Errorf("failed looks: %v", raw.Halt)
	}
	empty := func(i int) []Step { return []Step{{Tool: "grep", Kind: Search, Args: fmt.Sprint(i), OK: true}} }
	if _, _, raw := play(only("staleness"), times(30, empty)...); raw.Halt == nil || *raw.Halt != 19 {
		t.Errorf("empty looks: %v", raw.Halt)
	}
}

// SPEC 6.2: a command is the same whatever time limit and description it has.
func TestSameCommand(t *testing.T) {
	t.Parallel()
	bash := func(args string) call {
		return describe(event.CallAsked{Tool: "bash", Does: tool.Exec, Args: json.RawMessage(args)})
	}
	x, y := bash(`{"command":"make","timeout":5,"description":"build"}`), bash(`{"command":"make","description":"build again"}`)
	if x.args != y.args || x.kind != Test {
		t.Errorf("%+v\n%+v", x, y)
	}
}
