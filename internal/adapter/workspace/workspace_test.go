package workspace

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

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
var plainGit = &Git{Starter: &processtest.Plain{}, Confine: process.Free}

func open(t testing.TB, files map[string]string) (*Workspace, string) {
	t.Helper()
	root := must.Dir(t)
	for name, text := range files {
		must.WriteMode(t, filepath.Join(root, name), text, 0o644)
	}
	w := must.Get(Open(root, Options{Git: plainGit}))(t)
	t.Cleanup(func() { w.Close() })
	return w, root
}

func get(t testing.TB, path string) string {
	t.Helper()
	b := must.Get(os.ReadFile(path))(t)
	return string(b)
}

// noTemps fails when a temporary file was left behind.
func noTemps(t testing.TB, root string) {
	t.Helper()
	_ = filepath.WalkDir(root, func(p string, d fs.DirEntry, err error) error {
		if err == nil && isTemp(d.Name()) {
			t.Errorf("left behind: %s", p)
		}
		return nil
	})
}

// SPEC 16.8: symlinks are followed only to targets inside, loops end.
func TestResolve(t *testing.T) {
	t.Parallel()
	outside := t.TempDir()
	must.WriteMode(t, filepath.Join(outside, "secret"), "s", 0o644)
	w, root := open(t, map[string]string{"dir/a.txt": "a", "b.txt": "b"})
	link := func(target, name string) {
		must.Do(t, os.Symlink(target, filepath.Join(root, name)))
	}
	link("dir", "in")
	link(filepath.Join(root, "dir"), "abs")
	link(outside, "out")
	link(filepath.Join(outside, "secret"), "leak")
	link("loop2", "loop1")
	link("loop1", "loop2")
	link("dir/new.txt", "broken")
	link("../../../../../../../../etc", "up")
	realOut, _ := filepath.EvalSymlinks(outside)

	for _, c := range []struct {
		path, want string
		inside     bool
	}{
		{"b.txt", "b.txt", true},
		{"./dir//a.txt", "dir/a.txt", true},
		{root + "/dir/a.txt", "dir/a.txt", true},
		{root, ".", true},
		{".", ".", true},
		{"in/a.txt", "dir/a.txt", true},
		{"abs/a.txt", "dir/a.txt", true},
		{"abs/no/such", "dir/no/such", true},
		{"broken", "dir/new.txt", true},
		{"in/../b.txt", "b.txt", true},
		{"no/../../b", filepath.ToSlash(filepath.Dir(root)) + "/b", false},
		{"out/secret", realOut + "/secret", false},
		{"leak", realOut + "/secret", false},
		{"up/passwd", "/etc/passwd", false},
		{"../x", filepath.Dir(root) + "/x", false},
		{root + "x/y", root + "x/y", false},
	} {
		got, inside, err := w.Resolve(c.path)
		if err != nil || got != c.want || inside != c.inside {
			t.Errorf("Resolve(%q) = %q, %v, %v; want %q, %v", c.path, got, inside, err, c.want, c.inside)
		}
	}
	for _, bad := range []string{"loop1", "loop2/x", "", "a\x00b"} {
		if _, _, err := w.Resolve(bad); err == nil {
			t.Errorf("Resolve(%q) gave no error", bad)
		}
	}

	ctx := context.Background()
	var out *OutsideError
	if _, err := w.Read(ctx, "leak", 0); !errors.As(err, &out) {
		t.Errorf("read through a symlink out: %v", err)
	}
	if _, err := w.Write(ctx, "out/new", []byte("x"), ""); !errors.As(err, &out) {
		t.Errorf("write through a symlink out: %v", err)
	}
	if _, err := os.Lstat(filepath.Join(outside, "new")); err == nil {
		t.Error("a file was written outside")
	}
	if _, _, err := w.Glob(ctx, "out", "*", 0); !errors.As(err, &out) {
		t.Errorf("glob outside: %v", err)
	}
	if _, err := w.Grep(ctx, tool.Query{Dir: "out", Pattern: "s"}); !errors.As(err, &out) {
		t.Errorf("grep outside: %v", err)
	}
	if f, err := w.WithOutside(true).Read(ctx, "leak", 0); err != nil || string(f.Data) != "s" || !filepath.IsAbs(f.Path) {
		t.Errorf("opted in: %+v, %v", f, err)
	}
	if c, err := w.WithOutside(true).Write(ctx, filepath.Join(outside, "new"), []byte("x"), ""); err != nil || !filepath.IsAbs(c.Path) {
		t.Errorf("opted in: %+v, %v", c, err)
	}
}

