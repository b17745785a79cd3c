//go:build darwin || freebsd || linux || netbsd || openbsd

package line

import (
	"context"
	"io"
	"os"
	"os/signal"
	"sync"

	"golang.org/x/sys/unix"
)

// tty is the state of the terminal. The zero tty is none: nothing happens.
type tty struct {
	fd int
	ok bool

	mu     sync.Mutex
	first  unix.Termios // the original state
	closed bool         // restored: it is not changed any more
}

func openTTY(in io.Reader) (*tty, error) {
	f, ok := in.(*os.File)
	if !ok {
		return &tty{}, nil
	}
	t := &tty{fd: int(f.Fd()), ok: true}
	first, err := unix.IoctlGetTermios(t.fd, getTermios)
	if err != nil {
		return nil, err
	}
	t.first = *first
	return t, nil
}

// raw is for editing: each key is read at once.
func (t *tty) raw() error {
	return t.set(func(m *unix.Termios) { m.Lflag &^= unix.ECHO | unix.ICANON | unix.ISIG | unix.IEXTEN })
}

// quiet is for the time between: the interrupt key is a signal, and typed input
// is not echoed.
func (t *tty) quiet() error {
	return t.set(func(m *unix.Termios) {
		m.Lflag &^= unix.ECHO | unix.ICANON | unix.IEXTEN
		m.Cc[unix.VQUIT] = 0 // nobody here needs a core dump
	})
}

// set changes the original state.
func (t *tty) set(change func(*unix.Termios)) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ok || t.closed {
		return nil
	}
	m := t.first
	m.Iflag &^= unix.IGNBRK | unix.BRKINT | unix.PARMRK | unix.ISTRIP | unix.INLCR | unix.IGNCR | unix.ICRNL | unix.IXON
	m.Cc[unix.VMIN], m.Cc[unix.VTIME] = 1, 0
	change(&m)
	return unix.IoctlSetTermios(t.fd, setTermios, &m)
}

// restore restores the original state of the terminal, for good.
func (t *tty) restore() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.ok || t.closed {
		return nil
	}
	t.closed = true
	return unix.IoctlSetTermios(t.fd, setTermios, &t.first)
}

// suspend stops the process as the suspend key does, with the terminal in its
// original state.
func (t *tty) suspend() {
	t.mu.Lock()
	if t.ok && !t.closed {
		_ = unix.IoctlSetTermios(t.fd, setTermios, &t.first) // the shell sets its own
	}
	t.mu.Unlock()
	ctx, stop := signal.NotifyContext(context.Background(), unix.SIGCONT)
	defer stop()
	if unix.Kill(0, unix.SIGTSTP) == nil { // as the terminal does: the whole group
		<-ctx.Done()
	}
	_ = t.raw() // as above
}
