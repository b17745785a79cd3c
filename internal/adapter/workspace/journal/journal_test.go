package journal

import (
	"bytes"
	"context"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

func TestMain(m *testing.M) {
	processtest.Alone()
	os.Exit(m.Run())
}

// plainGit is git where nothing is confined.
var plainGit = &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}

func open(t *testing.T, root string, opt Options) *Journal {
	t.Helper()
	if opt.Dir == "" {
		opt.Dir = t.TempDir()
	}
	opt.Git = plainGit
	j := New(root, opt)
	j.gitMin = 1
	t.Cleanup(func() { _ = j.Close() })
	return j
}

// past makes the files of a tree, and git's index, look as if they had been
// there for a while: the journal's clock goes ahead.
func past(o *Options) { o.Now = func() time.Time { return time.Now().Add(time.Hour) } }

func paths(es []tool.Effect) []string {
	out := []string{}
	for _, e := range es {
		s := e.Path
		switch {
		case e.Before == "":
			s = "+" + s
		case e.After == "":
			s = "-" + s
		}
		if !e.Kept {
			s += " lost"
		}
		out = append(out, s)
	}
	return out
}

func expect(t *testing.T, what string, l tool.Snapshot, want ...string) {
	t.Helper()
	if got := paths(l.Effects); !slices.Equal(got, append([]string{}, want...)) {
		t.Errorf("%s: got %q, want %q", what, got, want)
	}
}

// SPEC 11.1: ignored files are not watched, wherever that is said; tracked ones
// are all the same; a rule that changes makes nothing look new.
func TestIgnored(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	top := filepath.Dir(root)
	processtest.RunGit(t, root, "init", "-q", top)
	put(t, top, ".gitignore", filepath.Base(root)+"/above\n*.up\n")
	put(t, top, ".git/info/exclude", "excluded\n")
	put(t, root, ".gitignore", "out/\n*.log\n!keep.log\n")
	put(t, root, "sub/.gitignore", "local\n.gitignore\n")
	for _, f := range []string{"a", "above", "x.up", "excluded", "out/o", "out/tracked", "b.log", "keep.log", "tracked.log", "sub/local", "sub/s", "nested/n"} {
		put(t, root, f, "1")
	}
	processtest.RunGit(t, root, "init", "-q", "nested")
	processtest.RunGit(t, root, "add", "-f", "out/tracked", "tracked.log", "a")
	j := open(t, root, Options{})
	see(t, j, "")
	change := func(text string) {
		for _, f := range []string{"a", "above", "x.up", "excluded", "out/o", "out/tracked", "b.log", "keep.log", "tracked.log", "sub/local", "sub/s", "nested/n", "nested/.git/config"} {
			put(t, root, f, text)
		}
	}
	change("2")
	expect(t, "changed", see(t, j, ""), "a", "keep.log", "nested/n", "out/tracked", "sub/s", "tracked.log")

	put(t, root, ".gitignore", "a\n")
	expect(t, "other rules", see(t, j, ""), ".gitignore")
	change("3")
	// a is tracked, so it stays.
	expect(t, "under them", see(t, j, ""), "a", "b.log", "keep.log", "nested/n", "out/o", "out/tracked", "sub/s", "tracked.log")
	put(t, root, "sub/.gitignore", "s\n")
	expect(t, "rules in a folder", see(t, j, "")) // it was ignored, so nobody knows whether it is new
	put(t, top, ".git/info/exclude", "")
	expect(t, "rules outside", see(t, j, ""))
	change("4")
	expect(t, "under all", see(t, j, ""), "a", "b.log", "excluded", "keep.log", "nested/n", "out/o", "out/tracked", "sub/local", "tracked.log")
	processtest.RunGit(t, root, "add", "-f", "sub/s")
	expect(t, "tracked now", see(t, j, ""))
	put(t, root, "sub/s", "5")
	expect(t, "tracked and ignored", see(t, j, ""), "sub/s")
	put(t, root, "new.up", "")
	put(t, root, "new", "")
	expect(t, "new", see(t, j, ""), "+new")
}