// SPEC 4.10: mode bits and symlinks survive, bytes go in as they are.
func TestWriteKeeps(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"run.sh": "#!/bin/sh\n"})
	ctx := context.Background()
	p := filepath.Join(root, "run.sh")
	must.Do(t, os.Chmod(p, 0o751))
	must.Do(t, os.Symlink("run.sh", filepath.Join(root, "link")))
	data := []byte("\xef\xbb\xbfa\r\nb\n\x00\xff")
	c, err := w.Write(ctx, "link", data, HashOf([]byte("#!/bin/sh\n")))
	must.Do(t, err)
	if c.Path != "run.sh" || c.After != HashOf(data) || get(t, p) != string(data) {
		t.Errorf("change %+v, content %q", c, get(t, p))
	}
	info, _ := os.Lstat(p)
	if info.Mode().Perm() != 0o751 {
		t.Errorf("mode %v", info.Mode())
	}
	if l, err := os.Lstat(filepath.Join(root, "link")); err != nil || l.Mode()&fs.ModeSymlink == 0 {
		t.Error("the symlink is gone")
	}
	c, err = w.Write(ctx, "new/deep/f.txt", []byte("one\ntwo\n"), "")
	if err != nil || c.Before != "" || c.Added != 2 || c.Removed != 0 || !strings.Contains(c.Diff, "--- /dev/null\n+++ b/new/deep/f.txt\n") {
		t.Errorf("%+v, %v", c, err)
	}
	noTemps(t, root)
}

// SPEC 4.10: a file that is not what the caller saw is not touched.
func TestWriteStale(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a": "mine"})
	ctx := context.Background()
	var stale *tool.StaleError
	for _, expect := range []tool.Hash{"", HashOf([]byte("other"))} {
		if _, err := w.Write(ctx, "a", []byte("x"), expect); !errors.As(err, &stale) || stale.Got != HashOf([]byte("mine")) {
			t.Errorf("%v", err)
		}
	}
	if _, err := w.Write(ctx, "gone", []byte("x"), HashOf(nil)); !errors.As(err, &stale) || stale.Got != "" {
		t.Errorf("%v", err)
	}
	// Someone saves between the check and the rename.
	w.hook = func(step, _ string) error {
		if step == "check" {
			must.WriteMode(t, filepath.Join(root, "a"), "theirs", 0o644)
		}
		return nil
	}
	if _, err := w.Write(ctx, "a", []byte("x"), HashOf([]byte("mine"))); !errors.As(err, &stale) {
		t.Errorf("%v", err)
	}
	// Someone creates the file just before it gets its name.
	w.hook = func(step, _ string) error {
		if step == "rename" {
			must.WriteMode(t, filepath.Join(root, "b"), "theirs", 0o644)
		}
		return nil
	}
	if _, err := w.Write(ctx, "b", []byte("x"), ""); !errors.As(err, &stale) {
		t.Errorf("%v", err)
	}
	// Someone saves between the last look and the rename: only where names can
	// be exchanged is that noticed.
	w.hook = func(step, _ string) error {
		if step == "rename" {
			must.WriteMode(t, filepath.Join(root, "a"), "theirs!", 0o644)
		}
		return nil
	}
	if runtime.GOOS == "linux" {
		if _, err := w.Write(ctx, "a", []byte("x"), HashOf([]byte("theirs"))); !errors.As(err, &stale) || get(t, filepath.Join(root, "a")) != "theirs!" {
			t.Errorf("%v", err)
		}
		must.WriteMode(t, filepath.Join(root, "a"), "theirs", 0o644)
	}
	if get(t, filepath.Join(root, "a")) != "theirs" || get(t, filepath.Join(root, "b")) != "theirs" {
		t.Error("a person's file was replaced")
	}
	noTemps(t, root)
}

