package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"

	sqlite "modernc.org/sqlite"
	sqlite3 "modernc.org/sqlite/lib"

	"github.com/pawl-agent/pawl/internal/adapter/store"
	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/fault"
)

// code returns SQLite's primary result code, or 0 for other errors.
func code(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code() & 0xff
	}
	return 0
}

func isBusy(err error) bool {
	c := code(err)
	return c == sqlite3.SQLITE_BUSY || c == sqlite3.SQLITE_LOCKED
}

// explain turns an error into one sentence that also names the remedy. Errors that
// callers branch on, and the context's errors, are returned unchanged.
func (s *Store) explain(doing string, err error) error {
	if err == nil {
		return nil
	}
	if f := (*fault.Error)(nil); errors.As(err, &f) {
		return err
	}
	for _, is := range []error{
		event.ErrStale, event.ErrNoSession, event.ErrNoBlob, store.ErrExists, store.ErrRefused,
		context.Canceled, context.DeadlineExceeded,
	} {
		if errors.Is(err, is) {
			return err
		}
	}
	switch c := code(err); {
	case errors.Is(err, store.ErrCorrupt), c == sqlite3.SQLITE_CORRUPT, c == sqlite3.SQLITE_NOTADB, c == sqlite3.SQLITE_FORMAT:
		return &fault.Error{
			Category: fault.Internal, Kind: store.ErrCorrupt, Err: err,
			Message: fmt.Sprintf("%s the log: %s is damaged", doing, s.path),
			Hint: fmt.Sprintf("nothing was deleted; `pawl doctor` says what can still be read; to start a new log move %[1]s, %[1]s-wal and %[1]s-shm to another folder",
				s.path),
		}
	case c == sqlite3.SQLITE_FULL, c == sqlite3.SQLITE_IOERR && noSpace(err), errors.Is(err, errNoSpace):
		return &fault.Error{
			Category: fault.Configuration, Kind: store.ErrFull, Retryable: true, Err: err,
			Message: fmt.Sprintf("%s the log: no space left for %s", doing, s.path),
			Hint:    "free some space on that disk, e.g. with `pawl sessions delete`; what was stored before is safe",
		}
	case isBusy(err):
		return &fault.Error{
			Category: fault.Internal, Kind: store.ErrLocked, Retryable: true, Err: err,
			Message: fmt.Sprintf("%s the log: another process held %s locked for %s", doing, s.path, s.opt.Wait),
			Hint:    "look for a backup or sqlite3 that has it open and try again",
		}
	case c == sqlite3.SQLITE_READONLY, c == sqlite3.SQLITE_PERM, c == sqlite3.SQLITE_AUTH, c == sqlite3.SQLITE_CANTOPEN,
		errors.Is(err, os.ErrPermission), errors.Is(err, errReadOnly):
		return s.unwritable(doing, "give yourself write permission on it and its folder, ", err)
	case isPath(err):
		return s.unwritable(doing, "", err) // another reason, such as a folder of that name
	case errors.Is(err, os.ErrClosed):
		return fault.NewInternal(err, "%s the log: %s", doing, s.path)
	}
	return &fault.Error{
		Category: fault.Internal, Err: err,
		Message: fmt.Sprintf("%s the log: %s", doing, s.path),
		Hint:    "what was stored before is kept; `pawl doctor` looks at the file",
	}
}

func (s *Store) unwritable(doing, first string, err error) error {
	return &fault.Error{
		Category: fault.Configuration, Err: err,
		Message: fmt.Sprintf("%s the log: %s cannot be written", doing, s.path),
		Hint:    first + "set PAWL_HOME to another folder, or run with --no-session",
	}
}

func isPath(err error) bool {
	p, l := (*os.PathError)(nil), (*os.LinkError)(nil)
	return errors.As(err, &p) || errors.As(err, &l)
}

// extended returns SQLite's extended result code, or 0 for other errors.
func extended(err error) int {
	if e := (*sqlite.Error)(nil); errors.As(err, &e) {
		return e.Code()
	}
	return 0
}
