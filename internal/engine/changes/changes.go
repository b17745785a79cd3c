// Package changes is how the files of a session are changed, and how that is
// taken back: writing with the intent in the log before the first file is
// touched (write.go), what commands change (look.go, tracker.go, effects.go, shell.go),
// what a death cut short (recover.go), undo and redo (plan.go, undo.go,
// orphans.go, diff.go), and previews (drafts.go, preview.go).
//
// It promises that there is no moment at which a change of pawl's exists and the
// log does not know of it; that what a command changed is recorded with what was
// there before, as far as the journal keeps it, and that it is told where it
// does not; that a plan is done whole or not at all, on files that are as they
// were when it was made. It judges nothing: which changes stand, what is to be
// done to a file and what the words of a command name is said by policy/undo. It
// knows the session's log, and not the session.
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
	Journal tool.Journal // nil: what commands change is not recorded; see Share
	Locks   *turn.Locks
	// Agent: after a death the session is opened for its parent only, and nothing
	// runs in it that would find what was not looked for.
	Agent bool
	// ReadOnly: nothing is recovered that another process may still be doing.
	ReadOnly bool
	Now      func() time.Time

	// Record appends to the log, with what runs as the cause.
	Record func(context.Context, ...event.Draft) error
	// CatchUp takes in what other processes appended. It is an error where one
	// of them runs a turn.
	CatchUp func(context.Context) error
	// Exclusive gives the session to its caller until done is called, with what
	// others appended taken in. Where something else runs it is fault.ErrBusy,
	// in a sentence that begins with what can not be done.
	Exclusive func(ctx context.Context, cannot string) (_ context.Context, done func(), err error)
}

// Recorder records what one session does to files. Its methods may be called
// from anywhere.
type Recorder struct {
	cfg     Config
	log     *eventlog.Log
	fold    *Fold    // read in a View of the log
	tracker *tracker // nil without a journal

	mu    sync.Mutex
	looks map[*turn.Pending]*look // calls between their snapshots
}

// New makes the recorder of a session. fold is one of log's.
func New(log *eventlog.Log, fold *Fold, cfg Config) *Recorder {
	t, _ := Share(cfg.Journal).(*tracker)
	return &Recorder{cfg: cfg, log: log, fold: fold, tracker: t, looks: map[*turn.Pending]*look{}}
}

// History returns what can be asked about the changes.
func (r *Recorder) History() *History { return &History{r} }

// Fold is what a log has of changes. The zero value is ready.
type Fold struct {
	undo   undo.Fold
	recent map[string]recent // by path
	limits map[string]bool   // that the person was told of, without their figures
	open   []tool.Kind       // what the calls without a result do, in order
}

// Apply is part of event.Fold.
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
		f.open = append(f.open, b.Does)
	case event.CallDone:
		if len(f.open) > 0 {
			f.open = f.open[1:]
		}
		if b.Command != "" && b.Outcome != event.UnknownDone { // what it did is recorded, and the journal at a checkpoint
			clear(f.recent)
		}
	case event.Warned:
		if b.What == journalWarning {
			if f.limits == nil {
				f.limits = map[string]bool{}
			}
			f.limits[withoutFigures(b.Text)] = true
		}
	}
}

// journalWarning is Warned.What of a limit of the journal.
const journalWarning = "journal"

// warnOfLimit tells the person what is not recorded, each limit once in a
// session.
func (r *Recorder) warnOfLimit(text string) error {
	b := r.log.Masked(event.Warned{What: journalWarning, Text: text}).(event.Warned)
	if eventlog.Look(r.log, func() bool { return r.fold.limits[withoutFigures(b.Text)] }) {
		return nil
	}
	return r.cfg.Record(context.Background(), event.Draft{Body: b})
}

func withoutFigures(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= '0' && r <= '9' {
			return -1
		}
		return r
	}, text)
}
