package journal

import (
	"context"
	"errors"
	"io/fs"
	"strings"
	"sync"
	"sync/atomic"
)

// dirDiff is what a sweep found changed in one folder.
type dirDiff struct {
	d       *dir
	gone    bool
	relist  bool // names were added or removed, or may have been
	rules   bool // its .gitignore changed
	other   bool // it is another folder than the index knows by this path
	unsure  bool // some of it could not be compared
	changed []int
	linked  []uint64 // inodes of files that have got more names
}

func (f *dirDiff) news() bool {
	return f.gone || f.relist || f.rules || f.other || f.unsure || len(f.changed) > 0
}

// dirToCompare is a folder to be compared.
type dirToCompare struct {
	d      *dir
	linked bool // only the files that have several names
}

// sweep compares the stamps of folders and their files with the system's, and
// returns the differences. It changes nothing but the watches: one system call for
// each file and three for each folder, one more if it is watched, on several threads.
func (l *comparison) sweep(order []dirToCompare) ([]dirDiff, error) {
	const chunk = 32 // folders
	workers := l.j.opt.Workers
	parts := make([][]dirDiff, workers)
	var next atomic.Int64
	var wg sync.WaitGroup
	for i := range min(workers, (len(order)+chunk-1)/chunk) {
		wg.Go(func() {
			p := l.opener()
			defer p.close()
			for l.ctx.Err() == nil {
				lo := int(next.Add(chunk)) - chunk
				if lo >= len(order) {
					return
				}
				for _, a := range order[lo:min(lo+chunk, len(order))] {
					var f dirDiff
					if a.linked {
						f = p.compareLinked(a.d)
					} else {
						f = p.compare(a.d, l.now)
					}
					if f.news() {
						parts[i] = append(parts[i], f)
					}
				}
			}
		})
	}
	wg.Wait()
	if l.ctx.Err() != nil {
		return nil, context.Cause(l.ctx)
	}
	var out []dirDiff
	for _, p := range parts {
		out = append(out, p...)
	}
	return out, nil
}

// dirOpener opens folders by their paths and keeps the folders above the last one
// open, since the next one is usually near. It watches each folder that it opens
// before it opens what is in it: so the system tells if the path leads, or led for a
// moment, to another folder, and everything below is compared again.
type dirOpener struct {
	root  folder
	dirs  map[string]*dir // of the index
	w     *watcher        // nil: nothing is watched
	stack []openedDir
}

func (l *comparison) opener() dirOpener {
	p := dirOpener{root: l.root, dirs: l.j.index.dirs, w: l.w}
	p.watch("", l.root)
	return p
}

func (p *dirOpener) watch(path string, f folder) {
	if p.w == nil {
		return
	}
	if d := p.dirs[path]; d != nil {
		if n, _, err := f.node(); err == nil {
			p.w.ensureWatched(d, f, n)
		}
	}
}

type openedDir struct {
	path string
	f    folder
}

func (p *dirOpener) close() {
	for _, l := range p.stack {
		l.f.close()
	}
	p.stack = nil
}

// open opens a folder. The dirOpener owns it.
func (p *dirOpener) open(path string) (folder, error) {
	if path == "" {
		return p.root, nil
	}
	for n := len(p.stack); n > 0; n-- {
		if t := p.stack[n-1]; t.path == path {
			return t.f, nil
		} else if strings.HasPrefix(path, t.path) && path[len(t.path)] == '/' {
			break
		}
		p.stack[n-1].f.close()
		p.stack = p.stack[:n-1]
	}
	cur, at := p.root, ""
	if n := len(p.stack); n > 0 {
		cur, at = p.stack[n-1].f, p.stack[n-1].path
	}
	rest := strings.TrimPrefix(path[len(at):], "/")
	for rest != "" {
		name, tail, _ := strings.Cut(rest, "/")
		f, err := cur.sub(name)
		if err != nil {
			return folder{}, err
		}
		cur, at, rest = f, join(at, name), tail
		p.stack = append(p.stack, openedDir{at, f})
		p.watch(at, f)
	}
	return cur, nil
}

// absent reports whether an error means that a folder or file no longer exists.
// An unreadable one is not absent: its entry is kept.
func absent(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || notFolder(err)
}

// compare compares one folder with the system. It is watched before its names and
// files are looked at.
func (p *dirOpener) compare(d *dir, now int64) dirDiff {
	out := dirDiff{d: d}
	f, err := p.open(d.path)
	if err != nil {
		out.gone = absent(err)
		out.unsure = !out.gone
	}
	var st stamp
	if err == nil {
		if st, err = f.self(); err != nil {
			out.unsure = true
		}
	}
	if p.w != nil && !out.gone {
		p.w.noteCompared(d, err == nil)
	}
	if err != nil {
		return out
	}
	out.relist = d.unstable || st != d.stamp
	out.other = st.ino != d.stamp.ino
	for i := range d.files {
		out.compareFile(f, i)
	}
	if !out.rules && (out.relist || d.ignoreFile != stamp{}) {
		out.rules = d.otherRules(f, now)
	}
	return out
}

// otherRules reports whether the folder's ignore file came, went or may have
// changed, even if it is itself ignored.
func (d *dir) otherRules(f folder, now int64) bool {
	st, err := f.stat(ignoreName)
	if err != nil || !st.plain() {
		return d.ignoreFile != stamp{}
	}
	_, compared := d.find(ignoreName)
	return st != d.ignoreFile || !compared && st.unstable(now)
}

// compareLinked compares the files that have several names: a change through another
// name is not reported.
func (p *dirOpener) compareLinked(d *dir) dirDiff {
	out := dirDiff{d: d}
	f, err := p.open(d.path)
	if err != nil {
		out.gone = absent(err)
		out.unsure = !out.gone
		return out
	}
	for i := range d.files {
		if d.files[i].stamp.links > 1 {
			out.compareFile(f, i)
		}
	}
	return out
}

// compareFile compares one file of an open folder.
func (out *dirDiff) compareFile(f folder, i int) {
	e := &out.d.files[i]
	st, err := f.stat(e.name)
	switch {
	case err != nil:
		if absent(err) {
			out.relist = true
		} else {
			out.unsure = true
		}
	case e.unstable || e.state == unread || st != e.stamp:
		out.changed = append(out.changed, i)
		out.rules = out.rules || e.name == ignoreName
		if st.links > 1 && e.stamp.links < 2 {
			out.linked = append(out.linked, st.ino)
		}
	}
}

const ignoreName = ".gitignore"
