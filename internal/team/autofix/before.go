package autofix

import (
	"context"
	"errors"
	"io/fs"
	"path"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/checks"
	"github.com/pawl-agent/pawl/internal/adapter/past"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/engine/verify"
	"github.com/pawl-agent/pawl/internal/policy/evidence"
)

// This file finds out what is not the turn's doing: what fails now is run again in a
// copy of the files as they were, confined to the copy, and a test of a package that the
// turn did not change once more as it is.

// beforeTimeout is how long that may take, besides twice the time of the check itself.
const beforeTimeout = time.Minute

// open returns the failures of a check that may be the turn's doing. unaffected: the check
// shows what the changes do not affect, so a test that failed before in another way is flaky.
func (f *verifier) open(ctx context.Context, t *verify.TurnEnd, c checks.Check, done event.Checked, unaffected bool) ([]evidence.Failure, error) {
	xs := t.Evidence().Failures(c.Command)
	if slices.ContainsFunc(xs, evidence.Failure.Unsettled) {
		if err := f.compare(ctx, t, c, done, xs); err != nil {
			return nil, err
		}
	}
	open := func() []evidence.Failure {
		return slices.DeleteFunc(slices.Clone(t.Evidence().Failures(c.Command)), func(x evidence.Failure) bool { return !x.Open() || unaffected && x.Otherwise })
	}
	if err := f.again(ctx, t, c, done, open()); err != nil {
		return nil, err
	}
	return open(), nil
}

// again runs once more, on the same files, the packages without a changed file in which a
// test fails that passed before: a test that passes then is flaky.
func (f *verifier) again(ctx context.Context, t *verify.TurnEnd, c checks.Check, done event.Checked, xs []evidence.Failure) error {
	var units []string
	changed := t.Evidence().Changed()
	for _, x := range xs {
		in := func(w evidence.File) bool { return c.Holds(x.Unit, w.Path) }
		if x.Name != "" && !x.Hangs && !slices.Contains(units, x.Unit) && !slices.ContainsFunc(changed, in) {
			units = append(units, x.Unit)
		}
	}
	command, ok := c.Only(units)
	if !ok {
		return nil
	}
	k := f.call(c)
	k.Past, k.Timeout = &verify.Past{Command: command, Units: units}, min(f.Timeout, beforeTimeout+done.Took)
	k.Env = c.Within(k.Timeout)
	_, err := t.Check(ctx, k)
	return err
}

// compare runs in the copy what is not compared yet.
func (f *verifier) compare(ctx context.Context, t *verify.TurnEnd, c checks.Check, done event.Checked, xs []evidence.Failure) error {
	limit := beforeTimeout + 2*done.Took
	var units []string
	for _, x := range xs {
		// The unit of a test that still runs is often not shown: with it, all would run again.
		if x.Unsettled() && !slices.Contains(units, x.Unit) && !(x.Hangs && x.Unit == "") {
			units = append(units, x.Unit)
		}
		if x.Hangs { // it would use all the time that it gets
			limit = beforeTimeout
		}
	}
	run := &verify.Past{Command: c.Command}
	if command, ok := c.Only(units); ok {
		run.Command, run.Units = command, units
	}
	if f.compared[run.Command] {
		return nil // it told nothing
	}
	if f.compared == nil {
		f.compared = map[string]bool{}
	}
	f.compared[run.Command] = true
	if f.copy == nil {
		copied, err := copyBefore(ctx, t)
		if err != nil {
			return t.Log.Append(ctx, event.Draft{Body: event.Baseline{Of: c.Command, Units: run.Units, Why: err.Error()}})
		}
		f.copy = copied
	}
	run.Dir, run.Reads = f.copy.Dir, f.copy.Reads
	k := f.call(c)
	k.Past, k.Timeout = run, min(f.Timeout, limit)
	k.Env = append(c.Within(k.Timeout), c.InCopy(run.Dir)...)
	_, err := t.Check(ctx, k)
	return err
}

// copyBefore copies the workspace as it was before the turn.
func copyBefore(ctx context.Context, t *verify.TurnEnd) (*past.Copy, error) {
	var were []past.File
	for _, x := range t.Evidence().Files {
		if path.IsAbs(x.Path) {
			return nil, errors.New("the turn also changed files outside of the folder")
		}
		w := past.File{Path: x.Path, Gone: x.Before == "", Mode: fs.FileMode(x.Mode)}
		if !w.Gone {
			data, err := t.Content(ctx, string(x.Before))
			if err != nil {
				return nil, err
			}
			w.Data = data
		}
		were = append(were, w)
	}
	return past.New(ctx, t.Files.Root(), "", were)
}
