package line

import "golang.org/x/sys/unix"

const getTermios, setTermios = unix.TCGETS, unix.TCSETS

// flush discards input that was typed and not read.
func (t *tty) flush() {
	if t.ok {
		_ = unix.IoctlSetInt(t.fd, unix.TCFLSH, unix.TCIFLUSH) // then it is read
	}
}
