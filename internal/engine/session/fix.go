package session

import (
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
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
	// Check runs a command like a call of the bash tool: it asks for the same
	// permission, holds the workspace and is recorded. One that may not run, or
	// is stopped, is no error but says why; an error is the end of ctx, or a
	// log that can not be written.
	Check(ctx context.Context, c Check) (event.Checked, error)
	// Consent asks the person, once, about all of these checks that need it.
	// Check asks by itself about one that was not named here.
	Consent(ctx context.Context, cs []Check) error
	// Skip records why no check is run.
	Skip(ctx context.Context, why string) error
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
	// Defined are the files that say what it does. When the agent changed one
	// of that name in this session, it asks again (SPEC 16.4).
	Defined []string
	// Untrusted says why the folder's word is not enough to run it, "" where it
	// is trusted (SPEC 16.1): a person is asked, whatever the mode and the rules,
	// and without one it is not run.
	Untrusted string
	// Stamp stands for the contents of what defines it besides Defined.
	Stamp string
	// Env is added to its environment, as NAME=value.
	Env []string
	// Read says what matters of all that it printed where it failed.
	Read func(output string, exit int) Reading
}

// Reading is what matters of a check's output.
type Reading struct {
	Text     string
	Failures int    // 0: not told
	Broken   string // why it could not check anything: a program that is missing, …
}

// checkCall is the id under which a check asks and streams.
const checkCall = "check"

// worthKeeping is how many bytes must be left out of an output for the whole to
// be kept beside what matters.
const worthKeeping = 200

// maxRead bounds how much of an output is read for what matters, in bytes.
const maxRead = 8 << 20

// drive runs the turn's loop until the model has ended it and nothing is left
// to fix.
func (s *Session) drive(ctx context.Context) (event.End, error) {
	loop := s.loop()
	var fixer Fixer
	if s.cfg.Fixer != nil {
		fixer = s.cfg.Fixer()
	}
	t := ending{s: s, allowed: map[string]string{}}
	for {
		end, err := loop.Run(ctx)
		if end != event.EndDone || err != nil || fixer == nil || s.waiting() || len(s.Evidence().Changed()) == 0 {
			return end, err
		}
		prompt, err := fixer.Next(ctx, t)
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

// waiting says that a prompt waits for the turn's end: a person who goes on is
// not kept by checks.
func (s *Session) waiting() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.queue) > 0
}

type ending struct {
	s *Session
	// allowed are the commands that the person allowed in this turn, with what
	// it was that asked.
	allowed map[string]string
}

// Evidence is part of Ending.
func (e ending) Evidence() evidence.Report { return e.s.Evidence() }

// Skip is part of Ending.
func (e ending) Skip(ctx context.Context, why string) error {
	return e.s.record(ctx, event.Draft{Body: event.Checked{Why: why}})
}

// Check is part of Ending.
func (e ending) Check(ctx context.Context, c Check) (event.Checked, error) {
	s := e.s
	done := event.Checked{Name: c.Name, Command: c.Command, Part: c.Part, Attempt: c.Attempt}
	p, why, err := e.mayCheck(ctx, c)
	if err != nil {
		return done, err
	}
	if why != "" {
		done.Why = why
		return done, s.record(ctx, event.Draft{Body: done})
	}
	ticket := s.cfg.Locks.Reserve(p.Footprint)
	defer ticket.Release()
	if err := ticket.Wait(ctx); err != nil {
		return done, context.Cause(ctx)
	}
	begun := event.Checking{Name: done.Name, Command: done.Command, Part: c.Part, Attempt: c.Attempt}
	if err := s.record(ctx, event.Draft{Body: begun}); err != nil {
		return done, err
	}
	before := s.hashes()
	start := s.cfg.Now()
	ran, err := s.env(p).Shell.Run(ctx, tool.Run{
		Command: c.Command, Timeout: c.Timeout, Env: c.Env,
		Out: func(out string) { s.log.Publish(event.OutputDelta{Call: checkCall, Text: out}) },
	})
	done.Took, done.Exit = s.cfg.Now().Sub(start), ran.Exit
	for path, h := range s.hashes() {
		if before[path] != h {
			done.Changed = append(done.Changed, path)
		}
	}
	slices.Sort(done.Changed)
	s.readCheck(ctx, c, ran, &done)
	switch {
	case ctx.Err() != nil:
		done.Exit, done.Why = nil, "interrupted"
	case err != nil:
		done.Exit, done.Why = nil, err.Error()
	case ran.TimedOut:
		done.Stopped = true
		done.Exit, done.Why = nil, "it was stopped after "+c.Timeout.String()+" without an end"
	case ran.Exit == nil:
		done.Why = "it was killed by " + ran.Signal
	}
	if err := s.record(context.WithoutCancel(ctx), event.Draft{Body: done}); err != nil {
		return done, err
	}
	if ctx.Err() != nil {
		return done, context.Cause(ctx)
	}
	return done, nil
}

// readCheck takes what matters from what a check printed, and keeps the whole
// where something of it is left out.
func (s *Session) readCheck(ctx context.Context, c Check, ran tool.Ran, done *event.Checked) {
	whole := ran.Output
	if ran.Spill != "" {
		if text, err := readSome(ran.Spill); err == nil {
			whole = text
		}
	}
	exit := -1
	if ran.Exit != nil {
		exit = *ran.Exit
	}
	if exit == 0 {
		t := evidence.Count(c.Command, whole, c.Env...)
		done.Tests, done.Untested, done.Wrapped = t.Ran, t.None, t.Wrapped
		return
	}
	if c.Read == nil {
		return
	}
	r := c.Read(whole, exit)
	done.Failures, done.Why = r.Failures, r.Broken
	done.Output = strings.ToValidUTF8(strings.TrimRight(r.Text, "\n"), "\uFFFD")
	if len(whole)-len(r.Text) < worthKeeping {
		return
	}
	where := ""
	if g := ran.Gap; g != nil && g.File != "" && strings.HasSuffix(g.Where, "the whole is in "+g.File) {
		where = "all output: " + g.File
	} else if g != nil {
		where = g.Where
	} else if spill, err := s.spill(context.WithoutCancel(ctx), checkCall, whole); err == nil {
		where = "all output: " + spill
	}
	if where != "" {
		done.Output += "\n[" + where + "]"
	}
}

// readSome reads a spilled output; of one over maxRead bytes the start and the
// end, where summaries stand.
func readSome(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil || st.Size() <= maxRead {
		b, rerr := io.ReadAll(io.LimitReader(f, maxRead))
		return string(b), errors.Join(err, rerr)
	}
	b := make([]byte, maxRead)
	if _, err := f.ReadAt(b[:maxRead/2], 0); err != nil {
		return "", err
	}
	if _, err := f.ReadAt(b[maxRead/2:], st.Size()-maxRead/2); err != nil {
		return "", err
	}
	g := tool.Gap{Head: string(b[:maxRead/2]), Tail: string(b[maxRead/2:]), Bytes: st.Size() - maxRead, Torn: true, Where: "the whole is in " + name}
	return g.Text(), nil
}

// hashes are the turn's changed files as they are on disk.
func (s *Session) hashes() map[string]tool.Hash {
	out := map[string]tool.Hash{}
	for _, f := range s.Evidence().Files {
		if f.ByCheck || s.cfg.Files == nil {
			continue
		}
		if h, _, err := s.cfg.Files.Stat(f.Path); err == nil {
			out[f.Path] = h
		}
	}
	return out
}
