//go:build linux

package journal

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// following opens a journal that follows, and looks until it does.
func following(t *testing.T, root string, tune func(*Journal)) *Journal {
	t.Helper()
	opt := Options{FollowFrom: 1}
	past(&opt)
	j := open(t, root, opt)
	if tune != nil {
		tune(j)
	}
	for range 2 {
		if l := see(t, j, ""); len(l.Effects) != 0 {
			t.Fatalf("%q before anything happened", paths(l.Effects))
		}
	}
	return j
}

// follows takes a look that must follow.
func follows(t *testing.T, j *Journal) tool.Snapshot {
	t.Helper()
	l := see(t, j, "")
	if !l.Partial {
		t.Fatalf("it walked: %q", l.Notice)
	}
	return l
}

func verified(t *testing.T, j *Journal) tool.Snapshot {
	t.Helper()
	l := must.Get(j.Verify(t.Context()))(t)
	return l
}

// do runs steps in a folder; each is a verb and its paths.
func do(t *testing.T, root string, steps ...string) {
	t.Helper()
	for _, step := range steps {
		f := strings.Fields(step)
		at := func(i int) string {
			if filepath.IsAbs(f[i]) {
				return f[i]
			}
			return filepath.Join(root, f[i])
		}
		var err error
		switch f[0] {
		case "mv":
			err = unix.Rename(at(1), at(2))
		case "exchange":
			err = unix.Renameat2(unix.AT_FDCWD, at(1), unix.AT_FDCWD, at(2), unix.RENAME_EXCHANGE)
		case "mkdir":
			err = os.MkdirAll(at(1), 0o755)
		case "write":
			err = os.WriteFile(at(1), []byte(f[2]), 0o644)
		case "chmod":
			err = os.Chmod(at(1), 0o600)
		case "rm":
			err = os.RemoveAll(at(1))
		case "ln":
			err = os.Link(at(1), at(2))
		case "symlink":
			err = os.Symlink(at(1), at(2))
		default:
			t.Fatalf("%q?", step)
		}
		if err != nil {
			t.Fatalf("%s: %v", step, err)
		}
	}
}

// SPEC 11.1, 19.1: what happens to old files is found by a look that follows,
// however folders were moved.
func TestFollows(t *testing.T) {
	t.Parallel()
	out := realTemp(t)
	put(t, out, "d/f", "outside")
	put(t, out, "d/sub/f", "outside")
	for name, c := range map[string]struct {
		steps []string
		want  []string
	}{
		"nothing":               {nil, nil},
		"written":               {[]string{"write x/sub/f 2"}, []string{"x/sub/f"}},
		"mode":                  {[]string{"chmod x/sub/f"}, []string{"x/sub/f"}},
		"made in new folders":   {[]string{"mkdir n/n/n", "write n/n/n/f 1"}, []string{"+n/n/n/f"}},
		"one takes a place":     {[]string{"mv x z", "mv y x"}, []string{"-x/only", "-y/sub/f", "x/sub/f", "+z/only", "+z/sub/f"}},
		"two change places":     {[]string{"exchange x y"}, []string{"-x/only", "x/sub/f", "+y/only", "y/sub/f"}},
		"deep ones as well":     {[]string{"exchange x/sub y/sub"}, []string{"x/sub/f", "y/sub/f"}},
		"with one outside":      {[]string{"mkdir OUT/e/sub", "write OUT/e/f o", "write OUT/e/sub/f o", "exchange x OUT/e"}, []string{"-x/only", "+x/f", "x/sub/f"}},
		"away and back":         {[]string{"mv x z", "write z/sub/f 2", "mv z x"}, []string{"x/sub/f"}},
		"away, and back behind": {[]string{"mv x z", "mv y x", "write x/sub/f 2", "mv x y", "mv z x"}, []string{"y/sub/f"}},
		"out, and one like it":  {[]string{"mv x OUT/x", "mkdir x/sub", "write x/sub/f 3"}, []string{"-x/only", "x/sub/f"}},
		"over an empty one":     {[]string{"mkdir x/empty", "mv y/sub x/empty"}, []string{"-y/sub/f", "+x/empty/f"}},
		"backwards":             {[]string{"mv y/sub a"}, []string{"-y/sub/f", "+a/f"}},
		"made again":            {[]string{"rm x", "mkdir x/sub", "write x/sub/f 1", "write x/only 1"}, nil},
		"through a link":        {[]string{"symlink x/sub/f OUT/link", "write OUT/link 2"}, []string{"x/sub/f"}},
		"two names":             {[]string{"ln x/sub/f y/l", "write y/l 2"}, []string{"x/sub/f", "+y/l"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, out := realTemp(t), realTemp(t)
			for _, f := range []string{"x/sub/f", "x/only", "y/sub/f", "quiet/f"} {
				put(t, root, f, "1")
			}
			put(t, root, "y/sub/f", "y")
			j := following(t, root, nil)
			newClock(t).ticks()
			for i, s := range c.steps {
				c.steps[i] = strings.ReplaceAll(s, "OUT", out)
			}
			do(t, root, c.steps...)
			expect(t, name, follows(t, j), c.want...)
			if l := verified(t, j); len(l.Effects) != 0 {
				t.Errorf("then: %+v", l.Effects)
			}
			// What is there by now is watched.
			newClock(t).ticks()
			for p := range readTree(t, root) {
				put(t, root, p, "later")
			}
			if got, want := len(follows(t, j).Effects), len(readTree(t, root)); got != want {
				t.Errorf("%d of %d later changes", got, want)
			}
			if l := verified(t, j); len(l.Effects) != 0 {
				t.Errorf("later: %+v", l.Effects)
			}
		})
	}
}

