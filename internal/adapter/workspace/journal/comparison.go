package journal

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// comparison is one snapshot. It finds what changed (sweep, list), reads it
// (readAll), and then updates the index.
type comparison struct {
	j    *Journal
	ctx  context.Context
	root folder
	p    pather
	now  int64
	work []*job
	// unread are files that are read without being reported. They may be all
	// files of a large tree, so there is no job for each.
	unread   []ref
	gone     []gone
	released bool // copies of what git has were dropped
	// quiet: new names are added and not reported, since it is not known
	// whether earlier rules ignored them.
	quiet     bool
	until     time.Time // of a first look
	oldForced map[string]bool
}

// ref names a file of the index.
type ref struct {
	d    *dir
	name string
}

// job is a file to be read.
type job struct {
	d       *dir
	name    string
	was     file
	had     bool // was is the old state; otherwise the file is new
	silent  bool // new to the index, but perhaps not a new file
	leaving bool // ignored from now on
	got     content
	missing bool // it is gone by now, or not a file
	unsaid  bool // its folder could not be read
	full    bool // there was no space for a copy
	brief   bool // the copy is kept for a few snapshots
	dropped bool // the copy of was is no longer referenced
}

// gone is a file that no longer exists.
type gone struct {
	path string
	was  file
}

func (l *comparison) run(touched []string) (tool.Snapshot, error) {
	j := l.j
	j.snapshots++
	fresh := false
	if !j.begun {
		var err error
		if fresh, err = l.begin(); err != nil {
			return tool.Snapshot{}, err
		}
	}
	j.noSpace = 0
	if fresh {
		l.first()
	} else if err := l.again(); err != nil {
		return tool.Snapshot{}, err
	}
	if j.partial {
		l.addFolders(touched)
	}
	if err := l.readAll(); err != nil {
		return tool.Snapshot{}, err
	}
	effects, err := l.updateIndex()
	if err != nil {
		return tool.Snapshot{}, err
	}
	return tool.Snapshot{Effects: effects, Bounds: j.bounds(), Files: j.x.files}, nil
}

func (j *Journal) bounds() string {
	var out []string
	switch {
	case j.partial:
		out = append(out, "the workspace is too large to be watched whole: of what commands change, only what is in folders that they name or that pawl wrote in is recorded and can be undone")
	case j.full:
		out = append(out, fmt.Sprintf("the workspace has more than %d files: what commands change in folders that came since is not recorded", j.opt.MaxFiles))
	}
	if j.noSpace > 0 {
		out = append(out, fmt.Sprintf("%d of its files could not be copied (%s): what commands do to them can not be undone", j.noSpace, j.pack.why()))
	}
	return strings.Join(out, "; ")
}

// first adds the whole workspace.
func (l *comparison) first() {
	j := l.j
	l.until = j.opt.Now().Add(j.opt.FirstSnapshot)
	l.enter("", j.outer, false, false, true)
	if j.full {
		j.x, j.full, j.partial, l.work, l.unread = newIndex(), false, true, nil, nil
		return
	}
	l.until = time.Time{}
	if l.force(true) {
		l.relist(j.x.dirs[""], j.outer, true)
	}
}

// again finds what changed.
func (l *comparison) again() error {
	j := l.j
	all := l.sources()
	founds, err := j.x.sweep(l.ctx, l.root, l.now, j.opt.Workers)
	if err != nil {
		return err
	}
	slices.SortFunc(founds, func(a, b found) int { return strings.Compare(a.d.path, b.d.path) })
	for _, f := range founds {
		if f.gone {
			continue
		}
		for _, i := range f.changed {
			l.work = append(l.work, &job{d: f.d, name: f.d.files[i].name, was: f.d.files[i], had: true, silent: f.d.files[i].state == unread})
		}
	}
	root := j.x.dirs[""]
	if all && root != nil {
		l.relist(root, j.outer, true)
	}
	for _, f := range founds {
		switch {
		case j.x.dirs[f.d.path] != f.d: // a folder above it was removed
		case f.gone:
			l.leave(f.d.path, false)
		case f.rules:
			l.relist(f.d, l.above(f.d.path), true)
			all = true
		case f.relist:
			l.relist(f.d, l.above(f.d.path), false)
		}
	}
	// Tracked files are watched under the new rules too.
	if all && root != nil && l.force(true) {
		l.relist(root, j.outer, true)
	}
	return nil
}

