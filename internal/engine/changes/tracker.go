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

// This file finds changes by commands by comparing the workspace before and
// after them (SPEC 11.1), and records them like writes of tools.

// Share makes a journal that several sessions of one workspace can use at the
// same time. A change by a background command of one of them is recorded in
// that session, whichever session finds it.
func Share(j tool.Journal) tool.Journal {
	if j == nil {
		return nil
	}
	if t, ok := j.(*tracker); ok {
		return t
	}
	return &tracker{Journal: j}
}

// tracker is a journal with the running commands.
type tracker struct {
	tool.Journal

	mu         sync.Mutex     // held for a snapshot and the recording of its findings
	foreground int            // foreground commands
	jobs       []*job         // background commands
	compared   bool           // there was a snapshot, so later ones have something to compare with
	lastFailed bool           // the last snapshot failed
	unclaimed  *tool.Snapshot // after a crash: findings for a session that was not open then

	// partial: since the last complete comparison, a snapshot compared only the
	// files that the system reported as changed. intervals are the commands since then.
	partial   bool
	intervals []*interval
}

// interval is the time in which a command ran.
type interval struct {
	r        *Recorder
	call     string
	from, to time.Time // to is zero while it runs
}

// job is a background command.
type job struct {
	r        *Recorder
	call, id string
	named    undo.NamedPaths
	keeping  tool.Keeping // nil: nothing is kept of it
}

// personCall is the call in the tag of a person's own command.
const personCall = "!"

func (r *Recorder) tag(call string) string { return r.cfg.Session + "/" + call }

// Time limits of a snapshot: it must not hang with a disk that hangs, and after
// an interrupt a person waits for it.
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

// begin takes a snapshot before a command: changes that it finds are not by the command.
func (t *tracker) begin(ctx context.Context, r *Recorder, call string, named undo.NamedPaths) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.foreground++
	if err := t.recordOthers(ctx, r, named.Paths()); err != nil {
		return err
	}
	t.commandStarted(r, call)
	return t.checkpoint(r, r.tag(call))
}

// abandon ends a command without a snapshot.
func (t *tracker) abandon() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.foreground--
}

// recordOthers takes a snapshot, and records its findings for those who may
// have made the changes.
func (t *tracker) recordOthers(ctx context.Context, r *Recorder, touched []string) error {
	alive := t.runningJobs(nil)
	l, err := t.snapshot(ctx, r, touched)
	if err != nil {
		return err
	}
	defer t.keepJobs(alive)
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	if n := len(t.jobs); n > 0 {
		_, err := t.recordForJobs(ctx, l.Effects)
		return err
	}
	if id, call, ok := strings.Cut(l.Tag, "/"); ok && id == r.cfg.Session {
		// There was no snapshot after that command: pawl died, or it failed.
		return r.log.Append(context.WithoutCancel(ctx), r.storeEffects(ctx, call, r.unrecorded(ctx, l.Effects), nil)...)
	}
	return nil // somebody else's change, not part of this session
}

// snapshot calls Journal.Snapshot, and reports its limits once.
func (t *tracker) snapshot(ctx context.Context, r *Recorder, touched []string) (tool.Snapshot, error) {
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	l, err := t.Snapshot(ctx, touched)
	if t.lastFailed = err != nil; t.lastFailed {
		return l, r.warnOfLimit("what commands change is not recorded and cannot be undone: " + err.Error())
	}
	t.compared = true
	t.partial = t.partial || l.Partial
	return l, r.warnOf(l)
}

// warnOf shows the person the messages of a snapshot, each once in a session.
func (r *Recorder) warnOf(l tool.Snapshot) error {
	for _, text := range []string{l.Bounds, l.Notice} {
		if text == "" {
			continue
		}
		if err := r.warnOfLimit(text); err != nil {
			return err
		}
	}
	return nil
}

// addJob adds a background command.
func (t *tracker) addJob(j *job) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.jobs = append(t.jobs, j)
}

// checkpoint stores the state of the workspace, after all findings were recorded.
func (t *tracker) checkpoint(r *Recorder, tag string) error {
	if t.lastFailed {
		return nil
	}
	if err := t.Checkpoint(tag); err != nil {
		return r.warnOfLimit("if pawl is killed now, it cannot find out what commands changed: " + err.Error())
	}
	return nil
}

// checkpointAfter makes a checkpoint after a command.
func (t *tracker) checkpointAfter(r *Recorder) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.foreground > 0 {
		return nil // the snapshot before that one was followed by a checkpoint
	}
	return t.checkpoint(r, jobTag(t.jobs))
}

// recordForJobs records changes that background commands may have made.
func (t *tracker) recordForJobs(ctx context.Context, es []tool.Effect) ([]event.FileChanged, error) {
	byJob := map[*job][]tool.Effect{}
	for _, e := range es {
		at := t.jobs[len(t.jobs)-1]
		for _, j := range t.jobs {
			if j.named.Covers(e, nil) {
				at = j
			}
		}
		byJob[at] = append(byJob[at], e)
	}
	var all []event.FileChanged
	for _, j := range t.jobs {
		// A change that its own words name is attributed to it, as for a
		// foreground command.
		ds := j.r.finishKept(j.keeping, j.call, j.r.storeEffects(ctx, j.call, byJob[j], &j.named))
		if err := j.r.log.Append(context.WithoutCancel(ctx), ds...); err != nil {
			return all, err
		}
		all = append(all, fileChanges(ds)...)
	}
	return all, nil
}

