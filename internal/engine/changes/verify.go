package changes

import (
	"context"
	"slices"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file compares the whole workspace again after the journal compared only
// the files that the system reported as changed (SPEC 19.1). A change that was not
// reported belongs to the command that ran at the file's time of change, and is
// recorded as unattributed.

// mostIntervals bounds how many commands are remembered until the next
// verification.
const mostIntervals = 4096

// leeway is how much a file system's clock may be behind.
const leeway = 20 * time.Millisecond

// commandStarted notes that a command begins. The caller holds mu.
func (t *tracker) commandStarted(r *Recorder, call string) {
	if len(t.intervals) == mostIntervals {
		t.intervals = slices.Delete(t.intervals, 0, 1)
	}
	t.intervals = append(t.intervals, &interval{r: r, call: call, from: r.now()})
}

// commandEnded notes that a command ended. The caller holds mu.
func (t *tracker) commandEnded(r *Recorder, call string) {
	for _, w := range slices.Backward(t.intervals) {
		if w.r == r && w.call == call && w.to.IsZero() {
			w.to = r.now()
			return
		}
	}
}

// commandNotStarted notes that a command did not start.
func (t *tracker) commandNotStarted(r *Recorder, call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.intervals = slices.DeleteFunc(t.intervals, func(w *interval) bool { return w.r == r && w.call == call && w.to.IsZero() })
}

// keepJobs forgets the background commands that are not in alive.
func (t *tracker) keepJobs(alive []*job) {
	for _, j := range t.jobs {
		if !slices.Contains(alive, j) {
			t.commandEnded(j.r, j.call)
		}
	}
	t.jobs = alive
}

func (r *Recorder) now() time.Time {
	if r.cfg.Now == nil {
		return time.Now()
	}
	return r.cfg.Now()
}

// commandAt returns the command that ran at a moment: the last that has ended, else the
// last that still runs; nil if none did. The leeway counts only where no command ran then.
func (t *tracker) commandAt(at time.Time) *interval {
	began := func(w *interval, slack time.Duration) bool { return !at.Add(slack).Before(w.from) }
	for _, slack := range []time.Duration{0, leeway} {
		for _, w := range slices.Backward(t.intervals) {
			if began(w, slack) && !w.to.IsZero() && !at.After(w.to) {
				return w
			}
		}
	}
	for _, w := range slices.Backward(t.intervals) {
		if began(w, leeway) && w.to.IsZero() {
			return w
		}
	}
	return nil
}

// Verify records the changes by background commands of the session until now, as
// RecordBackground does. If a snapshot since the last complete comparison was
// partial, it compares every file.
func (r *Recorder) Verify(ctx context.Context) {
	t := r.tracker
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.partial || t.foreground > 0 {
		t.recordJobsOf(ctx, r)
		return
	}
	_ = t.verify(ctx, r) // a broken log fails at the turn's end
}

// verify compares every file, and records changes that the system did not report.
// The caller holds mu.
func (t *tracker) verify(ctx context.Context, r *Recorder) error {
	alive := t.runningJobs(nil)
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	l, err := t.Journal.Verify(ctx)
	if err != nil {
		return nil // the next comparison finds it
	}
	if err := r.warnOf(l); err != nil {
		return err
	}
	byInterval := map[*interval][]tool.Effect{}
	var order []*interval
	var others []tool.Effect
	for _, e := range l.Effects {
		w := (*interval)(nil)
		if e.Unreported {
			w = t.commandAt(e.At)
		}
		if w == nil {
			others = append(others, e)
			continue
		}
		if byInterval[w] == nil {
			order = append(order, w)
		}
		byInterval[w] = append(byInterval[w], e)
	}
	for _, w := range order {
		if err := w.r.log.Append(context.WithoutCancel(ctx), w.r.storeEffects(ctx, w.call, byInterval[w], nil)...); err != nil {
			return err
		}
	}
	if len(t.jobs) > 0 {
		if _, err := t.recordForJobs(ctx, others); err != nil {
			return err
		}
	}
	t.keepJobs(alive)
	t.partial = false
	t.intervals = slices.DeleteFunc(t.intervals, func(w *interval) bool {
		return !slices.ContainsFunc(alive, func(j *job) bool { return j.r == w.r && j.call == w.call })
	})
	return t.checkpoint(r, jobTag(alive))
}
