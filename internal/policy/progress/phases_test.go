package progress

import (
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 6.6: only a run whose output shows that a test ran counts as a test run
// that passed, for phases and milestones alike, whoever ran it.
func TestTestRuns(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, command, output string
		exit, want            int
	}{
		{"a test", "go test -v ./...", "=== RUN   TestA\n--- PASS: TestA (0.00s)\nPASS\nok  \tx.com/a\t0.01s\n", 0, 1},
		{"pytest", "pytest", "===== 3 passed in 0.10s =====\n", 0, 1},
		{"vet", "go vet ./...", "", 0, 0},
		{"a build", "go build ./...", "", 0, 0},
		{"no test files", "go test ./...", "?   \tx.com/a\t[no test files]\n", 0, 0},
		{"no test files, verbose", "go test -v ./...", "?   \tx.com/a\t[no test files]\n", 0, 0},
		{"no tests to run", "go test -v -run Nothing ./...", "testing: warning: no tests to run\nPASS\nok  \tx.com/a\t0.01s [no tests to run]\n", 0, 0},
		{"all skipped", "npx vitest run", " Test Files  1 skipped (1)\n      Tests  2 skipped (2)\n", 0, 0},
		{"a failure", "go test -v ./...", "=== RUN   TestA\n--- FAIL: TestA (0.00s)\nFAIL\n", 1, 0},
	} {
		l := newLive(t)
		l.add(event.CallAsked{ID: "1", Tool: "bash", Does: tool.Exec, Args: []byte(`{"command":"` + c.command + `"}`)})
		l.add(event.CallDone{ID: "1", Tool: "bash", Outcome: event.OK, Command: c.command, Exit: &c.exit, Result: llm.Result{Text: c.output}})
		if got := l.f.Recent().TestsOK; got != c.want {
			t.Errorf("%s: milestones count %d, want %d", c.name, got, c.want)
		}
		if got := l.f.Phases().Totals(l.log[0].Time).TestsOK; got != c.want {
			t.Errorf("%s: phases count %d, want %d", c.name, got, c.want)
		}
	}
	for tests, want := range map[int]int{0: 0, 3: 1} {
		l, exit := newLive(t), 0
		l.add(event.Checked{Name: "go test", Command: "go test ./...", Exit: &exit, Tests: tests})
		if a, b := l.f.Recent().TestsOK, l.f.Phases().Totals(l.log[0].Time).TestsOK; a != want || b != want {
			t.Errorf("a check with %d tests counts %d and %d", tests, a, b)
		}
	}
}
