//go:build darwin || freebsd || linux || netbsd || openbsd

// Package tty sets a terminal to raw mode for a screen: each key arrives unchanged, and
// input typed before is kept. Close and Cooked restore the terminal's former state.
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

// Terminal is a terminal that a screen has.
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

// Open puts the terminal of two files into raw mode.
func Open(in, out *os.File) (*Terminal, error) {
	first, err := unix.IoctlGetTermios(int(in.Fd()), getTermios)
	if err != nil {
		return nil, err
	}
	t := &Terminal{in: in, out: out, first: *first}
	if t.reader, err = cancelreader.NewReader(in); err != nil {
		return nil, err
	}
	return t, t.raw()
}

// raw turns on raw mode and keeps what was typed before.
func (t *Terminal) raw() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	m := t.first
	m.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	m.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN
	m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
	return unix.IoctlSetTermios(int(t.in.Fd()), setTermios, &m)
}

func (t *Terminal) cooked() error {
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

// Read reads what is typed, until Cancel.
func (t *Terminal) Read(p []byte) (int, error) {
	t.reading.Lock()
	defer t.reading.Unlock()
	return t.reader.Read(p)
}

// Cancel makes a waiting Read return ErrCancelled. Reads fail until Resume.
func (t *Terminal) Cancel() { t.reader.Cancel() }

// Resume goes back to raw mode after Cancel, and lets the terminal be read again.
func (t *Terminal) Resume() (err error) {
	t.reading.Lock() // until the Read that was cancelled is over
	defer t.reading.Unlock()
	if err = t.reader.Close(); err == nil {
		t.reader, err = cancelreader.NewReader(t.in)
	}
	if err != nil {
		return err
	}
	return t.raw()
}

// Cooked restores the terminal's state until Resume.
func (t *Terminal) Cooked() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.cooked()
}

// Suspend stops the process as the suspend key does.
func (t *Terminal) Suspend() {
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGCONT)
	defer stop()
	if unix.Kill(0, unix.SIGTSTP) == nil { // as the terminal does: the whole group
		<-ctx.Done()
	}
}

// Close restores the terminal's state for good.
func (t *Terminal) Close() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.closed {
		return nil
	}
	t.closed = true
	t.reader.Cancel()
	return t.cooked()
}
