package workspace

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// What goes wrong under a write: each system call that changes something can
// fail, go on failing, or be the last of the process.

// died is the death of the process, as a panic.
type died struct{}

// all describes everything below a folder: path to what.
func all(t testing.TB, root string) map[string]string {
	t.Helper()
	out := map[string]string{}
	err := filepath.WalkDir(root, func(p string, _ fs.DirEntry, err error) error {
		if rel, _ := filepath.Rel(root, p); err == nil && rel != "." {
			out[filepath.ToSlash(rel)] = what(t, p)
		}
		return err
	})
	must.Do(t, err)
	return out
}

// files leaves out folders: those that a crash leaves are no matter.
func files(m map[string]string) map[string]string {
	m = maps.Clone(m)
	maps.DeleteFunc(m, func(_, v string) bool { return v == "folder" })
	return m
}

// lay makes the files of a tree: "link target", else "file" and its text; a
// text that begins with #! is executable.
func lay(t testing.TB, root string, tree map[string]string) {
	t.Helper()
	for name, text := range tree {
		p := filepath.Join(root, name)
		must.Do(t, os.MkdirAll(filepath.Dir(p), 0o777))
		var err error
		if to, ok := strings.CutPrefix(text, "link "); ok {
			err = os.Symlink(to, p)
		} else {
			err = os.WriteFile(p, []byte(text), 0o644)
		}
		if err == nil && strings.HasPrefix(text, "#!") {
			err = os.Chmod(p, 0o755)
		}
		must.Do(t, err)
	}
}

// attempt runs a write, whose process may die in it.
func attempt(w *Workspace, ws []tool.Write) (cs []tool.Change, err error, dead bool) {
	defer func() {
		if v := recover(); v != nil {
			if _, dead = v.(died); !dead {
				panic(v)
			}
		}
	}()
	cs, err = w.WriteAll(context.Background(), ws)
	return cs, err, false
}

// clear is a later process that writes in every folder.
func clear(t testing.TB, root string) {
	t.Helper()
	w := must.Get(Open(root, Options{}))(t)
	defer w.Close()
	w.flush = unsynced
	w.now = func() time.Time { return time.Now().Add(tempAge + time.Minute) }
	folders := []string{"."}
	for p, v := range all(t, root) {
		if v == "folder" {
			folders = append(folders, p)
		}
	}
	for _, p := range folders {
		must.Done(t)(w.Write(context.Background(), p+"/probe", nil, ""))
		must.Do(t, os.Remove(filepath.Join(root, p, "probe")))
	}
	noTemps(t, root)
}

const linkMode = uint32(fs.ModeSymlink)

var kinds = map[string]struct {
	tree map[string]string
	ws   []tool.Write
}{
	"edit":            {map[string]string{"a": "a0"}, []tool.Write{{Path: "a", Data: []byte("a1"), Expect: hashText("a0")}}},
	"create":          {nil, []tool.Write{{Path: "a", Data: []byte("a1")}}},
	"create deep":     {nil, []tool.Write{{Path: "x/y/a", Data: []byte("a1")}}},
	"remove":          {map[string]string{"d/a": "a0"}, []tool.Write{{Path: "d/a", Remove: true, Expect: hashText("a0"), Folders: []string{"d"}}}},
	"move":            {map[string]string{"a": "a0"}, []tool.Write{{Path: "a", MoveTo: "n/b", Data: []byte("a1"), Expect: hashText("a0")}}},
	"link":            {nil, []tool.Write{{Path: "l", Data: []byte("to"), Mode: linkMode}}},
	"retarget":        {map[string]string{"l": "link a"}, []tool.Write{{Path: "l", Data: []byte("b"), Mode: linkMode, Expect: hashText("a")}}},
	"link to file":    {map[string]string{"l": "link a", "a": "a0"}, []tool.Write{{Path: "l", Data: []byte("l1"), Mode: 0o644, NoFollow: true, Expect: hashText("a")}}},
	"file to link":    {map[string]string{"l": "l0"}, []tool.Write{{Path: "l", Data: []byte("a"), Mode: linkMode, Expect: hashText("l0")}}},
	"remove link":     {map[string]string{"l": "link a", "a": "a0"}, []tool.Write{{Path: "l", Remove: true, NoFollow: true, Expect: hashText("a")}}},
	"mode":            {map[string]string{"a": "#!x"}, []tool.Write{{Path: "a", Data: []byte("#!x"), Mode: 0o600, Expect: hashText("#!x")}}},
	"edit executable": {map[string]string{"a": "#!x"}, []tool.Write{{Path: "a", Data: []byte("#!y"), Expect: hashText("#!x")}}},
	"everything": {
		map[string]string{"a": "a0", "d/b": "b0", "gone": "g0", "from": "f0", "l": "link a", "last": "#!0"},
		[]tool.Write{
			{Path: "a", Data: []byte("a1"), Expect: hashText("a0")},
			{Path: "d/b", Data: []byte("b1"), Expect: hashText("b0")},
			{Path: "new/x/y", Data: []byte("y1")},
			{Path: "gone", Remove: true, Expect: hashText("g0")},
			{Path: "from", MoveTo: "to/here", Data: []byte("f1"), Expect: hashText("f0")},
			{Path: "l", Data: []byte("d/b"), Mode: linkMode, Expect: hashText("a")},
			{Path: "new/l", Data: []byte("x"), Mode: linkMode},
			{Path: "last", Data: []byte("#!1"), Expect: hashText("#!0"), Mode: 0o700},
		},
	},
}

