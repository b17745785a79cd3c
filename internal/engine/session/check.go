package session

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// This file is a project's check as a call: one of the bash tool that pawl makes
// by itself. It goes through the loop like a call of the model, and is recorded
// as Checking and Checked, since it is no part of the conversation.

// checkCall is the id under which a check asks and streams.
const checkCall = "check"

// worthKeeping is how many bytes must be left out of an output for the whole to
// be kept beside what matters.
const worthKeeping = 200

// maxRead bounds how much of an output is read for what matters, in bytes.
const maxRead = 8 << 20

// ending is part of Ending: a turn that is about to end, and the loop that its
// checks go through.
type ending struct {
	s    *Session
	loop *turn.Loop
	// allowed are the commands that the person allowed in this turn, with what
	// it was that asked.
	allowed map[string]string
}

// ending passes checks through all that the turn's calls pass, but for the gates
// that judge how the model works: of those only permission is asked.
func (s *Session) ending(of *turn.Loop) *ending {
	own := *of
	own.Stages.Gates = []turn.Gate{turn.Arguments{Env: s.env}}
	for _, g := range of.Stages.Gates {
		if g, ok := g.(*permissionGate); ok {
			own.Stages.Gates = append(own.Stages.Gates, g)
		}
	}
	return &ending{s: s, loop: &own, allowed: map[string]string{}}
}

// Evidence is part of Ending.
func (e *ending) Evidence() evidence.Report { return e.s.proof() }

// Skip is part of Ending.
func (e *ending) Skip(ctx context.Context, why string) error {
	return e.s.record(ctx, event.Draft{Body: event.Checked{Why: why}})
}

// Warn is part of Ending.
func (e *ending) Warn(ctx context.Context, what, text string) error {
	return e.s.record(ctx, event.Draft{Body: event.Warned{What: what, Text: text}})
}

// Consent is part of Ending. Checks that one grant would allow are one question.
func (e *ending) Consent(ctx context.Context, cs []Check) error {
	if !e.s.cfg.Person {
		return nil
	}
	var step []*turn.Pending
	for i, c := range cs {
		p, _ := e.call(c, fmt.Sprintf("%s-%d", checkCall, i+1))
		step = append(step, p)
	}
	err := e.loop.Stages.Check(ctx, step)
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return err
}

// Check is part of Ending.
func (e *ending) Check(ctx context.Context, c Check) (event.Checked, error) {
	p, k := e.call(c, checkCall)
	_, err := e.loop.Step(ctx, []*turn.Pending{p})
	if ctx.Err() != nil {
		err = context.Cause(ctx)
	}
	return k.done, err
}

// check is a call that checks the changes.
type check struct {
	Check
	e      *ending
	ran    tool.Ran
	took   time.Duration
	before map[string]tool.Hash // the turn's changed files when it began
	done   event.Checked
}

// call makes the call of the bash tool that a check is. It runs with the check's
// own environment and time limit, and what it printed is kept as it was.
func (e *ending) call(c Check, id string) (*turn.Pending, *check) {
	k := &check{Check: c, e: e, done: event.Checked{Name: c.Name, Command: c.Command, Part: c.Part, Attempt: c.Attempt}}
	bash, ok := e.s.cfg.Tools.Find("bash")
	args, err := json.Marshal(map[string]any{"command": c.Command, "description": "pawl checks the changes"})
	p := &turn.Pending{Call: llm.Call{ID: id, Name: "bash", Args: args}, Args: args, Tool: bash, Records: k}
	if !ok || e.s.cfg.Shell == nil || err != nil {
		p.Refused = &turn.Refusal{Outcome: event.Invalid, Text: "this session can not run commands"}
	}
	p.Tool.Run, p.Tool.Timeout = k.run, c.Timeout+time.Minute // its own limit is the one that speaks
	return p, k
}

// run is part of tool.Tool.
func (k *check) run(ctx context.Context, env tool.Env, _ json.RawMessage) (tool.Result, error) {
	start := k.e.s.cfg.Now()
	ran, err := env.Shell.Run(ctx, tool.Run{Command: k.Command, Timeout: k.Timeout, Env: k.Env, Out: env.Out})
	k.ran, k.took = ran, k.e.s.cfg.Now().Sub(start)
	return tool.Result{Command: k.Command, Exit: ran.Exit}, err
}

// Started is part of turn.Records.
func (k *check) Started() []event.Draft {
	k.before = k.e.s.hashes()
	return []event.Draft{{Body: event.Checking{Name: k.Name, Command: k.Command, Part: k.Part, Attempt: k.Attempt}}}
}

// Done is part of turn.Records.
func (k *check) Done(r turn.Ran) []event.Draft {
	switch {
	case !r.Started && r.Outcome == event.Cancelled:
		return nil
	case !r.Started:
		k.done.Why = r.Result.Text
		return []event.Draft{{Body: k.done}}
	}
	k.done.Took, k.done.Exit = k.took, k.ran.Exit
	for path, h := range k.e.s.hashes() {
		if k.before[path] != h {
			k.done.Changed = append(k.done.Changed, path)
		}
	}
	slices.Sort(k.done.Changed)
	k.read()
	switch {
	case r.Outcome == event.Cancelled:
		k.done.Exit, k.done.Why = nil, "interrupted"
	case r.Result.Text != "": // it could not be run
		k.done.Exit, k.done.Why = nil, r.Result.Text
	case k.ran.TimedOut:
		k.done.Stopped = true
		k.done.Exit, k.done.Why = nil, "it was stopped after "+k.Timeout.String()+" without an end"
	case k.ran.Exit == nil:
		k.done.Why = "it was killed by " + k.ran.Signal
	}
	return []event.Draft{{Body: k.done}}
}

// read takes what matters from what a check printed, and keeps the whole
// where something of it is left out.
func (k *check) read() {
	c, ran, done := k.Check, k.ran, &k.done
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
	} else if spill, err := k.e.s.spill(context.Background(), checkCall, whole); err == nil {
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
	for _, f := range s.proof().Files {
		if f.ByCheck || s.cfg.Files == nil {
			continue
		}
		if h, _, err := s.cfg.Files.Stat(f.Path); err == nil {
			out[f.Path] = h
		}
	}
	return out
}
