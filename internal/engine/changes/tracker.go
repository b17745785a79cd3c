package changes

import (
	"context"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// What commands do to files is found by comparing the workspace before and
// after them (SPEC 11.1), and recorded here as the writes of tools are.

// Share makes a journal that several sessions of one workspace may have at the
// same time: what a background command of one of them does is then recorded
// there, whichever session comes to see it.
func Share(j tool.Journal) tool.Journal {
	if j == nil {
		return nil
	}
	if t, ok := j.(*tracker); ok {
		return t
	}
	return &tracker{Journal: j}
}

// tracker is a journal and which commands run.
type tracker struct {
	tool.Journal

	mu    sync.Mutex     // a snapshot and the recording of what it found are one
	front int            // commands that are waited for
	jobs  []*job         // background commands
	began bool           // there was a snapshot
	blind bool           // the last one failed
	left  *tool.Snapshot // after a death: what it found, of a session that was not open then
}

// job is a background command.
type job struct {
	r        *Recorder
	call, id string
	words    undo.Named
}

// personCall is the call in the tag of a person's own command.
const personCall = "!"

func (r *Recorder) tag(call string) string { return r.cfg.Session + "/" + call }

// Times a snapshot may take: it must not hang with a disk that hangs, and after an
// interrupt a person waits for it.
const (
	snapshotTime      = 30 * time.Second
	cancelledSnapshot = 5 * time.Second
	recoverTime       = 30 * time.Second
)

func snapshotContext(ctx context.Context) (context.Context, context.CancelFunc) {
	limit := snapshotTime
	if ctx.Err() != nil {
		limit = cancelledSnapshot
	}
	return context.WithTimeout(context.WithoutCancel(ctx), limit)
}

// begin takes a snapshot before a command: what it finds is not the command's
// doing.
func (t *tracker) begin(ctx context.Context, r *Recorder, call string, named undo.Named) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.front++
	if err := t.recordOthers(ctx, r, named.Paths()); err != nil {
		return err
	}
	return t.checkpoint(r, r.tag(call))
}

// abandon takes back what begin began.
func (t *tracker) abandon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.front--
}

// recordOthers takes a snapshot, and records what it found for those whose doing
// it may be.
func (t *tracker) recordOthers(ctx context.Context, r *Recorder, touched []string) error {
	alive := t.alive(nil)
	l, err := t.snapshot(ctx, r, touched)
	if err != nil {
		return err
	}
	defer func() { t.jobs = alive }()
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	if n := len(t.jobs); n > 0 {
		_, err := t.toJobs(ctx, l.Effects)
		return err
	}
	if id, call, ok := strings.Cut(l.Tag, "/"); ok && id == r.cfg.Session {
		// There was none after that command: pawl died, or could not.
		return r.cfg.Record(context.WithoutCancel(ctx), r.effects(ctx, call, r.unrecorded(ctx, l.Effects), nil)...)
	}
	return nil // somebody else's, and no part of this session
}

// snapshot is Journal.Look, and tells of its limits once.
func (t *tracker) snapshot(ctx context.Context, r *Recorder, touched []string) (tool.Snapshot, error) {
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	l, err := t.Snapshot(ctx, touched)
	if t.blind = err != nil; t.blind {
		return l, r.warnOfLimit("what commands change is not recorded and can not be undone: " + err.Error())
	}
	t.began = true
	if l.Bounds != "" {
		err = r.warnOfLimit(l.Bounds)
	}
	return l, err
}

// started adds a background command.
func (t *tracker) started(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = append(t.jobs, j)
}

// checkpoint keeps how the workspace is, once all that was found is recorded.
func (t *tracker) checkpoint(r *Recorder, tag string) error {
	if t.blind {
		return nil
	}
	if err := t.Checkpoint(tag); err != nil {
		return r.warnOfLimit("what commands change could not be told if pawl were killed now: " + err.Error())
	}
	return nil
}

// recorded makes a checkpoint after a command.
func (t *tracker) recorded(r *Recorder) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.front > 0 {
		return nil // the snapshot before that one was followed by a checkpoint
	}
	return t.checkpoint(r, jobTag(t.jobs))
}

// toJobs records what background commands may have done.
func (t *tracker) toJobs(ctx context.Context, es []tool.Effect) ([]event.FileChanged, error) {
	byJob := map[*job][]tool.Effect{}
	for _, e := range es {
		at := t.jobs[len(t.jobs)-1]
		for _, j := range t.jobs {
			if j.words.Covers(e, nil) {
				at = j
			}
		}
		byJob[at] = append(byJob[at], e)
	}
	var all []event.FileChanged
	for _, j := range t.jobs {
		// What its own words name is its doing, as with a command that is waited for.
		ds := j.r.effects(ctx, j.call, byJob[j], &j.words)
		if err := j.r.cfg.Record(context.WithoutCancel(ctx), ds...); err != nil {
			return all, err
		}
		all = append(all, bodies(ds)...)
	}
	return all, nil
}