// SPEC 11.1: what git has clean is restorable at any size, by the content that
// the file had and not by what the blob makes of it.
func TestFromGit(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	processtest.RunGit(t, root, "init", "-q")
	put(t, root, ".gitattributes", "*.crlf text eol=crlf\n*.id ident\n*.lf text\n")
	big := strings.Repeat("0123456789abcdef", 200_000)
	files := map[string]string{
		"big": big, "a.txt": "a\n", "b.crlf": "one\r\ntwo\r\n", "c.id": "$Id$\n", "d.lf": "one\r\ntwo\n", "e.lf": "e\n",
		"assumed": "1\n", "gone": "g\n", "dir/x": "x\n", "other": "committed\n",
	}
	for p, text := range files {
		put(t, root, p, text)
	}
	processtest.RunGit(t, root, "add", "-A")
	processtest.RunGit(t, root, "commit", "-qm", "x")
	processtest.RunGit(t, root, "update-index", "--assume-unchanged", "assumed")
	put(t, root, "other", "changed\n")
	put(t, root, "assumed", "2\n")
	files["other"], files["assumed"] = "changed\n", "2\n"
	must.Do(t, os.Remove(filepath.Join(root, "c.id")))
	processtest.RunGit(t, root, "checkout", "--", "c.id") // with its id in it
	id, err := os.ReadFile(filepath.Join(root, "c.id"))
	if err != nil || string(id) == files["c.id"] {
		t.Fatal(string(id), err)
	}
	files["c.id"] = string(id)
	// Git's index is of a later moment than the files.
	future := time.Now().Add(time.Minute)
	must.Do(t, os.Chtimes(filepath.Join(root, ".git/index"), future, future))
	index := must.Get(os.ReadFile(filepath.Join(root, ".git/index")))(t)
	var opt Options
	past(&opt)
	j := open(t, root, opt)
	see(t, j, "")
	for _, p := range []string{"big", "a.txt", "e.lf", "gone", "dir/x"} {
		if f, _ := j.index.at(p); f.state != inGit {
			t.Errorf("%s is clean and was copied", p)
		}
	}
	for _, p := range []string{"b.crlf", "c.id", "d.lf", "assumed", "other"} {
		if f, _ := j.index.at(p); f.state != kept {
			t.Errorf("%s is not sure to be what git has, and was not copied: %d", p, f.state)
		}
	}
	if got := j.Lost([]string{"."}, 9); len(got) != 0 {
		t.Errorf("lost: %q", got)
	}
	for p := range files {
		must.Do(t, os.Remove(filepath.Join(root, p)))
	}
	l := see(t, j, "")
	if len(l.Effects) != len(files) {
		t.Errorf("%q", paths(l.Effects))
	}
	for _, e := range l.Effects {
		if got, err := j.Content(t.Context(), e.Before); !e.Kept || err != nil || string(got) != files[e.Path] {
			t.Errorf("%s: kept %v, %d bytes, %v", e.Path, e.Kept, len(got), err)
		}
	}
	now, err := os.ReadFile(filepath.Join(root, ".git/index"))
	if err != nil || !bytes.Equal(now, index) {
		t.Errorf("git's index was written: %v", err)
	}
}

// A blob that is gone, or does not match its name, is not used.
func TestGitThatLies(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	processtest.RunGit(t, root, "init", "-q")
	put(t, root, "a", "a\n")
	put(t, root, "b", "b\n")
	processtest.RunGit(t, root, "add", "-A")
	future := time.Now().Add(time.Minute)
	must.Do(t, os.Chtimes(filepath.Join(root, ".git/index"), future, future))
	var opt Options
	past(&opt)
	j := open(t, root, opt)
	see(t, j, "")
	if f, _ := j.index.at("a"); f.state != inGit {
		t.Fatal("not taken from git")
	}
	must.Do(t, os.RemoveAll(filepath.Join(root, ".git/objects")))
	put(t, root, "a", "2\n")
	l := see(t, j, "")
	expect(t, "without objects", l, "a lost")
	if l.Effects[0].Before == "" {
		t.Error("a file whose content is lost is reported as new")
	}
}

