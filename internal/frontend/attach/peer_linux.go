package attach

import (
	"errors"
	"fmt"
	"net"
	"os"

	"golang.org/x/sys/unix"
)

// checkPeer calls judge with the process at the other end of a connection. It returns
// judge's error, or the reason why the process is not known.
func checkPeer(c net.Conn, judge func(pid int) error) error {
	var cred *unix.Ucred
	held := -1
	err := withSocket(c, func(fd int) (err error) {
		if cred, err = unix.GetsockoptUcred(fd, unix.SOL_SOCKET, unix.SO_PEERCRED); err == nil {
			if held, err = unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_PEERPIDFD); err != nil {
				held, err = -1, nil // before Linux 6.5
			}
		}
		return err
	})
	if err != nil {
		return err
	}
	if held >= 0 {
		defer unix.Close(held)
	}
	switch uid := int(cred.Uid); {
	case uid != 0 && uid != os.Geteuid():
		return fmt.Errorf("it is of another user (%d)", uid)
	case cred.Pid == 0:
		return errors.New("its process cannot be seen from here, as from within another container")
	}
	if err := judge(int(cred.Pid)); err != nil {
		return err
	}
	// Who connects and ends leaves a number that may be somebody else's by now.
	if held >= 0 && unix.PidfdSendSignal(held, 0, nil, 0) != nil {
		return fmt.Errorf("process %d is gone", cred.Pid)
	}
	return nil
}
