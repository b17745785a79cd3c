//go:build !unix

package session_test

import "errors"

// Where there are no FIFOs the row that needs one cannot be set up.
func mkfifo(string) error { return errors.ErrUnsupported }
