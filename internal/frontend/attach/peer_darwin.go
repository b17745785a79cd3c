package attach

import (
	"net"

	"golang.org/x/sys/unix"
)

// judged gives the process at the other end of a connection to judge. The error
// is judge's, or why it cannot be told which process that is.
func judged(c net.Conn, judge func(pid int) error) error {
	pid := 0
	if err := onSocket(c, func(fd int) (err error) {
		pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return err
	}); err != nil {
		return err
	}
	return judge(pid)
}
