//go:build darwin || freebsd || linux || netbsd || openbsd

// Package tty sets a terminal's modes. Input typed before is kept; Close and Cooked restore
// the terminal's former state.
package tty

import (
	"context"
	"os"
	"os/signal"
	"sync"

	"github.com/muesli/cancelreader"
	"golang.org/x/sys/unix"
	"golang.org/x/term"
)

// Terminal is a terminal with a person at it. The modes of the zero Terminal do nothing.
type Terminal struct {
	in, out *os.File
	reader  cancelreader.CancelReader

	reading sync.Mutex // held by a Read

	mu     sync.Mutex
	first  unix.Termios
	closed bool
}

// ErrCancelled is what Read returns after Cancel.
var ErrCancelled = cancelreader.ErrCanceled

// Open returns the terminal of two files, in the mode that it has.
func Open(in, out *os.File) (*Terminal, error) {
	first, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	if err != nil {
		return nil, err
	}
	return &Terminal{in: in, out: out, first: *first}, nil
}

// Raw is for editing: each key is read at once, and unchanged.
func (t *Terminal) Raw() error {
	return t.set(func(m *unix.Termios) { m.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN })
}

// Quiet is Raw, but the interrupt key is a signal.
func (t *Terminal) Quiet() error {
	return t.set(func(m *unix.Termios) {
		m.Lflag &^= unix.ECHO | unix.ICANON | unix.IEXTEN
		m.Cc[unix.VQUIT] = 0 // nobody here needs a core dump
	})
}

// set changes the former state.
func (t *Terminal) set(change func(*unix.Termios)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in == nil || t.closed {
		return nil
	}
	m := t.first
	m.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
	change(&m)
	return unix.IoctlSetTermios(int(t.in.Fd()), setTermios, &m)
}

// Cooked restores the terminal's state until another mode is set.
func (t *Terminal) Cooked() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.in == nil || t.closed {
		return nil
	}
	return unix.IoctlSetTermios(int(t.in.Fd()), setTermios, &t.first)
}

// Size returns the window's size in columns and rows.
func (t *Terminal) Size() (width, height int, err error) { return term.GetSize(int(t.out.Fd())) }

// Resized returns a channel that receives when the window's size may have changed, until ctx
// ends.
func (t *Terminal) Resized(ctx context.Context) <-chan os.Signal {
	out := make(chan os.Signal, 1)
	signal.Notify(out, unix.SIGWINCH)
	context.AfterFunc(ctx, func() { signal.Stop(out) })
	return out
}

// Start goes to raw mode, and lets the terminal be read until Cancel.
func (t *Terminal) Start() (err error) {
	t.reading.Lock() // until a Read that was cancelled is over
	defer t.reading.Unlock()
	if t.reader != nil {
		if err := t.reader.Close(); err != nil {
			return err
		}
	}
	if t.reader, err = cancelreader.NewReader(t.in); err != nil {
		return err
	}
	return t.Raw()
}

// Read reads what is typed, between Start and Cancel.
func (t *Terminal) Read(p []byte) (int, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	return t.reader.Read(p)
}

// Cancel makes a waiting Read return ErrCancelled. Reads fail until Start.
func (t *Terminal) Cancel() { t.reader.Cancel() }

// Suspend stops the process as the suspend key does.
func (t *Terminal) Suspend() {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGCONT)
	defer stop()
	if unix.Kill(0, unix.SIGTSTP) == nil { // as the terminal does: the whole group
		<-ctx.Done()
	}
}

// Close restores the terminal's state for good. It may be called more than once.
func (t *Terminal) Close() error {
	err := t.Cooked()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed = true; t.reader != nil {
		t.reader.Cancel()
	}
	return err
}
