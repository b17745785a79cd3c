package swarmrun

import (
	"errors"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/core/filelock"
	"github.com/pawl-agent/pawl/internal/frontend/setup"
)

// lockFile is a file in the folder of a worker's process, which has it locked as long as
// it lives.
const lockFile = ".lock"

// makeHome creates the folder of this process's trees. It is outside pawl's own state,
// which no command may read. Folders of processes that died are removed.
func makeHome(env func(string) string) (home string, remove func() error, err error) {
	data, err := dataHome(env)
	if err != nil {
		return "", nil, err
	}
	data = filepath.Join(data, "pawl-workers")
	if err := os.MkdirAll(data, 0o700); err != nil {
		return "", nil, err
	}
	removeDead(data)
	if home, err = os.MkdirTemp(data, "w-"); err != nil {
		return "", nil, err
	}
	lock, err := os.OpenFile(filepath.Join(home, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
	if err == nil {
		_ = filelock.Try(lock) // without locks, nobody removes the folder of another process
		home, err = setup.RealPath(home)
	}
	if err != nil {
		return "", nil, errors.Join(err, os.RemoveAll(home))
	}
	return home, func() error { return errors.Join(lock.Close(), os.RemoveAll(home)) }, nil
}

// removeDead removes the folders of processes that died. One without a lock is left: its
// process is just starting, or of a version that has none.
func removeDead(data string) {
	all, _ := filepath.Glob(filepath.Join(data, "w-*", lockFile))
	for _, name := range all {
		f, err := os.OpenFile(name, os.O_RDWR, 0)
		if err != nil {
			continue
		}
		if filelock.Try(f) == nil {
			_ = os.RemoveAll(filepath.Dir(name)) // the next start tries again
		}
		_ = f.Close()
	}
}
