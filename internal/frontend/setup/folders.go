package setup

import (
	"os"
	"path/filepath"
)

// RealPath returns the absolute path of a folder, with symbolic links resolved.
func RealPath(dir string) (string, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// RealDir returns the real path of a folder to work in; "" means the current one.
func (e *Environment) RealDir(dir string) (string, error) {
	if dir == "" {
		dir = e.Dir
	}
	real, err := RealPath(dir)
	if err != nil {
		return "", Usage("cannot work in %s: %w", dir, err)
	}
	if st, err := os.Stat(real); err != nil || !st.IsDir() {
		return "", Usage("cannot work in %s: it is not a folder", dir)
	}
	return real, nil
}

// Path returns the path of a file that a person named, relative to the current folder.
func (e *Environment) Path(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(e.Dir, name)
}
