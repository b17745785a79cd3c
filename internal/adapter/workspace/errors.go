package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"
)

// OutsideError means that a path leads out of the workspace.
type OutsideError struct{ Path, Root string }

func (e *OutsideError) Error() string {
	return fmt.Sprintf("%s is outside the workspace %s: that needs permission", e.Path, e.Root)
}

// TooLargeError means that a file is too large to be read at once.
type TooLargeError struct {
	Path      string
	Size, Max int64
}

func (e *TooLargeError) Error() string {
	instead := "use from/to or grep"
	if e.Size > hashLimit {
		instead = "use a command on a part of it (head, tail, dd)"
	}
	return fmt.Sprintf("%s is too large to read whole (%s, the limit is %s): %s", e.Path, sizeText(e.Size), sizeText(e.Max), instead)
}

// TooLarge marks the error for callers that cannot import this package.
func (e *TooLargeError) TooLarge() int64 { return e.Size }

// SpecialError means that a path is not a regular file: What is its type.
type SpecialError struct{ Path, What string }

func (e *SpecialError) Error() string {
	return fmt.Sprintf("%s is a %s: only regular files are read and written", e.Path, e.What)
}

// LinkedError means that a file has several names (hard links) and that writing
// it would separate them. It is returned once for a file; the next write
// succeeds.
type LinkedError struct {
	Path  string
	Links uint64
}

func (e *LinkedError) Error() string {
	return fmt.Sprintf("%s was not written: it has %d names (hard links), and writing it would leave the others with the old content; "+
		"write it again if that is intended", e.Path, e.Links)
}

func sizeText(n int64) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.1f KB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d bytes", n)
}

// sentence is an error with our own text; errors.Is still finds the cause.
type sentence struct {
	text string
	err  error
}

func (e *sentence) Error() string { return e.text }
func (e *sentence) Unwrap() error { return e.err }

// The usual operations, for wrapError.
const (
	doRead  = "read"
	doWrite = "write"
)

// wrapError turns an error of the file system into one clear sentence: what failed,
// for which file, why, and what to do. doing is a verb phrase.
func wrapError(doing, path string, err error) error {
	var said *sentence
	if err == nil || errors.As(err, &said) {
		return err
	}
	why := ""
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return &sentence{text: path + " does not exist", err: err}
	case errors.Is(err, syscall.ENOSPC):
		why = "no space is left on the disk; free some and try again"
	case errors.Is(err, syscall.EROFS):
		why = "the file system is read-only"
	case errors.Is(err, fs.ErrPermission):
		why = "permission denied"
	case errors.Is(err, syscall.ENOTDIR):
		why = "a part of the path is a file, not a folder"
	case errors.Is(err, syscall.EISDIR):
		why = "it is a folder"
	case errors.Is(err, syscall.ENAMETOOLONG):
		why = "the name is too long"
	case errors.Is(err, syscall.ELOOP):
		why = "its symlinks form a loop"
	case errors.Is(err, syscall.EMFILE), errors.Is(err, syscall.ENFILE):
		why = "too many files are open; close some programs and try again"
	case errors.Is(err, syscall.EIO):
		why = "the disk reports an input/output error"
	default:
		why = cause(err).Error()
	}
	return &sentence{text: fmt.Sprintf("could not %s %s: %s", doing, path, why), err: err}
}

// cause strips the operation and the path that package os adds; they may name
// temporary files that mean nothing to the reader.
func cause(err error) error {
	if p := (*fs.PathError)(nil); errors.As(err, &p) {
		return p.Err
	}
	if l := (*os.LinkError)(nil); errors.As(err, &l) {
		return l.Err
	}
	return err
}

// specialType names a refused file type, "" for regular files.
func specialType(m fs.FileMode) string {
	switch {
	case m&fs.ModeNamedPipe != 0:
		return "named pipe"
	case m&fs.ModeSocket != 0:
		return "socket"
	case m&fs.ModeDevice != 0:
		return "device"
	case m.IsDir():
		return "folder"
	case m&fs.ModeSymlink != 0:
		return "symlink"
	case !m.IsRegular():
		return "special file"
	}
	return ""
}
