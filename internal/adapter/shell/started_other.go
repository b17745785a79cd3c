//go:build !linux && !darwin

package shell

import (
	"errors"
	"runtime"
)

// Started cannot tell who started a process here.
func Started(int) (bool, error) {
	return false, errors.New("on " + runtime.GOOS + " it cannot be told who started a process")
}
