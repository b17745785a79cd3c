package tool

import "context"

// Journal knows what happened to the workspace's files beside the recorded
// writes: what commands did (SPEC 11.1). It compares the workspace with how it
// was at the last look. It is safe for concurrent use.
//
// It promises that after a look the content of every file within its bounds
// can be had again, whatever is done to the file before the next one; that
// nothing in the workspace or in its git repository is changed by looking; and
// that what it does not watch is said in Look.Bounds. It refuses to guess:
// a file that it could not keep is reported with Kept false.
type Journal interface {
	// Look compares the workspace with the last look. The first look of a new
	// journal has no effects. touched are paths that a command is known to
	// write: in a workspace too large to be watched whole, they and their
	// folders are.
	Look(ctx context.Context, touched []string) (Look, error)
	// Settle tells the journal that all that its looks found is recorded, and keeps how the
	// workspace was at the last one: should this process die, the next one's
	// first look compares with that. tag names what runs from now on, "" for
	// nothing; the next look gives it back, also one of another process. An
	// error means that after a crash it is not known what changed.
	Settle(tag string) error
	// Wrote says that a recorded write of pawl's own left a file like this, so
	// that the next look does not report it.
	Wrote(c Change)
	// Content returns a content that one of the last looks reported, by its hash.
	Content(ctx context.Context, h Hash) ([]byte, error)
	// Lost lists, of the files at and below paths, those whose content could
	// not be had again, as the last look knows them; at most limit.
	Lost(paths []string, limit int) []string
}

// Look is what one look found.
type Look struct {
	Effects []Effect
	// Bounds returns, for the person, what is not watched: "" where all of the
	// workspace but ignored files is.
	Bounds string
	Files  int    // watched
	Tag    string // that Settle was given last
}

// Effect is a file that is not as it was at the last look.
type Effect struct {
	Path             string // as Span.Path
	Before, After    Hash   // empty: did not exist, does not exist
	Mode, ModeBefore uint32 // as in event.FileChanged
	Kept             bool   // the content before can be had
	Held             bool   // the content after can be had
	Added, Removed   int    // lines, of text
}
