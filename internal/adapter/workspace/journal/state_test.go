package journal

import (
	"context"
	"crypto/sha256"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// truthful checks that what is said to be kept can be had.
func truthful(t *testing.T, what string, j *Journal, es []tool.Effect) (lost int) {
	t.Helper()
	for _, e := range es {
		if !e.Kept || e.Before == "" {
			if !e.Kept {
				lost++
			}
			continue
		}
		data, err := j.Content(context.Background(), e.Before)
		if err != nil {
			// Damage that came later is found when it is read: nothing else is given.
			lost++
		} else if hashOf(sha256.Sum256(data)) != e.Before {
			t.Errorf("%s: %s has another content", what, e.Path)
		}
	}
	return lost
}

// SPEC 11.1: the journal's own folder cannot be used. Changes are found all the
// same; what cannot be kept is said not to be.
func TestNoState(t *testing.T) {
	root := realTemp(t)
	put(t, root, "a", "one\n")
	file := filepath.Join(t.TempDir(), "file")
	put(t, filepath.Dir(file), "file", "in the way")
	for name, tmp := range map[string]string{"a temporary folder instead": t.TempDir(), "none": filepath.Join(file, "tmp")} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("TMPDIR", tmp)
			put(t, root, "a", "one\n")
			_ = os.Remove(filepath.Join(root, "b"))
			j := open(t, root, Options{Dir: filepath.Join(file, "state")})
			past(&j.opt)
			first := must.Get(j.Snapshot(t.Context(), nil))(t)
			if err := j.Checkpoint("x"); err == nil {
				t.Error("nobody is told")
			}
			if err := j.Checkpoint("x"); err != nil {
				t.Errorf("told again: %v", err)
			}
			put(t, root, "a", "two\n")
			put(t, root, "b", "new\n")
			l, err := j.Snapshot(t.Context(), nil)
			if err != nil || len(l.Effects) != 2 {
				t.Fatalf("%+v %v", l, err)
			}
			none := name == "none"
			if lost := truthful(t, name, j, l.Effects); (lost == 1) != none {
				t.Errorf("%d lost", lost)
			}
			if none != strings.Contains(first.Bounds, "could not be copied") {
				t.Errorf("%q", first.Bounds)
			}
		})
	}
}

// SPEC 11.1: the disk fills up, or the folder goes, while the journal runs.
func TestStateFails(t *testing.T) {
	t.Parallel()
	for name, breaks := range map[string]func(t *testing.T, j *Journal){
		"copies cannot be written": func(t *testing.T, j *Journal) {
			f := must.Get(os.Open(j.pack.path))(t)
			_ = j.pack.f.Close()
			j.pack.f = f
		},
		"copies cannot be read":       func(_ *testing.T, j *Journal) { _ = j.pack.f.Close() },
		"the index cannot be written": func(_ *testing.T, j *Journal) { _ = j.disk.f.Close() },
		"the folder is removed": func(t *testing.T, j *Journal) {
			must.Do(t, os.RemoveAll(j.disk.dir))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root, state := realTemp(t), t.TempDir()
			put(t, root, "a", "one\n")
			put(t, root, "b", "one b\n")
			j := open(t, root, Options{Dir: state})
			past(&j.opt)
			see(t, j, "x")
			breaks(t, j)
			for i, text := range []string{"two\n", "three\n", "four\n"} {
				put(t, root, "a", text)
				l, err := j.Snapshot(t.Context(), nil)
				if err != nil || len(l.Effects) != 1 || l.Effects[0].After != sum(text) {
					t.Fatalf("%d: %+v %v", i, l, err)
				}
				truthful(t, name, j, l.Effects)
				if strings.HasPrefix(name, "copies cannot be written") && !strings.Contains(l.Bounds, "could not be copied") {
					t.Errorf("%d: %q", i, l.Bounds)
				}
				_ = j.Checkpoint("x")
			}
			_ = j.Close()
			k := open(t, root, Options{Dir: state})
			see(t, k, "x")
			put(t, root, "b", "two b\n")
			expect(t, "the next one", see(t, k, ""), "b")
		})
	}
}

// The index and the copies are damaged, at each byte: nothing is believed that
// is not so, and what changed from then on is found.
func TestDamaged(t *testing.T) {
	t.Parallel()
	root, state := realTemp(t), t.TempDir()
	put(t, root, "a", "one\n")
	put(t, root, "d/b", "one b\n")
	j := New(root, Options{Dir: state, Git: plainGit})
	past(&j.opt)
	see(t, j, "x")
	dir := j.disk.dir
	must.Do(t, j.Close())
	put(t, root, "a", "two\n")
	for _, name := range []string{"index", "contents", "lock"} {
		whole, err := os.ReadFile(filepath.Join(dir, name))
		must.Do(t, err)
		keep := map[string][]byte{}
		for _, n := range []string{"index", "contents"} {
			if keep[n], err = os.ReadFile(filepath.Join(dir, n)); err != nil {
				t.Fatal(err)
			}
		}
		for at := range len(whole) + 1 {
			for _, cut := range []bool{false, true} {
				if cut && at%5 != 0 {
					continue
				}
				for n, data := range keep {
					put(t, dir, n, string(data))
				}
				broken := append([]byte{}, whole...)
				if cut {
					broken = broken[:at]
				} else if at < len(whole) {
					broken[at] ^= 0x41
				}
				put(t, dir, name, string(broken))
				k := New(root, Options{Dir: state, Git: plainGit})
				past(&k.opt)
				l, err := k.Snapshot(t.Context(), nil)
				if err != nil {
					t.Fatalf("%s at %d: %v", name, at, err)
				}
				for _, e := range l.Effects {
					if e.Path != "a" || e.After != sum("two\n") || e.Kept && e.Before != sum("one\n") {
						t.Errorf("%s at %d: %+v", name, at, e)
					}
				}
				truthful(t, name, k, l.Effects)
				put(t, root, "d/b", "two b\n")
				expect(t, name, see(t, k, ""), "d/b")
				put(t, root, "d/b", "one b\n")
				if err := k.Close(); err != nil {
					t.Fatalf("%s at %d: %v", name, at, err)
				}
			}
		}
		for n, data := range keep {
			put(t, dir, n, string(data))
		}
	}
}
