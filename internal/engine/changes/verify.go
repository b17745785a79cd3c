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

// mostWindows bounds how many commands are remembered until the next
// verification.
const mostWindows = 4096

// leeway is how much a file system's clock may be behind.
const leeway = 20 * time.Millisecond

// opened notes that a command begins. The caller holds mu.
func (t *tracker) opened(r *Recorder, call string) {
	if len(t.ran) == mostWindows {
		t.ran = slices.Delete(t.ran, 0, 1)
	}
	t.ran = append(t.ran, &window{r: r, call: call, from: r.now()})
}

// closed notes that it ended.
func (t *tracker) closed(r *Recorder, call string) {
	for _, w := range slices.Backward(t.ran) {
		if w.r == r && w.call == call && w.to.IsZero() {
			w.to = r.now()
			return
		}
	}
}

// dropped notes that it did not start.
func (t *tracker) dropped(r *Recorder, call string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.ran = slices.DeleteFunc(t.ran, func(w *window) bool { return w.r == r && w.call == call && w.to.IsZero() })
}

// keep keeps only the background commands in alive.
func (t *tracker) keep(alive []*job) {
	for _, j := range t.jobs {
		if !slices.Contains(alive, j) {
			t.closed(j.r, j.call)
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

// during returns the command that ran at a moment: the last that had begun and
// has ended, else one that still runs; nil if none did.
func (t *tracker) during(at time.Time) *window {
	var back *window
	for _, w := range slices.Backward(t.ran) {
		switch {
		case at.Add(leeway).Before(w.from):
		case w.to.IsZero():
			if back == nil {
				back = w
			}
		case !at.After(w.to):
			return w
		}
	}
	return back
}

// Verify records the changes by background commands of the session until now,
// as Gather does. If commands ran since the last look at everything, it looks at
// everything.
func (r *Recorder) Verify(ctx context.Context) {
	t := r.tracker
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.trusted || t.front > 0 {
		t.gatherOf(ctx, r)
		return
	}
	_ = t.verify(ctx, r) // a broken log fails at the turn's end
}

// verify looks at everything, and records what nothing had told of. The caller
// holds mu.
func (t *tracker) verify(ctx context.Context, r *Recorder) error {
	alive := t.alive(nil)
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	l, err := t.Journal.Verify(ctx)
	if err != nil {
		return nil // the next look finds it
	}
	if err := r.warnOf(l); err != nil {
		return err
	}
	byWindow := map[*window][]tool.Effect{}
	var order []*window
	var others []tool.Effect
	for _, e := range l.Effects {
		w := (*window)(nil)
		if e.Untold {
			w = t.during(e.At)
		}
		if w == nil {
			others = append(others, e)
			continue
		}
		if byWindow[w] == nil {
			order = append(order, w)
		}
		byWindow[w] = append(byWindow[w], e)
	}
	for _, w := range order {
		if err := w.r.cfg.Record(context.WithoutCancel(ctx), w.r.effects(ctx, w.call, byWindow[w], nil)...); err != nil {
			return err
		}
	}
	if len(t.jobs) > 0 {
		if _, err := t.toJobs(ctx, others); err != nil {
			return err
		}
	}
	t.keep(alive)
	t.trusted = false
	t.ran = slices.DeleteFunc(t.ran, func(w *window) bool {
		return !slices.ContainsFunc(alive, func(j *job) bool { return j.r == w.r && j.call == w.call })
	})
	return t.checkpoint(r, jobTag(alive))
}
