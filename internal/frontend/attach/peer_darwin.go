package attach

import (
	"net"

	"golang.org/x/sys/unix"
)

// checkPeer calls judge with the process at the other end of a connection. It returns
// judge's error, or the reason why the process is not known.
func checkPeer(c net.Conn, judge func(pid int) error) error {
	pid := 0
	if err := withSocket(c, func(fd int) (err error) {
		pid, err = unix.GetsockoptInt(fd, unix.SOL_LOCAL, unix.LOCAL_PEERPID)
		return err
	}); err != nil {
		return err
	}
	return judge(pid)
}
