package session

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// disk is tool.Files in memory, as its contract says: WriteAll does one step
// after the other, takes all back where one fails, and stops where it stands
// when its process dies.
type disk struct {
	tool.Files // what undo does not use
	*crash
	files map[string]content
	dirs  map[string]bool
	real  *workspace.Workspace // where the files are, for a real disk
	fails int                  // the step of the next WriteAll that fails, counted down; 0: none
	stays bool                 // and what was written by then cannot be taken back
}

var errDisk = errors.New("the disk is full")

func newDisk(c *crash) *disk {
	return &disk{crash: c, files: map[string]content{}, dirs: map[string]bool{".": true}}
}

func (d *disk) snapshot() map[string]content { return maps.Clone(d.files) }

// load reads what is on a real disk.
func (d *disk) load() {
	d.files = map[string]content{}
	orPanic(filepath.WalkDir(d.real.Root(), func(p string, e fs.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		data, err := os.ReadFile(p)
		orPanic(err)
		info, err := e.Info()
		orPanic(err)
		rel, err := filepath.Rel(d.real.Root(), p)
		orPanic(err)
		d.files[filepath.ToSlash(rel)] = content{string(data), uint32(info.Mode().Perm())}
		return nil
	}))
}

func (d *disk) Root() string { return "/" }

func (d *disk) Resolve(p string) (string, bool, error) { return path.Clean(p), true, nil }

func (d *disk) ReadNoFollow(ctx context.Context, p string, limit int64) (tool.File, error) {
	if d.real != nil {
		return d.real.ReadNoFollow(ctx, p, limit)
	}
	f, ok := d.files[p]
	if !ok {
		return tool.File{}, fmt.Errorf("%s: %w", p, fs.ErrNotExist)
	}
	out := tool.File{Path: p, Hash: hashOf(f.data), Mode: f.mode}
	if int64(len(f.data)) <= limit {
		out.Data = []byte(f.data)
	}
	return out, nil
}

func (d *disk) Read(ctx context.Context, p string, limit int64) (tool.File, error) {
	return d.ReadNoFollow(ctx, p, limit)
}

func (d *disk) Stat(p string) (tool.Hash, bool, error) {
	f, ok := d.files[p]
	if !ok {
		return "", d.dirs[p], nil
	}
	return hashOf(f.data), false, nil
}

// change is one step of a WriteAll.
type change struct {
	path    string
	to      *content // nil: the file goes
	folders []string // to take away where they are empty
}

// onDisk is WriteAll of a real disk; the process may die before or behind it.
func (d *disk) onDisk(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	if d.step() != nil {
		return nil, errDead
	}
	if d.fails > 0 {
		d.fails = 0
		d.stays = false
		return nil, errDisk
	}
	cs, err := d.real.WriteAll(ctx, ws)
	d.load()
	if d.step() != nil {
		return nil, errDead
	}
	return cs, err
}

func (d *disk) WriteAll(ctx context.Context, ws []tool.Write) ([]tool.Change, error) {
	if d.real != nil {
		return d.onDisk(ctx, ws)
	}
	var todo []change
	for _, w := range ws {
		if w.Expect != "" != d.has(w.Path) || d.has(w.Path) && hashOf(d.files[w.Path].data) != w.Expect || w.MoveTo != "" && d.has(w.MoveTo) {
			return nil, &tool.StaleError{Path: w.Path, Want: w.Expect}
		}
		to := content{string(w.Data), w.Mode}
		if w.Mode == 0 {
			if to.mode = d.files[w.Path].mode; to.mode == 0 {
				to.mode = 0o644
			}
		}
		switch {
		case w.Remove:
			todo = append(todo, change{w.Path, nil, w.Folders})
		case w.MoveTo != "":
			todo = append(todo, change{w.Path, nil, w.Folders}, change{path: w.MoveTo, to: &to})
		default:
			todo = append(todo, change{path: w.Path, to: &to})
		}
	}
	before := d.snapshot()
	var out []tool.Change
	for _, c := range todo {
		if d.step() != nil {
			return nil, errDead
		}
		if d.fails == 1 {
			d.fails = 0
			if d.stays {
				return out, errDisk
			}
			d.files = before
			return nil, errDisk
		}
		d.fails = max(0, d.fails-1)
		out = append(out, d.apply(c))
	}
	d.fails = 0
	for _, c := range todo {
		for _, dir := range slices.Backward(c.folders) {
			if !slices.ContainsFunc(slices.Collect(maps.Keys(d.files)), func(p string) bool { return strings.HasPrefix(p, dir+"/") }) {
				delete(d.dirs, dir)
			}
		}
	}
	return out, nil
}

func (d *disk) has(p string) bool { _, ok := d.files[p]; return ok }

func (d *disk) apply(c change) tool.Change {
	out := tool.Change{Path: c.path}
	if old, ok := d.files[c.path]; ok {
		out.Before, out.ModeBefore = hashOf(old.data), old.mode
	}
	if c.to == nil {
		delete(d.files, c.path)
		return out
	}
	for dir := path.Dir(c.path); !d.dirs[dir]; dir = path.Dir(dir) {
		d.dirs[dir] = true
		out.Folders = slices.Insert(out.Folders, 0, dir)
	}
	d.files[c.path] = *c.to
	out.After, out.Mode = hashOf(c.to.data), c.to.mode
	return out
}

// put is a person's or a command's own write: nothing records it.
func (d *disk) put(p, data string) {
	for dir := path.Dir(p); !d.dirs[dir]; dir = path.Dir(dir) {
		d.dirs[dir] = true
	}
	f := d.files[p]
	f.data = data
	if f.mode == 0 {
		f.mode = 0o644
	}
	d.files[p] = f
	if d.real != nil {
		name := filepath.Join(d.real.Root(), p)
		orPanic(os.MkdirAll(filepath.Dir(name), 0o755))
		orPanic(os.WriteFile(name, []byte(data), 0o600))
		orPanic(os.Chmod(name, fs.FileMode(f.mode)))
	}
}

func (d *disk) drop(p string) {
	delete(d.files, p)
	if d.real != nil {
		orPanic(os.Remove(filepath.Join(d.real.Root(), p)))
	}
}

func (d *disk) chmod(p string, mode uint32) {
	d.files[p] = content{d.files[p].data, mode}
	if d.real != nil {
		orPanic(os.Chmod(filepath.Join(d.real.Root(), p), fs.FileMode(mode)))
	}
}
