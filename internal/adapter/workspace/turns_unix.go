//go:build unix

package workspace

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// turnWait is how long a write waits for another pawl that is in the middle of
// one: they take microseconds, and one that is stopped must not stop others.
const turnWait = 2 * time.Second

// takeTurn keeps other pawls from changing files of a folder until release is
// called. To look at what an exchange displaced and to put it back takes two
// steps, and a second writer between them would displace the first one's
// content. The lock is advice: where the file system has none, and against
// other programs, the look at what was displaced still stands.
func takeTurn(dir *os.Root) (release func()) {
	f, err := dir.Open(".")
	if err != nil {
		return func() {}
	}
	for end := time.Now().Add(turnWait); ; time.Sleep(100 * time.Microsecond) {
		err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
		if err == nil || !errors.Is(err, unix.EWOULDBLOCK) && !errors.Is(err, unix.EINTR) || time.Now().After(end) {
			return func() { _ = f.Close() } // which unlocks it
		}
	}
}
