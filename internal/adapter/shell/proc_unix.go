//go:build unix

package shell

import (
	"errors"
	"os"
	"os/exec"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// family names the processes that belong together: those of a group (0: none) and, where
// marks can be read, those with a mark.
type family struct {
	group int
	mark  mark
}

// end ends a family: SIGTERM, then up to grace to exit, then SIGKILL until none is left.
// dead is closed when the first process has ended; nil means that there is none.
func end(f family, grace time.Duration, dead <-chan struct{}) {
	if grace > 0 {
		over := time.NewTimer(grace)
		defer over.Stop()
		ps := members(f)
		for _, p := range ps {
			_ = syscall.Kill(p, syscall.SIGTERM)
		}
	polite:
		for {
			select {
			case <-dead:
				dead = nil
			case <-over.C:
				break polite
			case <-time.After(3 * time.Millisecond):
			}
			// Checking these few is cheap; listing all processes is not.
			if ps = slices.DeleteFunc(ps, func(p int) bool { return !alive(p) }); len(ps) > 0 {
				continue
			}
			if ps = members(f); len(ps) == 0 {
				return
			}
		}
	}
	// Repeatedly, since a process can fork between members and Kill.
	for pause := time.Millisecond; pause < time.Second; pause *= 2 {
		if f.group > 0 {
			_ = syscall.Kill(-f.group, syscall.SIGKILL)
		}
		ps := members(f)
		if len(ps) == 0 {
			return
		}
		for _, p := range ps {
			_ = syscall.Kill(p, syscall.SIGKILL)
		}
		time.Sleep(min(pause, 16*time.Millisecond))
	}
}

func groupAlive(group int) bool {
	return !errors.Is(syscall.Kill(-group, 0), syscall.ESRCH)
}

// readNow reads available bytes without waiting; 0 or less: none.
func readNow(f *os.File, buf []byte) (n int) {
	c, err := f.SyscallConn()
	if err != nil {
		return 0
	}
	// Control is used because Read would check the deadline first. The descriptor does
	// not block.
	_ = c.Control(func(fd uintptr) {
		for {
			n, err = syscall.Read(int(fd), buf)
			if err != syscall.EINTR {
				return
			}
		}
	})
	return n
}

// outcome returns the exit code, or the name of the signal that ended the process.
func outcome(st *os.ProcessState) (code int, signal string) {
	if ws, ok := st.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		if s := unix.SignalName(ws.Signal()); s != "" {
			return -1, s
		}
		return -1, ws.Signal().String()
	}
	return st.ExitCode(), ""
}

func tooLong(err error) bool { return errors.Is(err, syscall.E2BIG) }

// detach gives a command its own session, and so its own group, without a terminal on
// which it could ask for a password.
func detach(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }
