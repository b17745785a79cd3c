package session

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
	"github.com/pawl-agent/pawl/internal/policy/permission"
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
	// Env is added to its environment, as NAME=value.
	Env []string
	// Read says what matters of all that it printed.
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
		if end != event.EndDone || err != nil || fixer == nil || s.waiting() || len(s.Evidence().Files) == 0 {
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
	return e.s.record(ctx, event.Draft{Body: event.Checked{Why: e.s.cfg.Mask(why)}})
}

// Check is part of Ending.
func (e ending) Check(ctx context.Context, c Check) (event.Checked, error) {
	s := e.s
	done := event.Checked{Name: c.Name, Command: s.cfg.Mask(c.Command), Part: c.Part, Attempt: c.Attempt}
	p, why, err := e.mayCheck(ctx, c)
	if err != nil {
		return done, err
	}
	if why != "" {
		done.Why = s.cfg.Mask(why)
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
		Out: func(out string) { s.live(event.OutputDelta{Call: checkCall, Text: out}) },
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
		done.Exit, done.Why = nil, s.cfg.Mask(err.Error())
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

// Consent is part of Ending. Checks that one grant would allow are one question.
func (e ending) Consent(ctx context.Context, cs []Check) error {
	if !e.s.cfg.Person {
		return nil
	}
	var step []*turn.Pending
	var qs []event.Question
	var about [][]Check // the checks of each question
	var by []string     // what it is that asks
	g := &permissionGate{s: e.s, allowed: map[*turn.Pending]bool{}}
	for _, c := range cs {
		p, why, err := e.s.checkCall(c, fmt.Sprintf("%s-%d", checkCall, len(qs)+1))
		if err != nil {
			return err
		}
		if why != "" {
			continue
		}
		d := e.s.decideCheck(g, p, c)
		if d.Verdict != permission.Ask || e.asked(c.Command, d) {
			continue
		}
		q := g.question(ctx, p, d)
		q.Title = "check the changes: " + q.Title
		same := 0
		for same < len(qs) && (q.Pattern == "" || qs[same].Pattern != q.Pattern || by[same] != d.By) {
			same++
		}
		if same == len(qs) {
			step, qs, about, by = append(step, p), append(qs, q), append(about, nil), append(by, d.By)
		} else {
			qs[same].Preview += "\n" + q.Preview
			qs[same].Reason += "; " + q.Reason
		}
		about[same] = append(about[same], c)
	}
	if len(qs) == 0 {
		return nil
	}
	a, err := e.s.ask(ctx, event.Asked{Questions: qs})
	if err != nil {
		return err
	}
	if err := g.take(ctx, step, qs, a); err != nil {
		return err
	}
	for i, p := range step {
		for _, c := range about[i] {
			if g.allowed[p] {
				e.allowed[c.Command] = by[i]
			} else {
				e.s.refusedChecks = append(e.s.refusedChecks, c.Command)
			}
		}
	}
	return nil
}

// asked says that the person has answered about a check already.
func (e ending) asked(command string, d permission.Decision) bool {
	by, ok := e.allowed[command]
	return ok && by == d.By || slices.Contains(e.s.refusedChecks, command)
}

// mayCheck passes a check through the permission gate. why says why it may not
// run.
func (e ending) mayCheck(ctx context.Context, c Check) (_ *turn.Pending, why string, err error) {
	p, why, err := e.s.checkCall(c, checkCall)
	if err != nil || why != "" {
		return nil, why, err
	}
	g := &permissionGate{s: e.s}
	d := e.s.decideCheck(g, p, c)
	if d.Verdict == permission.Ask && e.s.cfg.Person {
		if err := e.Consent(ctx, []Check{c}); err != nil {
			return nil, "", err
		}
		if e.allowed[c.Command] != d.By {
			return nil, "you did not allow it", nil
		}
		return p, "", nil
	}
	switch d.Verdict {
	case permission.Allow:
		return p, "", nil
	case permission.Deny:
		return nil, "not allowed: " + d.Reason, nil
	}
	why = "not allowed: " + d.Reason + ", and nobody was there to allow it"
	if d.Flag != "" {
		why += " (" + d.Flag + ")"
	}
	return nil, why, nil
}

// checkCall is the call of the bash tool that a check is. why says why there
// can be none.
func (s *Session) checkCall(c Check, id string) (_ *turn.Pending, why string, err error) {
	bash, ok := s.cfg.Tools.Find("bash")
	if !ok || s.cfg.Shell == nil {
		return nil, "this session can not run commands", nil
	}
	args, err := json.Marshal(map[string]any{"command": c.Command, "description": "pawl checks the changes"})
	if err != nil {
		return nil, "", err
	}
	p := &turn.Pending{Call: llm.Call{ID: id, Name: bash.Spec.Name, Args: args}, Args: args, Tool: bash}
	if err := p.Measure(s.env(p)); err != nil {
		return nil, err.Error(), nil
	}
	return p, "", nil
}

// decideCheck judges a check: the permission's word, but for what a person's
// own configuration names, and for a check that the agent made another one.
func (s *Session) decideCheck(g *permissionGate, p *turn.Pending, c Check) permission.Decision {
	d := g.decide(p)
	s.mu.Lock()
	defer s.mu.Unlock()
	var names []string
	for _, f := range c.Defined {
		names = append(names, path.Base(f))
	}
	mode := s.perm.Mode()
	redefined := s.perm.Redefined(names...) && mode != permission.Yolo
	switch {
	case redefined && (d.Verdict == permission.Ask || d.Verdict == permission.Allow && d.By != "rule"):
		d.Verdict, d.By, d.Pattern, d.CanAlways, d.Flag = permission.Ask, "redefined", "", false, ""
		d.Reason = "this session changed " + strings.Join(c.Defined, ", ") + ", which says what this check does"
	case c.Own && d.Verdict == permission.Ask && d.By == "mode" && (mode == permission.AcceptEdits || mode == permission.Auto):
		d.Verdict = permission.Allow
	}
	return d
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
	if exit == 0 || c.Read == nil {
		return
	}
	r := c.Read(whole, exit)
	done.Failures, done.Why = r.Failures, s.cfg.Mask(r.Broken)
	done.Output = strings.ToValidUTF8(s.cfg.Mask(strings.TrimRight(r.Text, "\n")), "\uFFFD")
	if len(whole)-len(r.Text) < worthKeeping {
		return
	}
	spill, err := ran.Spill, error(nil)
	if spill == "" {
		spill, err = s.spill(context.WithoutCancel(ctx), checkCall, s.cfg.Mask(whole))
	}
	if err == nil {
		done.Output += "\n[all output: " + spill + "]"
	}
}

// readSome reads a spilled output, at most maxRead bytes of it.
func readSome(name string) (string, error) {
	f, err := os.Open(name)
	if err != nil {
		return "", err
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, maxRead))
	return string(b), err
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
