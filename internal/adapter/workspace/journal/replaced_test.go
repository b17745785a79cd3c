//go:build linux

package journal

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 19.1: a folder takes the place of another at each moment at which a snapshot must
// notice it, and nothing else happens. The next snapshots see all of it, so a walk finds
// nothing that no watch told of.
func TestReplacedWhileCompared(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files   string // that are written before the snapshot
		at      string // the folder at whose first watch it happens, or a number: after so many files were read
		steps   []string
		then    string   // as at, of what follows
		back    []string // what happens then
		first   bool     // in the walk that sets the watches
		refused string   // folders that cannot be watched
	}{
		"between what is compared and what is listed":       {files: "a/new/f d/new", at: "a/new", steps: []string{"exchange d x"}},
		"with one from outside":                             {files: "a/new/f d/new", at: "a/new", steps: []string{"mv d OUT/d", "mv OUT/x d"}},
		"deeper":                                            {files: "a/new/f d/e/new", at: "a/new", steps: []string{"exchange d/e x/e"}},
		"above":                                             {files: "a/new/f d/e/new", at: "a/new", steps: []string{"exchange d x"}},
		"before its watch is set":                           {at: "d", first: true, steps: []string{"exchange d x"}},
		"before the watch of what is in it is set":          {at: "d/e", first: true, steps: []string{"exchange d x"}},
		"before the watch of the later one is set":          {at: "x/e", first: true, steps: []string{"exchange d x"}},
		"before the watch of a new one is set":              {files: "n/e/f/g", at: "n", steps: []string{"exchange n x"}},
		"a name comes before the watch is set":              {at: "d/e", first: true, steps: []string{"write d/e/new 1"}},
		"a folder comes before the watch is set":            {at: "d", first: true, steps: []string{"mkdir d/new", "write d/new/f 1"}},
		"while it is read, and back":                        {files: "a/f d/e/f/g", at: "1", steps: []string{"exchange d x"}, then: "2", back: []string{"exchange d x"}},
		"while it is read, and back, without a watch":       {files: "a/f d/e/f/g", at: "1", steps: []string{"exchange d x"}, then: "2", back: []string{"exchange d x"}, refused: "d x"},
		"while it is read, and back, without one above":     {files: "a/f d/e/f/g", at: "1", steps: []string{"exchange d/e x/e"}, then: "2", back: []string{"exchange d/e x/e"}, refused: "d x d/e x/e"},
		"while it is read, without a watch":                 {files: "a/f d/e/f/g", at: "1", steps: []string{"exchange d x"}, refused: "d x"},
		"while it is read, and it is watched by no path":    {files: "a/f d/e/f/g", at: "1", steps: []string{"mv d OUT/d", "mv OUT/x d"}, then: "2", back: []string{"mv d OUT/x", "mv OUT/d d"}, refused: "d"},
		"between compared and listed, without a watch":      {files: "a/new/f d/new", at: "a/new", steps: []string{"exchange d x"}, refused: "d x"},
		"between compared and listed, and back in the same": {files: "a/new/f d/new z/new/f", at: "a/new", steps: []string{"exchange d x"}, then: "z/new", back: []string{"exchange d x"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, out := realTemp(t), realTemp(t)
			for _, p := range []string{"a/f", "z/f", "d/e/f/g", "x/e/f/g"} {
				put(t, root, p, "of "+p)
			}
			put(t, out, "x/e/f/g", "outside")
			ino := func(p string) uint64 {
				st := must.Get(os.Stat(filepath.Join(root, p)))(t)
				return st.Sys().(*syscall.Stat_t).Ino
			}
			refused := map[uint64]bool{}
			for _, p := range strings.Fields(c.refused) {
				refused[ino(p)] = true
			}
			var due []func() // the next is called at each moment that may be the one
			var watching uint64
			read := 0
			reach := func() {
				if len(due) > 0 {
					due[0]()
				}
			}
			opt := Options{FollowFrom: 1, Workers: 1}
			past(&opt)
			now := opt.Now
			opt.Now = func() time.Time { read++; reach(); return now() }
			j := open(t, root, opt)
			limited(j, 1<<20, func(n dirID) error {
				watching = n.ino
				reach()
				if refused[n.ino] {
					return errNoWatch
				}
				return nil
			})
			see(t, j, "")
			if !c.first {
				see(t, j, "")
			}
			newClock(t).ticks()
			for _, p := range strings.Fields(c.files) {
				put(t, root, p, "new "+p)
			}
			arm := func(at string, steps []string) func() {
				met := func() bool { return read > 0 && fmt.Sprint(read-1) == at } // the first asks for the time of the snapshot
				if _, err := strconv.Atoi(at); err != nil {
					n := ino(at)
					met = func() bool { return watching == n }
				}
				return func() {
					if met() {
						due = due[1:]
						for i, s := range steps {
							steps[i] = strings.ReplaceAll(s, "OUT", out)
						}
						do(t, root, steps...)
					}
				}
			}
			read, watching = 0, 0
			due = append(due, arm(c.at, c.steps))
			if c.then != "" {
				due = append(due, arm(c.then, c.back))
			}
			see(t, j, "")
			if len(due) > 0 {
				t.Fatal("the moment did not come")
			}
			for range 2 {
				see(t, j, "")
			}
			if l := verified(t, j); len(l.Effects) != 0 || strings.Contains(l.Notice, "did not tell") {
				t.Errorf("a walk finds %q, and says %q", paths(l.Effects), l.Notice)
			}
			for p, f := range readTree(t, root) {
				e, _ := j.lookup(p)
				if e == nil {
					t.Errorf("%q is not known", p)
				} else if hashOf(e.id) != sum(f.data) {
					t.Errorf("%q is known with another content", p)
				}
			}
		})
	}
}

// SPEC 19.1: what is in a folder is opened only through one that is watched: otherwise
// nothing tells that another folder was there for a moment.
func TestOpensThroughWatchedFolders(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	put(t, root, "d/e/f/g", "1")
	j := following(t, root, nil)
	w := j.watcher
	w.mu.Lock()
	for _, d := range j.index.dirs {
		w.unwatch(d)
	}
	clear(w.changedDirs)
	w.mu.Unlock()
	top := must.Get(openRoot(root))(t)
	defer top.close()
	p := dirOpener{root: top, dirs: j.index.dirs, w: w}
	defer p.close()
	must.Done(t)(p.open("d/e/f"))
	for _, at := range []string{"d", "d/e", "d/e/f"} {
		if d := j.index.dirs[at]; d.watch == 0 || w.dirs[d.watch] != d {
			t.Errorf("%q is not watched", at)
		}
	}
}
