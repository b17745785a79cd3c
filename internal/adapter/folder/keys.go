package folder

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"

	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Limits of the search for files of secrets in a folder.
const (
	maxKeyFolders = 32
	maxKeyEntries = 500 // of a folder
	maxKeyFiles   = 64
	maxKeyLists   = 4 // folders that are listed at once: large ones take a while
	maxKeyFile    = 64 << 10
)

// Keys lists the values in files of secrets (.env and the like) of a folder and
// of its direct subfolders, so that they can be masked in the output of a
// program that may read them. Unreadable files are left out: no program of the
// same person can show them either.
func Keys(dir string) []string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil
	}
	defer root.Close()
	named, below := list(root, ".")
	below = below[:min(len(below), maxKeyFolders)]
	more := make([][]string, len(below))
	var next atomic.Int32
	var work sync.WaitGroup
	for range min(len(below), maxKeyLists) {
		work.Go(func() {
			for i := next.Add(1) - 1; int(i) < len(below); i = next.Add(1) - 1 {
				more[i], _ = list(root, below[i])
			}
		})
	}
	work.Wait()
	var out []string
	files := 0
	for _, name := range slices.Concat(named, slices.Concat(more...)) {
		if st, err := root.Lstat(name); err != nil || st.IsDir() || files == maxKeyFiles {
			continue
		}
		files++
		for _, v := range secrets.Values(keyFile(root, name)) {
			if !slices.Contains(out, v) {
				out = append(out, v)
			}
		}
	}
	return out
}

// list returns what is named like a file of secrets in a folder, and the folders
// in it that are looked at, too, if it is the top one.
func list(root *os.Root, dir string) (named, below []string) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxKeyEntries) // what it could read counts
	for _, n := range names {                 // the system is asked about few of them: there may be many
		name := path.Join(dir, n)
		if secrets.LooksSecret(n) {
			named = append(named, name)
		}
		if dir == "." && n[0] != '.' && n != "node_modules" && n != "vendor" {
			if st, err := root.Lstat(name); err == nil && st.IsDir() {
				below = append(below, name)
			}
		}
	}
	return named, below
}

// keyFile reads a file of secrets: a regular one in the folder, of usual size.
func keyFile(root *os.Root, name string) string {
	f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // it may be a pipe
	if err != nil {
		return ""
	}
	defer f.Close()
	if st, err := f.Stat(); err != nil || st.Mode()&fs.ModeType != 0 {
		return ""
	}
	b, _ := io.ReadAll(io.LimitReader(f, maxKeyFile))
	return string(b)
}
