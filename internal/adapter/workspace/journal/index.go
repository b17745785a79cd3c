package journal

import (
	"io/fs"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
)

// stamp is what the system reports about a file without reading it. Times are
// nanoseconds; mode is permission bits with fs.ModeSymlink, fs.ModeDir, or
// fs.ModeIrregular for what is neither file, link nor folder. links is how many
// names a file has, 0 for anything else.
type stamp struct {
	size, mtime, ctime int64
	ino                uint64
	mode, links        uint32
}

func (s stamp) dir() bool     { return s.mode&uint32(fs.ModeDir) != 0 }
func (s stamp) link() bool    { return s.mode&uint32(fs.ModeSymlink) != 0 }
func (s stamp) special() bool { return s.mode&uint32(fs.ModeIrregular) != 0 }

// plain reports whether it is a regular file.
func (s stamp) plain() bool { return s.mode&^0o777 == 0 }

// The resolution of a file system's clock is a few milliseconds or, for times
// without a fraction, up to two seconds.
const (
	tick       = int64(50 * time.Millisecond)
	coarseTick = int64(2 * time.Second)
)

// unstable reports whether the file may change after it was read without a change
// of its stamp: it was changed a moment ago. Only ctime counts: nobody can set
// it.
func (s stamp) unstable(now int64) bool {
	if s.ctime%int64(time.Second) == 0 {
		return s.ctime+coarseTick >= now
	}
	return s.ctime+tick >= now
}

// state is where the content of a file is available.
type state uint8

const (
	unread state = iota // the content is not known
	inGit               // id is that of a git blob
	kept                // id is the SHA-256; pawl has a copy
	lost                // id is the SHA-256; pawl has no copy
	guess               // id represents a content that was not read
)

// file is a watched file or link.
type file struct {
	name string
	stamp
	state      state
	unstable   bool // it may have changed since it was read, with the same stamp
	unreported bool // unread, and what it is is not reported
	id         id
}

type id [32]byte

// dir is a watched folder.
type dir struct {
	path       string // relative to the root, "" the root itself
	stamp      stamp
	unstable   bool
	ignored    bool // it is ignored: only tracked files in it are watched
	shallow    bool // folders in it are not watched
	files      []file
	subs       []string // names of watched folders, sorted
	rules      workspace.Ignore
	ignoreFile stamp // of its .gitignore, zero if there is none
	dirty      bool  // in index.dirty
	watch      int32 // of the watcher, 0 for none
	node       dirID // what is watched
}

func (d *dir) find(name string) (*file, bool) {
	i, ok := slices.BinarySearchFunc(d.files, name, func(f file, n string) int { return strings.Compare(f.name, n) })
	if !ok {
		return nil, false
	}
	return &d.files[i], true
}

// join returns the path of something in the folder.
func (d *dir) join(name string) string { return join(d.path, name) }

func join(dir, name string) string {
	if dir == "" {
		return name
	}
	return dir + "/" + name
}

// base returns the folder's path in the form of ignore rules.
func base(dir string) string {
	if dir == "" {
		return ""
	}
	return dir + "/"
}

// split splits a path into folder and name.
func split(path string) (dir, name string) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", path
	}
	return path[:i], path[i+1:]
}

// index is all that is watched.
type index struct {
	dirs  map[string]*dir
	files int
	// order is sorted by path, but for what came and went since it was asked for.
	order      []*dir
	added      []*dir
	anyRemoved bool
	dirty      []*dir // changed since they were last written to disk
}

func newIndex() *index { return &index{dirs: map[string]*dir{}} }

// sorted returns all folders by path. What came and went since the last time is
// merged in: sorting a large tree each time would cost more than comparing it.
func (x *index) sorted() []*dir {
	if len(x.added) == 0 && !x.anyRemoved {
		return x.order
	}
	byPath := func(a, b *dir) int { return strings.Compare(a.path, b.path) }
	slices.SortStableFunc(x.added, byPath)
	out := make([]*dir, 0, len(x.dirs))
	add := func(d *dir) {
		if x.dirs[d.path] == d && (len(out) == 0 || out[len(out)-1] != d) {
			out = append(out, d)
		}
	}
	i := 0
	for _, d := range x.added {
		for i < len(x.order) && byPath(x.order[i], d) <= 0 {
			add(x.order[i])
			i++
		}
		add(d)
	}
	for _, d := range x.order[i:] {
		add(d)
	}
	x.order, x.added, x.anyRemoved = out, nil, false
	return out
}

func (x *index) add(d *dir) {
	if x.dirs[d.path] != d {
		x.dirs[d.path] = d
		x.added = append(x.added, d)
	}
}

func (x *index) remove(d *dir) {
	x.files -= len(d.files)
	delete(x.dirs, d.path)
	x.anyRemoved = true
}

// touched notes that a folder must be written to disk again.
func (x *index) touched(d *dir) {
	if !d.dirty {
		d.dirty = true
		x.dirty = append(x.dirty, d)
	}
}

// has reports whether a file of this name is in any folder.
func (x *index) has(name string) bool {
	for _, d := range x.dirs {
		if _, ok := d.find(name); ok {
			return true
		}
	}
	return false
}

func (x *index) at(path string) (*file, *dir) {
	in, name := split(path)
	d := x.dirs[in]
	if d == nil {
		return nil, nil
	}
	f, _ := d.find(name)
	return f, d
}

// below lists the folders at and below a path, in order.
func (x *index) below(path string) []*dir {
	if path == "" {
		return slices.Clone(x.sorted())
	}
	var out []*dir
	var walk func(p string)
	walk = func(p string) {
		d := x.dirs[p]
		if d == nil {
			return
		}
		out = append(out, d)
		for _, s := range d.subs {
			walk(join(p, s))
		}
	}
	walk(path)
	return out
}
