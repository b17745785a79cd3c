package progress

import (
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/normalize"
	"github.com/pawl-agent/pawl/internal/policy/phase"
)

// ApplyPhases folds an event into the phases of a task, with what only this
// package knows: which calls are test runs that passed, and the text for a run
// that goes in circles. Every fold of phases uses it. It reports whether the
// event opened a new phase.
func ApplyPhases(f *phase.Fold, e event.Event) (opened bool) {
	opened = f.Apply(e)
	switch b := e.Body.(type) {
	case event.CallDone:
		if ranTests(b) {
			f.TestPassed()
		}
	case event.Checked:
		if b.Exit != nil && *b.Exit == 0 && b.Why == "" && b.Tests > 0 {
			f.TestPassed()
		}
	case event.Stuck:
		if b.Level != event.StuckRecovery {
			f.Blocker(normalize.OneLine(fmt.Sprintf("%s (%s): %s", b.Level, b.Rule, Loop(b)), 160))
		}
	}
	return opened
}

// ranTests reports whether a call was a test run that passed: one whose output
// shows that a test ran. Builds and vet are checks too, and so is a test command
// in a project without tests.
func ranTests(b event.CallDone) bool {
	return b.Command != "" && b.Outcome == event.OK && !b.Result.Error && !Echoes(b.Command, b.Result.Text) &&
		slices.ContainsFunc(b.Lines(), func(l event.Line) bool {
			return (l.Exit == nil || *l.Exit == 0) && command.IsCheck(l.Command) && evidence.CountIn(b.Command, l.Command, b.Result.Text).Ran > 0
		})
}
