package tool

import (
	"context"
	"time"
)

// Journal detects changes of the workspace's files that no recorded write made:
// those of commands (SPEC 11.1). It compares the workspace with the last
// snapshot. It is safe for concurrent use.
//
// It promises three things. After a snapshot, the content of every file within
// its bounds can be restored, whatever happens to the file before the next one.
// A snapshot changes nothing in the workspace or in its git repository.
// Snapshot.Bounds names what is not watched. It refuses to guess: a file that it
// could not keep is reported with Kept false.
type Journal interface {
	// Snapshot compares the workspace with the last snapshot. The first snapshot
	// of a new journal has no effects. touched are paths that a command is known
	// to write: in a workspace that is too large to be watched whole, they and
	// their folders are watched.
	Snapshot(ctx context.Context, touched []string) (Snapshot, error)
	// Verify is a slow Snapshot: it compares every file, also those that the system
	// did not report as changed. Changes that were not reported are marked Unreported.
	Verify(ctx context.Context) (Snapshot, error)
	// Checkpoint is called after all effects of the snapshots were recorded. It
	// stores the state of the workspace at the last snapshot: if this process
	// dies, the first snapshot of the next one compares with that state. tag
	// names what runs from now on, "" for nothing; the next snapshot returns it,
	// also in another process. After an error, changes before a death of the
	// process cannot be found.
	Checkpoint(tag string) error
	// Wrote reports a recorded write by pawl, so that the next snapshot does not
	// report the file.
	Wrote(c Change)
	// Content returns the content with this hash, which one of the last snapshots
	// reported.
	Content(ctx context.Context, h Hash) ([]byte, error)
	// Lost lists the files at and below paths whose content could not be
	// restored, as the last snapshot knows them; at most limit.
	Lost(paths []string, limit int) []string
}

// Snapshot is the result of one snapshot.
type Snapshot struct {
	Effects []Effect
	// Bounds is a message for the person about what is not watched; "" where all
	// of the workspace except ignored files is.
	Bounds string
	// Notice is a message for the person if snapshots take longer than they need to:
	// where, and why. "" if they do not.
	Notice string
	Files  int // watched
	// Partial: it compared only the files that the system reported as changed.
	Partial bool
	Tag     string // the last tag of Checkpoint
}

// Effect is a file that changed since the last snapshot.
type Effect struct {
	Path             string // as Span.Path
	Before, After    Hash   // empty: did not exist, does not exist
	Mode, ModeBefore uint32 // as in event.FileChanged
	Kept             bool   // the content before can be restored
	HasAfter         bool   // the content after can be read
	Added, Removed   int    // lines, of text
	// Unreported: an earlier snapshot should have found the change, but the system did
	// not report it. At is the file's time of change.
	Unreported bool
	At         time.Time
}
