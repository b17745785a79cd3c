// Package plainfile reads files that others may have put in place: those of a workspace
// and of a repository's .git.
//
// It promises that opening never waits: a named pipe, a device or a socket is an error, at
// once. Read returns no more than was asked for.
package plainfile

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
)

// Errors that callers branch on.
var (
	ErrNotPlain = errors.New("it is not a regular file")
	ErrTooLong  = errors.New("it is too long")
)

// Open opens a regular file for reading.
func Open(path string) (*os.File, error) {
	return plain(path)(os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

// OpenIn opens a regular file of a folder for reading.
func OpenIn(root *os.Root, name string) (*os.File, error) {
	return plain(name)(root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0))
}

func plain(name string) func(*os.File, error) (*os.File, error) {
	return func(f *os.File, err error) (*os.File, error) {
		if err != nil {
			return nil, err
		}
		st, err := f.Stat()
		if err == nil && !st.Mode().IsRegular() {
			err = &fs.PathError{Op: "open", Path: name, Err: ErrNotPlain}
		}
		if err != nil {
			_ = f.Close()
			return nil, err
		}
		return f, nil
	}
}

// Read returns the content of a regular file of at most this many bytes.
func Read(path string, most int64) ([]byte, error) { return read(most)(Open(path)) }

// ReadIn is Read in a folder.
func ReadIn(root *os.Root, name string, most int64) ([]byte, error) {
	return read(most)(OpenIn(root, name))
}

func read(most int64) func(*os.File, error) ([]byte, error) {
	return func(f *os.File, err error) ([]byte, error) {
		if err != nil {
			return nil, err
		}
		defer f.Close()
		b, err := io.ReadAll(io.LimitReader(f, most+1))
		if err == nil && int64(len(b)) > most {
			return nil, fmt.Errorf("read %s: %w: over %d bytes", f.Name(), ErrTooLong, most)
		}
		return b, err
	}
}
