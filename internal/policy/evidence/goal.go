package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file decides whether a command that a person named as the goal of a run
// has been reached: it passed after the last change, and the run did not change
// what it checks.

// Goal reports whether pawl's own run of the goal reached it, and if not, why.
// changed permits the run to change existing tests.
func (r Report) Goal(line string, changed bool) (met bool, why string) {
	i := slices.IndexFunc(r.Checks, func(c Check) bool { return c.Own && c.Command == line })
	if i < 0 {
		return false, "it did not run after the last change"
	}
	c := r.Checks[i]
	tests := r.ChangedTests()
	switch {
	case c.Failed():
		return false, fmt.Sprintf("exit code %d", c.Exit)
	case !c.OK:
		return false, c.Why
	case c.redefined:
		return false, c.Untested
	case len(tests) > 0 && !changed:
		return false, "it passes, but with tests that the run changed: " + strings.Join(tests, ", ")
	case c.Tests > 0 || c.Untested == RunsNone || c.Untested == notShown && !runsTests(line):
		return true, ""
	}
	return false, "its exit code is 0, but " + strings.TrimPrefix(c.Untested, "its exit code is 0, but ")
}

// GoalTells returns why the exit code of a line cannot show whether the goal is
// reached; "" if it can.
func GoalTells(line string) string {
	switch {
	case strings.TrimSpace(line) == "":
		return "it is empty"
	case !command.OnlyAnd(line):
		return "its exit code may be another command's than the one that fails: join commands with &&, or put them into a script"
	}
	return ""
}

// runsTests reports whether a line runs a program that is known to report how
// many tests ran.
func runsTests(line string) bool {
	_, last, ok := command.LastCheck(line, "/")
	return ok && last.Proof == command.Tests
}