// Afterwards each file is as before or as after, never between; what is said
// to stand stands, and nothing else; and the next process finds no litter.
// SPEC 4.10, 10.4; issue 5 "Proof".
func TestFaults(t *testing.T) {
	t.Parallel()
	faults := map[string]error{"ENOSPC": syscall.ENOSPC, "EIO": syscall.EIO, "EACCES": syscall.EACCES, "EROFS": syscall.EROFS, "EINTR": syscall.EINTR, "death": nil}
	var mu sync.Mutex
	known := map[string]bool{}
	for kind, c := range kinds {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			for _, plain := range []bool{false, true} {
				for name, fault := range faults {
					for _, lasting := range []bool{false, true} {
						if fault == nil && lasting || name != "ENOSPC" && name != "death" && (kind != "edit" || plain || lasting) {
							continue
						}
						every := 1
						if kind == "everything" {
							every = 3 // each kind has been tried alone
						}
						for at := 0; ; at += every {
							f := &fault1{err: fault, at: at, lasting: lasting}
							f.run(t, c.tree, c.ws, plain)
							mu.Lock()
							for _, s := range f.steps {
								known[s] = true
							}
							mu.Unlock()
							if !f.hit {
								if f.err1 != nil || f.at < 3 {
									t.Fatalf("without a fault: %v", f.err1)
								}
								break
							}
						}
					}
				}
			}
		})
	}
	t.Cleanup(func() {
		want := "backup check chmod chown drop mark mkdir remove rename restore rmdir symlink sync syncdir temp unlink write"
		if got := strings.Join(slices.Sorted(maps.Keys(known)), " "); got != want {
			t.Errorf("steps that were tried: %s\nwant %s", got, want)
		}
	})
}

// fault1 is one run with one fault.
type fault1 struct {
	err     error // nil: the process dies
	at      int
	lasting bool // and everything after it fails too

	steps []string
	hit   bool
	where string
	err1  error // what WriteAll said
}

func (f *fault1) hook(step, name string) error {
	f.steps = append(f.steps, step)
	n := len(f.steps) - 1
	if n < f.at || n > f.at && !f.lasting {
		return nil
	}
	if !f.hit {
		f.hit, f.where = true, step+" "+name
	}
	if f.err == nil {
		panic(died{})
	}
	return &fs.PathError{Op: step, Path: name, Err: f.err}
}

var nothingSaid = regexp.MustCompile(`nothing was changed`)

func (f *fault1) run(t *testing.T, tree map[string]string, ws []tool.Write, plain bool) {
	t.Helper()
	w, root := open(t, nil)
	lay(t, root, tree)
	w.plainRename, w.flush = plain, unsynced
	before := all(t, root)
	after := target(before, ws)
	w.hook = f.hook
	cs, err, dead := attempt(w, ws)
	f.err1 = err
	name := fmt.Sprintf("%v at %s, lasting %v, plain %v", f.err, f.where, f.lasting, plain)
	w.Close()
	clear(t, root)
	now := all(t, root)
	if dead {
		checkEach(t, name, before, after, files(now))
		return
	}
	if err == nil {
		if !maps.Equal(files(now), after) {
			t.Fatalf("%s: no error, and %q became %q", name, before, now)
		}
		return
	}
	if !errors.Is(err, f.err) {
		t.Fatalf("%s: the error is %v", name, err)
	}
	if s := err.Error(); strings.Contains(s, tempPrefix) && !strings.Contains(s, "beside it in") || strings.Contains(s, "\n") || nothingSaid.MatchString(s) != (len(cs) == 0) {
		t.Fatalf("%s: not one true sentence: %q, %+v", name, s, cs)
	}
	stood := files(before)
	for _, c := range cs {
		if c.After == "" {
			delete(stood, c.Path)
		} else {
			stood[c.Path] = after[c.Path]
		}
	}
	rest := files(now)
	for p, v := range rest { // old contents that could not be put back
		if strings.Contains(p, ".saved-") {
			if !strings.Contains(err.Error(), p[strings.LastIndex(p, "/")+1:]) || !slices.Contains(slices.Collect(maps.Values(before)), v) {
				t.Fatalf("%s: %s is %q, and the error %v", name, p, v, err)
			}
			delete(rest, p)
		}
	}
	if !maps.Equal(rest, stood) {
		t.Fatalf("%s: %q became %q, and said to stand is %+v\n%v", name, files(before), rest, cs, err)
	}
}

