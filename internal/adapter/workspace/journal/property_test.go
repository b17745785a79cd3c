package journal

import (
	"context"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// tree is a workspace as a simple model sees it: every file read whole.
type tree map[string]leaf

type leaf struct {
	data string
	mode uint32
}

func readTree(t *testing.T, root string) tree {
	t.Helper()
	out := tree{}
	err := filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == root {
			return err
		}
		if d.Name() == ".git" || d.Name() == "ignored" || strings.HasSuffix(d.Name(), ".log") {
			if d.IsDir() {
				return fs.SkipDir
			}
			return nil
		}
		info, err := d.Info()
		if err != nil || d.IsDir() {
			return err
		}
		rel, _ := filepath.Rel(root, p)
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			target, err := os.Readlink(p)
			out[rel] = leaf{target, uint32(fs.ModeSymlink) | 0o777}
			return err
		case info.Mode().IsRegular():
			data, err := os.ReadFile(p)
			out[rel] = leaf{string(data), uint32(info.Mode().Perm())}
			return err
		}
		return nil
	})
	must.Do(t, err)
	return out
}

func sum(s string) tool.Hash { return hashOf(sha256.Sum256([]byte(s))) }

// compare fails the test if a look differs from the model's prediction.
func compare(t *testing.T, j *Journal, before, after tree, es []tool.Effect, copies bool) {
	t.Helper()
	want := map[string]bool{}
	for p := range before {
		if before[p] != after[p] {
			want[p] = true
		}
	}
	for p := range after {
		if _, ok := before[p]; !ok {
			want[p] = true
		}
	}
	for _, e := range es {
		if !want[e.Path] {
			t.Fatalf("%q is reported and did not change: %+v", e.Path, e)
		}
		delete(want, e.Path)
		b, was := before[e.Path]
		a, is := after[e.Path]
		check := func(what string, exists bool, n leaf, h tool.Hash, mode uint32, can bool) {
			if !exists {
				if h != "" || mode != 0 {
					t.Fatalf("%q %s: hash %q mode %o of a file that was not there", e.Path, what, h, mode)
				}
				return
			}
			if h != sum(n.data) || mode != n.mode {
				t.Fatalf("%q %s: hash %.8s mode %o, want %.8s mode %o", e.Path, what, h, mode, sum(n.data), n.mode)
			}
			if !can {
				if copies {
					t.Fatalf("%q %s: cannot be had", e.Path, what)
				}
				return
			}
			data, err := j.Content(t.Context(), h)
			if err != nil || string(data) != n.data {
				t.Fatalf("%q %s: got %d bytes (%v), want %d", e.Path, what, len(data), err, len(n.data))
			}
		}
		check("before", was, b, e.Before, e.ModeBefore, e.Kept)
		check("after", is, a, e.After, e.Mode, e.HasAfter)
	}
	if len(want) > 0 {
		t.Fatalf("not reported: %q", slices.Collect(maps.Keys(want)))
	}
}

// randomFolder is a workspace at which random things happen. All of them go through an
// os.Root: no link that they make leads them out of it.
type randomFolder struct {
	t    *testing.T
	root string
	in   *os.Root
	r    *rand.Rand
	git  bool
	// links made since it was set to 0
	links int
}

var names = []string{"a", "b", "c.go", "-rf", " sp ace", "new\nline", "ünïcode", "bad\xff", "a-b", "x.log", "ignored", "deep"}

func (w *randomFolder) path() string {
	parts := make([]string, 1+w.r.IntN(3))
	for i := range parts {
		parts[i] = names[w.r.IntN(len(names))]
	}
	return filepath.Join(parts...)
}

// content is one of few, so that contents come back, of the same sizes.
func (w *randomFolder) content() []byte { return fmt.Appendf(nil, "content %02d\n", w.r.IntN(20)) }

