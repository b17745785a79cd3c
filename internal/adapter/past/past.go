// Package past copies a folder as it was: its present files, and in the place of
// those that were changed their earlier contents. A check that runs in the copy shows
// what failed before the changes.
//
// It promises that nothing in the copy leads back to a file of the folder, except into
// the folders of installed packages (Reads): a relative link leads to the copy, an
// absolute one into the folder is made to. It changes nothing outside the copy. A folder
// that is not cheap to copy is refused (ErrLarge), and so is an entry that is no file,
// folder or link.
package past

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/core/plainfile"
)

// The limits of what is cheap.
const (
	MaxFiles = 30_000
	MaxBytes = 300 << 20
)

// ErrLarge is wrapped by the error for a folder that is not cheap to copy.
var ErrLarge = errors.New("the folder is too large to be copied")

// File is the earlier state of a file.
type File struct {
	Path string // relative to the folder, with /
	// Gone: there was no such file.
	Gone bool
	Data []byte      // of a link: its target
	Mode fs.FileMode // permission bits and fs.ModeSymlink; 0: as now
}

// Copy is a copy of a folder.
type Copy struct {
	Dir string // a real path
	// Reads are the folders of installed packages that it links to.
	Reads []string
}

func (c *Copy) Remove() error { return os.RemoveAll(c.Dir) }

// New copies a folder, which is a real path, into a new folder below temp.
func New(ctx context.Context, folder, temp string, were []File) (*Copy, error) {
	root, err := os.OpenRoot(folder)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	dir, err := os.MkdirTemp(temp, "pawl-before-")
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.EvalSymlinks(dir); err != nil {
		return nil, err
	}
	k := &copier{ctx: ctx, from: root, folder: folder, Copy: Copy{Dir: dir}}
	if err = k.all(were); err != nil {
		return nil, errors.Join(err, k.Remove())
	}
	return &k.Copy, nil
}

type copier struct {
	Copy
	ctx    context.Context
	from   *os.Root
	folder string
	to     *os.Root
	files  int
	bytes  int64
}

func (k *copier) all(were []File) (err error) {
	if k.to, err = os.OpenRoot(k.Dir); err != nil {
		return err
	}
	defer k.to.Close()
	if err := k.tree("."); err != nil {
		return err
	}
	for _, f := range were {
		if err := k.restore(f); err != nil {
			return err
		}
	}
	return nil
}

// installed reports whether a folder holds packages of others, which are linked.
func installed(name string) bool {
	return name == "node_modules" || name == ".venv" || name == "venv"
}

// tree copies a folder with everything in it, except git's own files.
func (k *copier) tree(dir string) error {
	return fs.WalkDir(k.from.FS(), dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case k.ctx.Err() != nil:
			return context.Cause(k.ctx)
		case d.Name() == ".git":
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		case d.IsDir() && installed(d.Name()):
			if err := k.packages(name); err != nil {
				return err
			}
			return fs.SkipDir
		case d.IsDir():
			if name == "." {
				return nil
			}
			return k.to.Mkdir(name, 0o700)
		}
		if k.files++; k.files > MaxFiles {
			return fmt.Errorf("%w: it has more than %d files", ErrLarge, MaxFiles)
		}
		switch {
		case d.Type() == fs.ModeSymlink:
			return k.link(name)
		case d.Type().IsRegular():
			return k.file(name)
		}
		return nil // a socket, a pipe: no content
	})
}

// packages makes a folder whose entries lead to the installed packages. Links among
// them are copied: they may lead to packages of the project itself.
func (k *copier) packages(dir string) error {
	entries, err := fs.ReadDir(k.from.FS(), dir)
	if err != nil {
		return err
	}
	if err := k.to.Mkdir(dir, 0o700); err != nil {
		return err
	}
	at := filepath.Join(k.folder, filepath.FromSlash(dir))
	if !strings.HasPrefix(path.Base(dir), "@") {
		k.Reads = append(k.Reads, at)
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name())
		switch {
		case e.Type() == fs.ModeSymlink:
			err = k.link(name)
		case e.IsDir() && strings.HasPrefix(e.Name(), "@"):
			err = k.packages(name)
		default:
			err = k.to.Symlink(filepath.Join(at, e.Name()), name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// link copies a link. One into the folder by its absolute path leads into the copy.
func (k *copier) link(name string) error {
	target, err := k.from.Readlink(name)
	if err != nil {
		return err
	}
	return k.to.Symlink(k.target(target), name)
}

func (k *copier) target(target string) string {
	if rest, ok := strings.CutPrefix(target, k.folder); ok && (rest == "" || os.IsPathSeparator(rest[0])) {
		return k.Dir + rest
	}
	return target
}

// file copies a file with its mode and time, by which build tools see what changed.
func (k *copier) file(name string) error {
	in, err := plainfile.OpenIn(k.from, name)
	if err != nil {
		return err
	}
	defer in.Close()
	st, err := in.Stat()
	if err != nil {
		return err
	}
	if k.bytes += st.Size(); k.bytes > MaxBytes {
		return fmt.Errorf("%w: it has more than %d MB", ErrLarge, MaxBytes>>20)
	}
	out, err := k.to.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, st.Mode().Perm()|0o200)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, io.LimitReader(in, MaxBytes))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return k.to.Chtimes(name, time.Time{}, st.ModTime())
}

// restore puts a file into its earlier state.
func (k *copier) restore(f File) error {
	mode := f.Mode.Perm()
	if st, err := k.to.Lstat(f.Path); err == nil && mode == 0 && st.Mode().IsRegular() {
		mode = st.Mode().Perm()
	}
	mode = cmp.Or(mode, 0o600)
	if err := k.to.RemoveAll(f.Path); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if f.Gone {
		k.to.Remove(path.Dir(f.Path)) // a folder that it came with; one that is not empty stays
		return nil
	}
	if err := k.to.MkdirAll(path.Dir(f.Path), 0o700); err != nil {
		return err
	}
	if f.Mode&fs.ModeSymlink != 0 {
		return k.to.Symlink(k.target(string(f.Data)), f.Path)
	}
	return k.to.WriteFile(f.Path, f.Data, mode|0o200)
}
