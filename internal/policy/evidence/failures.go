package evidence

import (
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/cut"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/plural"
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
	// Flaky: it passed when it ran once more, on the same files.
	Flaky bool `json:"flaky,omitempty"`
}

// Open reports whether the failure may be the turn's doing. A test that was running when the
// time was over is known to hang only if it ended before the turn.
func (x Failure) Open() bool {
	return !x.Before && !x.Flaky && x.Unrun == "" && (x.Compared || !x.Hangs)
}

// Unsettled reports whether a comparison could tell more.
func (x Failure) Unsettled() bool { return !x.Compared && !x.Sure }

// Key identifies a failure.
func (x Failure) key() string {
	if strings.HasPrefix(x.Cause, "panic: ") {
		x.Name = "" // a panic ends the whole package, in whichever test comes first
	}
	return x.Unit + "\x00" + x.Name + "\x00" + x.Digest
}

// Label names a failure for people.
func (x Failure) Label() string {
	switch {
	case x.Name != "" && x.Unit != "":
		return x.Name + " (" + x.Unit + ")"
	case x.Name+x.Unit != "":
		return x.Name + x.Unit
	}
	first, _, _ := strings.Cut(x.Cause, "\n")
	return "“" + cut.Runes(first, 80) + "”"
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
				switch about := b.Why == "" && c.Own && (b.Of == c.Command && len(b.Units) == 0 || slices.Contains(b.Units, x.Unit)); {
				case !about:
				case b.Again:
					fails := func(o event.Failure) bool { return o.Unit == x.Unit && (o.Name == x.Name || o.Name == "") }
					x.Flaky = x.Name != "" && !b.Stopped && !slices.ContainsFunc(b.Failed, fails)
				default:
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

// outcomes describes how checks ended. What is the same for several is told once.
func outcomes(cs []Check) (ends []string) {
	names := map[string][]string{}
	for _, c := range cs {
		end := c.ended()
		if names[end] == nil {
			ends = append(ends, end)
		}
		names[end] = append(names[end], short(c.Command))
	}
	for i, end := range ends {
		ends[i] = strings.Join(names[end], ", ") + end
	}
	return ends
}

// like reports whether a check of pawl's own did not pass in the same way as another.
func (c Check) like(o Check) bool { return c.Own && !c.OK && c.ended() == o.ended() }

// ended is how a check ended, to stand behind its name, with what it shows.
func (c Check) ended() string {
	if did, ok := strings.CutPrefix(c.Why, "it "); ok && c.unrun {
		return " " + did + c.details()
	} else if c.Why != "" {
		return ": " + c.Why + c.details()
	}
	return fmt.Sprintf(", exit code %d", c.Exit) + c.details()
}

// details lists the failures of a check by what is known of them, and the tests that
// passed. Those that the turn may have to do with have their names.
func (c Check) details() string {
	var fresh, failing, otherwise, hangs, flaky []string
	var before, hung []Failure
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
			hung = append(hung, x)
		case x.Before:
			before = append(before, x)
		case x.Flaky:
			flaky = append(flaky, x.Label())
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
	all := slices.Concat(list("newly failing", fresh), list("failing", failing), list("failing, and before in another way", otherwise), list("still running", hangs), list("failing, and passing when run again", flaky), counted("failed as before", before), counted("still running as before", hung))
	for _, why := range whys {
		all = append(all, counted("could not run", unrun[why])[0]+", "+why)
	}
	if c.Tests > 0 && (len(c.Failures) > 0 || c.Why != "") {
		all = append(all, "passed: "+plural.Of(c.Tests, "test"))
	}
	if len(all) == 0 {
		return ""
	}
	return "; " + strings.Join(all, "; ")
}

// counted names some failures if they are few, and else says how many there are.
func counted(what string, xs []Failure) []string {
	var labels []string
	for _, x := range xs {
		labels = append(labels, x.Label())
	}
	if labels = once(labels); len(labels) > most {
		return []string{what + ": " + Counted(xs)}
	}
	return list(what, labels)
}

// Counted says how many tests, and how many packages and files as a whole, some failures
// are.
func Counted(xs []Failure) string {
	kinds := []string{"test", "package", "file"}
	counts := map[string]int{}
	for _, x := range xs {
		kind := kinds[0]
		switch {
		case x.Name != "":
		case strings.Contains(path.Base(x.Unit), "."):
			kind = kinds[2]
		default:
			kind = kinds[1]
		}
		counts[kind]++
	}
	var out []string
	for _, kind := range kinds {
		if n := counts[kind]; n > 0 {
			out = append(out, plural.Of(n, kind))
		}
	}
	return strings.Join(out, " and ")
}

// most is how many names a list has.
const most = 3

// list names the first of some labels. It returns nothing if there is none.
func list(what string, labels []string) []string {
	labels = once(labels)
	switch n := len(labels); {
	case n == 0:
		return nil
	case n > most:
		return []string{fmt.Sprintf("%s: %s and %d more", what, strings.Join(labels[:most], ", "), n-most)}
	}
	return []string{what + ": " + strings.Join(labels, ", ")}
}

// once drops what is there already: a package may fail for several reasons.
func once(labels []string) (out []string) {
	for _, l := range labels {
		if !slices.Contains(out, l) {
			out = append(out, l)
		}
	}
	return out
}