// act does one random thing; that it may fail is part of it.
func (w *randomFolder) act() {
	p := w.path()
	_ = w.in.MkdirAll(filepath.Dir(p), 0o755)
	switch w.r.IntN(18) {
	case 0, 1, 2, 3:
		_ = w.in.WriteFile(p, w.content(), 0o644)
	case 4:
		if f, err := w.in.OpenFile(p, os.O_APPEND|os.O_WRONLY, 0); err == nil {
			_, _ = f.WriteString("more\n")
			_ = f.Close()
		}
	case 5:
		_ = w.in.Remove(p)
	case 6:
		if w.r.IntN(4) == 0 {
			_ = w.in.RemoveAll(p)
		}
	case 7:
		_ = w.in.Rename(p, w.path())
	case 8:
		mode := []fs.FileMode{0o644, 0o755, 0o600}[w.r.IntN(3)]
		if st, err := w.in.Stat(p); err == nil && st.IsDir() {
			mode |= 0o700 // without it only root could look into it
		}
		_ = w.in.Chmod(p, mode)
	case 9:
		_ = w.in.Symlink([]string{"a", "nowhere"}[w.r.IntN(2)], p)
	case 10: // with the old time kept
		if st, err := w.in.Stat(p); err == nil && st.Mode().IsRegular() {
			_ = w.in.WriteFile(p, w.content(), 0o644)
			_ = w.in.Chtimes(p, st.ModTime(), st.ModTime())
		}
	case 11: // a new file in its place, as editors do
		tmp := p + ".tmp~"
		if st, err := w.in.Lstat(p); err == nil && !st.IsDir() && w.in.WriteFile(tmp, w.content(), 0o644) == nil {
			_ = w.in.Rename(tmp, p)
		}
	case 12:
		_ = w.in.Remove(p)
		_ = w.in.Mkdir(p, 0o755)
	case 13:
		if w.git {
			args := [][]string{
				{"add", "-A"},
				{"commit", "-qm", "x"},
				{"stash", "-qu"},
				{"stash", "pop", "-q"},
				{"checkout", "-qf", "--", "."},
				{"rm", "-qrf", "--ignore-unmatch", "a"},
				{"clean", "-fdq"},
			}[w.r.IntN(7)]
			w.run(args...)
		}
	case 14:
		_ = w.in.Link(p, w.path())
		w.links++
	case 15: // two change places
		q := w.path()
		if w.in.Rename(p, "swap~") == nil {
			_ = w.in.Rename(q, p)
			_ = w.in.Rename("swap~", q)
		}
	case 16: // a folder moves away, and another one takes its place
		if w.in.Rename(p, w.path()) == nil {
			_ = w.in.Rename(w.path(), p)
		}
	case 17:
		mapped(w.in, p, w.content())
	}
}

func (w *randomFolder) run(args ...string) {
	_ = processtest.Git(w.root, args...).Run() // that it fails is one of the things that happen
}

// ways are the ways in which a journal finds out where to look.
var ways = []struct {
	name   string
	follow bool
	young  bool // files were changed a moment ago, so they are looked at in any case
	tune   func(j *Journal, r *rand.Rand)
}{
	{name: "walking"},
	{name: "walking, young", young: true},
	{name: "following", follow: true},
	{name: "following, young", follow: true, young: true},
	{name: "few watches", follow: true, tune: func(j *Journal, _ *rand.Rand) { limited(j, 4, nil) }},
	{name: "none left", follow: true, tune: func(j *Journal, r *rand.Rand) {
		limited(j, 1<<20, func(dirID) error {
			if r.IntN(2) == 0 {
				return errNoWatch
			}
			return nil
		})
	}},
	{name: "strange folders", follow: true, tune: func(j *Journal, _ *rand.Rand) {
		limited(j, 1<<20, func(n dirID) error {
			if n.ino%2 == 0 {
				return errForeign
			}
			return nil
		})
	}},
	{name: "full queue", follow: true, tune: func(j *Journal, r *rand.Rand) {
		inner := j.notify
		j.notify = func(root string) (notifier, int, error) {
			n, most, err := inner(root)
			return &forgetful{n, r}, most, err
		}
	}},
}

// limited bounds how many watches there are, and which.
func limited(j *Journal, most int, may func(dirID) error) {
	inner := j.notify
	j.notify = func(root string) (notifier, int, error) {
		n, _, err := inner(root)
		return &choosy{n, may}, most, err
	}
}

// choosy refuses some watches.
type choosy struct {
	notifier
	may func(dirID) error
}

func (c *choosy) watch(f folder, n dirID) (int32, error) {
	if c.may != nil {
		if err := c.may(n); err != nil {
			return 0, err
		}
	}
	return c.notifier.watch(f, n)
}

// forgetful loses events at times, as a full queue does, and reports that.
type forgetful struct {
	notifier
	r *rand.Rand
}

func (f *forgetful) drain(take func(dirEvent)) error {
	lose := f.r.IntN(3) == 0
	err := f.notifier.drain(func(t dirEvent) {
		if !lose || f.r.IntN(2) == 0 {
			take(t)
		}
	})
	if lose {
		return errLost
	}
	return err
}

