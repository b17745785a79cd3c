//go:build unix

package sandbox

import (
	"errors"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/sys/unix"
)

// tempName begins the names of the temporary folders of commands.
const tempName = "pawl-commands-"

// ownTemp makes a temporary folder for commands; drop removes it. While it is in use it is
// locked, so that the folders of dead sessions can be told from others.
func ownTemp() (dir string, drop func() error, err error) {
	top, err := filepath.EvalSymlinks(os.TempDir())
	if err != nil {
		return "", nil, err
	}
	for {
		if dir, err = os.MkdirTemp(top, tempName); err != nil {
			return "", nil, err
		}
		fd, err := lockFolder(dir)
		if err != nil {
			if errors.Is(err, unix.EWOULDBLOCK) || errors.Is(err, unix.ENOENT) {
				continue // another pawl took it for one that is left over, and removes it
			}
			return "", nil, errors.Join(err, os.RemoveAll(dir))
		}
		return dir, func() error { return errors.Join(os.RemoveAll(dir), unix.Close(fd)) }, nil
	}
}

// lockFolder locks a folder that still has its name, until the descriptor is closed or the
// process ends. It does not wait.
func lockFolder(dir string) (int, error) {
	fd, err := unix.Open(dir, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	if err != nil {
		return -1, err
	}
	err = unix.Flock(fd, unix.LOCK_EX|unix.LOCK_NB)
	var held, named unix.Stat_t
	if err == nil {
		err = errors.Join(unix.Fstat(fd, &held), unix.Lstat(dir, &named))
	}
	if err == nil && (held.Dev != named.Dev || held.Ino != named.Ino) {
		err = unix.ENOENT
	}
	if err == nil && int(held.Uid) != os.Getuid() {
		err = unix.EPERM
	}
	if err != nil {
		_ = unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

// sweepTemps removes the temporary folders of commands whose pawl is dead.
func sweepTemps() {
	all, err := os.Open(os.TempDir())
	if err != nil {
		return
	}
	defer all.Close()
	names, _ := all.Readdirnames(-1) // the folder may be large, and nothing else of it is needed
	for _, name := range names {
		if !strings.HasPrefix(name, tempName) {
			continue
		}
		dir := filepath.Join(os.TempDir(), name)
		fd, err := lockFolder(dir)
		if err != nil {
			continue // it is in use, or somebody else's
		}
		_ = os.RemoveAll(dir) // what is left is removed at another start
		_ = unix.Close(fd)
	}
}
