package journal

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// watching: this system tells of changes.
const watching = true

// mapped changes a file through a mapping, which is closed before it is gone.
func mapped(in *os.Root, p string, data []byte) {
	if st, err := in.Lstat(p); err != nil || !st.Mode().IsRegular() || st.Size() < int64(len(data)) {
		return
	}
	f, err := in.OpenFile(p, os.O_RDWR, 0)
	if err != nil {
		return
	}
	m, err := unix.Mmap(int(f.Fd()), 0, len(data), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	_ = f.Close()
	if err != nil {
		return
	}
	copy(m, data)
	_ = unix.Munmap(m)
}

// SPEC 19.1: a folder's watch is set before its files are looked at: what happens
// just before it is set is found by the look, in a folder that came and in one
// whose place another one took.
func TestWatchedBeforeLookedAt(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	put(t, root, "d/f", "1")
	put(t, root, "e/f", "1")
	late := map[uint64]string{} // a folder: the file that is written when its watch is set
	opt := Options{FollowFrom: 1}
	past(&opt)
	j := open(t, root, opt)
	limited(j, 1<<20, func(n dirID) error {
		if p := late[n.ino]; p != "" {
			delete(late, n.ino)
			put(t, root, p, "late")
		}
		return nil
	})
	expectLate := func(what, dir, p string, want ...string) {
		t.Helper()
		st := must.Get(os.Stat(filepath.Join(root, dir)))(t)
		late[st.Sys().(*syscall.Stat_t).Ino] = p
		expect(t, what, see(t, j, ""), want...)
		if len(late) > 0 {
			t.Errorf("%s: no watch was set", what)
		}
	}
	see(t, j, "")
	newClock(t).ticks()
	expectLate("the look that sets the watches", "e", "e/f", "e/f")
	see(t, j, "")
	put(t, root, "new/f", "1")
	expectLate("a folder that came", "new", "new/late", "+new/f", "+new/late")
	newClock(t).ticks()
	for _, s := range [][2]string{{"d", "x"}, {"e", "d"}} {
		must.Do(t, os.Rename(filepath.Join(root, s[0]), filepath.Join(root, s[1])))
	}
	expectLate("a folder in the place of another", "d", "d/f", "-e/f", "d/f", "+x/f")
}