// worlds is how many random worlds the normal run tries of each kind, and from
// which seed; PAWL_WORLDS=N+FIRST sets others.
func worlds(t *testing.T) (n, first uint64) {
	n = 1
	if s := os.Getenv("PAWL_WORLDS"); s != "" {
		must.Done(t)(fmt.Sscanf(s+"+0", "%d+%d", &n, &first))
	}
	return n, first
}

// SPEC 11.1, 19.1: the second of two looks reports every change between them, with both
// contents, even if it reads only the files that the system reported.
func TestLooksAgainstAModel(t *testing.T) {
	n, first := worlds(t)
	for _, way := range ways {
		for _, git := range []bool{false, true} {
			for seed := first; seed < first+n; seed++ {
				t.Run(fmt.Sprintf("%s, git=%v/%d", way.name, git, seed), func(t *testing.T) {
					t.Parallel()
					root := realTemp(t)
					in, err := os.OpenRoot(root)
					must.Do(t, err)
					defer in.Close()
					w := &randomFolder{t: t, root: root, in: in, r: rand.New(rand.NewPCG(seed, 7)), git: git}
					rules := ".gitignore"
					if git {
						w.run("init", "-q")
						rules = ".git/info/exclude" // no stash takes it away
					}
					put(t, root, rules, "ignored\n*.log\n")
					for range 60 {
						w.act()
					}
					state, clock := t.TempDir(), newClock(t)
					open := func() *Journal {
						opt := Options{Dir: state, Git: plainGit, FollowFrom: -1}
						if way.follow {
							opt.FollowFrom = 1
						}
						if !way.young {
							past(&opt)
						}
						j := New(root, opt)
						j.gitMin = 1 // also few files are taken from git
						if way.tune != nil {
							way.tune(j, rand.New(rand.NewPCG(w.r.Uint64(), 7))) // its own: it is used beside the world's
						}
						return j
					}
					j := open()
					defer func() { _ = j.Close() }()
					if l := see(t, j, ""); len(l.Effects) != 0 {
						t.Fatalf("a first look has effects: %+v", l.Effects)
					}
					before, followed := readTree(t, root), 0
					for step := range 150 {
						clock.ticks()
						w.links = 0
						for range w.r.IntN(6) {
							w.act()
						}
						if step%40 == 39 {
							must.Do(t, j.Close())
							j = open()
						}
						after := readTree(t, root)
						var l tool.Snapshot
						// A link that is made, written through and removed tells of nothing: that
						// is what Verify is for.
						if verify := w.links > 0 || w.r.IntN(10) == 0; way.follow && verify {
							if l, err = j.Verify(t.Context()); err == nil {
								err = j.Checkpoint(fmt.Sprint(step))
							}
							must.Do(t, err)
						} else {
							l = see(t, j, fmt.Sprint(step))
						}
						if l.Partial {
							followed++
						}
						compare(t, j, before, after, l.Effects, true)
						if l.Files != len(after) {
							t.Fatalf("%d files are watched, there are %d", l.Files, len(after))
						}
						if j.unwatchedWhy != "" {
							if w.links == 0 {
								t.Fatalf("step %d: %s", step, j.unwatchedWhy)
							}
							must.Do(t, j.Close())
							j = open()
						}
						before = after
					}
					if want := way.follow && watching; (followed > 10) != want {
						t.Errorf("%d of 150 looks followed", followed)
					}
				})
			}
		}
	}
}

// clock tells when the file system's clock has moved: a change in the same
// moment as a look may leave a file's stamp alone, which a journal whose clock
// is ahead does not expect.
type clock struct {
	t    *testing.T
	path string
	last int64
}

func newClock(t *testing.T) *clock {
	return &clock{t: t, path: filepath.Join(t.TempDir(), "clock")}
}

func (c *clock) ticks() {
	for first := true; ; first = false {
		must.Do(c.t, os.WriteFile(c.path, nil, 0o600))
		now := pathStamp(c.path).ctime
		if !first && now != c.last {
			c.last = now
			return
		}
		c.last = now
	}
}

func realTemp(t testing.TB) string {
	t.Helper()
	dir := must.Dir(t)
	return dir
}

func put(t testing.TB, root, name, text string) {
	t.Helper()
	must.WriteMode(t, filepath.Join(root, name), text, 0o644)
}

func see(t testing.TB, j *Journal, tag string, touched ...string) tool.Snapshot {
	t.Helper()
	l, err := j.Snapshot(context.Background(), touched)
	must.Do(t, err)
	if tag != "" {
		err = j.Checkpoint(tag)
	} else {
		j.tag = "" // not kept, as by a process that dies
	}
	must.Do(t, err)
	return l
}