// The errors of SPEC's "Bad input" are one sentence each, and say what to do.
func TestRefusals(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"ro": "x", "file": "f", "dir/x": "x"})
	ctx := context.Background()
	must.Do(t, os.Chmod(filepath.Join(root, "ro"), 0o444))
	for path, want := range map[string]string{
		"ro": "ro is read-only (mode 0444)", "file/x": "a part of the path is a file", "dir": "dir is a folder",
		strings.Repeat("n", 300): "the name is too long",
	} {
		h, _, _ := w.Stat(path)
		_, err := w.Write(ctx, path, []byte("y"), h)
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%.20s: %v", path, err)
		}
	}
	if get(t, filepath.Join(root, "ro")) != "x" {
		t.Error("a read-only file was changed")
	}
	if _, err := w.Read(ctx, "none", 0); !errors.Is(err, fs.ErrNotExist) || err.Error() != "none does not exist" {
		t.Errorf("%v", err)
	}
	noTemps(t, root)
}

// Names that differ only in Unicode form: the one on disk wins.
func TestUnicodeNames(t *testing.T) {
	t.Parallel()
	nfc, nfdName := "caf\u00e9.txt", "cafe\u0301.txt"
	w, root := open(t, map[string]string{nfdName: "x", "\ud55c\uae00.md": "k"})
	if got, _, err := w.Resolve(nfc); err != nil || got != nfdName {
		t.Errorf("%q, %v", got, err)
	}
	if _, err := w.Write(context.Background(), nfc, []byte("y"), HashOf([]byte("x"))); err != nil {
		t.Error(err)
	}
	es, _ := os.ReadDir(root)
	if len(es) != 2 {
		t.Errorf("a second file was made: %v", es)
	}
	if got, _, _ := w.Resolve("\u1112\u1161\u11ab\u1100\u1173\u11af.md"); got != "\ud55c\uae00.md" {
		t.Errorf("%q", got)
	}
	// Two marks in either order, one of several forms, bytes that are not UTF-8.
	for asked, want := range map[string]string{"a\u0323\u0302": "a\u0302\u0323", "\u212b": "\u00c5", "\uf900": "\u8c48", "\xffe\u0301": "\xff\u00e9"} {
		must.WriteMode(t, filepath.Join(root, want), "x", 0o644)
		if got, _, err := w.Resolve(asked); err != nil || got != want {
			t.Errorf("%q: %q, %v", asked, got, err)
		}
	}
	w.folds = true // as on a disk that ignores case
	must.WriteMode(t, filepath.Join(root, "README.md"), "r", 0o644)
	if got, _, _ := w.Resolve("readme.md"); got != "README.md" {
		t.Errorf("%q", got)
	}
	// Another case of a name is the same file: it is not made anew, and not
	// written twice in one change.
	if c, err := w.Write(context.Background(), "readme.MD", []byte("s"), HashOf([]byte("r"))); err != nil || c.Path != "README.md" || get(t, filepath.Join(root, "README.md")) != "s" {
		t.Errorf("%+v, %v", c, err)
	}
	twice := []tool.Write{{Path: "README.md", Data: []byte("1"), Expect: HashOf([]byte("s"))}, {Path: "readme.md", Data: []byte("2"), Expect: HashOf([]byte("s"))}}
	if _, err := w.WriteAll(context.Background(), twice); err == nil || !strings.Contains(err.Error(), "written twice") {
		t.Errorf("%v", err)
	}
	noTemps(t, root)
}

func TestReadLimits(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"big": strings.Repeat("0123456789abcde\n", 4096)})
	ctx := context.Background()
	var large *TooLargeError
	if _, err := w.Read(ctx, "big", 1000); !errors.As(err, &large) || !strings.Contains(err.Error(), "64.0 KB") || !strings.Contains(err.Error(), "from/to or grep") {
		t.Errorf("%v", err)
	}
	f, first, last, total, err := w.Lines(ctx, "big", 100, 200, 1<<20)
	if err != nil || first != 100 || last != 200 || total != 4096 || len(f.Data) != 101*16 || f.Hash != HashOf([]byte(get(t, filepath.Join(root, "big")))) {
		t.Errorf("%d %d %d %d %v", first, last, total, len(f.Data), err)
	}
	if f, first, last, _, err = w.Lines(ctx, "big", 4000, 0, 100); err != nil || first != 4000 || last != 4005 || len(f.Data) != 96 {
		t.Errorf("%d %d %d %v", first, last, len(f.Data), err)
	}
	must.WriteMode(t, filepath.Join(root, "line"), strings.Repeat("x", 1<<20), 0o644)
	if f, first, last, total, err = w.Lines(ctx, "line", 1, 0, 100); err != nil || first != 1 || last != 1 || total != 1 || len(f.Data) != 100 {
		t.Errorf("%d %d %d %d %v", first, last, total, len(f.Data), err)
	}
	if _, first, _, total, err = w.Lines(ctx, "line", 5, 0, 100); err != nil || first != 0 || total != 1 {
		t.Errorf("%d %d %v", first, total, err)
	}
	cancelled, cancel := context.WithCancel(ctx)
	cancel()
	if _, err := w.Read(cancelled, "big", 0); !errors.Is(err, context.Canceled) {
		t.Errorf("%v", err)
	}
}

