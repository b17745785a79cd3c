package evidence

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/plural"
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

// Proof returns the proof as a sentence without the full stop. It names each check once at
// most.
func (r Report) Proof() string { return strings.Join(r.Lines(), "; ") }

// Lines returns the proof in lines: what is proven and by which check, or why it is not, and
// then what the other checks say.
func (r Report) Lines() []string {
	word := string(r.Word()) + ": "
	switch r.Word() {
	case Verified:
		like := func(c Check) bool { return c.OK && (c.Tests > 0 || !c.Built) }
		return append([]string{word + r.passing(r.Verified, like) + r.changedTests()}, r.rest(r.Verified, like)...)
	case Built:
		like := func(c Check) bool { return c.OK && c.Built && c.Tests == 0 }
		return append([]string{word + r.passing(r.Built, like) + r.untested()}, r.rest(r.Built, like)...)
	}
	why := r.reason()
	why[0] = word + why[0]
	return why
}

// Reason returns why the changes are not verified.
func (r Report) Reason() string { return strings.Join(r.reason(), "; ") }

func (r Report) reason() []string {
	if r.Verified == nil {
		why := cmp.Or(r.Unverified, nothingRan)
		if changed, ok := strings.CutPrefix(r.changedTests(), ","); ok && r.part != nil {
			why += ";" + changed // not of what is named last
		}
		return append([]string{why}, r.rest(r.about, nil)...)
	}
	fails := func(c Check) bool { return c.Failed() }
	var failed []Check
	known := true // each failure is, and none is the turn's doing
	for _, c := range r.Checks {
		if r.leads(c, r.Verified, fails) {
			failed = append(failed, c)
			known = known && len(c.Failures) > 0 && !slices.ContainsFunc(c.Failures, Failure.Open)
		}
	}
	ends := outcomes(failed)
	switch {
	case len(ends) > 1 && known:
		ends = append([]string{fmt.Sprintf("nothing new fails, in %d checks", len(failed))}, ends...)
	case len(ends) > 1:
		ends = append([]string{fmt.Sprintf("%d checks fail", len(failed))}, ends...)
	case known:
		ends[0] = "nothing new fails: " + ends[0]
	}
	more := r.changedTests()
	switch r.Attempts {
	case 0:
	case 1:
		more = ", after 1 attempt to fix it" + more
	default:
		more = fmt.Sprintf(", after %d attempts to fix it", r.Attempts) + more
	}
	ends[0] += more
	return append(ends, r.rest(r.Verified, fails)...)
}

// leads reports whether a check is named first: the deciding one, and those of pawl's own
// that are like it.
func (r Report) leads(c Check, decides *Check, like func(Check) bool) bool {
	return decides != nil && (c.Command == decides.Command || c.Own && like != nil && like(c) && (!c.Part || c.Failed()))
}

// passing names the checks that lead, and how many tests ran in the largest: the others
// may have run the same ones.
func (r Report) passing(decides *Check, like func(Check) bool) string {
	var out []string
	tests := 0
	for _, c := range r.Checks {
		if r.leads(c, decides, like) {
			out = append(out, short(c.Command))
			tests = max(tests, c.Tests)
		}
	}
	s := strings.Join(out, ", ") + ", exit code 0"
	if tests > 0 {
		s += ", " + plural.Of(tests, "test")
	}
	return s
}

// rest names the checks that do not lead, each under one heading: those that failed, those
// that passed where nothing is proven by that, and pawl's own that came to no end. What a
// check that passed has looked at too is not told.
func (r Report) rest(decides *Check, like func(Check) bool) []string {
	var failed, passed, unsteady []string
	var stopped []Check
	for i, c := range r.Checks {
		covered := slices.ContainsFunc(r.Checks, func(o Check) bool {
			return o.OK && o.Command != c.Command && command.Covers(o.Command, c.Command)
		})
		if later := func(o Check) bool { return o.OK && command.Covers(o.Command, c.Command) }; c.unsteady || c.Failed() && slices.ContainsFunc(r.Checks[i:], later) {
			unsteady = append(unsteady, short(c.Command))
		}
		switch {
		case r.leads(c, decides, like), decides != nil && c.like(*decides):
		case c.Failed() && !slices.ContainsFunc(r.Checks[i:], func(o Check) bool { return o.OK && command.Covers(o.Command, c.Command) }):
			failed = append(failed, short(c.Command))
		case r.part != nil && c.Command == r.part.Command:
		case c.OK && r.Word() == Unverified:
			passed = append(passed, short(c.Command))
		case c.Own && !c.OK && c.Why != "" && !covered:
			c.Tests, c.Failures = 0, slices.DeleteFunc(slices.Clone(c.Failures), func(x Failure) bool { return !x.Open() }) // the checks that lead tell of the others
			stopped = append(stopped, c)
		}
	}
	return slices.Concat(list("failed", failed), list("failed, and passed when run again on the same files", unsteady), list("passed", passed), outcomes(stopped))
}

