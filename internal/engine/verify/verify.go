// Package verify runs checks before a turn ends (SPEC 13.3), a project's own or
// a person's goal, as calls: what a Verifier asks for goes through the loop
// like a call of the model, with permission, locks and every limit of the turn,
// and one interrupt ends it.
//
// It promises that a check runs with its own environment and time limit, and
// that its outcome is recorded, also why it did not run. It decides neither
// which checks there are nor what follows from one: the Verifier does.
package verify

import (
	"context"
	"fmt"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// Verifier ends one turn with proof.
type Verifier interface {
	// Next is called each time the model has ended the turn by itself. It
	// returns the prompt with which the model continues, "" if the turn may
	// end. Errors are those of t's methods, and end the turn.
	Next(ctx context.Context, t *TurnEnd) (prompt string, err error)
}

// Check is a command whose exit code shows whether the project works.
type Check struct {
	permission.Check
	Name    string
	Timeout time.Duration
	// Idle is how long it may do nothing after the sandbox refused it a host: its tests
	// wait for an answer that cannot come.
	Idle    time.Duration
	Part    bool // it checks only what the change can affect
	Attempt int  // how many fixes were asked for before
	// Env is added to its environment, as NAME=value.
	Env []string
	// Read returns the relevant part of its output, if it failed; exit is -1 if it
	// was stopped.
	Read func(output string, exit int) Reading
	// Past, if set: it runs to be compared with what failed.
	Past *Past
}

// Past is how a check runs in a copy of the files as they were before the turn, or once
// more on the present ones.
type Past struct {
	Dir     string   // takes the place of the workspace; "" once more
	Command string   // what runs instead of the check: at most the units that fail
	Units   []string // those units; none: all
	Reads   []string // what it may read outside the copy
}

// Reading is the relevant part of a check's output.
type Reading struct {
	Text     string
	Failures int    // 0: not known
	Broken   string // why it could not check anything: a missing program, …
	Failed   []event.Failure
}

// Config is what the checks of a session need.
type Config struct {
	Tools tool.Set
	// Shell reports whether the session can run commands.
	Shell bool
	Files tool.Files
	// Env returns the environment in which a check's arguments are judged.
	Env    func(*turn.Pending) tool.Env
	Person bool // somebody is there to answer
	// Evidence returns what the log proves about the turn so far.
	Evidence func() evidence.Report
	Log      event.Appender
	// Content returns a stored content of a file.
	Content func(ctx context.Context, hash string) ([]byte, error)
	// Spill keeps a text in a file and returns its name.
	Spill func(ctx context.Context, name, text string) (string, error)
	Now   func() time.Time
	// RemainingErrors, if set, returns the present errors by language servers that the
	// session's changes caused. They prove nothing.
	RemainingErrors func(context.Context) ([]tool.Diagnostic, error)
	// LastReply returns the model's last reply.
	LastReply func() string
}

// TurnEnd is a turn that is about to end.
type TurnEnd struct {
	Config
	loop *turn.Loop
}

// New returns the end of a turn of a loop. Its checks pass all stages of the
// turn's calls, except the gates that judge how the model works: of those only
// permission is used.
func New(c Config, of *turn.Loop) *TurnEnd {
	own := *of
	own.Stages.Gates = []turn.Gate{turn.Arguments{Env: c.Env}}
	for _, g := range of.Stages.Gates {
		if g, ok := g.(*permission.Gate); ok {
			own.Stages.Gates = append(own.Stages.Gates, g)
		}
	}
	return &TurnEnd{Config: c, loop: &own}
}

// Skip records why no check is run.
func (t *TurnEnd) Skip(ctx context.Context, why string) error {
	return t.Log.Append(ctx, event.Draft{Body: event.Checked{Why: why}})
}

// Lacks records that a check does not run, since this machine lacks something.
func (t *TurnEnd) Lacks(ctx context.Context, c Check, what string) error {
	return t.Log.Append(ctx, event.Draft{Body: event.Checked{
		Name: c.Name, Command: c.Command, Part: c.Part, Attempt: c.Attempt, Why: "it could not run: " + what, Unrun: true,
	}})
}

// Warn shows the person a warning.
func (t *TurnEnd) Warn(ctx context.Context, what event.WarnedWhat, text string) error {
	return t.Log.Append(ctx, event.Draft{Body: event.Warned{What: what, Text: text}})
}

// Consent asks the person, once, about all of these checks that need it; those
// that one grant would allow are one question. Check itself asks about a check
// that was not named here.
func (t *TurnEnd) Consent(ctx context.Context, cs []Check) error {
	if !t.Person {
		return nil
	}
	var step []*turn.Pending
	for i, c := range cs {
		p, _ := t.call(c, fmt.Sprintf("%s-%d", event.CheckCall, i+1))
		step = append(step, p)
	}
	err := t.loop.Stages.Check(ctx, step)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// Check runs a command as a call: through permission, the locks and all else
// that a call of the model goes through. A check that may not run, or is
// stopped, is not an error: its Why is the reason. An error is the end of ctx,
// or a log that cannot be written.
func (t *TurnEnd) Check(ctx context.Context, c Check) (event.Checked, error) {
	p, k := t.call(c, event.CheckCall)
	_, err := t.loop.Step(ctx, []*turn.Pending{p})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return k.done, err
}

// hashes returns the turn's changed files with their present hashes.
func (t *TurnEnd) hashes() map[string]tool.Hash {
	out := map[string]tool.Hash{}
	for _, f := range t.Evidence().Files {
		if f.ByCheck || t.Files == nil {
			continue
		}
		if h, _, err := t.Files.Stat(f.Path); err == nil {
			out[f.Path] = h
		}
	}
	return out
}