// SPEC 11.1: 1 MB each, so many in all; beyond, a change is known and cannot be
// put back, and that is known before.
func TestBounds(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	put(t, root, "a", strings.Repeat("a", 300))
	put(t, root, "big", strings.Repeat("b", 2000))
	put(t, root, "huge", strings.Repeat("c", 9000))
	put(t, root, "z", strings.Repeat("z", 300))
	j := open(t, root, Options{MaxFile: 1000, MaxAll: 500, MaxHash: 5000, Workers: 1})
	l := see(t, j, "")
	if !strings.Contains(l.Bounds, "1 of its files could not be copied") || l.Files != 4 {
		t.Errorf("%+v", l)
	}
	if got := j.Lost([]string{"a", "z", "big", "huge", "none"}, 9); len(got) != 3 {
		t.Errorf("%q", got)
	}
	now := time.Now().Add(time.Hour)
	for _, f := range []string{"big", "huge"} {
		must.Do(t, os.Chtimes(filepath.Join(root, f), now, now))
	}
	// One was read and is the same; of the other only the stamp is known.
	expect(t, "touched", see(t, j, ""), "huge lost")
	put(t, root, "big", strings.Repeat("d", 2000))
	put(t, root, "a", strings.Repeat("d", 300))
	expect(t, "changed", see(t, j, ""), "a", "big lost")
	if got := j.Lost([]string{"."}, 9); len(got) != 3 {
		t.Errorf("%q", got)
	}
}

// SPEC 11.1: a workspace that is too large is watched where commands and pawl
// write, and that is said.
func TestTooLarge(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	for i := range 50 {
		put(t, root, fmt.Sprintf("d%d/s/f", i), "1")
		put(t, root, fmt.Sprintf("d%d/g", i), "1")
	}
	j := open(t, root, Options{MaxFiles: 40})
	l := see(t, j, "", "d1/g", "d2")
	if !strings.Contains(l.Bounds, "too large") || len(l.Effects) != 0 {
		t.Errorf("%+v", l)
	}
	j.Wrote(tool.Change{Path: "d4/g", After: "00"})
	see(t, j, "")
	for i := range 50 {
		put(t, root, fmt.Sprintf("d%d/s/f", i), "2")
		put(t, root, fmt.Sprintf("d%d/g", i), "2")
	}
	put(t, root, "d1/new", "2")
	put(t, root, "d2/deep/new", "2")
	expect(t, "touched", see(t, j, ""), "d1/g", "+d1/new", "+d2/deep/new", "d2/g", "d2/s/f", "d4/g")
}

// What is in the way: files that cannot be read, that change while they are
// read, that are no files; a workspace that is gone.
func TestInTheWay(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	put(t, root, "secret", "1")
	put(t, root, "shut/in", "1")
	put(t, root, "a", "1")
	j := open(t, root, Options{})
	see(t, j, "")
	if os.Getuid() != 0 { // who may read everything finds nothing in the way
		for _, f := range []string{"secret", "shut"} {
			must.Do(t, os.Chmod(filepath.Join(root, f), 0))
		}
		l := see(t, j, "")
		if got := paths(l.Effects); !slices.Equal(got, []string{"secret"}) || l.Effects[0].HasAfter {
			t.Errorf("%q %+v", got, l.Effects)
		}
		for f, m := range map[string]fs.FileMode{"secret": 0o644, "shut": 0o755} {
			must.Do(t, os.Chmod(filepath.Join(root, f), m))
		}
		see(t, j, "")
	}
	must.Do(t, os.Rename(root, root+".away"))
	if _, err := j.Snapshot(t.Context(), nil); err == nil {
		t.Error("a workspace that is gone is looked at")
	}
	must.Do(t, os.Rename(root+".away", root))
	put(t, root, "a", "2")
	expect(t, "back again", see(t, j, ""), "a")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	put(t, root, "a", "3")
	if _, err := j.Snapshot(ctx, nil); err == nil {
		t.Error("a look after its context ended")
	}
	expect(t, "after a look that was cut short", see(t, j, ""), "a")
}

