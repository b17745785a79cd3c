package verify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/tools"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/llm"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/took"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/permission"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// This file is a project's check as a call: one of the tool that runs commands,
// which pawl makes by itself. It is recorded as Checking and Checked, since it
// is not a part of the conversation.

// worthKeeping is how many bytes must be left out of an output so that the
// whole is stored too.
const worthKeeping = 200

// maxRead limits how much of an output is read, in bytes.
const maxRead = 8 << 20

// ended is how test runners tell that a part of them was asked to end, since it only waited.
const ended = "signal: terminated"

// check is a call that checks the changes.
type check struct {
	Check
	t      *TurnEnd
	ran    tool.Ran
	took   time.Duration
	before map[string]tool.Hash // the turn's changed files when it began
	done   event.Checked
	past   event.Baseline
}

// call makes the call of a check. It runs with the check's own environment and
// time limit, and its output is kept unchanged.
func (t *TurnEnd) call(c Check, id string) (*turn.Pending, *check) {
	k := &check{Check: c, t: t, done: event.Checked{Name: c.Name, Command: c.Command, Part: c.Part, Attempt: c.Attempt}}
	run, ok := t.Tools.Commands()
	args, err := json.Marshal(map[string]any{"command": c.Command, "description": "pawl checks the changes"})
	p := &turn.Pending{Call: llm.Call{ID: id, Name: run.Spec.Name, Args: args}, Args: args, Tool: run, Records: k}
	if !ok || !t.Shell || err != nil {
		p.Refused = &turn.Refusal{Outcome: event.Invalid, Text: "this session cannot run commands"}
	}
	p.Tool.Run, p.Tool.Timeout = k.run, tool.OwnLimit // the check's own
	return p, k
}

func (k *check) Consent() *permission.Check { return &k.Check.Check }

func (k *check) run(ctx context.Context, env tool.Env, _ json.RawMessage) (tool.Result, error) {
	start := k.t.Now()
	c := tool.Run{Command: k.Command, Timeout: k.Timeout, Idle: k.Idle, Env: k.Env, Out: env.Out}
	if k.Past != nil {
		c.Command, c.Dir, c.Root, c.Reads = k.Past.Command, k.Past.Dir, k.Past.Dir, k.Past.Reads
	}
	ran, err := env.Shell.Run(ctx, c)
	k.ran, k.took = ran.Readable(), k.t.Now().Sub(start)
	if k.Past != nil { // what it lacks is nobody's to grant
		return tool.Result{Command: k.Command, Exit: ran.Exit}, err
	}
	r := tool.Result{Command: k.Command, Exit: ran.Exit, Refused: tools.Blamed(ran)}
	r.Error = len(r.Refused) > 0
	return r, err
}

func (k *check) Started() []event.Draft {
	if k.Past != nil {
		return []event.Draft{{Body: event.Checking{Name: k.Name, Command: k.Past.Command, Part: k.Part, Attempt: k.Attempt, Before: k.Past.Dir != "", Again: k.Past.Dir == ""}}}
	}
	k.before = k.t.hashes()
	return []event.Draft{{Body: event.Checking{Name: k.Name, Command: k.Command, Part: k.Part, Attempt: k.Attempt}}}
}

func (k *check) Done(r turn.Ran) []event.Draft {
	if k.Past != nil {
		k.baseline(r)
		return []event.Draft{{Body: k.past}}
	}
	switch {
	case !r.Started && r.Outcome == event.Cancelled:
		return nil
	case !r.Started:
		k.done.Why, k.done.Inert = r.Result.Text, k.Untrusted != "" && r.Outcome == event.Denied
		return []event.Draft{{Body: k.done}}
	}
	k.done.Took, k.done.Exit = k.took, k.ran.Exit
	for path, h := range k.t.hashes() {
		if k.before[path] != h {
			k.done.Changed = append(k.done.Changed, path)
		}
	}
	slices.Sort(k.done.Changed)
	k.read(r.Result.Refused)
	switch {
	case r.Outcome == event.Cancelled:
		k.done.Exit, k.done.Why = nil, "interrupted"
	case r.Result.Text != "": // it could not be run
		k.done.Exit, k.done.Why = nil, r.Result.Text
	case k.ran.Waited != nil && (k.ran.Exit == nil || *k.ran.Exit == 0): // what waited decides it
		k.done.Stopped = true
		k.done.Exit, k.done.Why = nil, "it was stopped: it only waited for "+k.ran.Waited.What+", which the sandbox refused"
	case k.ran.TimedOut:
		k.done.Stopped = true
		k.done.Exit, k.done.Why = nil, "it was stopped after "+k.Timeout.String()+" without an end"
	case k.ran.Exit == nil:
		k.done.Why = "it was killed by " + k.ran.Signal
	}
	if len(r.Result.Refused) > 0 {
		var what []string
		for _, x := range r.Result.Refused {
			what = append(what, x.String())
		}
		k.done.Output = strings.TrimPrefix(strings.TrimSuffix(k.done.Output, "\n")+"\n[the sandbox refused the check: "+strings.Join(what, ", ")+"]", "\n")
	}
	return []event.Draft{{Body: k.done}}
}

