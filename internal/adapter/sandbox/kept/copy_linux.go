package kept

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"

	"golang.org/x/sys/unix"
)

// Rewrite copies an opened file whose content may change from here on, by an open for
// writing or a truncation. appends: its content can only grow, but for a truncation of the
// descriptor; where it is too large, it is not kept.
func (k *Set) Rewrite(fd int, path string, st *unix.Stat_t, appends bool) error {
	if err := k.apart(fd, st); err != nil {
		return err
	}
	if k.s.isMade(fd, "", st) {
		return nil
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	from := origin(k.moves, path)
	if _, done := k.copied[from]; done {
		return nil
	}
	if inGit, _ := keptOfGit(from, false); inGit {
		return nil
	}
	to, err := k.at(from)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	if !exists(to) {
		if appends && st.Size > k.s.limits.File {
			return nil
		}
		if err := k.copyOpened(fd, to, st); err != nil {
			return err
		}
	}
	if k.copied == nil {
		k.copied = map[string]unix.Stat_t{}
	}
	k.copied[from] = *st
	return nil
}

// copyOpened copies what a descriptor leads to, which may not be open for reading.
func (k *Set) copyOpened(fd int, to string, st *unix.Stat_t) error {
	in, err := unix.Open("/proc/self/fd/"+strconv.Itoa(fd), unix.O_RDONLY|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	defer unix.Close(in)
	return k.copyFile(in, to, st)
}

// Links returns how many of a file's names are in sets.
func (k *Set) Links(st *unix.Stat_t) int {
	s := k.s
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.looked {
		s.looked = true
		_ = filepath.WalkDir(filepath.Dir(s.dir), func(at string, e os.DirEntry, err error) error {
			var st unix.Stat_t
			if err == nil && e.Type().IsRegular() && unix.Lstat(at, &st) == nil && st.Nlink > 1 {
				if id := inodeOf(&st); len(s.linked[id]) == 0 {
					s.linked[id] = []string{at}
				}
			}
			return nil
		})
	}
	return len(s.linked[inodeOf(st)])
}

// apart gives the set a copy of its own of a file whose other name is about to be written.
func (k *Set) apart(fd int, st *unix.Stat_t) error {
	if st.Nlink <= 1 {
		return nil
	}
	k.s.mu.Lock()
	names := k.s.linked[inodeOf(st)]
	k.s.mu.Unlock()
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, name := range names {
		var now unix.Stat_t
		if unix.Lstat(name, &now) != nil || inodeOf(&now) != inodeOf(st) {
			continue
		}
		if err := k.begin(); err != nil {
			return fmt.Errorf("%w: %w", ErrNoRoom, err)
		}
		own := filepath.Join(k.dir, "apart")
		if err := k.copyOpened(fd, own, st); err != nil {
			return err
		}
		if err := os.Rename(own, name); err != nil {
			return err
		}
	}
	k.s.mu.Lock()
	delete(k.s.linked, inodeOf(st))
	k.s.mu.Unlock()
	return nil
}

// copyName copies a file or a link into the set. The caller holds mu.
func (k *Set) copyName(dir int, name, to string, st *unix.Stat_t) error {
	if st.Mode&unix.S_IFMT == unix.S_IFLNK {
		buf := make([]byte, unix.PathMax)
		n, err := unix.Readlinkat(dir, name, buf)
		if err != nil {
			return err
		}
		return os.Symlink(string(buf[:n]), to)
	}
	fd, err := unix.Openat(dir, name, unix.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	defer unix.Close(fd)
	return k.copyFile(fd, to, st)
}

// copyFile copies an opened file, as a whole or not at all. The caller holds mu.
func (k *Set) copyFile(fd int, to string, st *unix.Stat_t) (err error) {
	part := filepath.Join(k.dir, "part")
	out, err := os.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrNoRoom, err)
	}
	defer out.Close()
	k.s.mu.Lock()
	room := k.s.reserve(st.Size)
	k.s.mu.Unlock()
	if !room {
		return ErrNoRoom
	}
	defer func() {
		if err != nil {
			k.s.release(st.Size)
			_ = os.Remove(part)
		}
	}()
	if unix.IoctlFileClone(int(out.Fd()), fd) != nil {
		if st.Size > k.s.limits.File {
			return ErrNoRoom
		}
		for at := int64(0); ; {
			n, err := unix.CopyFileRange(fd, &at, int(out.Fd()), nil, 1<<30, 0)
			if err != nil {
				return fmt.Errorf("%w: %w", ErrNoRoom, err)
			}
			if n == 0 {
				break
			}
		}
	}
	if os.Geteuid() == 0 {
		_ = out.Chown(int(st.Uid), int(st.Gid))
	}
	if err := unix.Fchmod(int(out.Fd()), st.Mode&0o7777); err != nil {
		return err
	}
	if err := unix.UtimesNanoAt(unix.AT_FDCWD, part, []unix.Timespec{st.Atim, st.Mtim}, 0); err != nil {
		return err
	}
	return unix.Renameat2(unix.AT_FDCWD, part, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)
}
