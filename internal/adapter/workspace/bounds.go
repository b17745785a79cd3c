package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file makes sure that only judged places are touched: a view that is
// limited to the places of a call's footprint, and folders that are opened
// without following a link. Between the judgement and the call, another process
// may replace a folder by a link (SPEC 16.8).

// bounds are the places that a view may touch, in the form of Span.Path.
type bounds struct {
	reads, writes map[string]bool
	below         []string // folders that are read with everything below
}

// Only returns a view that reads and writes only these spans, which were
// judged. A path that leads elsewhere by now is an error.
func (w *Workspace) Only(reads, writes []tool.Span) tool.Files {
	b := &bounds{reads: map[string]bool{}, writes: map[string]bool{}}
	for _, sp := range reads {
		b.reads[sp.Path] = true
		if sp.Dir {
			b.below = append(b.below, sp.Path)
		}
	}
	for _, sp := range writes {
		b.writes[sp.Path] = true
	}
	return &Workspace{shared: w.shared, outside: w.outside, only: b}
}

// errMoved means that a path no longer leads where it led when it was judged.
var errMoved = errors.New("the path leads elsewhere")

func movedError(p place) error {
	return &sentence{text: fmt.Sprintf("a folder or link on the way to %s was replaced while this was done: nothing was touched there; look at the folder and try again", p.clean), err: errMoved}
}

// checkRead returns an error where this view may not read a file or search a folder.
func (w *Workspace) checkRead(p place) error {
	if err := w.checkAllowed(p); err != nil || w.only == nil || w.only.reads[p.clean] || w.only.writes[p.clean] {
		return err
	}
	for _, d := range w.only.below {
		if d == "." && p.inside || strings.HasPrefix(p.clean, strings.TrimSuffix(d, "/")+"/") {
			return nil
		}
	}
	return movedError(p)
}

// checkList returns an error where this view may not list a folder: names are not contents.
func (w *Workspace) checkList(p place) error {
	if p.inside {
		return nil
	}
	return w.checkRead(p)
}

// checkWrite returns an error where this view may not write a file.
func (w *Workspace) checkWrite(p place) error {
	if err := w.checkAllowed(p); err != nil || w.only == nil || w.only.writes[p.clean] {
		return err
	}
	return movedError(p)
}

// folder opens a folder by its real path without following symlinks at any
// step: the result is exactly the judged folder, or an error.
func (w *Workspace) folder(p place) (*os.Root, error) {
	if !p.inside {
		return outsideFolder(p)
	}
	cur := w.dir
	opened := func() {
		if cur != w.dir {
			cur.Close()
		}
	}
	for _, name := range strings.Split(filepath.FromSlash(p.clean), string(filepath.Separator)) {
		info, err := cur.Lstat(name)
		if err != nil {
			opened()
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			opened()
			return nil, movedError(p)
		}
		if w.between != nil {
			w.between(filepath.Join(cur.Name(), name))
		}
		next, err := cur.OpenRoot(name)
		opened()
		if err != nil {
			return nil, err
		}
		cur = next
		if err := checkSame(cur, info, p); err != nil {
			return nil, err
		}
	}
	return cur, nil
}

// outsideFolder opens a folder outside the workspace. The folders above it may
// be unreadable, so only the folder itself is checked.
func outsideFolder(p place) (*os.Root, error) {
	dir, err := os.OpenRoot(p.abs)
	if err != nil {
		return nil, err
	}
	real, err := filepath.EvalSymlinks(p.abs)
	if err == nil && real != filepath.Clean(p.abs) {
		err = movedError(p)
	}
	var info fs.FileInfo
	if err == nil {
		info, err = os.Lstat(p.abs)
	}
	if err != nil {
		dir.Close()
		return nil, err
	}
	return dir, checkSame(dir, info, p)
}

// checkSame closes a folder that is not the one that was checked.
func checkSame(dir *os.Root, info fs.FileInfo, p place) error {
	now, err := dir.Stat(".")
	if err == nil && !os.SameFile(now, info) {
		err = movedError(p)
	}
	if err != nil {
		dir.Close()
	}
	return err
}
