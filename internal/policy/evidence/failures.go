package evidence

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/event"
)

// This file tells apart what a turn broke, what failed before it, and what could not run.

// Failure is a failure of a check, and what is known of the time before the turn.
type Failure struct {
	event.Failure
	// Compared: it was looked whether it failed before the turn. Before: it did, for
	// the same cause. Otherwise: it did, for another one, which a flaky test gives, too.
	Compared  bool `json:"compared,omitempty"`
	Before    bool `json:"before,omitempty"`
	Otherwise bool `json:"otherwise,omitempty"`
}

// Open reports whether the failure may be the turn's doing. A test that was running when the
// time was over is known to hang only if it ended before the turn.
func (x Failure) Open() bool { return !x.Before && x.Unrun == "" && (x.Compared || !x.Hangs) }

// Unsettled reports whether a comparison could tell more.
func (x Failure) Unsettled() bool { return !x.Compared && !x.Sure }

// Key identifies a failure.
func (x Failure) key() string { return x.Unit + "\x00" + x.Name + "\x00" + x.Digest }

// Label names a failure for people.
func (x Failure) Label() string {
	switch {
	case x.Name != "" && x.Unit != "":
		return x.Name + " (" + x.Unit + ")"
	case x.Name+x.Unit != "":
		return x.Name + x.Unit
	}
	first, _, _ := strings.Cut(x.Cause, "\n")
	if r := []rune(first); len(r) > 80 {
		first = string(r[:80]) + "…"
	}
	return "“" + first + "”"
}

// Failures returns the failures of pawl's check of a command.
func (r Report) Failures(command string) []Failure {
	for _, c := range r.Checks {
		if c.Own && c.Command == command {
			return c.Failures
		}
	}
	return nil
}

// explained returns the checks, their failures compared with the baselines of the turn.
func (f *Fold) explained() []Check {
	out := slices.Clone(f.checks)
	for i := range out {
		c := &out[i]
		c.Failures = slices.Clone(c.Failures)
		for j := range c.Failures {
			x := &c.Failures[j]
			for _, b := range f.past {
				if b.Why == "" && c.Own && (b.Of == c.Command && len(b.Units) == 0 || slices.Contains(b.Units, x.Unit)) {
					x.Before = x.Before || slices.ContainsFunc(b.Failed, func(o event.Failure) bool { return Failure{Failure: o}.key() == x.key() })
					x.Otherwise = !x.Before && x.Name != "" && (x.Otherwise || slices.ContainsFunc(b.Failed, func(o event.Failure) bool { return o.Unit == x.Unit && o.Name == x.Name }))
					x.Compared = x.Compared || !b.Stopped || x.Before || x.Otherwise
				}
			}
			if x.Compared && !x.Before && !x.Sure {
				x.Unrun = "" // it ran before
			}
		}
	}
	return out
}

// outcome describes a check that ran, with what it shows.
func (c Check) outcome() string {
	s := fmt.Sprintf("%s, exit code %d", short(c.Command), c.Exit)
	if c.Why != "" {
		s = short(c.Command) + ": " + c.Why
	}
	return s + c.details()
}

// details lists the failures of a check by what is known of them, and the tests that
// passed.
func (c Check) details() string {
	var fresh, failing, before, otherwise, hangs, hung []string
	unrun := map[string][]Failure{}
	var whys []string
	for _, x := range c.Failures {
		switch {
		case x.Unrun != "":
			if unrun[x.Unrun] == nil {
				whys = append(whys, x.Unrun)
			}
			unrun[x.Unrun] = append(unrun[x.Unrun], x)
		case x.Before && x.Hangs:
			hung = append(hung, x.Label())
		case x.Before:
			before = append(before, x.Label())
		case x.Hangs:
			hangs = append(hangs, x.Label())
		case x.Otherwise:
			otherwise = append(otherwise, x.Label())
		case x.Compared:
			fresh = append(fresh, x.Label())
		default:
			failing = append(failing, x.Label())
		}
	}
	s := list("newly failing", fresh) + list("failing", failing) + list("failing, and before in another way", otherwise) + list("still running", hangs) + list("failed as before", before) + list("still running as before", hung)
	for _, why := range whys {
		if len(unrun[why]) > 3 {
			s += fmt.Sprintf("; could not run: %s, %s", Counted(unrun[why]), why)
			continue
		}
		var labels []string
		for _, x := range unrun[why] {
			labels = append(labels, x.Label())
		}
		s += list("could not run", labels) + ", " + why
	}
	if len(c.Failures) > 0 && c.Tests > 0 {
		s += fmt.Sprintf("; passed: %d %s", c.Tests, plural(c.Tests, "test"))
	}
	return s
}

// Counted says how many tests, and how many packages or files as a whole, some failures
// are.
func Counted(xs []Failure) string {
	tests := 0
	for _, x := range xs {
		if x.Name != "" {
			tests++
		}
	}
	var out []string
	if tests > 0 {
		out = append(out, fmt.Sprintf("%d %s", tests, plural(tests, "test")))
	}
	if n := len(xs) - tests; n > 0 {
		out = append(out, fmt.Sprintf("%d %s or %s", n, plural(n, "package"), plural(n, "file")))
	}
	return strings.Join(out, " and ")
}

func plural(n int, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// list names the first of some labels.
func list(what string, labels []string) string {
	const most = 3
	switch n := len(labels); {
	case n == 0:
		return ""
	case n > most:
		return fmt.Sprintf("; %s: %s and %d more", what, strings.Join(labels[:most], ", "), n-most)
	}
	return "; " + what + ": " + strings.Join(labels, ", ")
}