// above returns the rules in force around a folder.
func (l *comparison) above(dir string) workspace.Ignore {
	if dir == "" {
		return l.j.outer
	}
	up, _ := split(dir)
	if d := l.j.x.dirs[up]; d != nil {
		return d.rules
	}
	return l.j.outer
}

// addFolders adds folders in a workspace that is too large: those of the paths, and
// everything below the paths.
func (l *comparison) addFolders(paths []string) {
	l.j.mu.Lock()
	for p := range l.j.wrote {
		paths = append(paths, p)
	}
	l.j.mu.Unlock()
	for _, p := range paths {
		if p = path.Clean(p); p == "." {
			p = ""
		}
		if up, _ := split(p); p != "" && l.j.x.dirs[up] == nil {
			l.enter(up, l.j.outer, false, true, true)
		}
		if d := l.j.x.dirs[p]; d == nil || d.flat {
			if p != "" {
				l.enter(p, l.j.outer, false, false, true)
			} else if d == nil {
				l.enter(p, l.j.outer, false, true, true)
			}
		}
	}
}

// enter adds a folder with everything below it; silent if its content may be
// old. It reports whether the folder is watched.
func (l *comparison) enter(dirPath string, above workspace.Ignore, closed, flat, silent bool) bool {
	j := l.j
	if j.x.files >= j.opt.MaxFiles || !l.until.IsZero() && len(j.x.dirs)%64 == 0 && j.opt.Now().After(l.until) || l.ctx.Err() != nil {
		j.full = true
		return false
	}
	d := j.x.dirs[dirPath]
	if d == nil {
		d = &dir{path: dirPath}
	}
	d.flat = flat
	if !l.list(d, above, closed, silent, false) {
		return false
	}
	j.x.add(d)
	return true
}

// relist reads a folder's names again. deep: the rules changed, and everything
// below is judged again.
func (l *comparison) relist(d *dir, above workspace.Ignore, deep bool) {
	l.relistAs(d, above, d.closed, deep)
}

func (l *comparison) relistAs(d *dir, above workspace.Ignore, closed, deep bool) {
	if !l.list(d, above, closed, l.quiet && deep, deep) {
		d.racy = true // not readable now; try again
	}
}

