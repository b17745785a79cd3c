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

// FuzzSameArgs: arguments are decoded once, and what comes of them is what
// decoding each part by itself gave: recorded blocks compare it. SPEC 19.3
func FuzzSameArgs(f *testing.F) {
	for _, s := range []string{
		`{"command":"make  test # x","timeout":5,"description":"d"}`, `{"command":"","a":1}`, `{"command":7}`, `{"command":null}`, `null`, `[1]`,
		`{"a":1e400,"b":12345678901234567890,"command":"a<b>&c\u2028"}`, `{"command":"a","command":"b"}`, `{"a":{"x":1,"x":2},"command":"ls"}`,
		"{\"command\":\"\xff\xfe\"}", `{"command":"\ud800"}`, ` {"b":1} `, `{"b":1} x`, `{`, ``, `"s"`, `{"Command":"x"}`, `{"a":{"command":"x"}}`,
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, raw []byte) {
		args, command := sameArgs(raw)
		if wantArgs, want := inParts(raw); args != wantArgs || command != want {
			t.Fatalf("%q: %q and %q, want %q and %q", raw, args, command, wantArgs, want)
		}
	})
}

// inParts is how sameArgs was before.
func inParts(raw json.RawMessage) (args, command string) {
	var m map[string]json.RawMessage
	if json.Unmarshal(raw, &m) != nil || json.Unmarshal(m["command"], &command) != nil || command == "" {
		return normalize.CanonicalArgs(raw), ""
	}
	delete(m, "description")
	delete(m, "timeout")
	line, err := json.Marshal(normalize.CanonicalCommand(command))
	if err != nil {
		return normalize.CanonicalArgs(raw), command
	}
	m["command"] = line
	out, err := json.Marshal(m)
	if err != nil {
		return normalize.CanonicalArgs(raw), command
	}
	return normalize.CanonicalArgs(out), command
}