// A file that changed in the moment in which it was looked at, so that its
// stamp is the same, is found by its content.
func TestSameStamp(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	put(t, root, "a", "1")
	put(t, root, "d/b", "1")
	opt := Options{Now: func() time.Time { return time.Now().Add(-time.Hour) }} // all is new
	j := open(t, root, opt)
	see(t, j, "")
	put(t, root, "a", "2")
	put(t, root, "d/c", "2")
	st, err := os.Lstat(filepath.Join(root, "a"))
	if err != nil || st.Size() != 1 {
		t.Fatal(err)
	}
	for _, p := range []string{"", "d"} {
		f := must.Get(openRoot(filepath.Join(root, p)))(t)
		j.index.dirs[p].stamp = must.Get(f.self())(t)
		if p == "" {
			e, _ := j.index.at("a")
			e.stamp = must.Get(f.stat("a"))(t)
		}
		f.close()
	}
	expect(t, "same stamps", see(t, j, ""), "a", "+d/c")
}

// SPEC 11.1: what pawl wrote itself is recorded already.
func TestWrote(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	for _, f := range []string{"ours", "theirs", "both", "before"} {
		put(t, root, f, "1")
	}
	j := open(t, root, Options{})
	see(t, j, "")
	write := func(path, before, after string) {
		put(t, root, path, after)
		c := tool.Change{Path: path, After: sum(after)}
		if before != "" {
			c.Before = sum(before)
		}
		j.Wrote(c)
	}
	write("ours", "1", "2")
	write("new", "", "2")
	put(t, root, "theirs", "2")
	write("both", "1", "2")
	put(t, root, "both", "3")
	put(t, root, "before", "2")
	write("before", "2", "3")
	l := see(t, j, "")
	for _, e := range l.Effects {
		want := map[string][2]string{"theirs": {"1", "2"}, "both": {"2", "3"}, "before": {"1", "2"}}[e.Path]
		if e.Before != sum(want[0]) || e.After != sum(want[1]) {
			t.Errorf("%+v", e)
		}
	}
	if len(l.Effects) != 3 {
		t.Errorf("%q", paths(l.Effects))
	}
	expect(t, "then", see(t, j, ""))
}