// SPEC 19.1: another folder stands where the workspace was.
func TestFollowsTheWorkspaceItself(t *testing.T) {
	t.Parallel()
	top := realTemp(t)
	root := filepath.Join(top, "up", "work")
	put(t, root, "d/f", "1")
	j := following(t, root, nil)
	newClock(t).ticks()
	put(t, top, "other/work/d/f", "2")
	do(t, top, "mv up away", "mv other up")
	expect(t, "in its place", follows(t, j), "d/f")
	put(t, root, "d/g", "3")
	expect(t, "and watched", follows(t, j), "+d/g")
	put(t, top, "away/work/d/f", "4")
	expect(t, "the old one", follows(t, j))
}

// SPEC 19.1: what no event tells of is found by Verify and marked, with the time
// of the change; from then on everything is looked at, and that is said.
func TestVerify(t *testing.T) {
	t.Parallel()
	live := func(t *testing.T, root, _ string) {
		f := must.Get(os.OpenFile(filepath.Join(root, "d/f"), os.O_RDWR, 0))(t)
		m, err := unix.Mmap(int(f.Fd()), 0, 1, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
		_ = f.Close()
		must.Do(t, err)
		t.Cleanup(func() { _ = unix.Munmap(m) })
		m[0] = '2'
		must.Do(t, unix.Msync(m, unix.MS_SYNC))
	}
	for name, c := range map[string]struct {
		before, do func(t *testing.T, root, out string)
		told       bool
	}{
		"a mapping that lives on": {do: live},
		"a name outside":          {do: func(t *testing.T, root, out string) { do(t, root, "ln d/f "+out+"/l", "write "+out+"/l 2") }},
		"a name that is gone":     {do: func(t *testing.T, root, _ string) { do(t, root, "ln d/f e/l", "write e/l 2", "rm e/l") }},
		"a name outside, known before": {
			before: func(t *testing.T, root, out string) { do(t, root, "ln d/f "+out+"/l") },
			do:     func(t *testing.T, root, out string) { do(t, root, "write "+out+"/l 2") },
			told:   true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, out := realTemp(t), realTemp(t)
			put(t, root, "d/f", "1")
			put(t, root, "e/f", "1")
			if c.before != nil {
				c.before(t, root, out)
			}
			j := following(t, root, nil)
			newClock(t).ticks()
			from := time.Now().Add(-time.Second)
			c.do(t, root, out)
			if c.told {
				expect(t, name, follows(t, j), "d/f")
				return
			}
			expect(t, "before it is verified", follows(t, j))
			l := verified(t, j)
			expect(t, name, l, "d/f")
			if e := l.Effects[0]; !e.Unreported || e.At.Before(from) || e.At.After(time.Now().Add(time.Second)) || !e.Kept {
				t.Errorf("%+v", e)
			}
			if !strings.Contains(l.Notice, "did not report that d/f changed") {
				t.Errorf("%q", l.Notice)
			}
			put(t, root, "e/f", "2")
			if l := see(t, j, ""); l.Partial || len(l.Effects) != 1 {
				t.Errorf("then: %+v", l)
			}
		})
	}
}

