//go:build !linux && !darwin

package shell

import (
	"errors"
	"runtime"
)

// Started returns an error: here it is not known who started a process.
func Started(int) (bool, error) {
	return false, errors.New("on " + runtime.GOOS + " it cannot be told who started a process")
}