// A file that grows while it is read: the hash is that of the bytes returned.
func TestGrowingFile(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"log": "start\n"})
	stop := make(chan struct{})
	done := make(chan struct{})
	go func() {
		defer close(done)
		f, err := os.OpenFile(filepath.Join(root, "log"), os.O_APPEND|os.O_WRONLY, 0)
		if err != nil {
			return
		}
		defer f.Close()
		for range 5000 {
			select {
			case <-stop:
				return
			default:
				_, _ = f.WriteString("another line\n")
			}
		}
	}()
	for range 50 {
		f, err := w.Read(context.Background(), "log", 0)
		if err != nil || f.Hash != HashOf(f.Data) {
			t.Fatalf("%v", err)
		}
	}
	close(stop)
	<-done
}

// SPEC 16.6: nothing that the repository configures is run.
func TestGitRunsNothing(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a.txt": "x\n", ".gitattributes": "*.txt filter=evil diff=evil\n"})
	processtest.RunGit(t, root, "init", "-q")
	processtest.RunGit(t, root, "add", ".")
	mark := filepath.Join(t.TempDir(), "ran")
	evil := filepath.Join(t.TempDir(), "evil.sh")
	must.WriteMode(t, evil, "#!/bin/sh\ntouch "+mark+"\ncat\n", 0o644)
	must.Do(t, os.Chmod(evil, 0o755))
	for _, k := range []string{"core.fsmonitor", "core.pager", "diff.external", "diff.evil.textconv", "core.sshCommand"} {
		processtest.RunGit(t, root, "config", k, evil)
	}
	must.WriteMode(t, filepath.Join(root, ".git/hooks/post-index-change"), get(t, evil), 0o644)
	must.Do(t, os.Chmod(filepath.Join(root, ".git/hooks/post-index-change"), 0o755))
	ctx := context.Background()
	paths, _, err := w.Glob(ctx, ".", "*.txt", 0)
	if err != nil || !slices.Equal(paths, []string{"a.txt"}) {
		t.Errorf("%v, %v", paths, err)
	}
	if _, err := w.List(ctx, "."); err != nil {
		t.Error(err)
	}
	if _, err := os.Stat(mark); err == nil {
		t.Error("a command of the repository was run")
	}
}

// SPEC 16.16: a file of which only its size is large stops nothing: each way of reading says
// so at once. Read whole, one of these would keep the test for an hour.
func TestHugeFilesAreNotRead(t *testing.T) {
	w, dir := open(t, map[string]string{"sparse": "", "d/x": ""})
	for _, name := range []string{"sparse", "d/x"} {
		must.Do(t, os.Truncate(filepath.Join(dir, name), 8<<40))
	}
	must.Do(t, os.Symlink("d/x", filepath.Join(dir, "link")))
	ctx := context.Background()
	for _, name := range []string{"sparse", "d/x", "link"} {
		_, _, stat := w.Stat(name)
		_, whole := w.Read(ctx, name, 0)
		_, _, _, _, lines := w.Lines(ctx, name, 1, 3, 1<<10)
		_, at := w.ReadNoFollow(ctx, strings.Replace(name, "link", "d/x", 1), 1<<10)
		for what, err := range map[string]error{"Stat": stat, "Read": whole, "Lines": lines, "ReadNoFollow": at} {
			if large := (*TooLargeError)(nil); !errors.As(err, &large) || !strings.Contains(err.Error(), "head, tail") {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
	}
}
