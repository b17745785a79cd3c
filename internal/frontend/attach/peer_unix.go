//go:build linux || darwin

package attach

import (
	"errors"
	"net"
	"syscall"
)

func withSocket(c net.Conn, do func(fd int) error) error {
	s, ok := c.(syscall.Conn)
	if !ok {
		return errors.New("it is not a socket")
	}
	raw, err := s.SyscallConn()
	if err != nil {
		return err
	}
	var of error
	if err := raw.Control(func(fd uintptr) { of = do(int(fd)) }); err != nil {
		return err
	}
	return of
}