// checkEach: every file is as before or as after.
func checkEach(t testing.TB, name string, before, after, now map[string]string) {
	t.Helper()
	for p, v := range now {
		if v != before[p] && v != after[p] {
			t.Fatalf("%s: %s is %q, neither %q nor %q", name, p, v, before[p], after[p])
		}
	}
	for p, v := range before {
		if a, stays := after[p]; now[p] == "" && v != "folder" && stays {
			t.Fatalf("%s: %s is gone, was %q, should be %q", name, p, v, a)
		}
	}
}

// target is the model: what a tree's files are after writes.
func target(before map[string]string, ws []tool.Write) map[string]string {
	out := files(before)
	for _, req := range ws {
		was := before[req.Path]
		mode := "rw-r--r--"
		if rest, ok := strings.CutPrefix(was, "file "); ok {
			mode = rest[:9]
		}
		delete(out, req.Path)
		if req.Remove {
			continue
		}
		if req.Mode != 0 {
			mode = strings.TrimPrefix(fs.FileMode(req.Mode).Perm().String(), "-")
		}
		now := "file " + mode + " " + string(req.Data)
		if isLink(req.Mode) {
			now = "link " + string(req.Data)
		}
		if req.MoveTo != "" {
			out[req.MoveTo] = now
		} else {
			out[req.Path] = now
		}
	}
	return out
}

// Random batches over random trees, with a fault at a random step, and someone
// who saves a file at another: each file is before, after, or what was saved,
// and what was saved is still somewhere. SPEC 4.10, 11.2.
func TestFaultsAtRandom(t *testing.T) {
	t.Parallel()
	names := []string{"a", "b", "d/a", "d/b", "d/e/a"}
	outer := t
	rapid.Check(t, func(t *rapid.T) {
		tree := map[string]string{}
		for _, n := range names {
			if k := rapid.IntRange(0, 3).Draw(t, "kind of "+n); k > 0 {
				tree[n] = []string{"", "text of " + n, "#!" + n, "link to" + n[:1]}[k]
			}
		}
		w, root := open(outer, nil)
		w.flush = unsynced
		lay(outer, root, tree)
		before := all(outer, root)
		var ws []tool.Write
		for i, n := range rapid.Permutation(names).Draw(t, "order")[:rapid.IntRange(1, 4).Draw(t, "writes")] {
			req := tool.Write{Path: n, Data: fmt.Appendf(nil, "new %d", i), NoFollow: true}
			if was, ok := tree[n]; ok {
				req.Expect = hashText(strings.TrimPrefix(was, "link "))
				if req.Mode = 0o644; rapid.Bool().Draw(t, "remove") {
					req.Remove, req.Data, req.Mode = true, nil, 0
				}
			} else {
				req.Mode = rapid.SampledFrom([]uint32{0, 0o755, linkMode}).Draw(t, "mode")
			}
			if !req.Remove && req.Expect == "" && req.Mode == 0 {
				req.Mode = 0o644
			}
			ws = append(ws, req)
		}
		after := target(before, ws)
		f := &fault1{at: rapid.IntRange(0, 60).Draw(t, "at"), lasting: rapid.Bool().Draw(t, "lasting")}
		if rapid.Bool().Draw(t, "fails") {
			f.err = syscall.EIO
		}
		saveAt, saveTo := rapid.IntRange(0, 60).Draw(t, "save at"), rapid.SampledFrom(names).Draw(t, "save to")
		saved := ""
		inPlace := rapid.Bool().Draw(t, "in place")
		n := 0
		w.hook = func(step, name string) error {
			if n++; n == saveAt {
				saved = "saved by someone"
				save(outer, root, saveTo, saved, inPlace)
			}
			return f.hook(step, name)
		}
		cs, err, dead := attempt(w, ws)
		w.Close()
		clear(outer, root)
		now := files(all(outer, root))
		if saved != "" && !slices.ContainsFunc(slices.Collect(maps.Values(now)), func(v string) bool { return strings.HasSuffix(v, saved) }) {
			t.Fatalf("what someone saved to %s is lost: %q, %v", saveTo, now, err)
		}
		for p, v := range now {
			if strings.HasSuffix(v, saved) && saved != "" {
				after[p], before[p] = v, v
			}
		}
		if err == nil && !dead && !f.hit && saved == "" && !maps.Equal(now, after) {
			t.Fatalf("no error, and %q is not %q", now, after)
		}
		if err != nil && len(cs) == 0 && saved == "" && !maps.Equal(now, files(before)) {
			t.Fatalf("%v, and %q is not %q", err, now, files(before))
		}
		for p, v := range now {
			if v != before[p] && v != after[p] && !strings.Contains(p, "saved-") {
				t.Fatalf("%s is %q, neither %q nor %q (%v)", p, v, before[p], after[p], err)
			}
		}
	})
}

