package brief

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/frontend/plain"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// Mending says that pawl asked the model to mend what failed.
const Mending = "the model is asked to mend it"

// Check says which check pawl runs by itself.
func Check(command string) string { return "check: " + plain.Line(cut(command, 160)) }

// Checked says how it went, to stand behind Check.
func Checked(c event.Checked) string {
	s := c.Why
	switch {
	case s != "":
	case c.Exit == nil:
		s = "it did not run to its end"
	default:
		s = fmt.Sprintf("exit code %d", *c.Exit)
		if c.Failures > 0 {
			s += " (" + Plural(c.Failures, "failure", "failures") + ")"
		}
		if len(c.Changed) > 0 {
			s += ", and it changed " + strings.Join(c.Changed, ", ")
		}
	}
	return plain.Line(cut(s, 300))
}

// proof says whether a turn's changes are verified, and by what.
func proof(r evidence.Report) string {
	v := r.Verified
	if v == nil {
		why := r.Unverified
		if why == "" {
			why = "no check ran after the last change"
		}
		return "not verified: " + plain.Line(why)
	}
	if v.OK {
		var names []string
		for _, c := range r.Checks {
			if c.OK && !c.Part && (c.Own || c.Command == v.Command) {
				names = append(names, plain.Line(c.Command))
			}
		}
		if len(names) == 0 {
			names = []string{plain.Line(v.Command)}
		}
		return "verified: " + strings.Join(names, ", ") + ", exit code 0" + changedTests(r)
	}
	var failed []string
	for _, c := range r.Checks {
		if c.Failed() && (c.Own || c.Command == v.Command) {
			failed = append(failed, fmt.Sprintf("%s, exit code %d", plain.Line(c.Command), c.Exit))
		}
	}
	s := strings.Join(failed, "; ")
	switch len(failed) {
	case 0:
		s = fmt.Sprintf("%s, exit code %d", plain.Line(v.Command), v.Exit)
	case 1:
	default:
		s = fmt.Sprintf("%d checks fail: ", len(failed)) + s
	}
	if r.Attempts > 0 {
		s += ", after " + Plural(r.Attempts, "attempt", "attempts") + " to mend it"
	}
	return "not verified: " + s
}

// changedTests warns of a check that passed with tests other than those that
// were there.
func changedTests(r evidence.Report) string {
	tests := r.ChangedTests()
	switch len(tests) {
	case 0:
		return ""
	case 1:
		return ", with a changed test: " + plain.Line(tests[0])
	}
	return fmt.Sprintf(", with %d changed test files: %s, …", len(tests), plain.Line(tests[0]))
}
