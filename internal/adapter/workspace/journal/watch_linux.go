package journal

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// inotify is the notifier of Linux.
type inotify struct {
	fd   int
	file *os.File // owns fd
	conn syscall.RawConn
	buf  []byte
	// local tells by device whether its file system reports all changes.
	local  map[uint64]bool
	mounts *mounts
}

// events are those that a changed file or folder causes. CLOSE_WRITE tells of a
// file that was written through a mapping, once that is gone: nothing else does.
const events = unix.IN_MODIFY | unix.IN_ATTRIB | unix.IN_CLOSE_WRITE | unix.IN_CREATE | unix.IN_DELETE |
	unix.IN_MOVED_FROM | unix.IN_MOVED_TO | unix.IN_DELETE_SELF | unix.IN_MOVE_SELF | unix.IN_ONLYDIR

// newNotifier starts inotify for a workspace, and returns how many watches it
// may take: half of those that the user has, since editors need some as well.
func newNotifier(root string) (notifier, int, error) {
	m, err := openMounts(root)
	if err != nil {
		return nil, 0, err
	}
	fd, err := unix.InotifyInit1(unix.IN_CLOEXEC | unix.IN_NONBLOCK)
	if err != nil {
		err = errors.Join(err, m.close())
		if errors.Is(err, unix.EMFILE) {
			err = errNoWatch
		}
		return nil, 0, err
	}
	n := &inotify{fd: fd, file: os.NewFile(uintptr(fd), "inotify"), buf: make([]byte, 64<<10), local: map[uint64]bool{}, mounts: m}
	if n.conn, err = n.file.SyscallConn(); err != nil {
		return nil, 0, errors.Join(err, n.close())
	}
	f, err := openRoot(root)
	if err != nil {
		return nil, 0, errors.Join(err, n.close())
	}
	defer f.close()
	id, _, err := f.node()
	if err == nil {
		_, err = n.watch(f, id) // where this fails nothing can be watched
	}
	if err != nil {
		return nil, 0, errors.Join(err, n.close())
	}
	return n, maxWatches() / 2, nil
}

func maxWatches() int {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_user_watches")
	if err != nil {
		return 8192
	}
	n, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 8192
	}
	return n
}

func (n *inotify) watch(f folder, id dirID) (int32, error) {
	ok, known := n.local[id.dev]
	if !known {
		var st unix.Statfs_t
		_, err := retry(func() (int, error) { return 0, unix.Fstatfs(f.fd, &st) })
		ok = err == nil && reportsAllChanges(int64(st.Type))
		n.local[id.dev] = ok
	}
	if !ok {
		return 0, errForeign
	}
	// By its descriptor, so that it is this folder whatever its path leads to now.
	wd, err := unix.InotifyAddWatch(n.fd, "/proc/self/fd/"+strconv.Itoa(f.fd), events)
	switch {
	case err == nil:
		return int32(wd), nil
	case errors.Is(err, unix.ENOSPC), errors.Is(err, unix.ENOMEM):
		return 0, errNoWatch
	}
	return 0, err
}

// reportsAllChanges reports whether a file system tells of all changes that this system
// makes, and no other system makes any. One that is not known here may not:
// network file systems, FUSE, those that are laid over another one.
func reportsAllChanges(kind int64) bool {
	switch uint32(kind) {
	case unix.EXT4_SUPER_MAGIC, unix.XFS_SUPER_MAGIC, unix.BTRFS_SUPER_MAGIC, unix.TMPFS_MAGIC, unix.RAMFS_MAGIC,
		unix.F2FS_SUPER_MAGIC, unix.OVERLAYFS_SUPER_MAGIC, zfs, bcachefs, jfs:
		return true
	}
	return false
}

const (
	zfs      = 0x2fc12fc1
	bcachefs = 0xca451a4e
	jfs      = 0x3153464a
)

func (n *inotify) unwatch(wd int32) {
	_, _ = unix.InotifyRmWatch(n.fd, uint32(wd)) // it may be gone already
}

