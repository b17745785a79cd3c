package journal

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// comparison is one snapshot. It finds what changed (sweep, list), reads it
// (readAll), and then updates the index.
type comparison struct {
	j    *Journal
	ctx  context.Context
	root folder
	p    dirOpener
	now  int64
	work []*fileRead
	// unread are folders with files that are read without being reported (file.unreported).
	// They may be all files of a large tree, so they are not in work.
	unread   []*dir
	removed  []removedFile
	released bool // copies of what git has were dropped
	// suppressNew: new names are added and not reported, since it is not known
	// whether earlier rules ignored them.
	suppressNew bool
	newRules    bool      // tracked files may be ignored that were not
	deadline    time.Time // of addAll
	oldForced   *gitindex.Set

	w           *watcher        // nil: everything is compared, and nothing is watched
	changedDirs map[*dir]bool   // folders that the system reported
	unwatchable map[*dir]error  // folders that the system cannot report, before a walk
	seen        map[*dir]bool   // folders that were listed or found changed; true: not all of it could be compared
	verify      bool            // all folders are to be compared
	comparedAll bool            // all folders were compared
	incremental bool            // only compared was
	compared    map[*dir]bool   // the compared folders
	missed      map[string]bool // folders with a change that the system did not report
	links       []uint64        // inodes of new files that have several names
}

// removedFile is a file that no longer exists.
type removedFile struct {
	path string
	was  file
}

