//go:build !(darwin || freebsd || linux || netbsd || openbsd)

// Package tty sets a terminal to raw mode for a screen. This system has no screen: the
// conversation is line by line.
package tty

import (
	"context"
	"errors"
	"os"
)

// Terminal is none here.
type Terminal struct{}

// ErrCancelled is what Read returns after Cancel.
var ErrCancelled = errors.New("cancelled")

// Open returns an error: this system has no terminal that pawl knows.
func Open(_, _ *os.File) (*Terminal, error) {
	return nil, errors.New("terminals of this system are not supported")
}

func (t *Terminal) Size() (width, height int, err error) { return 0, 0, errors.ErrUnsupported }

func (t *Terminal) Resized(context.Context) <-chan os.Signal { return nil }

func (t *Terminal) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

func (t *Terminal) Cancel() {}

func (t *Terminal) Resume() error { return errors.ErrUnsupported }

func (t *Terminal) Cooked() error { return errors.ErrUnsupported }

func (t *Terminal) Suspend() {}

func (t *Terminal) Close() error { return nil }
