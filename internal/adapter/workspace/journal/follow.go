package journal

import (
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"
)

// This file follows changes instead of walking (SPEC 19.1, ADR 025). The system reports
// in which folders something happened, and only those are compared, in the same way as
// by a walk. So a needless event is harmless. Changes without an event are found as
// follows.
//
//   - A watch is set with the folder open and before its files are looked at:
//     earlier changes are seen, later ones are reported.
//   - If a folder was moved, or is not the one that the index knows, everything
//     below it is compared and watched anew.
//   - A folder without a watch, a file that was changed a moment ago, and a file
//     with several names are looked at each time.
//   - If events were lost or the mounts changed, the next look is a walk.
//   - Verify looks at everything. If it finds a change without an event, pawl no
//     longer relies on events.

// notifier tells where something happens. Its methods are called by one
// goroutine at a time, except wait and interrupt.
type notifier interface {
	// watch watches an open folder, and returns the number of the watch: the same
	// one for the same folder. The error is errNoWatch or errForeign.
	watch(f folder, n node) (int32, error)
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
	errForeign = errors.New("the file system does not tell of all changes")
	errLost    = errors.New("events were lost")
)

// node tells folders apart.
type node struct{ dev, ino uint64 }

// follower knows which folders have to be compared.
type follower struct {
	n    notifier
	most int // watches

	mu     sync.Mutex // guards the following fields
	dirs   map[int32]*dir
	news   map[*dir]bool // something happened in it; true: it was moved
	blind  map[*dir]error
	lost   bool  // everything has to be compared
	failed error // of the last drain

	// The rest belongs to the holder of the journal's turn.
	due    map[*dir]bool // to be compared again in any case
	linked map[*dir]bool // some of its files have several names
	stop   chan struct{} // nil: nobody listens
	done   chan struct{}
}

// followFrom is the number of files from which changes are followed: a smaller
// tree is walked in less than a millisecond.
const followFrom = 1000

const (
	eachText    = "every file of the workspace is looked at before and after each command, which takes longer"
	foreignText = "the file system of the workspace does not tell of all changes: " + eachText
)

// pause is the least time between two readings of events while a command runs.
// The system keeps some ten thousand of them.
const pause = 10 * time.Millisecond

// follow returns what follows the changes, and nil where everything is looked
// at each time. It starts it for a tree that is large enough: the look that
// starts it is a walk and sets the watches.
func (l *comparison) follow() *follower {
	j := l.j
	if j.follower != nil {
		return j.follower
	}
	if j.partial || j.opt.FollowFrom < 0 || j.unfollowed != "" || j.x.files < j.opt.FollowFrom {
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
	w := &follower{
		n: n, most: most, lost: true, dirs: map[int32]*dir{}, news: map[*dir]bool{}, blind: map[*dir]error{},
		due: map[*dir]bool{}, linked: map[*dir]bool{},
	}
	for _, d := range j.x.dirs {
		d.watch, d.node = 0, node{}
		w.note(d, false)
	}
	j.follower = w
	return w
}

// stopFollowing stops following for good. The person is shown why.
func (j *Journal) stopFollowing(why string) {
	if why != "" {
		j.unfollowed = why
	}
	if w := j.follower; w != nil {
		j.follower = nil
		w.rest()
		_ = w.n.close() // nothing was written
	}
}

// notice tells the person where looks take longer than they need to.
func (j *Journal) notice() string {
	w := j.follower
	if w == nil {
		return j.unfollowed
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	none, foreign := 0, 0
	for _, err := range w.blind {
		switch {
		case errors.Is(err, errNoWatch):
			none++
		case errors.Is(err, errForeign):
			foreign++
		}
	}
	switch {
	case none > 0:
		return fmt.Sprintf("the system watches no more folders for this user (fs.inotify.max_user_watches): %d of the workspace's folders are looked at before and after each command, which takes longer", none)
	case foreign > 0:
		return fmt.Sprintf("%d of the workspace's folders are on a file system that does not tell of all changes: they are looked at before and after each command, which takes longer", foreign)
	}
	return ""
}

// ensure sees to it that a folder is watched, before its files are looked at.
// It reports whether it was not before.
func (w *follower) ensure(d *dir, f folder, n node) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if d.watch != 0 && d.node == n && w.dirs[d.watch] == d {
		return false
	}
	w.unwatch(d)
	if len(w.dirs) >= w.most {
		w.blind[d] = errNoWatch
		return false
	}
	wd, err := w.n.watch(f, n)
	if err != nil {
		w.blind[d] = err
		return false
	}
	if other := w.dirs[wd]; other != nil {
		// The folder is known by another path: it was moved, which the comparison of
		// the other path will show, or it is mounted twice.
		w.blind[d] = nil
		return false
	}
	w.dirs[wd], d.watch, d.node = d, wd, n
	delete(w.blind, d)
	return true
}

// unwatch removes the watch of a folder, if it is still this folder's.
func (w *follower) unwatch(d *dir) {
	if d.watch != 0 && w.dirs[d.watch] == d {
		delete(w.dirs, d.watch)
		w.n.unwatch(d.watch)
	}
	d.watch = 0
}

// unseen notes that a folder could not be compared.
func (w *follower) unseen(d *dir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unwatch(d)
	w.blind[d] = nil
}

// unwatched are the folders that are compared in each look.
func (w *follower) unwatched() map[*dir]error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return maps.Clone(w.blind)
}

// left forgets a folder that is not in the index any more.
func (w *follower) left(d *dir) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.unwatch(d)
	delete(w.blind, d)
	delete(w.news, d)
	delete(w.due, d)
	delete(w.linked, d)
}

// drain takes in what the system tells.
func (w *follower) drain() {
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
			w.blind[d] = nil // until it is compared
		}
		w.news[d] = w.news[d] || t.moved || t.ended
	})
	w.failed, w.lost = err, w.lost || err != nil
}

// take returns the folders with news, and forgets them. all: everything has to
// be compared.
func (w *follower) take() (news map[*dir]bool, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	news, all = w.news, w.lost
	w.news, w.lost = map[*dir]bool{}, false
	return news, all
}

// giveBack undoes take after a look that was cut short.
func (w *follower) giveBack(news map[*dir]bool, all bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for d, moved := range news {
		w.news[d] = w.news[d] || moved
	}
	w.lost = w.lost || all
}

// note keeps what is to be looked at in the next look whatever happens: unsure,
// or a folder in which something is not known for certain.
func (w *follower) note(d *dir, unsure bool) {
	racy, linked := d.racy || unsure, false
	for i := range d.files {
		f := &d.files[i]
		racy = racy || f.racy || f.state == unread
		linked = linked || f.stamp.links > 1
	}
	set := func(m map[*dir]bool, in bool) {
		if in {
			m[d] = true
		} else {
			delete(m, d)
		}
	}
	set(w.due, racy)
	set(w.linked, linked)
}

// listen reads events from now on, so that a command that changes a great many
// files does not fill the system's queue.
func (w *follower) listen() {
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

// rest ends listen.
func (w *follower) rest() {
	if w.stop == nil {
		return
	}
	close(w.stop)
	w.n.interrupt()
	<-w.done
	w.stop, w.done = nil, nil
}