// short cuts a long command line in its middle, between words if it can: its end tells it
// from others.
func short(line string) string {
	const most = 100
	r := []rune(line)
	if len(r) <= most {
		return line
	}
	head, tail := string(r[:most/2]), string(r[len(r)-most/2:])
	if i := strings.LastIndexByte(head, ' '); i > most/4 {
		head = head[:i]
	}
	if i := strings.IndexByte(tail, ' '); i >= 0 && i < most/4 {
		tail = tail[i+1:]
	}
	return head + " … " + tail
}

// untested states that no test ran, if that is known, and otherwise which check
// ran without showing a test.
func (r Report) untested() string {
	for _, c := range r.Checks {
		if c.OK && !c.Built && (c.Untested == notClear || c.Untested == notShown) && canTest(c.Command) {
			return "; " + short(c.Command) + " too, and " + c.Untested
		}
	}
	return ", and no test ran"
}

// changedTests warns of a check that passed with changed tests.
func (r Report) changedTests() (s string) {
	var tests, data []string
	for _, name := range r.ChangedTests() {
		if testData(name) {
			data = append(data, name)
		} else {
			tests = append(tests, name)
		}
	}
	switch len(tests) {
	case 0:
	case 1:
		s = ", with a changed test: " + tests[0]
	default:
		s = fmt.Sprintf(", with %d changed test files: %s, …", len(tests), tests[0])
	}
	if len(data) > 0 {
		s += ", with " + list("changed test data", data)[0]
	}
	return s
}

// verdict is the deciding check, or one that shows that the project compiles, or why there
// is neither, and the check that this is about.
type verdict struct {
	decides, built, about *Check
	part                  *Check // passed, and is told with why
	why                   string
}

// untests is the verdict of a check that passed and shows no test.
func untests(c *Check) verdict {
	return verdict{about: c, why: short(c.Command) + ": " + c.Untested}
}

// outcome is that of a check that did not pass, and of those of pawl's own that are like it.
func (f *Fold) outcome(c *Check) string {
	return strings.Join(outcomes(slices.DeleteFunc(slices.Clone(f.checks), func(o Check) bool { return o.Command != c.Command && !o.like(*c) })), "; ")
}

func (f *Fold) verdict() (v verdict) {
	var part, idle *Check
	for i := range f.checks { // each of pawl's own counts
		c := &f.checks[i]
		switch {
		case !c.Own, c.inert, c.unrun: // what cannot run, or nobody lets pawl run, decides nothing: the model's own do
		case c.Failed():
			v = verdict{decides: c}
		case v.decides != nil:
		case !c.OK:
			v = verdict{about: c, why: f.outcome(c)}
		case c.Part:
			part = c
		case !c.Proves() && canTest(c.Command):
			idle = c // a project whose tests did not run
		}
	}
	if part != nil && v.about != nil && !v.about.unrun { // it began, and came to no end
		v.part, v.why = part, f.onlyPart(part)+"; "+v.why
	}
	if v.decides != nil || v.about != nil {
		return v
	}
	v = f.newest()
	for i := range f.checks { // what did run may be about other files
		c := &f.checks[i]
		if other := v.decides == nil && v.built == nil || v.decides != nil && v.decides.Own && v.decides.OK; other && c.unrun && canTest(c.Command) {
			return verdict{about: c, why: f.outcome(c) + f.earlier("before the last change")}
		}
	}
	switch {
	case v.decides != nil && (idle == nil || v.decides.Failed()):
		return verdict{decides: v.decides}
	case idle != nil:
		v = untests(idle)
		if idle.Built {
			v.built = idle
		}
	case part != nil:
		return verdict{about: part, why: f.onlyPart(part)}
	}
	return v
}

// onlyPart tells of a check of a part, which passed.
func (f *Fold) onlyPart(c *Check) string {
	return "only a part was checked: " + Report{Checks: []Check{*c}}.passing(c, nil)
}

// newest finds the newest check that failed or proves something, except checks
// of a part; else the newest that built, and why none proves anything.
func (f *Fold) newest() (v verdict) {
	inert := false
	for i := len(f.checks) - 1; i >= 0; i-- {
		c := &f.checks[i]
		is := untests(c)
		switch {
		case c.Part:
			continue
		case c.Failed(), c.Proves():
			return verdict{decides: c}
		case !c.OK:
			is.why = f.outcome(c)
		case c.Built && v.built == nil:
			v.built = c
		}
		if v.about == nil || inert && !c.inert && !c.unrun { // what the model ran says more
			v.about, v.why, inert = is.about, is.why, c.inert || c.unrun
		}
	}
	switch v.why = cmp.Or(v.why, f.why); {
	case v.why == "":
		v.why = nothingRan + f.earlier("before it")
	case inert:
		v.why += f.earlier("before the last change")
	}
	return v
}

// earlier tells of the last check before the last change.
func (f *Fold) earlier(when string) string {
	if f.last == "" {
		return ""
	}
	return "; " + when + ": " + f.last
}

// canTest reports whether a check runs tests if there are any.
func canTest(line string) bool {
	_, last, ok := command.LastCheck(line, "/")
	return ok && last.Proof >= command.Tests
}