// SPEC 11.1: after a crash in the middle of a command the next process reports
// what changed since the look before it, and whose command it was.
func TestTakenUp(t *testing.T) {
	t.Parallel()
	root, state := realTemp(t), t.TempDir()
	put(t, root, "a", "1")
	put(t, root, "d/b", "1")
	put(t, root, ".gitignore", "x\n")
	j := open(t, root, Options{Dir: state})
	see(t, j, "")
	put(t, root, "a", "2")
	see(t, j, "s/call")
	put(t, root, "a", "3")
	put(t, root, "d/c", "3")
	expect(t, "the look behind", see(t, j, ""), "a", "+d/c")

	// It dies before that is recorded: another process finds the same.
	died := func(t *testing.T) string {
		t.Helper()
		dir := t.TempDir()
		must.Do(t, os.CopyFS(dir, os.DirFS(state)))
		return dir
	}
	index := func(dir string) string {
		m, err := filepath.Glob(filepath.Join(dir, "*", "index"))
		if err != nil || len(m) != 1 {
			t.Fatal(m, err)
		}
		return m[0]
	}
	dir := died(t)
	next := open(t, root, Options{Dir: dir})
	l := see(t, next, "")
	expect(t, "taken up", l, "a", "+d/c")
	if l.Tag != "s/call" {
		t.Errorf("tag %q", l.Tag)
	}
	for _, e := range l.Effects {
		if e.Before == "" {
			continue
		}
		if got, err := next.Content(t.Context(), e.Before); err != nil || string(got) != "2" {
			t.Errorf("%q %v", got, err)
		}
	}
	if l := see(t, next, ""); l.Tag != "" {
		t.Errorf("tag %q", l.Tag)
	}

	// While the first one lives, a second one on the same folder keeps to itself.
	second := open(t, root, Options{Dir: state})
	expect(t, "beside it", see(t, second, "other"))
	must.Do(t, second.Close())
	if m, _ := filepath.Glob(filepath.Join(state, "other-*")); len(m) != 0 {
		t.Errorf("left behind: %q", m)
	}

	// An index that is damaged is thrown away; one that ends early ends at the
	// look before.
	whole := must.Get(os.ReadFile(index(state)))(t)
	for at := range whole {
		for _, cut := range []bool{true, false} {
			data := bytes.Clone(whole)
			if data[at] ^= 0x10; cut {
				data = data[:at]
			}
			s, end, err := parse(data, root)
			if err == nil && (end > int64(len(data)) || !cut) {
				t.Fatalf("byte %d of %d, cut %v: believed, to %d, %+v", at, len(whole), cut, end, s.tag)
			}
		}
	}
	if _, _, err := parse(whole, root+"x"); err == nil {
		t.Error("the index of another workspace is believed")
	}
	dir = died(t)
	whole[len(whole)-1] ^= 1
	must.Do(t, os.WriteFile(index(dir), whole, 0o600))
	if l := see(t, open(t, root, Options{Dir: dir}), ""); len(l.Effects) != 0 || l.Tag != "" {
		t.Errorf("%+v", l)
	}
	// Copies are not believed either.
	dir = died(t)
	m, _ := filepath.Glob(filepath.Join(dir, "*", "contents"))
	data := must.Get(os.ReadFile(m[0]))(t)
	for i := len(packMagic) + 4; i < len(data); i++ {
		data[i] ^= 1
	}
	must.Do(t, os.WriteFile(m[0], data, 0o600))
	for _, p := range paths(see(t, open(t, root, Options{Dir: dir}), "").Effects) {
		if p == "a" {
			t.Error("a content is called kept, and its copy is damaged")
		}
	}
}

// Modes are private, and nothing is left of a journal without a folder.
func TestFolder(t *testing.T) {
	t.Parallel()
	root, state := realTemp(t), t.TempDir()
	put(t, root, ".env", "KEY=1")
	j := open(t, root, Options{Dir: state})
	see(t, j, "x")
	err := filepath.WalkDir(state, func(p string, d fs.DirEntry, err error) error {
		if err != nil || p == state {
			return err
		}
		info, err := d.Info()
		if err == nil && info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s has mode %o", p, info.Mode().Perm())
		}
		return err
	})
	must.Do(t, err)
	k := New(root, Options{Git: plainGit})
	see(t, k, "")
	dir := k.disk.dir
	must.Do(t, k.Close())
	if _, err := os.Stat(dir); err == nil {
		t.Errorf("%s is left behind", dir)
	}
	if _, err := k.Snapshot(t.Context(), nil); err == nil {
		t.Error("a closed journal looks")
	}
	// Pawl's own folder in the workspace is none of its files.
	in := open(t, root, Options{Dir: filepath.Join(root, "state", "journal"), Skip: []string{filepath.Join(root, "state")}})
	if l := see(t, in, "x"); l.Files != 1 {
		t.Errorf("%d files", l.Files)
	}
}

