package event

import (
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file holds what is known of changes: what checks prove of them, and what
// language servers say.

// Checking records that one of the project's checks begins to run. Part and
// Attempt are as in Checked.
type Checking struct {
	Name    string `json:"name"`
	Command string `json:"command"`
	Part    bool   `json:"part,omitempty"`
	Attempt int    `json:"attempt"`
	// Before: it runs in a copy of the files as they were before the turn. Again: it repeats
	// what failed. A Baseline follows either.
	Before bool `json:"before,omitempty"`
	Again  bool `json:"again,omitempty"`
}

// Checked is one of the project's checks that pawl ran by itself after a turn's
// changes (SPEC 13.3), or, without a command, why it ran none. Output is what
// matters of what a failed one printed, with the file that has all of it.
type Checked struct {
	Name    string        `json:"name"` // go test, pytest, …
	Command string        `json:"command"`
	Exit    *int          `json:"exit,omitempty"` // nil: it did not run to its end
	Why     string        `json:"why,omitempty"`  // why it proves nothing: not allowed, stopped, not installed, …
	Output  string        `json:"output,omitempty"`
	Took    time.Duration `json:"took"`
	Part    bool          `json:"part,omitempty"`    // only what the change can affect
	Attempt int           `json:"attempt"`           // how many fixes were asked for before
	Stopped bool          `json:"stopped,omitempty"` // it ran out of time
	// Inert: it did not run because the folder is not trusted.
	Inert bool `json:"inert,omitempty"`
	// Unrun: it checked nothing, since what it needs is missing: a program, a module, tests.
	Unrun bool `json:"unrun,omitempty"`
	// Failures is how many failures the output tells of, 0 where it does not.
	Failures int `json:"failures,omitempty"`
	// Tests is how many tests the output shows to have passed, at least; Untested
	// is why none of a check that passed is known to have run. Wrapped: files of the
	// project say what it runs.
	Tests    int    `json:"tests,omitempty"`
	Untested string `json:"untested,omitempty"`
	Wrapped  bool   `json:"wrapped,omitempty"`
	// Changed are files of the turn that were other ones when it had ended.
	Changed []string `json:"changed,omitempty"`
	// Failed is what did not pass, as far as the output tells it apart.
	Failed []Failure `json:"failed,omitempty"`
}

// Failure is a test, or a unit as a whole, that did not pass in a check.
type Failure struct {
	Name string `json:"name,omitempty"` // of the test; "" if its unit failed as a whole
	Unit string `json:"unit,omitempty"` // its package, file or class
	// Cause is the lines that say why; the first one is never cut.
	Cause string `json:"cause,omitempty"`
	// Digest is equal for equal causes, wherever they are and whenever they ran.
	Digest string `json:"digest,omitempty"`
	// Hangs: it was running when the time was over.
	Hangs bool `json:"hangs,omitempty"`
	// Unrun is why it could not run, "" if it ran: no network, modules missing. Sure:
	// nothing in the project can be the cause.
	Unrun string `json:"unrun,omitempty"`
	Sure  bool   `json:"sure,omitempty"`
}

// Baseline is what a failing check showed in a copy of the files as they were
// before the turn: what failed there in the same way is not the turn's doing. Again: it
// is what the check showed when it ran once more, on the same files.
type Baseline struct {
	Of string `json:"of"` // the command of the check
	// Units are those that it ran; none: all of the check.
	Units  []string      `json:"units,omitempty"`
	Why    string        `json:"why,omitempty"` // why nothing is known
	Failed []Failure     `json:"failed,omitempty"`
	Took   time.Duration `json:"took"`
	Again  bool          `json:"again,omitempty"`
	// Stopped: it ran out of time, so nothing is known of what it does not name.
	Stopped bool `json:"stopped,omitempty"`
}

// Diagnosed records the language servers' report about a call's changes, if it
// differs from the one before (SPEC 12.2). Only a check proves something; this
// does not.
type Diagnosed struct {
	// Call is the call after which the report came. The diagnostics are about its
	// changes, or about those of an earlier call that a diagnostic names.
	Call string `json:"call"`
	// Found is what changes brought and was not told before, errors first, and
	// More how many others.
	Found []tool.Diagnostic `json:"found,omitempty"`
	More  int               `json:"more,omitempty"`
	// Errors is how many errors that changes of this session brought stand now.
	Errors int `json:"errors"`
}
