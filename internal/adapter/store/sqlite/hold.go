package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/pawl-agent/pawl/internal/core/event"
	"github.com/pawl-agent/pawl/internal/core/filelock"
)

var _ event.Holder = (*Store)(nil)

// How often and how long a held lock is tried again. If a process dies while it starts a
// child, the child has the open lock file until the child's program runs.
const (
	askAgain  = 5 * time.Millisecond
	asksAgain = 100
)

// Hold implements event.Holder. The kernel holds the lock for the open file. The lock
// ends with the process, however that ends, and a reused process id has no effect. Open
// already refuses network file systems.
func (s *Store) Hold(session string) (release func(), err error) {
	for range asksAgain {
		if release, err = s.hold(session); !errors.As(err, new(*event.HeldError)) {
			return release, err
		}
		time.Sleep(askAgain)
	}
	return nil, err
}

func (s *Store) hold(session string) (release func(), err error) {
	sum := sha256.Sum256([]byte(session)) // an imported id may not be a valid file name
	dir := s.path + ".held"
	path := filepath.Join(dir, hex.EncodeToString(sum[:16]))
	// Other processes may change the state between two checks, but not for ever.
	for range 100 {
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return nil, s.explain("lock", err)
		}
		f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
		if errors.Is(err, os.ErrNotExist) {
			continue // another process removed the folder with the last held session
		}
		if err != nil {
			return nil, s.explain("lock", err)
		}
		if err := filelock.Try(f); err != nil {
			held := holder(f, session)
			_ = f.Close()
			if errors.Is(err, filelock.ErrLocked) {
				return nil, held
			}
			return nil, s.explain("lock", err)
		}
		// The earlier holder may have removed the file since it was opened.
		if here, err := os.Stat(path); err == nil {
			if mine, err := f.Stat(); err == nil && os.SameFile(here, mine) {
				_ = f.Truncate(0)
				_, _ = fmt.Fprintf(f, "%d %d\n", os.Getpid(), s.opt.Now().Unix()) // the holder, for people; the lock does not need it
				return sync.OnceFunc(func() {
					_ = os.Remove(path) // while the lock is held, so nobody else uses the file
					_ = f.Close()
					_ = os.Remove(dir) // fails while other sessions are held, which is right
				}), nil
			}
		}
		_ = f.Close()
	}
	return nil, s.explain("lock", fmt.Errorf("%s changes at each look; is it a link, or is something removing it?", path))
}

// holder reads which process holds a lock. A process that has just taken the lock may not
// have written its id yet.
func holder(f io.ReaderAt, session string) *event.HeldError {
	e := &event.HeldError{Session: session}
	var b [64]byte
	n, _ := f.ReadAt(b[:], 0)
	var pid int
	var since int64
	if got, _ := fmt.Sscanf(string(b[:n]), "%d %d\n", &pid, &since); got == 2 {
		e.PID, e.Since = pid, time.Unix(since, 0)
	}
	return e
}
