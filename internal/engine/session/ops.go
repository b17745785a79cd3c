package session

import (
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/mention"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Op is something a frontend asks of a session.
type Op interface{ op() }

// Prompt starts a turn, or joins the running one at its next request.
type Prompt struct {
	// ID is recorded with it, so that its sender sees when a prompt that waited
	// has reached the model. Withdraw takes it back before that.
	ID     string
	Source event.Source // "": a person
	Text   string
	Images []llm.Media
	// Piped stands below Text and is data: what it mentions is not attached.
	Piped string
	// Until, if set, is asked each time the model has ended the turn by itself,
	// also where nothing was changed, and before the session's Autofix. Such a
	// prompt joins no running turn.
	Until verify.Verifier

	attached *mention.Attached // what the mentions in Text brought
	hooks    []event.Draft     // what hooks add
}

// Interrupt cancels what runs: the model's request, calls, or a question. By
// is person, timeout, or a signal's name. Nothing runs: nothing happens.
//
// As the cause of a context's end it names who ended what waits with it.
type Interrupt struct{ By string }

// Error makes it a context's cause.
func (i Interrupt) Error() string { return "interrupted (" + i.By + ")" }

// Answer answers the open question of that id.
type Answer struct {
	ID       string
	Verdicts []event.Verdict
	Text     string
}

// SetMode changes the permission mode from the next check on.
type SetMode struct{ Mode string }

// SetModel changes the model from the next request on: a rebase. It may take
// its time: OpDone is its end, and tells whether the model can be had.
type SetModel struct{ Ref string }

// RunCommand runs a person's "!" command and records both sides. It is the
// person's own act and asks nobody. OpDone is its end, after the PersonRan.
type RunCommand struct{ Command string }

// Compact makes the conversation shorter now: older steps are summed up. Focus
// is what the summary must keep. OpDone is its end, after the Compacted.
type Compact struct{ Focus string }

// Undo does a plan of Changes, an undo's or a redo's: all of it, but for what
// Consent leaves out, or nothing. A file that needs a word first is an error of
// Submit. OpDone is its end.
type Undo struct {
	Plan    undo.Plan
	Consent undo.Consent
	// Done, if set, is told what came of it, before OpDone is.
	Done func(changes.Undone, error)
}

// OpStarted.Op of the operations that have a start and an end.
const (
	opModel   = "model"
	opCommand = "command"
	opCompact = "compact"
	opUndo    = "undo"
	opRedo    = "redo"
)

func (Compact) op()    {}
func (Undo) op()       {}
func (Prompt) op()     {}
func (Interrupt) op()  {}
func (Answer) op()     {}
func (SetMode) op()    {}
func (SetModel) op()   {}
func (RunCommand) op() {}
