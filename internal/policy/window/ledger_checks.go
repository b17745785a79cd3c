package window

import (
	"fmt"
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/policy/command"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// ranCheck records how a command line with a check ended.
func (l *ledger) ranCheck(d event.CallDone) {
	told := d.Checks != nil
	for _, r := range d.Lines() {
		if !command.IsCheck(r.Command) {
			continue
		}
		told = true
		passed := 0
		if r.Exit != nil && *r.Exit == 0 {
			passed = evidence.CountIn(d.Command, r.Command, d.Result.Text).Ran
		}
		l.checked(r.Command, ended(r.Exit, passed, ""), r.Exit != nil)
	}
	if !told && hasCheck(d.Command) {
		// The exit code is that of another command, such as tail: the output has to tell.
		l.checked(d.Command, "its output ended: "+evidenceOf(d.Result.Text), d.Exit != nil)
	}
}

// hasCheck reports whether a command of a line is a check.
func hasCheck(line string) bool {
	cmds, err := command.Parse(line, "/")
	return err == nil && slices.ContainsFunc(cmds, func(c shellsyntax.Command) bool {
		c.Piped = false
		_, ok := command.CheckOf(c)
		return ok
	})
}

// checkedAfterTurn records a check that pawl ran by itself.
func (l *ledger) checkedAfterTurn(b event.Checked) {
	switch {
	case b.Command == "":
		return // none ran
	case b.Why != "":
		l.checked(b.Command, clip(b.Why, maxSaid/2), false)
		return
	}
	cause := ""
	if len(b.Failed) > 0 {
		cause = b.Failed[0].Cause
	}
	l.checked(b.Command, ended(b.Exit, b.Tests, clip(cause, maxSaid/2)), b.Exit != nil)
}

// ended says how a check ended: tests is how many passed, if that is known.
func ended(exit *int, tests int, cause string) string {
	how := "did not end"
	switch {
	case exit != nil && *exit != 0:
		how = fmt.Sprintf("exit code %d", *exit)
	case exit != nil && tests > 0:
		how = fmt.Sprintf("passed (tests: %d)", tests)
	case exit != nil:
		how = "passed"
	}
	if cause != "" {
		how += ": " + cause
	}
	return how
}

// checked records a check; the same line once more takes the place of the earlier one. Only
// one that came to its end has checked the files.
func (l *ledger) checked(line, how string, toItsEnd bool) {
	r := &ran{line: clip(line, maxSaid/2), how: how, at: l.changes}
	l.checks = append(slices.DeleteFunc(slices.Clone(l.checks), func(old *ran) bool { return old.line == r.line }), r)
	l.checks = l.checks[max(0, len(l.checks)-maxChecks):]
	if toItsEnd {
		l.checkedAt = l.changes
	}
}

func (r *ran) text(changes int) string {
	return "- `" + r.line + "`: " + r.how + since(changes-r.at)
}

// since says how many changes were made after a command ran.
func since(n int) string {
	if n <= 0 {
		return ""
	}
	return fmt.Sprintf(" (changes of files since: %d)", n)
}
