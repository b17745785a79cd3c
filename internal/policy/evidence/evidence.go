// Package evidence says what the log proves of a turn: which files it changed,
// and whether a check ran with which exit code after the last change. It
// believes no text, neither the model's nor a tool's: only recorded writes and
// recorded exit codes.
package evidence

import (
	"slices"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/shellsyntax"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Check is a check that ran.
type Check struct {
	OK      bool   `json:"ok"`
	Command string `json:"command"`
	Exit    int    `json:"exit_code"`
}

// File is a file that the turn changed. Before is empty for a new file, After
// for a deleted one.
type File struct {
	Path           string
	Before, After  tool.Hash
	Added, Removed int
}

// Report is what is proven of a turn.
type Report struct {
	// Files whose content differs from the turn's start, in the order they
	// were first changed.
	Files []File
	// Verified is the newest check after the last change; nil when there is
	// none.
	Verified *Check
	Denials  []event.Blocked
}

// Fold gathers a turn's evidence. The zero value is ready.
type Fold struct {
	files    []File
	verified *Check
	denials  []event.Blocked
}

// Apply takes one event. A prompt of a person starts anew.
func (f *Fold) Apply(e event.Event) {
	switch b := e.Body.(type) {
	case event.Prompted:
		if b.Source == event.Person {
			*f = Fold{}
		}
	case event.FileChanged:
		f.change(b)
		f.verified = nil
	case event.Blocked:
		if b.By != event.ByStuck { // kept from repeating itself: no permission would help
			f.denials = append(f.denials, b)
		}
	case event.CallDone:
		f.ran(b)
	case event.PersonRan:
		if !readOnly(b.Command) {
			f.verified = nil
		}
	}
}

func (f *Fold) change(b event.FileChanged) {
	i := slices.IndexFunc(f.files, func(x File) bool { return x.Path == b.Path })
	if i < 0 {
		f.files = append(f.files, File{Path: b.Path, Before: b.Before, After: b.After, Added: b.Added, Removed: b.Removed})
		return
	}
	f.files[i].After = b.After
	f.files[i].Added += b.Added
	f.files[i].Removed += b.Removed
}

// ran takes the result of a command. A check is evidence; any other command
// that may have changed something ends what evidence there was.
func (f *Fold) ran(b event.CallDone) {
	if b.Command == "" || readOnly(b.Command) {
		return
	}
	f.verified = nil
	if b.Exit != nil && IsCheck(b.Command) {
		f.verified = &Check{OK: *b.Exit == 0, Command: b.Command, Exit: *b.Exit}
	}
}

func readOnly(command string) bool {
	cmds, err := shellsyntax.Parse(command, "")
	return err == nil && shellsyntax.ReadOnly(cmds)
}

// Report gives what is proven so far. A file that is back to what it was is
// not a changed one.
func (f *Fold) Report() Report {
	r := Report{Verified: f.verified, Denials: f.denials}
	for _, x := range f.files {
		if x.Before != x.After {
			r.Files = append(r.Files, x)
		}
	}
	return r
}
