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
		if *c.Exit == 0 && c.Untested != "" && c.Untested != evidence.RunsNone {
			s += ", " + c.Untested
		}
		if len(c.Changed) > 0 {
			s += ", and it changed " + strings.Join(c.Changed, ", ")
		}
	}
	return plain.Line(cut(s, 300))
}
