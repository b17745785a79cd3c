package progress

import (
	"fmt"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// SPEC 6.7: a check that pawl runs by itself is judged like the model's own run
// of it, and one that could not run says nothing.
func TestCheckedIsJudged(t *testing.T) {
	t.Parallel()
	for _, why := range []string{"", "not installed"} {
		l := newLive(t)
		one := 1
		ds := l.until(12, func(i int) (string, []does) {
			l.add(event.Checked{Command: "go test ./...", Exit: &one, Why: why, Output: "--- FAIL: TestX\n    x_test.go:3: got 1"})
			l.add(event.Prompted{Source: event.Autofix, Text: "it failed"})
			return fmt.Sprint("try ", i), []does{
				{tool: "edit", args: fmt.Sprintf(`{"path":"a.go","old":"%d","new":"%d"}`, i, i+1), result: "edited", file: "a.go", before: fmt.Sprint("h", i), now: fmt.Sprint("h", i+1)},
			}
		})
		tests := l.f.Stats().TestsRun
		if why != "" {
			if len(ds) != 0 || tests != 0 {
				t.Errorf("%s, %d tests", names(ds), tests)
			}
			continue
		}
		if tests != 12 {
			t.Errorf("%d tests", tests)
		}
	}
	l := newLive(t)
	one, zero := 1, 0
	for i := range 5 {
		l.step("", does{tool: "edit", args: fmt.Sprintf(`{"path":"a.go","old":"%d"}`, i), result: "edited", file: "a.go", before: fmt.Sprint("h", i), now: fmt.Sprint("h", i+1)})
		l.add(event.Replied{})
		l.add(event.Checked{Command: "go test ./...", Exit: &one, Output: "--- FAIL: TestX"})
	}
	d := l.f.Next()
	if d.Action != Recover || !strings.Contains(d.Text, "check go test ./...") || !strings.Contains(d.Text, "changed a.go") {
		t.Errorf("%v: %s", d.Action, d.Text)
	}
	l.add(event.Checked{Command: "go test ./...", Exit: &zero})
	if l.f.Last().Level > Warn {
		t.Errorf("%+v", l.f.Last())
	}
}
