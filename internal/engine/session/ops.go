package session

import (
	"context"
	"fmt"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/engine/changes"
	"github.com/pawl-agent/pawl/internal/engine/mention"
	"github.com/pawl-agent/pawl/internal/engine/operations"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/permission"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Op is an operation that a frontend submits to a session.
type Op interface {
	// submit does it, or starts it: see Session.Submit.
	submit(ctx context.Context, s *Session) (cause int64, err error)
}

// Prompt starts a turn, or joins the running one at its next request.
type Prompt struct {
	// ID is recorded with it, so that its sender sees when a waiting prompt has
	// reached the model. Withdraw takes it back before that.
	ID     string
	Source event.Source // "": a person
	Text   string
	Images []llm.Media // and other media
	// Piped is added below Text. Pasted are parts of Text. Both are data: their
	// mentions are not attached, and where the window has no room for them the model
	// gets their beginning and end, and a file with the whole.
	Piped  string
	Pasted []string
	// Narrowed, if set, holds for the turn from this prompt on.
	Narrowed *event.Narrowed
	// Lines are command lines that run before the model reads the prompt, like calls of
	// its turn (lines.go).
	Lines []string
	// Model and Effort, if set, are those of the turn; after it the session has its own
	// again. Such a prompt joins no running turn.
	Model, Effort string
	// Until, if set, is called each time the model has ended the turn by
	// itself, even if nothing was changed, and before the session's Autofix.
	// Such a prompt joins no running turn.
	Until verify.Verifier
	// Answer, if set, is called last, when nothing else wants the turn to go on.
	Answer verify.Verifier

	model    llm.Model         // of Model and Effort
	typed    string            // Text, if more than this was pasted or piped
	attached *mention.Attached // what the mentions in Text brought
	masked   bool              // a secret was taken out of it
	hooks    []event.Draft     // what hooks add
}

// Interrupt cancels what runs: the model's request, calls, or a question. By is
// person, timeout, or a signal's name. If nothing runs, it does nothing.
//
// As the cause of a context's end it names who interrupted.
type Interrupt struct{ By string }

// Error makes it a context's cause.
func (i Interrupt) Error() string { return "interrupted (" + i.By + ")" }

// Answer answers the open question with that id.
type Answer struct {
	ID       string
	Verdicts []event.Verdict
	Text     string
}

// SetMode changes the permission mode from the next check on.
type SetMode struct{ Mode string }

// SetModel changes the model from the next request on: a rebase. It may take
// some time: OpDone ends it, and reports whether the model is available. Effort, if set, is
// the reasoning effort from then on.
type SetModel struct{ Ref, Effort string }

// RunCommand runs a person's "!" command and records both sides. It is the
// person's own act and asks nobody. OpDone is its end, after the PersonRan.
type RunCommand struct{ Command string }

// Compact shortens the conversation now: older steps are summarized. Focus is
// what the summary must keep. OpDone ends it, after the Compacted.
type Compact struct{ Focus string }

// Undo executes a plan of Changes, an undo's or a redo's: all of it, except
// what Consent leaves out, or nothing. A file that needs a decision first is an
// error of Submit. OpDone ends it.
type Undo struct {
	Plan    undo.Plan
	Consent undo.Consent
	// Done, if set, is called with the result, before OpDone.
	Done func(changes.Undone, error)
}

func (op Interrupt) submit(_ context.Context, s *Session) (int64, error) {
	s.ops.Interrupt(op.By)
	return 0, nil
}

// EndTask ends an agent of this session, by its session's id, or a background command.
type EndTask struct{ ID string }

func (op EndTask) submit(_ context.Context, s *Session) (int64, error) {
	if s.children.End(op.ID, operations.Interrupted("person")) {
		return 0, nil
	}
	for _, j := range s.View().Jobs() {
		if j.ID == op.ID {
			j.End()
			return 0, nil
		}
	}
	return 0, fmt.Errorf("no task %q runs in this session", op.ID)
}

func (op Answer) submit(_ context.Context, s *Session) (int64, error) {
	return 0, s.questions.Answer(event.Answered(op))
}

func (op SetMode) submit(ctx context.Context, s *Session) (int64, error) {
	mode, err := s.modeOf(op.Mode)
	if err != nil {
		return 0, err
	}
	return s.ops.RecordAnytime(ctx, event.Draft{Body: event.ModeSet{Mode: string(mode)}})
}

// modeOf returns the mode that a person names, if it may be chosen.
func (s *Session) modeOf(name string) (permission.Mode, error) {
	mode, err := permission.ParseMode(name)
	if err == nil {
		err = s.cfg.Permission.Refuses(mode)
	}
	return mode, err
}

// Withdraw takes back a waiting prompt. It is refused if the prompt does not
// wait any more: then it is recorded, or about to be.
type Withdraw struct{ ID string }

func (op Withdraw) submit(_ context.Context, s *Session) (int64, error) {
	return 0, s.ops.Withdraw(op.ID)
}

// Remote records who is about to do something from elsewhere: see event.RemoteAct.
type Remote struct{ Device, What string }

func (op Remote) submit(ctx context.Context, s *Session) (int64, error) {
	return s.ops.RecordAnytime(ctx, event.Draft{Body: event.RemoteAct(op)})
}