// save is someone's editor.
func save(t testing.TB, root, name, text string, inPlace bool) {
	p := filepath.Join(root, name)
	must.Do(t, os.MkdirAll(filepath.Dir(p), 0o777))
	if info, err := os.Lstat(p); err == nil && inPlace && info.Mode().IsRegular() {
		must.WriteMode(t, p, text, 0o644)
		return
	}
	temp := filepath.Join(root, "editor.swp")
	must.Do(t, errors.Join(os.WriteFile(temp, []byte(text), 0o644), os.Rename(temp, p)))
}

// Someone saves a file in the middle of a batch that then fails, or just before
// a file is removed: what they saved stays. SPEC 11.2.
func TestSavedMeanwhile(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		write  tool.Write
		saveAt string // the step before which someone saves
	}{
		"after it was replaced": {tool.Write{Path: "a", Data: []byte("a1"), Expect: hashText("a0")}, "syncdir"},
		"after it was created":  {tool.Write{Path: "new/a", Data: []byte("a1")}, "syncdir"},
		"after it was removed":  {tool.Write{Path: "a", Remove: true, Expect: hashText("a0")}, "syncdir"},
		"before it is removed":  {tool.Write{Path: "a", Remove: true, Expect: hashText("a0")}, "remove"},
		"before it is replaced": {tool.Write{Path: "a", Data: []byte("a1"), Expect: hashText("a0")}, "rename"},
		"before it is created":  {tool.Write{Path: "new/a", Data: []byte("a1")}, "rename"},
		"before it is moved to": {tool.Write{Path: "a", MoveTo: "b", Data: []byte("a1"), Expect: hashText("a0")}, "rename"},
		"while it is retracted": {tool.Write{Path: "new/a", Data: []byte("a1")}, "restore"},
	} {
		for _, inPlace := range []bool{false, true} {
			w, root := open(t, map[string]string{"a": "a0"})
			to := c.write.Path
			if c.write.MoveTo != "" {
				to = c.write.MoveTo
			}
			saved := false
			w.hook = func(step, _ string) error {
				if step == c.saveAt && !saved {
					saved = true
					save(t, root, to, "mine", inPlace)
				}
				if step == "syncdir" && !strings.HasPrefix(name, "before it") {
					return &fs.PathError{Op: step, Err: syscall.EIO}
				}
				return nil
			}
			cs, err, _ := attempt(w, []tool.Write{c.write})
			if err == nil || !saved || get(t, filepath.Join(root, to)) != "mine" {
				t.Errorf("%s, in place %v: %v, %+v; %q", name, inPlace, err, cs, all(t, root))
			}
			for p := range files(all(t, root)) {
				if p != to && p != "a" && !strings.Contains(p, ".saved-") {
					t.Errorf("%s: left behind: %s", name, p)
				}
			}
		}
	}
}

// Someone saves twice: just before a file is replaced, so that the write is
// taken back, and again before it is. Neither version is lost. SPEC 11.2.
func TestSavedTwiceMeanwhile(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a": "a0"})
	w.hook = func(step, _ string) error {
		switch step {
		case "rename":
			save(t, root, "a", "mine", false)
		case "restore":
			save(t, root, "a", "mine again", false)
		}
		return nil
	}
	_, err, _ := attempt(w, []tool.Write{{Path: "a", Data: []byte("a1"), Expect: hashText("a0")}})
	if err == nil {
		t.Fatal("it was written over what somebody saved")
	}
	held := map[string]bool{}
	for _, text := range files(all(t, root)) {
		held[text[strings.LastIndex(text, "- ")+2:]] = true
	}
	if !held["mine"] || !held["mine again"] {
		t.Errorf("%v: %q", err, all(t, root))
	}
}
