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
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Limits of the search for files of secrets in a folder.
const (
	maxKeyFolders = 32
	maxKeyEntries = 500 // entries of one folder
	maxKeyFiles   = 64
	maxKeyLists   = 4 // folders that are listed in parallel: large ones take a while
	maxKeyFile    = 64 << 10
)

// Keys returns the files of secrets (.env and the like) of a folder and its direct
// subfolders, so that what is in them can be masked in the output of a program that may
// read them. Unreadable files are skipped: no program of the same person can show them
// either.
func Keys(dir string) []secrets.File {
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
	var out []secrets.File
	for _, name := range slices.Concat(named, slices.Concat(more...)) {
		if st, err := root.Lstat(name); err != nil || st.IsDir() || len(out) == maxKeyFiles {
			continue
		}
		out = append(out, secrets.File{Name: name, Text: keyFile(root, name)})
	}
	return out
}

// HomeKeys returns the files of a home that commands may read and that may have keys:
// the configuration of git and the person's own scripts.
func HomeKeys(home string) []secrets.File {
	root, err := os.OpenRoot(home)
	if err != nil {
		return nil
	}
	defer root.Close()
	names := []string{".gitconfig", ".config/git/config", ".cargo/env"}
	if d, err := root.Open(".local/bin"); err == nil {
		scripts, _ := d.Readdirnames(maxKeyFiles) // those that could be read count
		d.Close()
		for _, n := range scripts {
			names = append(names, path.Join(".local/bin", n))
		}
	}
	var out []secrets.File
	for _, name := range names {
		if text := keyFile(root, name); text != "" && utf8.ValidString(text[:min(len(text), 256)]) {
			out = append(out, secrets.File{Name: name, Text: text})
		}
	}
	return out
}

// list returns the names in a folder that look like files of secrets. For the top folder
// it also returns the subfolders to search.
func list(root *os.Root, dir string) (named, below []string) {
	d, err := root.Open(dir)
	if err != nil {
		return nil, nil
	}
	defer d.Close()
	names, _ := d.Readdirnames(maxKeyEntries) // the names that could be read count
	for _, n := range names {                 // the system is asked about few of them: there may be many
		name := path.Join(dir, n)
		if secrets.Holds(name) {
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

// keyFile returns the first maxKeyFile bytes of a regular file of secrets; "" for others.
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