// list updates a folder's entries from the system, and queues new ones.
func (l *comparison) list(d *dir, above workspace.Ignore, closed, silent, deep bool) bool {
	j := l.j
	f, err := l.p.open(d.path)
	if err != nil {
		return false
	}
	st, err := f.self()
	if err != nil {
		return false
	}
	names, err := f.names()
	if err != nil {
		return false
	}
	slices.Sort(names)
	oldRules, oldClosed, known := d.rules, d.closed, j.x.dirs[d.path] == d
	d.closed = closed
	l.readRules(d, f, above, names)
	d.stamp, d.racy = st, st.racy(l.now)
	j.x.touched(d)
	oldFiles, oldSubs := d.files, d.subs
	d.files, d.subs = make([]file, 0, len(names)), nil
	type fresh struct {
		name           string
		closed, silent bool
	}
	var enter []fresh
	var present map[string]bool // existing ignored names
	for _, name := range names {
		rel := d.join(name)
		if name == ".git" || workspace.Temporary(name) || j.skip[rel] {
			continue
		}
		st, err := f.stat(name)
		if err != nil || st.special() {
			continue
		}
		off := d.closed || d.rules.Match(rel, st.dir())
		if off && !j.forced[rel] {
			if present == nil {
				present = map[string]bool{}
			}
			present[name] = true
			continue
		}
		// It was ignored before, so its existence proves nothing.
		hidden := silent || known && (oldClosed || oldRules.Match(rel, st.dir())) && !l.oldForced[rel]
		if st.dir() {
			if d.flat && j.x.dirs[rel] == nil {
				continue
			}
			d.subs = append(d.subs, name)
			if s := j.x.dirs[rel]; s == nil {
				enter = append(enter, fresh{name, off, hidden})
			} else if deep || s.closed != off {
				defer l.relistAs(s, d.rules, off, true)
			}
			continue
		}
		if i, ok := slices.BinarySearchFunc(oldFiles, name, func(e file, n string) int { return strings.Compare(e.name, n) }); ok {
			d.files = append(d.files, oldFiles[i])
			continue
		}
		d.files = append(d.files, file{name: name, stamp: st})
		if hidden {
			l.unread = append(l.unread, ref{d, name})
			continue
		}
		l.work = append(l.work, &job{d: d, name: name})
	}
	if len(d.files)*2 < cap(d.files) {
		d.files = slices.Clip(slices.Clone(d.files))
	}
	j.x.files += len(d.files) - len(oldFiles)
	for _, e := range oldFiles {
		if _, ok := d.find(e.name); !ok {
			l.drop(d, e, present[e.name], f)
		}
	}
	for _, s := range oldSubs {
		if _, ok := slices.BinarySearch(d.subs, s); !ok {
			l.leave(d.join(s), present[s])
		}
	}
	for _, e := range enter {
		if !l.enter(d.join(e.name), d.rules, e.closed, false, e.silent) {
			if i, ok := slices.BinarySearch(d.subs, e.name); ok {
				d.subs = slices.Delete(d.subs, i, i+1)
			}
		}
	}
	return true
}

// readRules adds a folder's own .gitignore to the rules from above.
func (l *comparison) readRules(d *dir, f folder, above workspace.Ignore, names []string) {
	d.rules, d.ignore = above, stamp{}
	if _, ok := slices.BinarySearch(names, ignoreName); !ok {
		return
	}
	st, err := f.stat(ignoreName)
	if err != nil || st.mode&^0o777 != 0 {
		return
	}
	d.ignore = st
	if o, err := f.open(ignoreName); err == nil {
		if text, err := readSome(o, workspace.IgnoreMax); err == nil {
			d.rules = above.With(base(d.path), "", string(text))
		}
		o.close()
	}
}

// drop removes a file from the index: it is gone, or ignored from now on.
func (l *comparison) drop(d *dir, e file, there bool, f folder) {
	if e.state == unread {
		return
	}
	if !there {
		l.gone = append(l.gone, gone{d.join(e.name), e})
	} else if st, err := f.stat(e.name); err == nil && st != e.stamp {
		l.work = append(l.work, &job{d: d, name: e.name, was: e, had: true, leaving: true})
	}
	l.forget(e)
}

func (l *comparison) forget(e file) {
	if e.state == kept {
		l.j.pack.touch(e.id, l.j.snapshots)
		l.j.pack.drop(e.id)
	}
}

// leave removes a folder with everything below it from the index.
func (l *comparison) leave(dirPath string, there bool) {
	x := l.j.x
	for _, d := range x.below(dirPath) {
		for _, e := range d.files {
			if !there && e.state != unread {
				l.gone = append(l.gone, gone{d.join(e.name), e})
			}
			l.forget(e)
		}
		x.remove(d)
		if l.j.disk != nil {
			l.j.disk.removed = append(l.j.disk.removed, d.path)
		}
	}
}

// readAll reads the queued files, on several threads: each has its own pather.
func (l *comparison) readAll() error {
	gone := func(d *dir, name string) bool {
		_, ok := d.find(name)
		return !ok || l.j.x.dirs[d.path] != d
	}
	silent := len(l.unread)
	l.work = slices.DeleteFunc(l.work, func(w *job) bool {
		if w.silent {
			silent++
		}
		return !w.leaving && gone(w.d, w.name)
	})
	l.unread = slices.DeleteFunc(l.unread, func(r ref) bool { return gone(r.d, r.name) })
	l.markTracked(silent)
	if err := l.readUnread(); err != nil {
		return err
	}
	var todo []*job
	for _, w := range l.work {
		if e, ok := w.d.find(w.name); w.silent && ok && e.state == inGit {
			w.unsaid = true // there is nothing to settle
			continue
		}
		todo = append(todo, w)
	}
	return l.readJobs(todo)
}

