package journal

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// This file watches folders instead of walking the tree (SPEC 19.1, ADR 025). The system
// reports in which folders something happened, and only those are compared, in the same
// way as in a walk. So a needless event is harmless. Changes without an event are found as
// follows.
//
//   - A watch is set with the folder open and before anything in it is looked at or
//     opened: earlier changes are seen, later ones are reported.
//   - If a folder was moved, is not the one that the index knows, or has lost its
//     watch, everything below it is compared and watched anew. A snapshot that meets
//     such a folder while it runs leaves that to the next one.
//   - A folder without a watch, a file that was changed a moment ago, and a file
//     with several names are compared in each snapshot.
//   - If events were lost or the mounts changed, the next snapshot is a walk.
//   - Verify compares everything. If it finds a change without an event, pawl no
//     longer relies on events.

// notifier reports where something happens. Its methods are called by one
// goroutine at a time, except wait and interrupt.
type notifier interface {
	// watch watches an open folder, and returns the number of the watch: the same
	// one for the same folder. The error is errNoWatch or errForeign.
	watch(f folder, n dirID) (int32, error)
	unwatch(wd int32)
	// drain calls take for each event since the last call. An error means that
	// events may be missing.
	drain(take func(dirEvent)) error
	// wait returns true once there is something to drain, and false after
	// interrupt.
	wait() bool
	interrupt()
	resume() // after interrupt
	close() error
}

// dirEvent is an event of the system: something happened in a folder.
type dirEvent struct {
	wd    int32
	moved bool // the folder itself was moved or removed
	ended bool // and so was the watch
}

var (
	errNoWatch = errors.New("the system watches no more folders")
	errForeign = errors.New("the file system does not report all changes")
	errLost    = errors.New("events were lost")
)

// dirID identifies a folder.
type dirID struct{ dev, ino uint64 }

// watcher knows which folders have to be compared.
type watcher struct {
	n          notifier
	maxWatches int

	mu          sync.Mutex // guards the following fields
	dirs        map[int32]*dir
	changedDirs map[*dir]bool // folders with events; true: the folder was moved
	unwatchable map[*dir]error
	lost        bool // all folders have to be compared
	foreign     bool // a reading found that not all changes are told

	// The rest belongs to the holder of the journal's turn.
	recheck    map[*dir]bool // folders to be compared in the next snapshot in any case
	hardLinked map[*dir]bool // folders with files that have several names
	stop       chan struct{} // nil: listen does not run
	done       chan struct{}
}

// followFrom is the number of files from which changes are followed: a smaller
// tree is walked in less than a millisecond.
const followFrom = 1000

const (
	eachText    = "every file of the workspace is scanned before and after each command, which takes longer"
	foreignText = "the file system of the workspace does not report all changes: " + eachText
)

// pause is the least time between two readings of events while a command runs.
// The system keeps some ten thousand of them.
const pause = 10 * time.Millisecond

// startWatching returns the watcher, nil if each snapshot compares everything. For a tree
// that is large enough it starts one: then this snapshot is a walk and sets the watches.
func (l *comparison) startWatching() *watcher {
	j := l.j
	if j.watcher != nil {
		return j.watcher
	}
	if j.partial || j.opt.FollowFrom < 0 || j.unwatchedWhy != "" || j.index.files < j.opt.FollowFrom {
		return nil
	}
	n, most, err := j.notify(j.root)
	switch {
	case errors.Is(err, errForeign):
		j.stopFollowing(foreignText)
		return nil
	case errors.Is(err, errNoWatch):
		j.stopFollowing("the system watches no more folders for this user: " + eachText)
		return nil
	case err != nil:
		j.opt.FollowFrom = -1 // this system has nothing of the kind
		return nil
	}
	w := &watcher{
		n: n, maxWatches: most, lost: true, dirs: map[int32]*dir{}, changedDirs: map[*dir]bool{}, unwatchable: map[*dir]error{},
		recheck: map[*dir]bool{}, hardLinked: map[*dir]bool{},
	}
	for _, d := range j.index.dirs {
		d.watch, d.node = 0, dirID{}
		w.noteRecheck(d, false)
	}
	j.watcher = w
	return w
}

// stopFollowing stops watching for good. The person is shown why.
func (j *Journal) stopFollowing(why string) {
	if why != "" {
		j.unwatchedWhy = why
	}
	if w := j.watcher; w != nil {
		j.watcher = nil
		w.stopListening()
		_ = w.n.close() // nothing was written
	}
}