// A message quotes the name of a hostile file, so that a terminal obeys nothing in it.
func TestNoticeOfAHostileName(t *testing.T) {
	t.Parallel()
	root, out := realTemp(t), realTemp(t)
	const name = "d/\x1b[31m\xff\nx"
	put(t, root, name, "1")
	j := following(t, root, nil)
	newClock(t).ticks()
	must.Do(t, os.Link(filepath.Join(root, name), filepath.Join(out, "l")))
	put(t, out, "l", "2")
	if l := verified(t, j); len(l.Effects) != 1 || !strings.Contains(l.Notice, `"d/\x1b[31m\xff\nx"`) {
		t.Errorf("%+v", l)
	}
}

// SPEC 19.1: ten thousand changes by one command, with a reader and with a queue
// that overflows.
func TestBursts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		n      int
		listen bool
		lost   bool
	}{
		{"read meanwhile", 10_000, true, false},
		{"more than the queue holds", 9_000, false, true}, // two events each
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root := realTemp(t)
			for i := range 100 {
				put(t, root, fmt.Sprintf("d%02d/f", i), "1")
			}
			j := following(t, root, nil)
			newClock(t).ticks()
			if c.listen {
				must.Do(t, j.Checkpoint("a command"))
			}
			for i := range c.n {
				if i%100 == 0 {
					put(t, root, fmt.Sprintf("d00/new%d/f", i), "1")
				}
				// Without O_TRUNC, for which some file systems write to the disk at once.
				f := must.Get(os.OpenFile(filepath.Join(root, fmt.Sprintf("d%02d/f", i%100)), os.O_WRONLY, 0))(t)
				_, _ = fmt.Fprintf(f, "%06d", i)
				_ = f.Close()
			}
			l := see(t, j, "")
			if want := 100 + c.n/100; len(l.Effects) != want {
				t.Errorf("%d changes, want %d", len(l.Effects), want)
			}
			if !c.lost && !l.Partial || c.lost && l.Partial && maxQueued(t) < 2*c.n {
				t.Errorf("followed: %v", l.Partial)
			}
			if l := verified(t, j); len(l.Effects) != 0 || l.Notice != "" {
				t.Errorf("then: %+v", l)
			}
			put(t, root, "d00/new0/f", "2")
			expect(t, "a new folder is watched", follows(t, j), "d00/new0/f")
		})
	}
}

func maxQueued(t *testing.T) (n int) {
	text, err := os.ReadFile("/proc/sys/fs/inotify/max_queued_events")
	if err == nil {
		_, err = fmt.Sscan(string(text), &n)
	}
	must.Do(t, err)
	return n
}

// SPEC 19.1: where watches run out, or a file system does not tell, the folders
// are looked at each time, and it is said.
func TestUnwatched(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		tune   func(*Journal)
		notice string
		walks  bool
	}{
		"a hundred watches": {func(j *Journal) { limited(j, 100, nil) }, " of the workspace's folders", false},
		"none left": {func(j *Journal) {
			n := 0
			limited(j, 1<<20, func(dirID) error {
				if n++; n > 50 {
					return errNoWatch
				}
				return nil
			})
		}, " of the workspace's folders", false},
		"strange folders": {func(j *Journal) {
			limited(j, 1<<20, func(n dirID) error {
				if n.ino%2 == 0 {
					return errForeign
				}
				return nil
			})
		}, "does not report all changes", false},
		"a strange file system": {func(j *Journal) {
			j.notify = func(string) (notifier, int, error) { return nil, 0, errForeign }
		}, "does not report all changes", true},
		"no instance left": {func(j *Journal) {
			j.notify = func(string) (notifier, int, error) { return nil, 0, errNoWatch }
		}, "every file of the workspace", true},
		"another system": {func(j *Journal) {
			j.notify = func(string) (notifier, int, error) { return nil, 0, errors.ErrUnsupported }
		}, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := realTemp(t)
			for i := range 150 {
				put(t, root, fmt.Sprintf("d%03d/e/f", i), "1")
			}
			j := following(t, root, c.tune)
			newClock(t).ticks()
			for round := range 2 {
				for i := range 150 {
					put(t, root, fmt.Sprintf("d%03d/e/f", i), fmt.Sprint("round", round))
				}
				put(t, root, fmt.Sprintf("d001/new%d/f", round), "1")
				l := see(t, j, "")
				if len(l.Effects) != 151 || l.Partial == c.walks {
					t.Errorf("%d changes, followed %v", len(l.Effects), l.Partial)
				}
				if !strings.Contains(l.Notice, c.notice) || (l.Notice == "") != (c.notice == "") {
					t.Errorf("it says %q", l.Notice)
				}
				newClock(t).ticks()
			}
			if l := verified(t, j); len(l.Effects) != 0 {
				t.Errorf("then: %+v", l.Effects)
			}
		})
	}
}

