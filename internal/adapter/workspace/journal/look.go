package journal

import (
	"path"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// This file decides which folders a snapshot compares: all of them, or those with reported
// changes.

// compare compares what has to be compared.
func (l *comparison) compare(touched []string) ([]dirDiff, error) {
	w := l.startWatching()
	l.w = w
	if w == nil {
		return l.sweep(all(l.j.index.sorted()))
	}
	if w.drain() {
		l.j.stopFollowing(foreignText)
		return l.compare(touched)
	}
	l.p.close() // what it has open is not watched
	l.p = l.opener()
	var lost bool
	l.changedDirs, lost = w.takeChanged()
	if l.comparedAll = lost || l.verify; l.comparedAll {
		l.unwatchable = w.unwatchableDirs()
		founds, err := l.sweep(all(l.j.index.sorted()))
		if err == nil && l.verify && !lost {
			l.untold(founds)
		}
		return founds, err
	}
	l.incremental = true
	return l.compareSome(touched)
}

func all(ds []*dir) []dirToCompare {
	out := make([]dirToCompare, len(ds))
	for i, d := range ds {
		out[i] = dirToCompare{d: d}
	}
	return out
}

// compareSome compares the folders with reported changes, and those that the system
// cannot report.
func (l *comparison) compareSome(touched []string) ([]dirDiff, error) {
	x, w := l.j.index, l.w
	set := map[*dir]bool{}
	l.compared = set
	var aims []dirToCompare
	add := func(d *dir) {
		if d != nil && x.dirs[d.path] == d && !set[d] {
			set[d] = true
			aims = append(aims, dirToCompare{d: d})
		}
	}
	below := func(d *dir) {
		if x.dirs[d.path] == d {
			for _, s := range x.below(d.path) {
				add(s)
			}
		}
	}
	add(x.dirs[""]) // the path of the workspace may lead elsewhere
	for d, moved := range l.changedDirs {
		add(d)
		if moved {
			below(d)
		}
	}
	for d := range w.recheck {
		add(d)
	}
	unwatchable := w.unwatchableDirs()
	for d := range unwatchable {
		add(d)
	}
	// What pawl wrote and what a command's words name is looked at in any case: a
	// link that is made now and written through elsewhere tells of nothing.
	for _, p := range l.named(touched) {
		in, _ := split(p)
		add(x.dirs[in])
		add(x.dirs[p])
	}
	for d := range w.hardLinked {
		if !set[d] {
			aims = append(aims, dirToCompare{d, true})
		}
	}
	var out []dirDiff
	for len(aims) > 0 {
		slices.SortFunc(aims, func(a, b dirToCompare) int { return strings.Compare(a.d.path, b.d.path) })
		founds, err := l.sweep(aims)
		if err != nil {
			return nil, err
		}
		aims = nil
		for _, f := range founds {
			_, untold := unwatchable[f.d]
			if f.other || untold && f.relist {
				// Of what is below it the index knows only the names; and a folder whose
				// moves nobody tells of has changed if another one stood in for it.
				below(f.d)
			}
		}
		out = append(out, founds...)
	}
	return out, nil
}

// otherNames compares the other names of files with several names: a change is
// reported only under the name through which it was made.
func (l *comparison) otherNames(founds []dirDiff) []dirDiff {
	inodes := l.links
	for _, f := range founds {
		inodes = append(inodes, f.linked...)
	}
	if !l.incremental || len(inodes) == 0 {
		return nil
	}
	slices.Sort(inodes)
	var out []dirDiff
	for _, d := range l.j.index.dirs {
		if l.compared[d] {
			continue
		}
		more := dirDiff{d: d}
		for i := range d.files {
			e := &d.files[i]
			if _, ok := slices.BinarySearch(inodes, e.stamp.ino); !ok || e.stamp.links > 1 || e.state == unread {
				continue
			}
			if f, err := l.p.open(d.path); err == nil {
				more.compareFile(f, i)
			} else {
				more.unsure = true
			}
		}
		if more.news() {
			out = append(out, more)
		}
	}
	return out
}

// named returns the paths that pawl wrote or a command names.
func (l *comparison) named(touched []string) []string {
	var out []string
	l.j.mu.Lock()
	for p := range l.j.wrote {
		out = append(out, p)
	}
	l.j.mu.Unlock()
	for _, p := range touched {
		if p = path.Clean(p); p == "." {
			p = ""
		}
		out = append(out, p)
	}
	return out
}

// untold records the folders of a verifying walk that have a change which the system
// did not report.
func (l *comparison) untold(founds []dirDiff) {
	l.w.drain() // of what happened since the walk began
	l.w.mu.Lock()
	defer l.w.mu.Unlock()
	if l.w.lost {
		return
	}
	slices.SortFunc(founds, func(a, b dirDiff) int { return strings.Compare(a.d.path, b.d.path) })
	others := map[string]bool{} // gone, or another folder than before, and that would have been seen: all below as well
	for _, f := range founds {
		if f.unsure || l.wasTold(&f, others) {
			others[f.d.path] = f.other || f.gone
			continue
		}
		if l.missed == nil {
			l.missed = map[string]bool{}
		}
		l.missed[f.d.path] = true
	}
}

// wasTold reports whether a snapshot by events would have compared what a walk found. The
// caller holds the watcher's mu.
func (l *comparison) wasTold(f *dirDiff, others map[string]bool) bool {
	_, now := l.changedDirs[f.d]
	_, late := l.w.changedDirs[f.d]
	_, blind := l.unwatchable[f.d] // by now it may be watched
	if now || late || blind || l.w.recheck[f.d] {
		return true
	}
	for p := f.d.path; p != ""; {
		p, _ = split(p)
		if d := l.j.index.dirs[p]; others[p] || d != nil && (l.changedDirs[d] || l.w.changedDirs[d]) {
			return true // a folder above it was moved
		}
	}
	if !l.w.hardLinked[f.d] || f.gone || f.relist || f.rules {
		return false
	}
	return !slices.ContainsFunc(f.changed, func(i int) bool { return f.d.files[i].stamp.links < 2 })
}

// finish keeps what the next snapshot needs. err: this one was cut short.
func (l *comparison) finish(err error) {
	w := l.w
	if w == nil || l.j.watcher != w {
		return
	}
	if err != nil {
		w.restoreChanged(l.changedDirs, l.comparedAll)
	}
	for d, unsure := range l.seen {
		if l.j.index.dirs[d.path] == d {
			w.noteRecheck(d, unsure || err != nil)
		}
	}
}

// visited notes that a folder was listed or found changed.
func (l *comparison) visited(d *dir, unsure bool) {
	if l.w == nil {
		return
	}
	if l.seen == nil {
		l.seen = map[*dir]bool{}
	}
	l.seen[d] = l.seen[d] || unsure
}

// markMissed marks the effects that the system did not report, and stops relying on
// its reports.
func (l *comparison) markMissed(es []tool.Effect) {
	if len(l.missed) == 0 {
		return
	}
	first := ""
	for i := range es {
		for in, _ := split(es[i].Path); ; in, _ = split(in) {
			if l.missed[in] {
				es[i].Unreported, es[i].At = true, l.changed(es[i].Path)
				if first == "" {
					first = es[i].Path
				}
				break
			}
			if in == "" {
				break
			}
		}
	}
	if first != "" {
		if strings.ContainsFunc(first, func(r rune) bool { return !strconv.IsPrint(r) }) || !utf8.ValidString(first) {
			first = strconv.Quote(first)
		}
		l.j.stopFollowing("the system did not report that " + first + " changed: from now on " + eachText)
	}
}

// changed returns the time of a file's last change, by the system's clock. For a removed
// file it is that of its folder.
func (l *comparison) changed(p string) time.Time {
	if f, _ := l.j.index.at(p); f != nil {
		return time.Unix(0, f.stamp.ctime)
	}
	for p != "" {
		p, _ = split(p)
		if d := l.j.index.dirs[p]; d != nil {
			return time.Unix(0, d.stamp.ctime)
		}
	}
	return time.Time{}
}