func bodies(ds []event.Draft) []event.FileChanged {
	var out []event.FileChanged
	for _, d := range ds {
		if c, ok := d.Body.(event.FileChanged); ok {
			out = append(out, c)
		}
	}
	return out
}

// alive are the background commands that have not ended, without those of a
// session. Who asks before a snapshot may forget the others after it: it is the
// one after their end.
func (t *tracker) alive(without *Recorder) []*job {
	return slices.DeleteFunc(slices.Clone(t.jobs), func(j *job) bool {
		sh, ok := j.r.cfg.Shell.(interface{ Running() [][2]string })
		return j.r == without || ok && !slices.ContainsFunc(sh.Running(), func(run [2]string) bool { return run[0] == j.id })
	})
}

// jobTag names the newest of background commands.
func jobTag(jobs []*job) string {
	if n := len(jobs); n > 0 {
		return jobs[n-1].r.tag(jobs[n-1].call)
	}
	return ""
}

// end takes a snapshot after a command and returns what is to be recorded of it.
// blind: there is none, or was none before, and not all of it may be known.
func (t *tracker) end(ctx context.Context, r *Recorder, call string, named undo.Named) (_ []event.Draft, blind bool, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.front--
	alive, unsure := t.alive(nil), t.blind
	l, err := t.snapshot(ctx, r, named.Paths())
	if err != nil || t.blind {
		return nil, true, err
	}
	defer func() { t.jobs = alive }()
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	if unsure { // what it finds may have been so before
		return r.effects(ctx, call, l.Effects, nil), true, nil
	}
	ds, mine := t.ofJobs(ctx, r, l.Effects, named)
	return append(r.effects(ctx, call, mine, &named), ds...), false, nil
}

// ofJobs takes from what a snapshot after a command found what the words of a
// background command of the session name, and those of the command do not.
func (t *tracker) ofJobs(ctx context.Context, r *Recorder, es []tool.Effect, named undo.Named) (ds []event.Draft, left []tool.Effect) {
	byJob := map[*job][]tool.Effect{}
	for _, e := range es {
		i := -1
		if !named.Covers(e, nil) {
			i = slices.IndexFunc(t.jobs, func(j *job) bool { return j.r == r && j.words.Covers(e, nil) })
		}
		if i < 0 {
			left = append(left, e)
			continue
		}
		byJob[t.jobs[i]] = append(byJob[t.jobs[i]], e)
	}
	for _, j := range t.jobs {
		ds = append(ds, r.effects(ctx, j.call, byJob[j], &j.words)...)
	}
	return ds, left
}

// harvest records what a background command of r did. While another command is
// waited for, that one's snapshot comes first.
func (t *tracker) harvest(ctx context.Context, r *Recorder, id string) ([]event.FileChanged, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.ContainsFunc(t.jobs, func(j *job) bool { return j.r == r && j.id == id }) {
		return nil, nil
	}
	return t.gather(ctx, r, t.alive(nil))
}

// gather takes a snapshot, and has only the background commands that are alive from then
// on.
func (t *tracker) gather(ctx context.Context, r *Recorder, alive []*job) ([]event.FileChanged, error) {
	if t.front > 0 {
		return nil, nil
	}
	l, err := t.snapshot(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	out, err := t.toJobs(ctx, l.Effects)
	t.jobs = alive
	if err == nil {
		err = t.checkpoint(r, jobTag(alive))
	}
	return out, err
}

// catchUp takes a snapshot where background commands of the session run on, so
// that what they did until now is part of the turn, and undo knows of it.
func (t *tracker) catchUp(ctx context.Context, r *Recorder) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.jobs, func(j *job) bool { return j.r == r }) {
		_, _ = t.gather(ctx, r, t.alive(nil)) // a log that is broken fails at the turn's end
	}
}

// leave forgets a session's background commands, after a last snapshot.
func (t *tracker) leave(r *Recorder) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.jobs, func(j *job) bool { return j.r == r }) {
		// A broken log is reported where it is written next.
		_, _ = t.gather(context.Background(), r, t.alive(r))
	}
	t.jobs = slices.DeleteFunc(t.jobs, func(j *job) bool { return j.r == r })
}

// ensure makes sure that there was a snapshot.
func (t *tracker) ensure(ctx context.Context, r *Recorder) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.began || t.front > 0 {
		return nil
	}
	if err := t.recordOthers(ctx, r, nil); err != nil {
		return err
	}
	return t.checkpoint(r, "")
}

// wrote tells the journal of a write that is recorded already.
func (t *tracker) wrote(cs []tool.Change) {
	if t == nil {
		return
	}
	for _, c := range cs {
		t.Wrote(c)
	}
}
