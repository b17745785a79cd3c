//go:build darwin || freebsd || netbsd || openbsd

package line

import "golang.org/x/sys/unix"

const getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA

// flush discards input that was typed and not read.
func (t *tty) flush() {
	if t.ok {
		_ = unix.IoctlSetPointerInt(t.fd, unix.TIOCFLUSH, 1) // FREAD; where it fails it is read
	}
}