func fileChanges(ds []event.Draft) []event.FileChanged {
	var out []event.FileChanged
	for _, d := range ds {
		if c, ok := d.Body.(event.FileChanged); ok {
			out = append(out, c)
		}
	}
	return out
}

// runningJobs returns the background commands that have not ended, except those of a
// session. A caller that calls it before a snapshot may drop the other commands
// after the snapshot, which covers their ends.
func (t *tracker) runningJobs(without *Recorder) []*job {
	return slices.DeleteFunc(slices.Clone(t.jobs), func(j *job) bool {
		sh, ok := j.r.cfg.Shell.(tool.Jobs)
		return j.r == without || ok && !slices.ContainsFunc(sh.Running(), func(run tool.Job) bool { return run.ID == j.id })
	})
}

// jobTag returns the tag of the newest background command.
func jobTag(jobs []*job) string {
	if n := len(jobs); n > 0 {
		return jobs[n-1].r.tag(jobs[n-1].call)
	}
	return ""
}

// end takes a snapshot after a command and returns the events to record. blind
// means that this snapshot or the one before failed: changes may be missing.
func (t *tracker) end(ctx context.Context, r *Recorder, call string, named undo.NamedPaths) (_ []event.Draft, blind bool, _ error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.foreground--
	t.commandEnded(r, call)
	alive, unsure := t.runningJobs(nil), t.lastFailed
	l, err := t.snapshot(ctx, r, named.Paths())
	if err != nil || t.lastFailed {
		return nil, true, err
	}
	defer t.keepJobs(alive)
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	if unsure { // the changes may be older
		return r.storeEffects(ctx, call, l.Effects, nil), true, nil
	}
	ds, mine := t.splitByJob(ctx, r, l.Effects, named)
	return append(r.storeEffects(ctx, call, mine, &named), ds...), false, nil
}

// splitByJob removes from the findings after a command those that the words of a
// background command of the session name, and those of the command do not.
func (t *tracker) splitByJob(ctx context.Context, r *Recorder, es []tool.Effect, named undo.NamedPaths) (ds []event.Draft, left []tool.Effect) {
	byJob := map[*job][]tool.Effect{}
	for _, e := range es {
		i := -1
		if !named.Covers(e, nil) {
			i = slices.IndexFunc(t.jobs, func(j *job) bool { return j.r == r && j.named.Covers(e, nil) })
		}
		if i < 0 {
			left = append(left, e)
			continue
		}
		byJob[t.jobs[i]] = append(byJob[t.jobs[i]], e)
	}
	for _, j := range t.jobs {
		if len(byJob[j]) > 0 {
			ds = append(ds, r.finishKept(j.keeping, j.call, r.storeEffects(ctx, j.call, byJob[j], &j.named))...)
		}
	}
	return ds, left
}

// recordJob records the changes by a background command of r, and returns what it names. If
// a foreground command is running, that command's snapshot comes first.
func (t *tracker) recordJob(ctx context.Context, r *Recorder, id string) ([]event.FileChanged, undo.NamedPaths, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := slices.IndexFunc(t.jobs, func(j *job) bool { return j.r == r && j.id == id })
	if i < 0 {
		return nil, undo.NamedPaths{}, nil
	}
	named := t.jobs[i].named
	cs, err := t.recordJobs(ctx, r, t.runningJobs(nil))
	return cs, named, err
}

// recordJobs takes a snapshot, and keeps only the background commands in alive.
func (t *tracker) recordJobs(ctx context.Context, r *Recorder, alive []*job) ([]event.FileChanged, error) {
	if t.foreground > 0 {
		return nil, nil
	}
	l, err := t.snapshot(ctx, r, nil)
	if err != nil {
		return nil, err
	}
	ctx, cancel := snapshotContext(ctx)
	defer cancel()
	out, err := t.recordForJobs(ctx, l.Effects)
	t.keepJobs(alive)
	if err == nil {
		err = t.checkpoint(r, jobTag(alive))
	}
	return out, err
}

// recordSession takes a snapshot if background commands of the session are still
// running, so that their changes until now are part of the turn, and undo knows
// them.
func (t *tracker) recordSession(ctx context.Context, r *Recorder) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.recordJobsOf(ctx, r)
}

// recordJobsOf is recordSession for a caller that holds mu.
func (t *tracker) recordJobsOf(ctx context.Context, r *Recorder) {
	if slices.ContainsFunc(t.jobs, func(j *job) bool { return j.r == r }) {
		_, _ = t.recordJobs(ctx, r, t.runningJobs(nil)) // a broken log fails at the turn's end
	}
}

// closeSession takes a last snapshot and forgets a session's background commands.
func (t *tracker) closeSession(r *Recorder) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if slices.ContainsFunc(t.jobs, func(j *job) bool { return j.r == r }) {
		// A broken log is reported at the next write.
		_, _ = t.recordJobs(context.Background(), r, t.runningJobs(r))
	}
	t.jobs = slices.DeleteFunc(t.jobs, func(j *job) bool { return j.r == r })
	t.intervals = slices.DeleteFunc(t.intervals, func(w *interval) bool { return w.r == r })
}

// ensure makes sure that there is a snapshot.
func (t *tracker) ensure(ctx context.Context, r *Recorder) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.compared || t.foreground > 0 {
		return nil
	}
	if err := t.recordOthers(ctx, r, nil); err != nil {
		return err
	}
	return t.checkpoint(r, "")
}

// wrote tells the journal about a write that is already recorded.
func (t *tracker) wrote(cs []tool.Change) {
	if t == nil {
		return
	}
	for _, c := range cs {
		t.Wrote(c)
	}
}
