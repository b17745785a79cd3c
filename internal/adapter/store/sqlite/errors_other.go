//go:build !unix

package sqlite

import "errors"

var (
	errNoSpace  = errors.New("no space left on the disk")
	errReadOnly = errors.New("the file system is read-only")
)

func noSpace(error) bool { return false }
