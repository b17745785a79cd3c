//go:build darwin || freebsd || netbsd || openbsd

package tty

import "golang.org/x/sys/unix"

const getTermios, setTermios = unix.TIOCGETA, unix.TIOCSETA