// readUnread reads the files that are not reported, a part at a time.
func (l *comparison) readUnread() error {
	const part = 1024
	for rest := l.unread; len(rest) > 0; {
		n := min(part, len(rest))
		var jobs []*job
		for _, r := range rest[:n] {
			if e, ok := r.d.find(r.name); ok && e.state == unread {
				jobs = append(jobs, &job{d: r.d, name: r.name, silent: true})
			}
		}
		rest = rest[n:]
		if err := l.readJobs(jobs); err != nil {
			return err
		}
		for _, w := range jobs {
			l.updateFile(w)
		}
	}
	return nil
}

// readJobs reads files, in the order of their folders.
func (l *comparison) readJobs(todo []*job) error {
	if len(todo) == 0 {
		return nil
	}
	slices.SortStableFunc(todo, func(a, b *job) int { return strings.Compare(a.d.path, b.d.path) })
	if err := l.readThese(todo); err != nil {
		return err
	}
	// Git may have contents for which there was no space.
	full := slices.DeleteFunc(slices.Clone(todo), func(w *job) bool { return !w.full })
	if len(full) > 0 && !l.released {
		l.released = true
		if l.release() {
			return l.readThese(full)
		}
	}
	return nil
}

func (l *comparison) readThese(todo []*job) error {
	const chunk = 16
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(l.j.opt.Workers, (len(todo)+chunk-1)/chunk) {
		wg.Go(func() {
			p := pather{root: l.root}
			defer p.close()
			for l.ctx.Err() == nil {
				lo := int(next.Add(chunk)) - chunk
				if lo >= len(todo) {
					return
				}
				for _, w := range todo[lo:min(lo+chunk, len(todo))] {
					l.readOne(&p, w)
				}
			}
		})
	}
	wg.Wait()
	if l.ctx.Err() != nil {
		return context.Cause(l.ctx)
	}
	return nil
}

// readOne reads one file and keeps a copy of a new content.
func (l *comparison) readOne(p *pather, w *job) {
	w.full, w.missing, w.unsaid = false, false, false
	f, err := p.open(w.d.path)
	if err != nil {
		w.missing, w.unsaid = absent(err), !absent(err)
		return
	}
	var r *repo
	if w.was.state == inGit {
		r = l.j.repo
	}
	w.got, err = l.j.read(f, w.name, r)
	if err != nil || w.got.stamp.dir() || w.got.stamp.special() {
		w.missing = err == nil || absent(err)
		w.unsaid = !w.missing
		return
	}
	data := w.got.data
	w.got.data = nil
	if w.had && w.same() {
		if w.was.state != lost || data == nil {
			w.got.state = w.was.state
			return
		}
	}
	if data == nil {
		return
	}
	if !w.leaving && w.was.state == kept && !w.dropped {
		l.j.pack.touch(w.was.id, l.j.snapshots)
		l.j.pack.drop(w.was.id)
		w.dropped = true
	}
	if !w.leaving && l.j.pack.put(w.got.id, data, true, l.j.snapshots) {
		w.got.state = kept
		return
	}
	w.full = !w.leaving
	if w.had || !w.silent { // it is reported, so it is kept for a while
		w.brief = l.j.pack.put(w.got.id, data, false, l.j.snapshots)
	}
}

// same reports whether a file has its old content.
func (w *job) same() bool {
	switch w.was.state {
	case inGit:
		return w.got.git == w.was.id && w.got.stamp.size == w.was.size
	case kept, lost:
		return w.got.state != guess && w.got.id == w.was.id
	case guess:
		return w.got.state == guess && w.got.stamp == w.was.stamp
	}
	return false
}
