package workspace

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"syscall"
)

// maxLinks is how many symlinks one path may go through, as on Linux.
const maxLinks = 40

// place is where a path leads: the real absolute path, its form in spans, and
// whether it is inside.
type place struct {
	abs    string
	clean  string
	inside bool
}

// Resolve returns a path in the form of Span.Path. Symlinks are followed, also
// for a path that does not exist yet. The name on disk is used if it differs
// only in Unicode form, or in case where the file system ignores case.
func (w *Workspace) Resolve(path string) (clean string, inside bool, err error) {
	p, err := w.resolve(path)
	return p.clean, p.inside, err
}

func (w *Workspace) resolve(path string) (place, error) { return w.resolveTo(path, false) }

// resolveTo resolves a path. noFollow: a symlink at the end is not followed, only
// those before.
func (w *Workspace) resolveTo(path string, noFollow bool) (place, error) {
	switch {
	case path == "":
		return place{}, &sentence{text: "the path is empty: name a file or folder", err: fs.ErrInvalid}
	case strings.ContainsRune(path, 0):
		return place{}, &sentence{text: "the path contains a NUL byte", err: fs.ErrInvalid}
	}
	abs := filepath.FromSlash(path)
	cur, rest := w.root, abs
	if filepath.IsAbs(abs) {
		if inner, ok := strings.CutPrefix(abs, w.root+string(filepath.Separator)); ok {
			rest = inner
		} else {
			cur = filepath.VolumeName(abs) + string(filepath.Separator)
			rest = abs[len(filepath.VolumeName(abs)):]
		}
	}
	real, err := w.follow(path, cur, split(rest), noFollow)
	if err != nil {
		return place{}, err
	}
	return w.placeOf(real), nil
}

func (w *Workspace) placeOf(real string) place {
	p := place{abs: real, clean: filepath.ToSlash(real)}
	if real == w.root {
		p.clean, p.inside = ".", true
	} else if rel, ok := strings.CutPrefix(real, strings.TrimSuffix(w.root, string(filepath.Separator))+string(filepath.Separator)); ok {
		p.clean, p.inside = filepath.ToSlash(rel), true
	}
	return p
}

func split(p string) []string { return strings.Split(p, string(filepath.Separator)) }

// follow walks the components of a path as the kernel does; noFollow: with O_NOFOLLOW.
func (w *Workspace) follow(path, cur string, rest []string, noFollow bool) (string, error) {
	links := 0
	for len(rest) > 0 {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			cur = filepath.Dir(cur)
			continue
		}
		next, info, err := w.lookup(cur, name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return filepath.Join(append([]string{cur, name}, rest...)...), nil
		case err != nil:
			return "", wrapError("find", path, err)
		}
		if info.Mode()&fs.ModeSymlink == 0 || noFollow && len(rest) == 0 {
			cur = next
			continue
		}
		if links++; links > maxLinks {
			return "", wrapError("find", path, syscall.ELOOP)
		}
		target, err := os.Readlink(next)
		if err != nil {
			return "", wrapError("follow the symlink", path, err)
		}
		if filepath.IsAbs(target) {
			cur = filepath.VolumeName(target) + string(filepath.Separator)
			target = target[len(filepath.VolumeName(target)):]
		}
		rest = append(split(filepath.FromSlash(target)), rest...)
	}
	return cur, nil
}

// lookup finds a name in a folder. The exact name is tried first.
func (w *Workspace) lookup(dir, name string) (string, fs.FileInfo, error) {
	next := filepath.Join(dir, name)
	info, err := os.Lstat(next)
	missing := errors.Is(err, fs.ErrNotExist)
	if err != nil && !missing || !w.folds && (!missing || isASCII(name)) {
		return next, info, err
	}
	// Rare: the name may be spelled differently on disk.
	entries, lerr := os.ReadDir(dir)
	if lerr != nil {
		return next, info, err
	}
	want := nfd(name)
	for _, e := range entries {
		if e.Name() == name {
			return next, info, err
		}
	}
	for _, e := range entries {
		have := nfd(e.Name())
		if have != want && (!w.folds || !strings.EqualFold(have, want)) {
			continue
		}
		alt := filepath.Join(dir, e.Name())
		if ai, aerr := os.Lstat(alt); aerr == nil && (missing || os.SameFile(ai, info)) {
			return alt, ai, nil
		}
	}
	return next, info, err
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= 0x80 {
			return false
		}
	}
	return true
}

// inKernelFS reports whether a path is in a kernel file system, whose files are not
// real files.
func inKernelFS(abs string) bool {
	if runtime.GOOS == "windows" {
		return false
	}
	return slices.ContainsFunc([]string{"/proc", "/sys", "/dev"}, func(d string) bool { return abs == d || strings.HasPrefix(abs, d+"/") })
}

// checkAllowed returns an error where this view may not touch a place.
func (w *Workspace) checkAllowed(p place) error {
	if p.inside {
		return nil
	}
	if !w.outside {
		return &OutsideError{Path: p.clean, Root: w.root}
	}
	if inKernelFS(p.abs) {
		return &SpecialError{Path: p.clean, What: "kernel file"}
	}
	return nil
}

func (w *Workspace) parent(p place) place { return w.placeOf(filepath.Dir(p.abs)) }

// base returns the last name of a place.
func (p place) base() string { return filepath.Base(p.abs) }
