// Package filelock locks an open file against other open files of the same
// name, in this process and in others. A lock ends when its file is closed, and
// with its process, however that ends. It is advisory: code that does not ask for
// the lock can still use the file.
package filelock

import "errors"

// ErrLocked means that another open file has the lock.
var ErrLocked = errors.New("locked")
