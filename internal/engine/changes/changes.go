// Package changes changes the files of a session and reverts such changes:
// writing, with the intent in the log before the first file is touched
// (write.go); changes by commands (comparison.go, tracker.go, effects.go, shell.go);
// recovery after a crash (recover.go); undo and redo (plan.go, undo.go,
// orphans.go, diff.go); and previews (drafts.go, preview.go).
//
// It promises that at no moment pawl has made a change that the log does not
// know; that a command's change is recorded with the content before it, as far
// as the journal keeps it, and that a missing content is reported; that a plan
// is executed completely or not at all, on files that have not changed since
// the plan was made. It does not judge: policy/undo decides which changes are
// in effect, what is to be done to a file, and what the words of a command
// name. It knows the session's log, but not the session.
package changes

import (
	"context"
	"strings"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/tool"
	"github.com/pawl-agent/pawl/internal/engine/eventlog"
	"github.com/pawl-agent/pawl/internal/engine/turn"
	"github.com/pawl-agent/pawl/internal/policy/undo"
)

// Config is what a recorder is made of.
type Config struct {
	Session string      // its id
	Dir     string      // the workspace's real path
	Store   event.Store // keeps contents
	Files   tool.Files
	Shell   tool.Shell
	Journal tool.Journal // nil: changes by commands are not recorded; see Share
	Kept    tool.Keeper  // nil: nothing is kept beside the journal's copies
	Locks   *turn.Locks
	// Agent: after a crash this session is opened only for its parent, and no
	// command runs in it that would find changes later.
	Agent bool
	// ReadOnly: nothing is recovered, since another process may still be writing.
	ReadOnly bool
	Now      func() time.Time
	// CatchUp reads what other processes appended. It is an error if one of
	// them is running a turn.
	CatchUp func(context.Context) error
	// Exclusive reserves the session for its caller until done is called, after
	// reading what others appended. If something else is running, the error is
	// fault.ErrBusy, in a sentence that begins with what is not possible.
	Exclusive func(ctx context.Context, cannot string) (_ context.Context, done func(), err error)
}

// Recorder records what one session does to files. Its methods are safe for
// concurrent use.
type Recorder struct {
	cfg     Config
	log     *eventlog.Log
	fold    *Fold    // read in a View of the log
	tracker *tracker // nil without a journal

	mu          sync.Mutex
	comparisons map[*turn.Pending]*comparison  // calls between their two snapshots
	keeping     map[*turn.Pending]tool.Keeping // of the commands of running calls
}

// New returns the recorder of a session. fold is one of log's folds.
func New(log *eventlog.Log, fold *Fold, cfg Config) *Recorder {
	t, _ := Share(cfg.Journal).(*tracker)
	return &Recorder{cfg: cfg, log: log, fold: fold, tracker: t, comparisons: map[*turn.Pending]*comparison{}, keeping: map[*turn.Pending]tool.Keeping{}}
}

// History returns the read access to the changes.
func (r *Recorder) History() *History { return &History{r} }

// Fold is the state of changes in a log. The zero value is ready.
type Fold struct {
	undo   undo.Fold
	recent map[string]recent // by path
	limits map[string]bool   // limits that the person was told about, without their figures
	open   []event.CallAsked // the calls without a result, in order; without arguments
}

func (f *Fold) Apply(e event.Event) {
	f.undo.Apply(e)
	switch b := e.Body.(type) {
	case event.FileChanged:
		if f.recent == nil {
			f.recent = map[string]recent{}
		}
		if b.Path != "" && len(f.recent[b.Path]) < 64 {
			f.recent[b.Path] = append(f.recent[b.Path], b)
		}
	case event.Replied:
		f.open = f.open[:0]
	case event.CallAsked:
		f.open = append(f.open, event.CallAsked{ID: b.ID, Tool: b.Tool, Does: b.Does})
	case event.CallDone:
		if len(f.open) > 0 {
			f.open = f.open[1:]
		}
		if b.Command != "" && b.Outcome != event.UnknownDone { // its changes are recorded, and the journal is at a checkpoint
			clear(f.recent)
		}
	case event.Warned:
		if b.What == event.WarnedJournal {
			if f.limits == nil {
				f.limits = map[string]bool{}
			}
			f.limits[withoutFigures(b.Text)] = true
		}
	}
}

// warnOfLimit tells the person what is not recorded, each limit once in a session.
func (r *Recorder) warnOfLimit(text string) error {
	b := r.log.Masked(event.Warned{What: event.WarnedJournal, Text: text}).(event.Warned)
	if eventlog.Query(r.log, func() bool { return r.fold.limits[withoutFigures(b.Text)] }) {
		return nil
	}
	return r.log.Append(context.Background(), event.Draft{Body: b})
}

func withoutFigures(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}
