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
	// Failures is how many failures the output tells of, 0 where it does not.
	Failures int `json:"failures,omitempty"`
	// Tests is how many tests the output of one that passed shows to have run,
	// at least; Untested is why none is known to. Wrapped: files of the
	// project say what it runs.
	Tests    int    `json:"tests,omitempty"`
	Untested string `json:"untested,omitempty"`
	Wrapped  bool   `json:"wrapped,omitempty"`
	// Changed are files of the turn that were other ones when it had ended.
	Changed []string `json:"changed,omitempty"`
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
