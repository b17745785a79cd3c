//go:build unix

package workspace

import (
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"
)

// turnWait is how long a write waits for another pawl's write: writes take
// microseconds, and a stopped process must not block others.
const turnWait = 2 * time.Second

// takeTurn keeps other pawls from changing files of a folder until release is
// called. Checking what an exchange displaced, and restoring it, takes two
// steps; a second writer in between would displace the first one's content. The
// lock is advisory: without locks in the file system, and against other
// programs, the check of the displaced content still works.
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
