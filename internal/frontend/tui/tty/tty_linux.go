package tty

import "golang.org/x/sys/unix"

const getTermios, setTermios = unix.TCGETS, unix.TCSETS

// Flush discards input that was typed and not read.
func (t *Terminal) Flush() {
	if t.in != nil {
		_ = unix.IoctlSetInt(int(t.in.Fd()), unix.TCFLSH, unix.TCIFLUSH) // then it is read
	}
}