func (n *inotify) drain(take func(dirEvent)) error {
	var lost error
	for {
		k, err := retry(func() (int, error) { return unix.Read(n.fd, n.buf) })
		if errors.Is(err, unix.EAGAIN) {
			break
		}
		if err != nil {
			return err
		}
		const head = unix.SizeofInotifyEvent
		for b := n.buf[:k]; len(b) >= head; {
			mask, size := binary.NativeEndian.Uint32(b[4:]), int(binary.NativeEndian.Uint32(b[12:]))
			if mask&(unix.IN_Q_OVERFLOW|unix.IN_UNMOUNT) != 0 {
				lost = errLost
			}
			take(dirEvent{
				wd:    int32(binary.NativeEndian.Uint32(b)),
				moved: mask&(unix.IN_MOVE_SELF|unix.IN_DELETE_SELF) != 0,
				ended: mask&unix.IN_IGNORED != 0,
			})
			b = b[min(head+size, len(b)):]
		}
	}
	if err := n.mounts.changed(); err != nil {
		return err
	}
	return lost
}

func (n *inotify) wait() bool {
	err := n.conn.Read(func(fd uintptr) bool {
		p := []unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}
		k, err := unix.Poll(p, 0)
		return err == nil && k > 0
	})
	return err == nil
}

// The deadline has passed: wait returns.
func (n *inotify) interrupt() { _ = n.file.SetReadDeadline(time.Unix(1, 0)) }

func (n *inotify) resume() { _ = n.file.SetReadDeadline(time.Time{}) }

func (n *inotify) close() error { return errors.Join(n.file.Close(), n.mounts.close()) }

// mounts are the mounts that decide what is in a workspace: a file system mounted over
// a folder causes no event.
type mounts struct {
	root string
	f    *os.File
	fd   int
	seen string
}

func openMounts(root string) (*mounts, error) {
	f, err := os.Open("/proc/self/mountinfo")
	if err != nil {
		return nil, err
	}
	m := &mounts{root: root, f: f, fd: int(f.Fd())}
	if m.seen, err = m.read(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return m, nil
}

func (m *mounts) close() error { return m.f.Close() }

// changed returns errLost if a mount above or in the workspace came or went
// since the last call, and errForeign if the workspace is a layer of one.
func (m *mounts) changed() error {
	p := []unix.PollFd{{Fd: int32(m.fd), Events: unix.POLLPRI}}
	if _, err := retry(func() (int, error) { return unix.Poll(p, 0) }); err != nil {
		return err
	}
	if p[0].Revents&(unix.POLLPRI|unix.POLLERR) == 0 {
		return nil
	}
	now, err := m.read()
	if err != nil {
		return err
	}
	if now != m.seen {
		m.seen = now
		return errLost
	}
	return nil
}

// read returns the lines of the mounts that matter.
func (m *mounts) read() (string, error) {
	text, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		return "", err
	}
	return relevant(string(text), m.root)
}

func relevant(text, root string) (string, error) {
	var out strings.Builder
	for line := range strings.Lines(text) {
		f := strings.Fields(line)
		if len(f) < 5 {
			return "", fmt.Errorf("a line of mountinfo is not understood: %q", line)
		}
		if isLayer(f, root) {
			return "", errForeign
		}
		if at := unescape(f[4]); within(at, root) || within(root, at) {
			out.WriteString(line)
		}
	}
	return out.String(), nil
}

// isLayer reports whether a mount lays other folders over the workspace's, or writes in
// them: such changes are reported only at the mount point.
func isLayer(f []string, root string) bool {
	for _, option := range strings.Split(f[len(f)-1], ",") {
		key, value, _ := strings.Cut(option, "=")
		switch key {
		case "lowerdir", "upperdir", "lowerdir+", "datadir+":
			for dir := range strings.SplitSeq(unescape(value), ":") {
				if strings.HasPrefix(dir, "/") && (within(dir, root) || within(root, dir)) {
					return true
				}
			}
		}
	}
	return false
}

// within reports whether a path is dir or in it.
func within(path, dir string) bool {
	return path == dir || dir == "/" || strings.HasPrefix(path, dir+"/")
}

// unescape undoes mountinfo's octal escapes.
func unescape(s string) string {
	if !strings.Contains(s, `\`) {
		return s
	}
	var out []byte
	for i := 0; i < len(s); i++ {
		if s[i] == '\\' && i+3 < len(s) {
			if n, err := strconv.ParseUint(s[i+1:i+4], 8, 8); err == nil {
				out = append(out, byte(n))
				i += 3
				continue
			}
		}
		out = append(out, s[i])
	}
	return string(out)
}
