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

// How much of a folder is looked through for files of secrets.
const (
	maxKeyFolders = 32
	maxKeyEntries = 500 // of a folder
	maxKeyFiles   = 64
	maxKeyFile    = 64 << 10
)

// Keys lists the values in the files of secrets (.env and its like) of a folder
// and of those right below it, so that they can be masked where a program that
// may read them shows them. What cannot be read is left out: no program of the
// same person shows it either.
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
		entries, _ := d.ReadDir(maxKeyEntries) // what it could read counts
		for _, e := range entries {
			name := path.Join(dir, e.Name())
			switch {
			case e.IsDir() && e.Name()[0] != '.' && e.Name() != "node_modules" && e.Name() != "vendor":
				below = append(below, name)
			case !e.IsDir() && secrets.LooksSecret(name) && files < maxKeyFiles:
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
