package tool

import "github.com/pawl-agent/pawl/internal/core/process"

// Keeper keeps what confined commands remove, replace or empty and of which the journal
// has no copy: ignored files, large ones, git's objects (SPEC 16.15). Paths are absolute.
type Keeper interface {
	// Begin returns where one command's removals are kept.
	Begin() Keeping
	// Recover ends what was kept for a command that a dead process ran.
	Recover(logged map[string]bool) []KeptSet
	// Blocked returns why what a set keeps at and below a path cannot be restored now, ""
	// if it can.
	Blocked(set, path string) string
	// Restore puts back what a set keeps at and below a path. left are files that it left
	// alone, since others are there now. over: what is at the path itself now is known, and
	// is replaced.
	Restore(set, path string, over bool) (left []string, err error)
}

// Keeping keeps for one command.
type Keeping interface {
	process.Keep
	// Left reports what the command's own last act at a path left, since Begin or the last
	// Finish: something that it made, opened for writing or moved there, or nothing.
	Left(path string) (there, known bool)
	// Touched reports whether the command did something to a path in a folder, since Begin
	// or the last Finish, apart from those in another one. true: or nobody can tell.
	Touched(dir, but string) bool
	// Finish returns what is kept since Begin or the last Finish. logged are files whose
	// content before the log has: of those nothing is kept.
	Finish(logged map[string]bool) (KeptSet, error)
}

// KeptSet is what is kept of a command.
type KeptSet struct {
	Name  string
	Items []KeptItem
	// Covers reports whether an undo of the set restores a file, or moves it back.
	Covers func(path string) bool
}

// KeptItem is a file, or a folder with the number of files kept in it.
type KeptItem struct {
	Path  string
	Files int
	Bytes int64
}