// SPEC 19.1: folders are renamed while they are looked at: whatever a look saw
// of it, those together say what is there in the end.
func TestRenamedWhileScanned(t *testing.T) {
	t.Parallel()
	for seed := range uint64(3) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			root := realTemp(t)
			for i := range 60 {
				put(t, root, fmt.Sprintf("d%d/e%d/f%d/g", i%6, i%10, i), fmt.Sprint(i))
			}
			opt := Options{FollowFrom: 1} // files are young: a look may meet them half written
			j := open(t, root, opt)
			see(t, j, "")
			type found struct {
				hash tool.Hash
				mode uint32
			}
			foundNow := func() map[string]found {
				out := map[string]found{}
				for p, f := range readTree(t, root) {
					out[p] = found{sum(f.data), f.mode}
				}
				return out
			}
			state := foundNow()
			apply := func(l tool.Snapshot) {
				for _, e := range l.Effects {
					if old, ok := state[e.Path]; (e.Before == "") == ok || e.Before != old.hash {
						t.Errorf("%q was not what is said: %+v", e.Path, e)
					}
					if e.After == "" {
						delete(state, e.Path)
						continue
					}
					// A file that was written during each try to read it has a hash that
					// no content has, and is not held.
					if data, err := j.Content(context.Background(), e.After); e.HasAfter && (err != nil || sum(string(data)) != e.After) {
						t.Errorf("%q is held, but reads as %q, %v", e.Path, data, err)
					}
					state[e.Path] = found{e.After, e.Mode}
				}
			}
			in := must.Get(os.OpenRoot(root))(t)
			defer in.Close()
			var stop atomic.Bool
			done := make(chan struct{})
			go func() {
				defer close(done)
				r := rand.New(rand.NewPCG(seed, 3))
				name := func() string {
					p := fmt.Sprintf("d%d", r.IntN(6))
					if r.IntN(2) == 0 {
						p += fmt.Sprintf("/e%d", r.IntN(10))
					}
					return p
				}
				for i := 0; !stop.Load(); i++ {
					switch r.IntN(4) {
					case 0:
						_ = in.WriteFile(name()+fmt.Sprintf("/e%d/w", r.IntN(10)), fmt.Append(nil, i), 0o644)
					default:
						_ = in.Rename(name(), name())
					}
				}
			}()
			for range 60 {
				apply(see(t, j, ""))
			}
			stop.Store(true)
			<-done
			// Half of a rename may have been seen: a second look sees the rest.
			apply(see(t, j, ""))
			apply(see(t, j, ""))
			l := verified(t, j)
			apply(l)
			if i := slices.IndexFunc(l.Effects, func(e tool.Effect) bool { return e.Unreported }); i >= 0 {
				t.Errorf("nothing told of %q", l.Effects[i].Path)
			}
			now := foundNow()
			for p := range now {
				if now[p] != state[p] {
					t.Errorf("%q is %v, and should be by what was found %v", p, now[p], state[p])
				}
			}
			for p := range state {
				if _, ok := now[p]; !ok {
					t.Errorf("%q is gone, and nothing says so", p)
				}
			}
		})
	}
}