// Several look at once: each change is found once.
func TestLooksAtOnce(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	for i := range 200 {
		put(t, root, fmt.Sprint("f", i), "1")
	}
	j := open(t, root, Options{})
	see(t, j, "")
	var mu sync.Mutex
	found := map[string]int{}
	var wg sync.WaitGroup
	for w := range 4 {
		wg.Go(func() {
			for i := range 50 {
				if err := os.WriteFile(filepath.Join(root, fmt.Sprint("f", w*50+i)), []byte("22"), 0o644); err != nil {
					t.Error(err)
				}
				l, err := j.Snapshot(context.Background(), nil)
				if err != nil {
					t.Error(err)
				}
				for _, e := range l.Effects {
					mu.Lock()
					if e.After == sum("22") && e.Before != e.After {
						found[e.Path]++
					}
					mu.Unlock()
					if _, err := j.Content(context.Background(), e.After); err != nil && e.HasAfter {
						t.Errorf("%s: %v", e.Path, err)
					}
				}
			}
		})
	}
	wg.Wait()
	for i := range 200 {
		if n := found[fmt.Sprint("f", i)]; n != 1 {
			t.Errorf("f%d was found %d times", i, n)
		}
	}
}

// Copies that nothing refers to go, and those that are referred to stay.
func TestPackIsCleaned(t *testing.T) {
	t.Parallel()
	p := must.Get(openPack(filepath.Join(t.TempDir(), "p"), 1000))(t)
	defer func() { _ = p.close() }()
	text := func(i int) []byte { return bytes.Repeat([]byte{byte(i)}, 90) }
	key := func(i int) id { h, _ := parseHash(sum(string(text(i)))); return h }
	for i := range 100 {
		if !p.put(key(i), text(i), true, int64(i)) {
			t.Fatal(i)
		}
		if i >= 2 {
			p.drop(key(i))
		}
	}
	size := p.size
	if err := p.clean(98); err != nil || p.size >= size/4 {
		t.Fatalf("%d of %d bytes are left: %v", p.size, size, err)
	}
	again := must.Get(openPack(p.path, 1000))(t)
	defer func() { _ = again.close() }()
	for _, i := range []int{0, 1, 98, 99} {
		for _, q := range []*pack{p, again} {
			if got, err := q.get(key(i)); err != nil || !bytes.Equal(got, text(i)) {
				t.Errorf("%d: %v", i, err)
			}
		}
	}
	if _, err := p.get(key(50)); err == nil {
		t.Error("what nobody refers to is kept")
	}
	for i := range 20 {
		p.put(key(100+i), text(100+i), true, 100)
	}
	if p.live > 1000 {
		t.Errorf("%d bytes, at most 1000", p.live)
	}
}

// A file that pawl wrote and that somebody put back before the next look is recorded,
// even if git has the content.
func TestWroteAndReverted(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	processtest.RunGit(t, root, "init", "-q")
	put(t, root, "a", "tracked\n")
	put(t, root, ".gitignore", "ignored\n")
	processtest.RunGit(t, root, "add", ".")
	processtest.RunGit(t, root, "-c", "user.name=x", "-c", "user.email=x@x", "commit", "-qm", "x")
	put(t, root, "b", "plain\n")
	j := open(t, root, Options{Dir: t.TempDir()})
	past(&j.opt)
	see(t, j, "")
	for _, c := range []tool.Change{
		{Path: "a", Before: sum("tracked\n"), After: sum("x"), Mode: 0o644},
		{Path: "b", Before: sum("plain\n"), After: sum("y"), Mode: 0o644},
		{Path: "new", After: sum("z"), Mode: 0o644},
		{Path: "ignored", After: sum("i"), Mode: 0o644},
	} {
		j.Wrote(c)
	}
	put(t, root, "ignored", "i")
	l := see(t, j, "")
	if len(l.Effects) != 3 {
		t.Fatalf("%+v", l.Effects)
	}
	want := map[string][2]tool.Hash{"a": {sum("x"), sum("tracked\n")}, "b": {sum("y"), sum("plain\n")}, "new": {sum("z"), ""}}
	for _, e := range l.Effects {
		if w := want[e.Path]; w[0] != e.Before || w[1] != e.After {
			t.Errorf("%+v", e)
		}
	}
	if l := see(t, j, ""); len(l.Effects) != 0 {
		t.Errorf("again: %+v", l.Effects)
	}
}