// output returns the whole output as far as it can be read, and the exit code, -1 for
// a check that was killed.
func (k *check) output() (whole string, exit int) {
	whole, exit = k.ran.Output, -1
	if k.ran.Spill != "" {
		if text, err := readSome(k.ran.Spill); err == nil {
			whole = text
		}
	}
	if k.ran.Exit != nil {
		exit = *k.ran.Exit
	}
	return whole, exit
}

// baseline records what the check showed in the copy. Paths of the copy are read as
// those of the workspace.
func (k *check) baseline(r turn.Ran) {
	k.past = event.Baseline{Of: k.Command, Units: k.Past.Units, Took: k.took, Again: k.Past.Dir == "", Stopped: k.ran.TimedOut || k.ran.Waited != nil}
	if r.Started && k.t.Files != nil && k.Read != nil {
		whole, exit := k.output()
		if exit != 0 {
			if k.Past.Dir != "" {
				whole = strings.ReplaceAll(whole, k.Past.Dir, k.t.Files.Root())
			}
			read := k.Read(whole, exit)
			k.past.Failed, k.past.Why = read.Failed, read.Broken
			for i := range k.past.Failed { // a test that still runs does not show its unit
				if f := &k.past.Failed[i]; f.Unit == "" && len(k.Past.Units) == 1 {
					f.Unit = k.Past.Units[0]
				}
			}
		}
	}
	switch {
	case r.Outcome == event.Cancelled:
		k.past.Why = "interrupted"
	case r.Result.Text != "":
		k.past.Why = r.Result.Text
	case k.past.Stopped && len(k.past.Failed) == 0:
		k.past.Why = "it was stopped after " + took.Text(k.took)
	}
}

// read extracts the relevant part of a check's output, and stores the whole if
// something is left out.
func (k *check) read(refused []process.Refusal) {
	c, ran, done := k.Check, k.ran, &k.done
	whole, exit := k.output()
	t := evidence.Count(c.Command, whole, c.Env...)
	if exit == 0 {
		done.Tests, done.Untested, done.Wrapped = t.Ran, t.None, t.Wrapped
		return
	}
	done.Tests = t.Passed
	if c.Read == nil {
		return
	}
	r := c.Read(whole, exit)
	done.Failures, done.Why, done.Unrun, done.Failed = r.Failures, r.Broken, r.Broken != "" && r.Failures == 0, r.Failed
	waited := ran.Waited != nil
	if waited {
		refused = append(refused, *ran.Waited)
	}
	for i := range done.Failed {
		for _, x := range refused {
			f := &done.Failed[i]
			if f.Unrun == "" && (waited && (f.Hangs || strings.Contains(f.Cause, ended)) || x.What != "" && strings.Contains(f.Cause, x.What)) {
				f.Unrun, f.Sure = "the sandbox refused: "+x.String(), true
			}
		}
	}
	// Where the machine let nothing run, nothing was checked.
	reached := slices.ContainsFunc(done.Failed, func(f event.Failure) bool { return !f.Sure || f.Name != "" })
	if n := len(done.Failed); n > 0 && n == done.Failures && done.Tests == 0 && !reached {
		done.Why, done.Unrun = "it could not run: "+done.Failed[0].Unrun, true
		done.Failed, done.Failures = nil, 0
	}
	done.Output = strings.ToValidUTF8(strings.TrimRight(r.Text, "\n"), "\uFFFD")
	if len(whole)-len(r.Text) < worthKeeping {
		return
	}
	where := ""
	if g := ran.Gap; g != nil && g.File != "" && strings.HasSuffix(g.Where, "the whole is in "+g.File) {
		where = "all output: " + g.File
	} else if g != nil {
		where = g.Where
	} else if spill, err := k.t.Spill(context.Background(), event.CheckCall, whole); err == nil {
		where = "all output: " + spill
	}
	if where != "" {
		done.Output += "\n[" + where + "]"
	}
}

// readSome reads a spilled output; if it is over maxRead bytes, only its start
// and its end, where summaries are.
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
