package folder

import (
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"syscall"

	"github.com/pawl-agent/pawl/internal/policy/secrets"
)

// Limits of the search for files of secrets in a folder.
const (
	maxKeyFolders = 32
	maxKeyEntries = 500 // of a folder
	maxKeyFiles   = 64
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
	var out []string
	files := 0
	look := func(dir string) (below []string) {
		d, err := root.Open(dir)
		if err != nil {
			return nil
		}
		defer d.Close()
		names, _ := d.Readdirnames(maxKeyEntries) // what it could read counts
		for _, n := range names {
			secret := secrets.LooksSecret(n) && files < maxKeyFiles // no folder here is one of secrets
			inner := dir == "." && n[0] != '.' && n != "node_modules" && n != "vendor"
			if !secret && !inner {
				continue // the system is not asked about it: there may be many
			}
			name := path.Join(dir, n)
			st, err := root.Lstat(name)
			switch {
			case err != nil:
			case st.IsDir():
				if inner {
					below = append(below, name)
				}
			case secret:
				files++
				for _, v := range secrets.Values(keyFile(root, name)) {
					if !slices.Contains(out, v) {
						out = append(out, v)
					}
				}
			}
		}
		return below
	}
	below := look(".")
	for _, d := range below[:min(len(below), maxKeyFolders)] {
		look(d)
	}
	return out
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
