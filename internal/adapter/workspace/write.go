package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// Write replaces or creates a file. See tool.Files.
func (w *Workspace) Write(ctx context.Context, path string, data []byte, expect tool.Hash) (tool.Change, error) {
	cs, err := w.WriteAll(ctx, []tool.Write{{Path: path, Data: data, Expect: expect}})
	if err != nil {
		return tool.Change{}, err
	}
	return cs[0], nil
}

// WriteAll executes several writes, all or none: contents first go to temporary
// files in their targets' folders, every expectation is checked, and only then are
// they renamed into place; if one rename fails, those before it are reverted.
// The changes are returned in the order of the writes; a move is two changes,
// the old path's first. If something could not be reverted, because the disk
// fails or someone changed it in between, the remaining changes are returned
// with the error.
func (w *Workspace) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	b := &batch{w: w, taken: map[place]bool{}, known: map[string]*os.Root{}}
	defer b.close()
	for _, req := range ws {
		err := ctx.Err()
		if err == nil {
			err = b.prepare(ctx, req)
		}
		if err != nil {
			b.discard()
			return nil, nothingChanged(err)
		}
	}
	// From here on it is too fast to be interrupted.
	err := ctx.Err()
	for _, j := range b.jobs {
		if err == nil {
			err = b.commit(j)
		}
	}
	if err == nil {
		err = b.sync()
	}
	if err != nil {
		if left := b.rollback(); left != "" {
			return b.changes(), notRolledBack(err, left)
		}
		return nil, nothingChanged(err)
	}
	b.removeOld()
	b.removeEmptyFolders()
	return b.changes(), nil
}

// prepare checks one target and writes the new content to a temporary file. Nothing
// visible changes, except new folders.
func (b *batch) prepare(ctx context.Context, req tool.Write) error {
	j := &job{req: req}
	j.makesLink = !req.Remove && fs.FileMode(req.Mode)&fs.ModeSymlink != 0
	j.req.NoFollow = req.NoFollow || j.makesLink
	var err error
	if j.from, err = b.w.target(req.Path, j.req.NoFollow); err != nil {
		return err
	}
	j.to = j.from
	if req.MoveTo != "" {
		if j.to, err = b.w.target(req.MoveTo, j.req.NoFollow); err != nil {
			return err
		}
	}
	if b.taken[j.from] || b.taken[j.to] {
		return &sentence{text: fmt.Sprintf("%s is written twice in one change: put its changes together", req.Path), err: fs.ErrInvalid}
	}
	b.taken[j.from], b.taken[j.to] = true, true
	b.jobs = append(b.jobs, j)
	if err := b.inspect(ctx, j); err != nil {
		return err
	}
	if req.Remove {
		return nil
	}
	if j.moves() {
		if err := b.checkVacant(j); err != nil {
			return err
		}
	}
	return b.stage(j)
}

// target resolves a path that is to be written.
func (w *Workspace) target(path string, noFollow bool) (place, error) {
	p, err := w.resolveTo(path, noFollow)
	if err == nil {
		err = w.checkWrite(p)
	}
	if err == nil && p.abs == w.root {
		err = &SpecialError{Path: p.clean, What: "folder"}
	}
	return p, err
}

// racyAge is how old a file's time must be to distinguish two contents: times
// are as coarse as two seconds on some file systems.
const racyAge = 3 * time.Second

// inspect reads the present target and compares it with what the caller saw.
func (b *batch) inspect(ctx context.Context, j *job) error {
	err := b.readTarget(ctx, j)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if j.req.Expect != "" || j.req.Remove || j.req.MoveTo != "" {
			return &tool.StaleError{Path: j.from.clean, Want: j.req.Expect}
		}
		return nil
	case err != nil:
		return b.writeError(j, err)
	}
	j.exists = true
	j.racy = b.w.now().Sub(j.info.ModTime()) < racyAge
	if j.hash != j.req.Expect {
		return &tool.StaleError{Path: j.from.clean, Want: j.req.Expect, Got: j.hash}
	}
	j.makesLink = j.makesLink || j.link && j.req.Mode == 0 // a link stays a link
	if j.req.Remove || j.link {
		return nil
	}
	if j.info.Mode().Perm()&0o222 == 0 && j.req.Mode == 0 {
		return &sentence{text: fmt.Sprintf("%s is read-only (mode %04o) and was not changed: make it writable first if it should change",
			j.from.clean, j.info.Mode().Perm()), err: fs.ErrPermission}
	}
	return b.w.checkLinks(j.from, j.info)
}

func (b *batch) readTarget(ctx context.Context, j *job) error {
	if link, err := b.readLink(j); link || err != nil {
		return err
	}
	f, info, err := b.w.openAt(j.from)
	if err != nil {
		return err
	}
	f.Close()
	j.info = info
	if info.Size() <= diffLimit {
		cur, err := (&Workspace{shared: b.w.shared, outside: true}).Read(ctx, j.from.abs, diffLimit+1)
		if err == nil {
			j.before, j.hash = cur.Data, cur.Hash
		}
		return err
	}
	j.hash, _, err = b.w.Stat(j.from.abs)
	return err
}

// readLink reads a symlink without following it.
func (b *batch) readLink(j *job) (bool, error) {
	if !j.req.NoFollow {
		return false, nil
	}
	dir, err := b.w.folder(b.w.parent(j.from))
	if err != nil {
		return false, wrapError(doWrite, j.from.clean, err)
	}
	defer dir.Close()
	info, err := dir.Lstat(j.from.base())
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return false, wrapError(doWrite, j.from.clean, err)
	}
	to, err := dir.Readlink(j.from.base())
	if err != nil {
		return false, wrapError(doWrite, j.from.clean, err)
	}
	j.link, j.info, j.before, j.hash = true, info, []byte(to), HashOf([]byte(to))
	return true, nil
}

// writeError words an error of reading the target of a write.
func (b *batch) writeError(j *job, err error) error {
	if s := (*sentence)(nil); errors.As(err, &s) {
		return wrapError(doWrite, j.from.clean, s.err)
	}
	return err
}

// checkLinks refuses the first write of a file with several names.
func (w *Workspace) checkLinks(p place, info fs.FileInfo) error {
	n := linkCount(info)
	if n < 2 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.linksReported[p.abs] {
		return nil
	}
	w.linksReported[p.abs] = true
	return &LinkedError{Path: p.clean, Links: n}
}

// checkVacant checks that the target of a move is free. Another case of its own name
// does not count.
func (b *batch) checkVacant(j *job) error {
	dir, err := b.w.folder(b.w.parent(j.to))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return wrapError(doWrite, j.to.clean, err)
	}
	defer dir.Close()
	if now, err := dir.Lstat(j.to.base()); err == nil && !os.SameFile(now, j.info) {
		return &sentence{text: fmt.Sprintf("%s cannot be moved to %s: that exists already", j.from.clean, j.to.clean), err: fs.ErrExist}
	}
	return nil
}
