//go:build darwin || freebsd || netbsd || openbsd

package tty

import "golang.org/x/sys/unix"

const getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA

// Flush discards input that was typed and not read.
func (t *Terminal) Flush() {
	if t.in != nil {
		_ = unix.IoctlSetPointerInt(int(t.in.Fd()), unix.TIOCFLUSH, 1) // FREAD; where it fails it is read
	}
}
