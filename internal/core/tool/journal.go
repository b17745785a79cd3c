package tool

import "context"

// Journal knows what happened to the workspace's files beside the recorded
// writes: what commands did (SPEC 11.1). It compares the workspace with how it
// was at the last snapshot. It is safe for concurrent use.
//
// It promises that after a snapshot the content of every file within its bounds
// can be had again, whatever is done to the file before the next one; that
// nothing in the workspace or in its git repository is changed by looking; and
// that what it does not watch is said in Snapshot.Bounds. It refuses to guess:
// a file that it could not keep is reported with Kept false.
type Journal interface {
	// Snapshot compares the workspace with the last snapshot. The first one of a
	// new journal has no effects. touched are paths that a command is known to
	// write: in a workspace too large to be watched whole, they and their
	// folders are.
	Snapshot(ctx context.Context, touched []string) (Snapshot, error)
	// Checkpoint is called when all that the snapshots found is recorded, and
	// keeps how the workspace was at the last one: should this process die, the
	// next one's first snapshot compares with that. tag names what runs from now
	// on, "" for nothing; the next snapshot returns it, also one of another
	// process. After an error it can not be told after a death what changed.
	Checkpoint(tag string) error
	// Wrote is told of a recorded write of pawl's own that left a file like this,
	// so that the next snapshot does not report it.
	Wrote(c Change)
	// Content returns a content that one of the last snapshots reported, by its
	// hash.
	Content(ctx context.Context, h Hash) ([]byte, error)
	// Lost lists, of the files at and below paths, those whose content could
	// not be had again, as the last snapshot knows them; at most limit.
	Lost(paths []string, limit int) []string
}

// Snapshot is what one snapshot found.
type Snapshot struct {
	Effects []Effect
	// Bounds tells the person what is not watched: "" where all of the workspace
	// but ignored files is.
	Bounds string
	Files  int    // watched
	Tag    string // that Checkpoint was given last
}

// Effect is a file that is not as it was at the last snapshot.
type Effect struct {
	Path             string // as Span.Path
	Before, After    Hash   // empty: did not exist, does not exist
	Mode, ModeBefore uint32 // as in event.FileChanged
	Kept             bool   // the content before can be had
	Held             bool   // the content after can be had
	Added, Removed   int    // lines, of text
}
