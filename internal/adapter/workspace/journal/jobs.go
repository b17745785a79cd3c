package journal

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// This file reads the files that a comparison found.

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
	dropped bool // nothing refers to the copy of was any more
}

// readAll reads the queued files, on several threads: each has its own pather.
func (l *comparison) readAll() error {
	gone := func(d *dir, name string) bool {
		_, ok := d.find(name)
		return !ok || l.j.x.dirs[d.path] != d
	}
	silent := 0
	l.unread = slices.DeleteFunc(l.unread, func(d *dir) bool { return l.j.x.dirs[d.path] != d })
	for _, d := range l.unread {
		for i := range d.files {
			if d.files[i].quiet {
				silent++
			}
		}
	}
	l.work = slices.DeleteFunc(l.work, func(w *job) bool {
		if w.silent {
			silent++
		}
		return !w.leaving && gone(w.d, w.name)
	})
	l.markTracked(silent)
	if err := l.readUnread(); err != nil {
		return err
	}
	l.unread = nil
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
	var jobs []*job
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
			if f := &d.files[i]; f.quiet {
				if f.quiet = false; f.state == unread {
					jobs = append(jobs, &job{d: d, name: f.name, silent: true})
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
