package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"

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

// WriteAll does several writes, all or none: contents go to temporary files
// beside their targets first, every expectation is checked, and only then are
// they renamed into place; where one rename fails, those before it are taken
// back. The changes come in the order asked; a move is two, the old path's
// first.
func (w *Workspace) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	b := &batch{w: w}
	defer b.close()
	for _, req := range ws {
		if err := ctx.Err(); err != nil {
			return nil, errors.Join(err, b.abandon())
		}
		if err := b.prepare(ctx, req); err != nil {
			return nil, errors.Join(err, b.abandon())
		}
	}
	// From here on it takes no time worth interrupting.
	if err := ctx.Err(); err != nil {
		return nil, errors.Join(err, b.abandon())
	}
	for _, j := range b.jobs {
		if err := b.commit(j); err != nil {
			return nil, errors.Join(err, b.undo())
		}
	}
	if err := b.sync(); err != nil {
		if len(b.jobs) == 1 && b.jobs[0].exists && b.jobs[0].backup == "" {
			return nil, &sentence{fmt.Sprintf("%s was written, but the disk did not confirm it: %v", b.jobs[0].p.clean, cause(err)), err}
		}
		return nil, errors.Join(err, b.undo())
	}
	b.drop()
	var out []tool.Change
	for _, j := range b.jobs {
		out = append(out, j.changes()...)
	}
	return out, nil
}

// prepare looks at one target, checks what is expected of it and writes the
// new content beside it. Nothing that others see changes, but for new folders.
func (b *batch) prepare(ctx context.Context, req tool.Write) error {
	j := &job{req: req}
	var err error
	if j.p, err = b.w.target(req.Path); err != nil {
		return err
	}
	j.q = j.p
	if req.MoveTo != "" {
		if j.q, err = b.w.target(req.MoveTo); err != nil {
			return err
		}
	}
	for _, other := range b.jobs {
		if other.touches(j.p) || other.touches(j.q) {
			return &sentence{fmt.Sprintf("%s is written twice in one change: put its changes together", req.Path), fs.ErrInvalid}
		}
	}
	b.jobs = append(b.jobs, j)
	if err := b.inspect(ctx, j); err != nil {
		return err
	}
	if req.Remove {
		return nil
	}
	if req.MoveTo != "" && j.q != j.p {
		if err := b.vacant(j); err != nil {
			return err
		}
	}
	return b.stage(j)
}

// target resolves a path that is to be written.
func (w *Workspace) target(path string) (place, error) {
	p, err := w.resolve(path)
	if err == nil {
		err = w.allowed(p)
	}
	if err == nil && p.abs == w.root {
		err = &SpecialError{Path: p.clean, What: "folder"}
	}
	return p, err
}

// inspect reads what is at the target now and compares it with what the caller
// saw.
func (b *batch) inspect(ctx context.Context, j *job) error {
	f, info, err := b.w.openAt(j.p)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		if j.req.Expect != "" || j.req.Remove || j.req.MoveTo != "" {
			return &tool.StaleError{Path: j.p.clean, Want: j.req.Expect}
		}
		return nil
	case err != nil:
		return b.writeError(j, err)
	}
	f.Close()
	j.exists, j.info = true, info
	if info.Size() <= diffLimit {
		cur, err := b.w.WithOutside(true).Read(ctx, j.p.abs, diffLimit+1)
		if err != nil {
			return err
		}
		j.before, j.hash = cur.Data, cur.Hash
	} else if j.hash, _, err = b.w.Stat(j.p.abs); err != nil {
		return err
	}
	if j.hash != j.req.Expect {
		return &tool.StaleError{Path: j.p.clean, Want: j.req.Expect, Got: j.hash}
	}
	if j.req.Remove {
		return nil
	}
	if info.Mode().Perm()&0o222 == 0 {
		return &sentence{fmt.Sprintf("%s is read-only (mode %04o) and was not changed: make it writable first if it should change",
			j.p.clean, info.Mode().Perm()), fs.ErrPermission}
	}
	return b.w.sayLinks(j.p, info)
}

// writeError words an error of looking at a target for someone who writes.
func (b *batch) writeError(j *job, err error) error {
	if s := (*sentence)(nil); errors.As(err, &s) {
		return plain("write", j.p.clean, s.err)
	}
	return err
}

// sayLinks refuses the first write of a file with several names.
func (w *Workspace) sayLinks(p place, info fs.FileInfo) error {
	n := links(info)
	if n < 2 {
		return nil
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.parted[p.abs] {
		return nil
	}
	w.parted[p.abs] = true
	return &LinkedError{Path: p.clean, Links: n}
}

// vacant checks that nothing is where a file is to be moved. Another case of
// its own name is not in the way.
func (b *batch) vacant(j *job) error {
	dir, err := b.w.folder(b.w.parent(j.q))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return plain("write", j.q.clean, err)
	}
	defer dir.Close()
	if _, err := dir.Lstat(j.q.base()); err == nil {
		return &sentence{fmt.Sprintf("%s cannot be moved to %s: that exists already", j.p.clean, j.q.clean), fs.ErrExist}
	}
	return nil
}

// folders makes the folders above a place and notes which were new.
func (b *batch) folders(p place) error {
	var missing []place
	up := b.w.parent(p)
	for {
		dir, err := b.w.folder(up)
		if err == nil {
			dir.Close()
			break
		}
		above := b.w.parent(up)
		if !errors.Is(err, fs.ErrNotExist) || above.abs == up.abs {
			return plain("write", p.clean, err)
		}
		missing = append(missing, up)
		up = above
	}
	for i := len(missing) - 1; i >= 0; i-- {
		if err := b.mkdir(missing[i]); err != nil {
			return plain("make the folder", missing[i].clean, err)
		}
	}
	return nil
}

func (b *batch) mkdir(p place) error {
	if err := b.w.step("mkdir", p.clean); err != nil {
		return err
	}
	above, err := b.w.folder(b.w.parent(p))
	if err != nil {
		return err
	}
	b.roots = append(b.roots, above)
	err = above.Mkdir(p.base(), 0o777)
	if errors.Is(err, fs.ErrExist) {
		return nil // someone else just made it: it is not ours to remove
	}
	if err == nil {
		b.made = append(b.made, made{above, p.base()})
	}
	return err
}

// Paths in temporary names would be cut by long file names; the random part is
// enough.
func isTemp(name string) bool {
	return len(name) == len(tempPrefix)+16+len(tempSuffix) &&
		name[:len(tempPrefix)] == tempPrefix && filepath.Ext(name) == tempSuffix
}