// A look that is cut short loses nothing of what it was told.
func TestFollowingCutShort(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	put(t, root, "d/a", "1")
	put(t, root, "e/b", "1")
	j := following(t, root, nil)
	newClock(t).ticks()
	put(t, root, "d/a", "2")
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if _, err := j.Snapshot(ctx, nil); err == nil {
			t.Fatal("a look after its context ended")
		}
	}
	expect(t, "after it", follows(t, j), "d/a")
	if l := verified(t, j); len(l.Effects) != 0 {
		t.Errorf("then: %+v", l.Effects)
	}
}

// SPEC 19.1: a small workspace, or one where it is switched off, needs no watch.
func TestFollowsOnlyLargeOnes(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	for i := range 20 {
		put(t, root, fmt.Sprint("f", i), "1")
	}
	for from, want := range map[int]bool{0: false, 21: false, 20: true, -1: false} {
		opt := Options{FollowFrom: from}
		j := open(t, root, opt)
		for range 3 {
			see(t, j, "")
		}
		if got := j.watcher != nil; got != want {
			t.Errorf("from %d: %v", from, got)
		}
	}
}

// SPEC 19.1: mounts that matter, and workspaces whose changes are told elsewhere.
func TestMounts(t *testing.T) {
	t.Parallel()
	const base = "22 1 8:1 / / rw - ext4 /dev/sda rw\n"
	for name, c := range map[string]struct {
		more    string
		matters bool
		foreign bool
	}{
		"elsewhere":          {"30 22 0:30 / /mnt rw - tmpfs t rw\n", false, false},
		"beside":             {"30 22 0:30 / /work/p2 rw - tmpfs t rw\n", false, false},
		"in it":              {"30 22 0:30 / /work/p/sub rw - tmpfs t rw\n", true, false},
		"over it":            {"30 22 0:30 / /work/p rw - tmpfs t rw\n", true, false},
		"above it":           {"30 22 0:30 / /work rw - tmpfs t rw\n", true, false},
		"with a space":       {"30 22 0:30 / /work/p/a\\040b rw - tmpfs t rw\n", true, false},
		"upper layer":        {"30 22 0:30 / /mnt rw - overlay o rw,lowerdir=/a:/b,upperdir=/work/p/up,workdir=/w\n", false, true},
		"lower layer":        {"30 22 0:30 / /mnt rw - overlay o rw,lowerdir=/a:/work\n", false, true},
		"layers of others":   {"30 22 0:30 / /mnt rw - overlay o rw,lowerdir=/a:/b,upperdir=/work/p2\n", false, false},
		"in a merged folder": {"30 22 0:30 / /work rw - overlay o rw,lowerdir=/a:/b,upperdir=/c\n", true, false},
	} {
		was := must.Get(relevant(base, "/work/p"))(t)
		now, err := relevant(base+c.more, "/work/p")
		if errors.Is(err, errForeign) != c.foreign || !c.foreign && (now != was) != c.matters {
			t.Errorf("%s: %q, %v", name, now, err)
		}
	}
	for kind, want := range map[int64]bool{
		unix.EXT4_SUPER_MAGIC: true, unix.NFS_SUPER_MAGIC: false, unix.FUSE_SUPER_MAGIC: false, unix.V9FS_MAGIC: false,
		unix.SMB2_SUPER_MAGIC: false, unix.CIFS_SUPER_MAGIC: false, 0x1234: false, unix.ECRYPTFS_SUPER_MAGIC: false,
	} {
		if reportsAllChanges(kind) != want {
			t.Errorf("file system %x", kind)
		}
	}
}

// once reports an error at its next drain, and never again.
type once struct {
	notifier
	err error
}

func (o *once) drain(take func(dirEvent)) error {
	err := o.err
	o.err = nil
	return errors.Join(err, o.notifier.drain(take))
}

// SPEC 19.1: a layer that is mounted over the workspace while a command runs is told once, to
// the reading in the background. The next look knows of it.
func TestForeignMountSeenInTheBackground(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	put(t, root, "a", "1")
	told := &once{}
	j := following(t, root, func(j *Journal) {
		inner := j.notify
		j.notify = func(root string) (notifier, int, error) {
			n, most, err := inner(root)
			told.notifier = n
			return told, most, err
		}
	})
	told.err = errForeign
	j.watcher.drain()
	if l := see(t, j, ""); l.Partial || !strings.Contains(l.Notice, "does not report all changes") {
		t.Errorf("followed %v; it says %q", l.Partial, l.Notice)
	}
}