// notice explains to the person why snapshots take longer than they need to, "" if they do
// not.
func (j *Journal) notice() string {
	w := j.watcher
	if w == nil {
		return j.unwatchedWhy
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	none, foreign := 0, 0
	for _, err := range w.unwatchable {
		switch {
		case errors.Is(err, errNoWatch):
			none++
		case errors.Is(err, errForeign):
			foreign++
		}
	}
	switch {
	case none > 0:
		return fmt.Sprintf("the system watches no more folders for this user (fs.inotify.max_user_watches): %d of the workspace's folders are scanned before and after each command, which takes longer", none)
	case foreign > 0:
		return fmt.Sprintf("%d of the workspace's folders are on a file system that does not report all changes: they are scanned before and after each command, which takes longer", foreign)
	}
	return ""
}

// ensureWatched watches a folder, before anything in it is compared or opened.
func (w *watcher) ensureWatched(d *dir, f folder, n dirID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.watches(d) && d.node == n {
		return
	}
	w.unwatch(d)
	if len(w.dirs) >= w.maxWatches {
		w.unwatchable[d] = errNoWatch
		return
	}
	wd, err := w.n.watch(f, n)
	if err != nil {
		w.unwatchable[d] = err
		return
	}
	if other := w.dirs[wd]; other != nil {
		// The folder is known by another path: it was moved, which the comparison of
		// the other path will show, or it is mounted twice.
		w.unwatchable[d] = nil
		return
	}
	w.dirs[wd], d.watch, d.node = d, wd, n
	if _, ok := w.unwatchable[d]; ok {
		w.unwatchable[d] = nil // until it is compared
	}
}

// watches reports whether a folder has a watch. The caller holds mu.
func (w *watcher) watches(d *dir) bool { return d.watch != 0 && w.dirs[d.watch] == d }

// unwatch removes the watch of a folder, if it is still this folder's. What the watch has
// told and nobody has read yet is lost with it, and it may be that the folder was moved.
func (w *watcher) unwatch(d *dir) {
	if w.watches(d) {
		delete(w.dirs, d.watch)
		w.n.unwatch(d.watch)
		w.changedDirs[d] = true
	}
	d.watch = 0
}

// noteMoved records that another folder than the index knows is at a path.
func (w *watcher) noteMoved(d *dir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.changedDirs[d] = true
}

// noteCompared records whether a folder could be opened for a comparison.
func (w *watcher) noteCompared(d *dir, opened bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !opened {
		w.unwatch(d)
		w.unwatchable[d] = nil
	} else if w.watches(d) {
		delete(w.unwatchable, d)
	}
}

// unwatchableDirs returns the folders that are compared in each snapshot.
func (w *watcher) unwatchableDirs() map[*dir]error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.unwatchable)
}

// forget removes a folder that is not in the index any more.
func (w *watcher) forget(d *dir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unwatch(d)
	delete(w.unwatchable, d)
	delete(w.changedDirs, d)
	delete(w.recheck, d)
	delete(w.hardLinked, d)
}

// drain reads the events that the system has reported. foreign: this or an earlier reading
// found that it does not report all.
func (w *watcher) drain() (foreign bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	err := w.n.drain(func(t dirEvent) {
		d := w.dirs[t.wd]
		if d == nil {
			return
		}
		if t.ended {
			delete(w.dirs, t.wd)
			d.watch = 0
			w.unwatchable[d] = nil // until it is compared
		}
		w.changedDirs[d] = w.changedDirs[d] || t.moved || t.ended
	})
	w.lost, w.foreign = w.lost || err != nil, w.foreign || errors.Is(err, errForeign)
	return w.foreign
}

// takeChanged returns the folders with events, and forgets them. all: all folders have to
// be compared.
func (w *watcher) takeChanged() (changed map[*dir]bool, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	changed, all = w.changedDirs, w.lost
	w.changedDirs, w.lost = map[*dir]bool{}, false
	return changed, all
}

// restoreChanged undoes takeChanged after a comparison that was cut short.
func (w *watcher) restoreChanged(changed map[*dir]bool, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for d, moved := range changed {
		w.changedDirs[d] = w.changedDirs[d] || moved
	}
	w.lost = w.lost || all
}

// noteRecheck updates whether a folder is compared in the next snapshot in any case: if
// unsure is set, or a file of it may have changed unnoticed.
func (w *watcher) noteRecheck(d *dir, unsure bool) {
	unstable, linked := d.unstable || unsure, false
	for i := range d.files {
		f := &d.files[i]
		unstable = unstable || f.unstable || f.state == unread
		linked = linked || f.stamp.links > 1
	}
	set := func(m map[*dir]bool, in bool) {
		if in {
			m[d] = true
		} else {
			delete(m, d)
		}
	}
	set(w.recheck, unstable)
	set(w.hardLinked, linked)
}

// listen starts to read events in the background, so that a command that changes very many
// files does not fill the system's queue.
func (w *watcher) listen() {
	if w.stop != nil {
		return
	}
	w.stop, w.done = make(chan struct{}), make(chan struct{})
	w.n.resume()
	go func(stop, done chan struct{}) {
		defer close(done)
		tick := time.NewTimer(0)
		defer tick.Stop()
		for w.n.wait() {
			w.drain()
			tick.Reset(pause)
			select {
			case <-stop:
				return
			case <-tick.C:
			}
		}
	}(w.stop, w.done)
}

// stopListening ends listen.
func (w *watcher) stopListening() {
	if w.stop == nil {
		return
	}
	close(w.stop)
	w.n.interrupt()
	<-w.done
	w.stop, w.done = nil, nil
}
