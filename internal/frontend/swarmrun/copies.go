package swarmrun

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

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

// Limits of what is kept of swarms' files for later ones.
const (
	keptPrefix = ".kept-"

	keptBytes = 16 << 30
	keptTime  = 30 * 24 * time.Hour // without a worker that uses it
)

// keptFolder returns a folder for the files of swarms that outlives this process, so that
// the next swarm of a team at a server need not send them again. Everybody in a team can
// read the files of its swarms, and nobody else: so each team has its own folder, with a
// hidden name, which no command may read. A
// process that is not the first one of a team gets a folder in its home. Folders that are
// too large or were not used for long are removed.
func keptFolder(home, server, team string, now time.Time) (dir string, release func() error, err error) {
	above := filepath.Dir(home)
	sum := sha256.Sum256([]byte(server + "\n" + team))
	dir = filepath.Join(above, keptPrefix+hex.EncodeToString(sum[:8]))
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return "", nil, err
	}
	all, err := os.ReadDir(above)
	if err != nil {
		return "", nil, err
	}
	for _, e := range all {
		if !strings.HasPrefix(e.Name(), keptPrefix) {
			continue
		}
		kept := filepath.Join(above, e.Name())
		lock, err := os.OpenFile(filepath.Join(kept, lockFile), os.O_CREATE|os.O_RDWR, 0o600)
		if err != nil {
			continue
		}
		if filelock.Try(lock) != nil {
			if _ = lock.Close(); kept == dir {
				dir = filepath.Join(home, "kept")
				return dir, func() error { return nil }, os.Mkdir(dir, 0o700)
			}
			continue
		}
		if info, err := lock.Stat(); err == nil && now.Sub(info.ModTime()) > keptTime || packsIn(kept) > keptBytes {
			_ = os.RemoveAll(filepath.Join(kept, "store.git")) // the next start tries again
		}
		if kept == dir {
			release = lock.Close
			_ = os.Chtimes(lock.Name(), now, now) // or it is removed too early
		} else {
			_ = lock.Close()
		}
	}
	if release == nil {
		return "", nil, fmt.Errorf("the folder %s cannot be used", dir)
	}
	return dir, release, nil
}

// packsIn returns the size of a store of trees.
func packsIn(dir string) (bytes int64) {
	packs, _ := os.ReadDir(filepath.Join(dir, "store.git", "objects", "pack")) // none: it is new
	for _, p := range packs {
		if info, err := p.Info(); err == nil {
			bytes += info.Size()
		}
	}
	return bytes
}
