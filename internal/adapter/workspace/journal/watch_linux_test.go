package journal

import (
	"os"

	"golang.org/x/sys/unix"
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
