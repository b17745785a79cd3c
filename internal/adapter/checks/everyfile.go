package checks

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/pawl-agent/pawl/internal/policy/trust"
)

// Limits of a folder whose every file is of a part.
const (
	maxEveryFile = 20_000
	maxEveryByte = 256 << 20
)

// everyFile is the source for what runs files that cannot be listed: it changes
// with any file of the folder. A folder with more than is read is never trusted.
func (f *Finder) everyFile(c Check, unlisted string) trust.Source {
	at := f.Root
	if filepath.IsAbs(c.Dir) {
		at = c.Dir
	}
	s := trust.Source{Name: "every file"}
	sum, err := everyFileOf(at)
	if err != nil {
		s.Name, s.Unread = "every file of this folder, of which any may run, since "+unlisted+" ("+err.Error()+")", true
		return s
	}
	// One line, so that a person sees the reason also where only what differs is shown.
	s.Text = "a change of any file of this folder asks again, since " + unlisted + "; they are " + sum
	return s
}

// everyFileOf returns a hash of all files of a folder, except git's own and
// those that python and its tools write when they run.
func everyFileOf(dir string) (string, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return "", err
	}
	defer root.Close()
	h, folders, files, left := sha256.New(), 0, 0, int64(maxEveryByte)
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir():
			switch d.Name() {
			case ".git", "__pycache__", ".pytest_cache", ".mypy_cache", ".ruff_cache":
				return fs.SkipDir
			}
			if folders++; folders > maxFolders {
				return fmt.Errorf("it has more than %d folders", maxFolders)
			}
			return nil
		}
		if files++; files > maxEveryFile {
			return fmt.Errorf("it has more than %d files", maxEveryFile)
		}
		fmt.Fprintf(h, "%q %v\n", name, d.Type())
		if d.Type()&fs.ModeSymlink != 0 {
			to, err := root.Readlink(name)
			fmt.Fprintf(h, "%q\n", to)
			return err
		}
		if !d.Type().IsRegular() {
			return nil
		}
		file, err := root.Open(name)
		if err != nil {
			return err
		}
		defer file.Close()
		one := sha256.New()
		n, err := io.Copy(one, io.LimitReader(file, left+1))
		if left -= n; left < 0 {
			return fmt.Errorf("it has more than %d MB", maxEveryByte>>20)
		}
		fmt.Fprintf(h, "%x\n", one.Sum(nil))
		return err
	})
	return hex.EncodeToString(h.Sum(nil)), err
}
