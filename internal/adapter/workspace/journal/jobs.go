package journal

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// This file reads the files that a comparison found.

type fileRead struct {
	d           *dir
	name        string
	old         file
	hasOld      bool // was is the old state; otherwise the file is new
	silent      bool // new to the index, but perhaps not a new file
	nowIgnored  bool // ignored from now on
	read        content
	missing     bool // it is gone by now, or not a file
	unreadable  bool // its folder could not be read
	full        bool // there was no space for a copy
	keptBriefly bool // the copy is kept for a few snapshots
	dropped     bool // nothing refers to the copy of was any more
}

// readAll reads the queued files, on several threads: each has its own dirOpener.
func (l *comparison) readAll() error {
	gone := func(d *dir, name string) bool {
		_, ok := d.find(name)
		return !ok || l.j.index.dirs[d.path] != d
	}
	silent := 0
	l.unread = slices.DeleteFunc(l.unread, func(d *dir) bool { return l.j.index.dirs[d.path] != d })
	for _, d := range l.unread {
		for i := range d.files {
			if d.files[i].unreported {
				silent++
			}
		}
	}
	l.work = slices.DeleteFunc(l.work, func(w *fileRead) bool {
		if w.silent {
			silent++
		}
		return !w.nowIgnored && gone(w.d, w.name)
	})
	l.markTracked(silent)
	if err := l.readUnread(); err != nil {
		return err
	}
	l.unread = nil
	var todo []*fileRead
	for _, w := range l.work {
		if e, ok := w.d.find(w.name); w.silent && ok && e.state == inGit {
			w.unreadable = true // there is nothing to settle
			continue
		}
		todo = append(todo, w)
	}
	return l.readJobs(todo)
}

// readUnread reads the files that are not reported, a part at a time.
func (l *comparison) readUnread() error {
	const part = 1024
	var jobs []*fileRead
	read := func() error {
		err := l.readJobs(jobs)
		for _, w := range jobs {
			if err == nil {
				l.updateFile(w)
			}
		}
		jobs = nil
		return err
	}
	for _, d := range l.unread {
		for i := range d.files {
			if f := &d.files[i]; f.unreported {
				if f.unreported = false; f.state == unread {
					jobs = append(jobs, &fileRead{d: d, name: f.name, silent: true})
				}
			}
		}
		if len(jobs) >= part {
			if err := read(); err != nil {
				return err
			}
		}
	}
	return read()
}

// readJobs reads files, in the order of their folders.
func (l *comparison) readJobs(todo []*fileRead) error {
	if len(todo) == 0 {
		return nil
	}
	slices.SortStableFunc(todo, func(a, b *fileRead) int { return strings.Compare(a.d.path, b.d.path) })
	if err := l.readThese(todo); err != nil {
		return err
	}
	// Git may have contents for which there was no space.
	full := slices.DeleteFunc(slices.Clone(todo), func(w *fileRead) bool { return !w.full })
	if len(full) > 0 && !l.released {
		l.released = true
		if l.release() {
			return l.readThese(full)
		}
	}
	return nil
}

func (l *comparison) readThese(todo []*fileRead) error {
	const chunk = 16
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(l.j.opt.Workers, (len(todo)+chunk-1)/chunk) {
		wg.Go(func() {
			p := l.opener()
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
func (l *comparison) readOne(p *dirOpener, w *fileRead) {
	w.full, w.missing, w.unreadable = false, false, false
	f, err := p.open(w.d.path)
	if err != nil {
		w.missing, w.unreadable = absent(err), !absent(err)
		return
	}
	var r *repo
	if w.old.state == inGit {
		r = l.j.repo
	}
	w.read, err = l.j.read(f, w.name, r)
	if err != nil || w.read.stamp.dir() || w.read.stamp.special() {
		w.missing = err == nil || absent(err)
		w.unreadable = !w.missing
		return
	}
	data := w.read.data
	w.read.data = nil
	if w.hasOld && w.same() {
		if w.old.state != lost || data == nil {
			w.read.state = w.old.state
			if w.read.state == inGit && data != nil && w.read.stamp.mode != w.old.mode { // a reported change
				w.keptBriefly = l.j.pack.put(w.read.id, data, false, l.j.snapshots)
			}
			return
		}
	}
	if data == nil {
		return
	}
	if !w.nowIgnored && w.old.state == kept && !w.dropped {
		l.j.pack.touch(w.old.id, l.j.snapshots)
		l.j.pack.drop(w.old.id)
		w.dropped = true
	}
	if !w.nowIgnored && l.j.pack.put(w.read.id, data, true, l.j.snapshots) {
		w.read.state = kept
		return
	}
	w.full = !w.nowIgnored
	if w.hasOld || !w.silent { // it is reported, so it is kept for a while
		w.keptBriefly = l.j.pack.put(w.read.id, data, false, l.j.snapshots)
	}
}

// same reports whether a file has its old content.
func (w *fileRead) same() bool {
	switch w.old.state {
	case inGit:
		return w.read.git == w.old.id && w.read.stamp.size == w.old.size
	case kept, lost:
		return w.read.state != guess && w.read.id == w.old.id
	case guess:
		return w.read.state == guess && w.read.stamp == w.old.stamp
	}
	return false
}
