//go:build !(darwin || freebsd || linux || netbsd || openbsd)

// Package tty sets a terminal's modes. This system has no screen: the conversation is line
// by line.
package tty

import (
	"context"
	"errors"
	"os"

	"golang.org/x/term"
)

// Terminal is a terminal with a person at it. The modes of the zero Terminal do nothing.
type Terminal struct {
	fd    int
	first *term.State
}

// ErrCancelled is what Read returns after Cancel.
var ErrCancelled = errors.New("cancelled")

// Open returns the terminal of a file, in the mode that it has.
func Open(in, _ *os.File) (*Terminal, error) {
	first, err := term.GetState(int(in.Fd()))
	return &Terminal{int(in.Fd()), first}, err
}

func (t *Terminal) Raw() error {
	if t.first == nil {
		return nil
	}
	_, err := term.MakeRaw(t.fd)
	return err
}

// Quiet has no words here: the terminal is as it was found.
func (t *Terminal) Quiet() error { return t.Cooked() }

func (t *Terminal) Cooked() error {
	if t.first == nil {
		return nil
	}
	return term.Restore(t.fd, t.first)
}

func (t *Terminal) Close() error { return t.Cooked() }

func (t *Terminal) Size() (width, height int, err error) { return 0, 0, errors.ErrUnsupported }

func (t *Terminal) Resized(context.Context) <-chan os.Signal { return nil }

func (t *Terminal) Start() error { return errors.ErrUnsupported }

func (t *Terminal) Read([]byte) (int, error) { return 0, errors.ErrUnsupported }

func (t *Terminal) Cancel() {}

func (t *Terminal) Suspend() {}

func (t *Terminal) Flush() {}