func (l *comparison) run(touched []string) (tool.Snapshot, error) {
	j := l.j
	j.snapshots++
	fresh := !j.begun && l.loadIndex()
	j.noSpace = 0
	if fresh {
		l.addAll()
	} else if err := l.findChanges(touched); err != nil {
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
	l.markMissed(effects)
	return tool.Snapshot{Effects: effects, Bounds: j.bounds(), Notice: j.notice(), Files: j.index.files, Partial: l.incremental}, nil
}

func (j *Journal) bounds() string {
	var out []string
	switch {
	case j.partial:
		out = append(out, "the workspace is too large to watch: changes by commands are recorded, and can be undone, only in folders that they name or that pawl wrote to")
	case j.full:
		out = append(out, fmt.Sprintf("the workspace has more than %d files: what commands change in newer folders is not recorded", j.opt.MaxFiles))
	}
	if j.noSpace > 0 {
		out = append(out, fmt.Sprintf("%d of its files could not be copied (%s): what commands do to them cannot be undone", j.noSpace, j.pack.reason()))
	}
	return strings.Join(out, "; ")
}

func (l *comparison) addAll() {
	j := l.j
	l.deadline = j.opt.Now().Add(j.opt.FirstSnapshot)
	l.addDir("", j.outer, false, false, true)
	if j.full {
		j.index, j.full, j.partial, l.work, l.unread = newIndex(), false, true, nil, nil
		return
	}
	l.deadline = time.Time{}
	if l.force(true) {
		l.relist(j.index.dirs[""], j.outer, true)
	}
}

func (l *comparison) findChanges(touched []string) error {
	j := l.j
	all := l.sources()
	founds, err := l.compare(touched)
	if err != nil {
		return err
	}
	l.queue(founds)
	root := j.index.dirs[""]
	if all && root != nil {
		l.relist(root, j.outer, true)
	}
	all = l.relistFound(founds) || all
	more := l.otherNames(founds)
	l.queue(more)
	all = l.relistFound(more) || all
	// Tracked files are watched under the new rules too.
	if (all || l.newRules) && root != nil && l.force(true) {
		l.relist(root, j.outer, true)
	}
	return nil
}

// queue queues the files that were found changed.
func (l *comparison) queue(founds []dirDiff) {
	slices.SortFunc(founds, func(a, b dirDiff) int { return strings.Compare(a.d.path, b.d.path) })
	for _, f := range founds {
		if l.visited(f.d, f.unsure); f.gone {
			continue
		}
		for _, i := range f.changed {
			l.work = append(l.work, &fileRead{d: f.d, name: f.d.files[i].name, old: f.d.files[i], hasOld: true, silent: f.d.files[i].state == unread})
		}
	}
}

// relistFound updates the folders in which names came or went. It reports
// whether rules changed.
func (l *comparison) relistFound(founds []dirDiff) (rules bool) {
	for _, f := range founds {
		switch {
		case l.j.index.dirs[f.d.path] != f.d: // a folder above it was removed
		case f.gone:
			l.removeDir(f.d.path, false)
		case f.rules:
			l.relist(f.d, l.above(f.d.path), true)
			rules = true
		case f.relist:
			l.relist(f.d, l.above(f.d.path), false)
		}
	}
	return rules
}

// above returns the rules in force around a folder.
func (l *comparison) above(dir string) workspace.Ignore {
	if dir == "" {
		return l.j.outer
	}
	up, _ := split(dir)
	if d := l.j.index.dirs[up]; d != nil {
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
		if up, _ := split(p); p != "" && l.j.index.dirs[up] == nil {
			l.addDir(up, l.j.outer, false, true, true)
		}
		if d := l.j.index.dirs[p]; d == nil || d.shallow {
			if p != "" {
				l.addDir(p, l.j.outer, false, false, true)
			} else if d == nil {
				l.addDir(p, l.j.outer, false, true, true)
			}
		}
	}
}

// addDir adds a folder with everything below it; silent if its content may be
// old. It reports whether the folder is watched.
func (l *comparison) addDir(dirPath string, above workspace.Ignore, ignored, shallow, silent bool) bool {
	j := l.j
	if j.index.files >= j.opt.MaxFiles || !l.deadline.IsZero() && len(j.index.dirs)%64 == 0 && j.opt.Now().After(l.deadline) || l.ctx.Err() != nil {
		j.full = true
		return false
	}
	d := j.index.dirs[dirPath]
	if d == nil {
		d = &dir{path: dirPath}
	}
	d.shallow = shallow
	if !l.list(d, above, ignored, silent, false) {
		if l.w != nil && j.index.dirs[dirPath] != d {
			l.w.forget(d)
		}
		return false
	}
	j.index.add(d)
	return true
}

// relist reads a folder's names again. deep: the rules changed, and everything
// below is judged again.
func (l *comparison) relist(d *dir, above workspace.Ignore, deep bool) {
	l.relistAs(d, above, d.ignored, deep)
}

func (l *comparison) relistAs(d *dir, above workspace.Ignore, ignored, deep bool) {
	if !l.list(d, above, ignored, l.suppressNew && deep, deep) {
		d.unstable = true // not readable now; try again
	}
}

// list updates a folder's entries from the system, and queues new ones.
func (l *comparison) list(d *dir, above workspace.Ignore, ignored, silent, deep bool) bool {
	j := l.j
	f, err := l.p.open(d.path)
	if err != nil {
		return false
	}
	n, st, err := f.node()
	if err != nil {
		return false
	}
	if l.w != nil {
		l.w.ensureWatched(d, f, n)
	}
	l.visited(d, false)
	names, err := f.names()
	if err != nil {
		return false
	}
	slices.Sort(names)
	oldRules, oldIgnored, known := d.rules, d.ignored, j.index.dirs[d.path] == d
	d.ignored = ignored
	l.readRules(d, f, above, names)
	l.newRules = l.newRules || !known && d.ignoreFile != stamp{}
	d.stamp, d.unstable = st, st.unstable(l.now)
	j.index.touched(d)
	oldFiles, oldSubs := d.files, d.subs
	d.files, d.subs = make([]file, 0, len(names)), nil
	type fresh struct {
		name            string
		ignored, silent bool
	}
	var enter []fresh
	var present map[string]bool // existing ignored names
	quiet := false
	for _, name := range names {
		rel := d.join(name)
		if name == ".git" || workspace.Temporary(name) || j.skip[rel] {
			continue
		}
		st, err := f.stat(name)
		if err != nil || st.special() {
			continue
		}
		off := d.ignored || d.rules.Match(rel, st.dir())
		if off && !j.forced.Tracks(rel, st.dir()) {
			if present == nil {
				present = map[string]bool{}
			}
			present[name] = true
			continue
		}
		// It was ignored before, so its existence proves nothing.
		hidden := silent || known && (oldIgnored || oldRules.Match(rel, st.dir())) && !l.oldForced.Tracks(rel, st.dir())
		if st.dir() {
			if d.shallow && j.index.dirs[rel] == nil {
				continue
			}
			d.subs = append(d.subs, name)
			s := j.index.dirs[rel]
			if s == nil {
				enter = append(enter, fresh{name, off, hidden})
				continue
			}
			if l.w != nil && s.stamp.ino != st.ino {
				l.w.noteMoved(s)
			}
			if deep || s.ignored != off {
				defer l.relistAs(s, d.rules, off, true)
			}
			continue
		}
		if i, ok := slices.BinarySearchFunc(oldFiles, name, func(e file, n string) int { return strings.Compare(e.name, n) }); ok {
			d.files = append(d.files, oldFiles[i])
			continue
		}
		d.files = append(d.files, file{name: name, stamp: st})
		if st.links > 1 && l.incremental {
			l.links = append(l.links, st.ino)
		}
		if hidden {
			d.files[len(d.files)-1].unreported, quiet = true, true
			continue
		}
		l.work = append(l.work, &fileRead{d: d, name: name})
	}
	if quiet {
		l.unread = append(l.unread, d)
	}
	if len(d.files)*2 < cap(d.files) {
		d.files = slices.Clip(slices.Clone(d.files))
	}
	j.index.files += len(d.files) - len(oldFiles)
	for _, e := range oldFiles {
		if _, ok := d.find(e.name); !ok {
			l.removeFile(d, e, present[e.name], f)
		}
	}
	for _, s := range oldSubs {
		if _, ok := slices.BinarySearch(d.subs, s); !ok {
			l.removeDir(d.join(s), present[s])
		}
	}
	for _, e := range enter {
		if !l.addDir(d.join(e.name), d.rules, e.ignored, false, e.silent) {
			if i, ok := slices.BinarySearch(d.subs, e.name); ok {
				d.subs = slices.Delete(d.subs, i, i+1)
			}
		}
	}
	return true
}

// readRules adds a folder's own .gitignore to the rules from above.
func (l *comparison) readRules(d *dir, f folder, above workspace.Ignore, names []string) {
	d.rules, d.ignoreFile = above, stamp{}
	if _, ok := slices.BinarySearch(names, ignoreName); !ok {
		return
	}
	st, err := f.stat(ignoreName)
	if err != nil || !st.plain() {
		return
	}
	d.ignoreFile = st
	if o, err := f.open(ignoreName); err == nil {
		if text, err := readLimited(o, workspace.IgnoreMax); err == nil {
			d.rules = above.With(base(d.path), "", string(text))
		}
		o.close()
	}
}

// removeFile removes a file from the index: it is gone, or ignored from now on.
func (l *comparison) removeFile(d *dir, e file, there bool, f folder) {
	if e.state == unread {
		return
	}
	if !there {
		l.removed = append(l.removed, removedFile{d.join(e.name), e})
	} else if st, err := f.stat(e.name); err == nil && st != e.stamp {
		l.work = append(l.work, &fileRead{d: d, name: e.name, old: e, hasOld: true, nowIgnored: true})
	}
	l.forget(e)
}

func (l *comparison) forget(e file) {
	if e.state == kept {
		l.j.pack.touch(e.id, l.j.snapshots)
		l.j.pack.drop(e.id)
	}
}

// removeDir removes a folder with everything below it from the index.
func (l *comparison) removeDir(dirPath string, there bool) {
	x := l.j.index
	for _, d := range x.below(dirPath) {
		for _, e := range d.files {
			if !there && e.state != unread {
				l.removed = append(l.removed, removedFile{d.join(e.name), e})
			}
			l.forget(e)
		}
		x.remove(d)
		if l.w != nil {
			l.w.forget(d)
		}
		if l.j.disk != nil {
			l.j.disk.removed = append(l.j.disk.removed, d.path)
		}
	}
}
