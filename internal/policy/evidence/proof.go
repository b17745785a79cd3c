package evidence

import (
	"fmt"
	"strings"

	"github.com/pawl-agent/pawl/internal/policy/command"
)

// This file describes in words what is proven about a turn's changes, in one place for
// every closing line, result and report.

// Word is the name of a turn's proof.
type Word string

// The names.
const (
	Verified   Word = "verified"     // a check passed after the last change, and a test ran in it
	Built      Word = "built"        // they compile, and no test ran
	Unverified Word = "not verified" // neither of these, or a check fails
)

const (
	nothingRan = "no check ran after the last change"
	noEnd      = "it did not run to its end"
)

// Word returns the name of the proof.
func (r Report) Word() Word {
	switch {
	case r.Verified != nil && r.Verified.OK:
		return Verified
	case r.Verified == nil && r.Built != nil:
		return Built
	}
	return Unverified
}

// Proof returns the proof and its check, as a sentence without the full stop.
func (r Report) Proof() string {
	word := r.Word()
	switch word {
	case Verified:
		return string(word) + ": " + r.names(r.Verified, func(c Check) bool { return c.OK && (c.Tests > 0 || !c.Built) }) + ", exit code 0" + r.changedTests()
	case Built:
		return string(word) + ": " + r.names(r.Built, func(c Check) bool { return c.OK && c.Built && c.Tests == 0 }) + ", exit code 0" + r.untested()
	}
	return string(word) + ": " + r.Reason()
}

// Reason returns why the changes are not verified.
func (r Report) Reason() string {
	switch {
	case r.Verified == nil && r.Unverified == "":
		return nothingRan
	case r.Verified == nil:
		var failed, passed []string
		for _, c := range r.Checks { // of the model's, where none of pawl's own decides
			switch {
			case c.Own || strings.HasPrefix(r.Unverified, short(c.Command)+":"):
			case c.Failed():
				failed = append(failed, short(c.Command))
			case c.OK:
				passed = append(passed, short(c.Command))
			}
		}
		return r.Unverified + list("failed", failed) + list("passed", passed)
	}
	var failed, passed []string
	for _, c := range r.Checks {
		switch {
		case c.Failed() && (c.Own || c.Command == r.Verified.Command):
			failed = append(failed, c.outcome())
		case c.OK && c.Own:
			passed = append(passed, short(c.Command))
		}
	}
	s := strings.Join(failed, "; ")
	switch len(failed) {
	case 0:
		s = r.Verified.outcome()
	case 1:
	default:
		s = fmt.Sprintf("%d checks fail: ", len(failed)) + s
	}
	s += list("passed", passed)
	switch r.Attempts {
	case 0:
	case 1:
		s += ", after 1 attempt to fix it"
	default:
		s += fmt.Sprintf(", after %d attempts to fix it", r.Attempts)
	}
	return s + r.changedTests()
}

// short cuts a long command line in the middle of a sentence.
func short(line string) string {
	const most = 100
	if r := []rune(line); len(r) > most {
		return string(r[:most]) + " …"
	}
	return line
}

// names returns the names of pawl's own checks of the whole that are like the deciding
// one, and of that one.
func (r Report) names(decides *Check, like func(Check) bool) string {
	var out []string
	for _, c := range r.Checks {
		if like(c) && !c.Part && (c.Own || c.Command == decides.Command) {
			out = append(out, c.Command)
		}
	}
	if len(out) == 0 {
		return decides.Command
	}
	return strings.Join(out, ", ")
}

// untested states that no test ran, if that is known, and otherwise which check
// ran without showing a test.
func (r Report) untested() string {
	for _, c := range r.Checks {
		if c.OK && !c.Built && (c.Untested == notClear || c.Untested == notShown) && canTest(c.Command) {
			return "; " + c.Command + " too, and " + c.Untested
		}
	}
	return ", and no test ran"
}

// changedTests warns of a check that passed with changed tests.
func (r Report) changedTests() string {
	switch changed := r.ChangedTests(); len(changed) {
	case 0:
		return ""
	case 1:
		return ", with a changed test: " + changed[0]
	default:
		return fmt.Sprintf(", with %d changed test files: %s, …", len(changed), changed[0])
	}
}

// verdict finds the deciding check, or one that shows that the project
// compiles, or why there is neither.
func (f *Fold) verdict() (decides, built *Check, why string) {
	var part, idle *Check
	for i := range f.checks { // each of pawl's own counts
		c := &f.checks[i]
		switch {
		case !c.Own, c.inert: // what nobody lets pawl run decides nothing: the model's own do
		case c.Failed():
			decides = c
		case !c.OK:
			why = c.outcome()
		case c.Part:
			part = c
		case !c.Proves() && canTest(c.Command):
			idle = c // a project whose tests did not run
		}
	}
	if decides != nil || why != "" {
		return decides, nil, why
	}
	decides, built, why = f.newest()
	switch {
	case decides != nil && (idle == nil || decides.Failed()):
		return decides, nil, ""
	case idle != nil && idle.Built:
		return nil, idle, idle.Command + ": " + idle.Untested
	case idle != nil:
		return nil, nil, idle.Command + ": " + idle.Untested
	case part != nil:
		return nil, nil, "only a part was checked: " + part.Command + ", exit code 0"
	}
	return nil, built, why
}

// newest finds the newest check that failed or proves something, except checks
// of a part; else the newest that built, and why none proves anything.
func (f *Fold) newest() (decides, built *Check, why string) {
	inert := false
	for i := len(f.checks) - 1; i >= 0; i-- {
		c := &f.checks[i]
		reason := c.Untested
		switch {
		case c.Part:
			continue
		case c.Failed(), c.Proves():
			return c, nil, ""
		case !c.OK:
			reason = c.Why
		case c.Built && built == nil:
			built = c
		}
		if why == "" || inert && !c.inert { // what the model ran says more
			why, inert = c.Command+": "+reason, c.inert
		}
	}
	if why == "" {
		why = f.why
	}
	if why == "" {
		why = nothingRan
		if f.last != "" {
			why += "; before it: " + f.last
		}
	}
	return nil, built, why
}

// canTest reports whether a check runs tests if there are any.
func canTest(line string) bool {
	_, last, ok := command.LastCheck(line, "/")
	return ok && last.Proof >= command.Tests
}
