package session

import (
	"context"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// This file is the end of a turn that changed files (SPEC 13.3): before it is
// recorded as ended, a Fixer may run checks and have the model go on. What is
// asked for so is part of the turn: every limit of it holds, and one interrupt
// ends it.

// Fixer brings one turn to an end that is proven.
type Fixer interface {
	// Next is asked each time the model has ended the turn by itself with files
	// changed. It returns the prompt that the model goes on with, "" where the
	// turn may end. Errors are those of t's methods, and end the turn.
	Next(ctx context.Context, t Ending) (prompt string, err error)
}

// Ending is a turn that is about to end.
type Ending interface {
	// Evidence is what the log proves of it so far.
	Evidence() evidence.Report
	// Check runs a command as a call: through permission, the locks and all else
	// that a call of the model goes through. One that may not run, or
	// is stopped, is not an error: its Why tells; an error is the end of ctx, or a
	// log that can not be written.
	Check(ctx context.Context, c Check) (event.Checked, error)
	// Consent asks the person, once, about all of these checks that need it.
	// Check asks by itself about one that was not named here.
	Consent(ctx context.Context, cs []Check) error
	// Skip records why no check is run.
	Skip(ctx context.Context, why string) error
	// Warn tells the person something.
	Warn(ctx context.Context, what, text string) error
}

// Check is a command whose exit code says whether the project is sound.
type Check struct {
	Name    string
	Command string
	Timeout time.Duration
	Part    bool // it looks only at what the change can affect
	Attempt int  // how many fixes were asked for before
	// Own: a person's configuration names the command, so that it counts as
	// one of the project's checks whatever it is.
	Own bool
	// Said: the person gave the command with this turn's prompt, which is their
	// consent as long as what defines it is as it was then.
	Said bool
	// Defined are the files that say what it does. When the agent changed one
	// of that name in this session, it asks again (SPEC 16.4).
	Defined []string
	// Untrusted is why the folder's word is not enough to run it, "" where it
	// is trusted (SPEC 16.1): a person is asked, whatever the mode and the rules,
	// and without one it is not run.
	Untrusted string
	// Stamp stands for the contents of what defines it besides Defined.
	Stamp string
	// Env is added to its environment, as NAME=value.
	Env []string
	// Read returns what matters of all that it printed where it failed.
	Read func(output string, exit int) Reading
}

// Reading is what matters of a check's output.
type Reading struct {
	Text     string
	Failures int    // 0: not told
	Broken   string // why it could not check anything: a program that is missing, …
}

// drive runs the turn's loop until the model has ended it, its prompt's goal says
// that it is done, and nothing is left to fix.
func (s *Session) drive(ctx context.Context, until Fixer) (event.End, error) {
	loop := s.loop()
	var fixer Fixer
	if s.cfg.Fixer != nil {
		fixer = s.cfg.Fixer()
	}
	t := s.ending(loop)
	for {
		end, err := loop.Run(ctx)
		if end != event.EndDone || err != nil || s.ops.waiting() {
			return end, err
		}
		prompt := ""
		if until != nil {
			prompt, err = until.Next(ctx, t)
		}
		if prompt == "" && err == nil && fixer != nil && len(s.proof().Changed()) > 0 {
			prompt, err = fixer.Next(ctx, t)
		}
		switch {
		case ctx.Err() != nil:
			return turn.EndOf(context.Cause(ctx))
		case err != nil:
			return turn.EndOf(err)
		case prompt == "":
			return end, nil
		}
		if err := s.record(ctx, s.prompted(Prompt{Source: event.Autofix, Text: prompt})...); err != nil {
			return event.EndFailed, err
		}
	}
}
