package trees

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/core/fault"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// plainGit is git where nothing is confined.
var plainGit = &workspace.Git{Starter: &processtest.Plain{}, Confine: process.Free}

// project makes a folder with files. With git, they are committed in it.
func project(t *testing.T, git bool, files map[string]string) string {
	t.Helper()
	t.Setenv("HOME", t.TempDir()) // nobody's git configuration
	dir := t.TempDir()
	write(t, dir, files)
	if git {
		run(t, dir, "init", "-q", "-b", "main")
		run(t, dir, "add", "-A")
		run(t, dir, "commit", "-q", "-m", "first")
	}
	return dir
}

func write(t *testing.T, dir string, files map[string]string) {
	t.Helper()
	for name, text := range files {
		must.WriteMode(t, filepath.Join(dir, name), text, 0o644)
	}
}

func run(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return strings.TrimSpace(processtest.RunGit(t, dir, args...))
}

func open(t *testing.T, root string) *Store {
	t.Helper()
	return must.Get(Open(t.Context(), plainGit, t.TempDir(), root))(t)
}

// state is all that git knows of a project, and its files.
func state(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	_ = filepath.WalkDir(dir, func(p string, d os.DirEntry, err error) error {
		if err == nil && !d.IsDir() {
			text, _ := os.ReadFile(p)
			fmt.Fprintf(&b, "%s %q\n", p, text)
		}
		return nil
	})
	return b.String()
}

// SPEC 14.2: a worker's tree is the project as it is, byte for byte, with and
// without a repository, and the project's own is untouched.
func TestTreesAreTheProject(t *testing.T) {
	files := map[string]string{
		"a.txt": "one\n", "crlf.txt": "one\r\ntwo\r\n", "mixed.txt": "one\r\ntwo\n", "dir/deep/b.go": "package b\n",
		".gitattributes": "* text=auto eol=crlf ident filter=evil working-tree-encoding=UTF-16 export-ignore\n",
		".gitignore":     "ignored\n*.log\n", "ünï 名.txt": "x", "$Id$.txt": "$Id$\n",
	}
	for _, git := range []bool{true, false} {
		t.Run(fmt.Sprintf("git=%v", git), func(t *testing.T) {
			root := project(t, git, map[string]string{"a.txt": "one\n", "dir/deep/b.go": "package b\n"})
			write(t, root, files)
			if git {
				run(t, root, "config", "filter.evil.clean", "touch "+filepath.Join(root, "HARM"))
				run(t, root, "config", "core.fsmonitor", "touch "+filepath.Join(root, "HARM"))
				run(t, root, "config", "core.autocrlf", "true")
			}
			write(t, root, map[string]string{"ignored": "secret", "x.log": "log", "new.txt": "new\n", "a.txt": "changed\n"})
			if err := os.Chmod(filepath.Join(root, "dir/deep/b.go"), 0o755); err != nil {
				t.Fatal(err)
			}
			before := state(t, root)
			s := open(t, root)
			base := must.Get(s.Snapshot(t.Context()))(t)
			dir := must.Get(s.Checkout(t.Context(), "w1", base))(t)
			if after := state(t, root); after != before {
				t.Errorf("the project changed:\n%s\n%s", before, after)
			}
			want := map[string]string{"new.txt": "new\n", "a.txt": "changed\n"}
			for name, text := range files {
				if _, set := want[name]; !set {
					want[name] = text
				}
			}
			for name, text := range want {
				got, err := os.ReadFile(filepath.Join(dir, name))
				if err != nil || string(got) != text {
					t.Errorf("%s: %q, %v; want %q", name, got, err, text)
				}
			}
			for _, name := range []string{"ignored", "x.log"} {
				if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
					t.Errorf("%s is ignored, and in the tree", name)
				}
			}
			if info, err := os.Stat(filepath.Join(dir, "dir/deep/b.go")); err != nil || info.Mode()&0o100 == 0 {
				t.Errorf("the right to execute is lost: %v", err)
			}
			if out := run(t, dir, "status", "--porcelain"); out != "" {
				t.Errorf("git says of an unchanged tree:\n%s", out)
			}
			if git {
				if log := run(t, dir, "log", "--format=%s"); log != "the project when the work began\nfirst" {
					t.Errorf("a worker sees the history %q", log)
				}
			}
			if again := must.Get(s.Commit(t.Context(), "w1", base, "nothing"))(t); again != base {
				t.Errorf("a commit of nothing: %s", again)
			}
			if _, err := os.Stat(filepath.Join(root, "HARM")); err == nil {
				t.Error("a program of the repository was run")
			}
		})
	}
}

func TestMerge(t *testing.T) {
	root := project(t, true, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\n7\n", "gone.txt": "x\n", "keep.txt": "k\n"})
	s := open(t, root)
	base := must.Get(s.Snapshot(t.Context()))(t)
	result := func(name string, change func(dir string)) string {
		dir := must.Get(s.Checkout(t.Context(), name, base))(t)
		change(dir)
		return must.Get(s.Commit(t.Context(), name, base, name))(t)
	}
	first := result("first", func(dir string) {
		write(t, dir, map[string]string{"a.txt": "ONE\n2\n3\n4\n5\n6\n7\n", "sub/new.txt": "new\n"})
	})
	second := result("second", func(dir string) {
		write(t, dir, map[string]string{"a.txt": "1\n2\n3\n4\n5\n6\nSEVEN\n"})
		_ = os.Remove(filepath.Join(dir, "gone.txt"))
	})
	third := result("third", func(dir string) { write(t, dir, map[string]string{"a.txt": "eins\n2\n3\n4\n5\n6\n7\n"}) })

	tip, conflicts, err := s.Merge(t.Context(), base, first, "m")
	if err != nil || conflicts != nil {
		t.Fatal(conflicts, err)
	}
	tip, conflicts, err = s.Merge(t.Context(), tip, second, "m")
	if err != nil || conflicts != nil {
		t.Fatal(conflicts, err)
	}
	if none, conflicts, err := s.Merge(t.Context(), tip, third, "m"); err != nil || none != "" || !slices.Equal(conflicts, []string{"a.txt"}) {
		t.Errorf("a conflict: %q %q %v", none, conflicts, err)
	}
	if _, _, err := s.Merge(t.Context(), tip, "0123456789012345678901234567890123456789", "m"); err == nil {
		t.Error("a commit that does not exist was merged")
	}
	changes, err := s.Changes(t.Context(), base, tip)
	if err != nil || len(changes) != 3 {
		t.Fatalf("%+v %v", changes, err)
	}
	texts := must.Get(s.Read(t.Context(), changes))(t)
	for i, want := range []struct{ path, text string }{{"a.txt", "ONE\n2\n3\n4\n5\n6\nSEVEN\n"}, {"gone.txt", ""}, {"sub/new.txt", "new\n"}} {
		c := changes[i]
		if c.Path != want.path || c.Deleted != (want.text == "") {
			t.Errorf("%+v, want %s", c, want.path)
		}
		if string(texts[i]) != want.text || c.Deleted != (texts[i] == nil) {
			t.Errorf("%s: %q", c.Path, texts[i])
		}
	}
}

// SPEC 14.2: changes are those of git, at every depth, where a file becomes a folder and
// back, and where only a right changes.
func TestChanges(t *testing.T) {
	s := open(t, project(t, false, map[string]string{
		"same/deep/er/x": "x\n", "file": "f\n", "dir/a": "a\n", "dir/b/c": "c\n", "gone/a/b": "b\n", "right": "r\n", "a-b": "1\n", "a/b": "2\n",
	}))
	base := must.Get(s.Snapshot(t.Context()))(t)
	dir := must.Get(s.Checkout(t.Context(), "w", base))(t)
	for _, gone := range []string{"file", "dir", "gone"} {
		must.Do(t, os.RemoveAll(filepath.Join(dir, gone)))
	}
	must.Do(t, os.Chmod(filepath.Join(dir, "right"), 0o755))
	write(t, dir, map[string]string{"file/now/a": "f\n", "dir": "d\n", "same/deep/er/y": "y\n", "ü\t\"": "new\n", "a/b": "3\n"})
	commit := must.Get(s.Commit(t.Context(), "w", base, "w"))(t)
	for _, pair := range [][2]string{{base, commit}, {commit, base}, {base, base}} {
		var got []string
		for _, c := range must.Get(s.Changes(t.Context(), pair[0], pair[1]))(t) {
			what := "M"
			if c.Deleted {
				what = "D"
			}
			got = append(got, what, c.Path)
		}
		want := strings.Split(strings.TrimRight(run(t, s.dir, "--git-dir=.", "diff-tree", "-r", "-z", "--name-status", "--no-renames", pair[0], pair[1]), "\x00"), "\x00")
		for i := 0; i < len(want); i += 2 {
			want[i] = strings.Replace(want[i], "A", "M", 1)
		}
		if strings.Join(sorted(got), " ") != strings.Join(sorted(want), " ") {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

// sorted sorts pairs of a letter and a path.
func sorted(pairs []string) (out []string) {
	for p := range slices.Chunk(pairs, 2) {
		out = append(out, strings.Join(p, " "))
	}
	slices.Sort(out)
	return out
}

// What a worker does to git's files in its tree counts for nothing, and what
// no result may bring is refused with the file's name.
func TestHostileResults(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *testing.T, dir string)
		refuse string // part of the refusal; "" takes it
	}{
		{"a link out", func(t *testing.T, dir string) { link(t, "/etc/passwd", dir, "l") }, "l is a symbolic link"},
		{"a file becomes a link", func(t *testing.T, dir string) {
			_ = os.Remove(filepath.Join(dir, "a.txt"))
			link(t, "../../x", dir, "a.txt")
		}, "a.txt is a symbolic link"},
		{"a nested repository", func(t *testing.T, dir string) {
			nested := filepath.Join(dir, "nested")
			write(t, nested, map[string]string{"x": "x"})
			run(t, nested, "init", "-q")
			run(t, nested, "add", "-A")
			run(t, nested, "commit", "-q", "-m", "x")
		}, "nested is a nested repository"},
		{"its own index and head", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "new\n"})
			run(t, dir, "rm", "-q", "--cached", "-r", ".")
			run(t, dir, "commit", "-q", "-m", "forged")
			run(t, dir, "update-index", "--add", "--cacheinfo", "100644,"+run(t, dir, "hash-object", "-w", "a.txt")+",forged")
		}, ""},
		{"git points elsewhere", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "new\n"})
			_ = os.WriteFile(filepath.Join(dir, ".git"), []byte("gitdir: /nowhere\n"), 0o644)
		}, ""},
		{"attributes that run", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "new\n", ".gitattributes": "* filter=x merge=x diff=x\n"})
		}, ""},
		{"a folder without rights", func(t *testing.T, dir string) {
			write(t, dir, map[string]string{"a.txt": "new\n", "ro/x": "x"})
			_ = os.Chmod(filepath.Join(dir, "ro"), 0o500)
		}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			root := project(t, true, map[string]string{"a.txt": "old\n", "b.txt": "b\n"})
			before := state(t, root)
			s := open(t, root)
			base := must.Get(s.Snapshot(t.Context()))(t)
			dir := must.Get(s.Checkout(t.Context(), "w", base))(t)
			c.change(t, dir)
			commit := must.Get(s.Commit(t.Context(), "w", base, "result"))(t)
			changes, err := s.Changes(t.Context(), base, commit)
			switch {
			case c.refuse != "" && (!errors.Is(err, ErrRefused) || !strings.Contains(err.Error(), c.refuse)):
				t.Errorf("%v, want a refusal: %s", err, c.refuse)
			case c.refuse == "" && (err != nil || !slices.ContainsFunc(changes, func(c Change) bool { return c.Path == "a.txt" && !c.Deleted })):
				t.Errorf("%+v %v", changes, err)
			}
			for _, ch := range changes {
				if ch.Path == "forged" || ch.Path == "b.txt" {
					t.Errorf("%+v comes from git's files, not from the tree", ch)
				}
			}
			if err := s.Remove(t.Context(), "w"); err != nil {
				t.Error(err)
			}
			if _, err := os.Stat(dir); err == nil {
				t.Error("the tree is still there")
			}
			if state(t, root) != before {
				t.Error("the project changed")
			}
		})
	}
	t.Run("a name that is a path", func(t *testing.T) {
		s := open(t, project(t, false, map[string]string{"a": "a"}))
		for _, name := range []string{"", "..", "../x", "a/b", "-x", ".git"} {
			if _, err := s.Checkout(t.Context(), name, "HEAD"); err == nil {
				t.Errorf("a tree named %q", name)
			}
		}
	})
}

func link(t *testing.T, to, dir, name string) {
	t.Helper()
	must.Do(t, os.Symlink(to, filepath.Join(dir, name)))
}

// States of a repository in which its index does not serve.
func TestSnapshotOfAnyRepository(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, root string){
		"no commit yet": func(t *testing.T, root string) { run(t, root, "init", "-q") },
		"of SHA-256": func(t *testing.T, root string) {
			run(t, root, "init", "-q", "--object-format=sha256")
			run(t, root, "add", "-A")
			run(t, root, "commit", "-q", "-m", "1")
		},
		"of SHA-256, packed, a folder of one": func(t *testing.T, root string) {
			run(t, filepath.Dir(root), "init", "-q", "--object-format=sha256")
			run(t, root, "add", "-A")
			run(t, root, "commit", "-q", "-m", "1")
			run(t, root, "gc", "-q")
		},
		"a folder of one": func(t *testing.T, root string) { run(t, filepath.Dir(root), "init", "-q") },
		"a merge half done": func(t *testing.T, root string) {
			run(t, root, "init", "-q", "-b", "main")
			run(t, root, "add", "-A")
			run(t, root, "commit", "-q", "-m", "1")
			run(t, root, "checkout", "-q", "-b", "other")
			write(t, root, map[string]string{"a.txt": "other\n"})
			run(t, root, "commit", "-qam", "2")
			run(t, root, "checkout", "-q", "main")
			write(t, root, map[string]string{"a.txt": "main\n"})
			run(t, root, "commit", "-qam", "3")
			_ = processtest.Git(root, "merge", "other").Run()
			write(t, root, map[string]string{"a.txt": "by hand\n"})
		},
		"tracked though ignored": func(t *testing.T, root string) {
			write(t, root, map[string]string{".gitignore": "a.txt\n"})
			run(t, root, "init", "-q")
			run(t, root, "add", "-A", "-f")
			run(t, root, "commit", "-q", "-m", "1")
			write(t, root, map[string]string{"a.txt": "by hand\n"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv("HOME", t.TempDir())
			root := filepath.Join(t.TempDir(), "top", "project")
			write(t, root, map[string]string{"a.txt": "by hand\n", "sub/b.txt": "b\n"})
			prepare(t, root)
			s := open(t, root)
			dir := must.Get(s.Checkout(t.Context(), "w", must.Get(s.Snapshot(t.Context()))(t)))(t)
			for file, want := range map[string]string{"a.txt": "by hand\n", "sub/b.txt": "b\n"} {
				if got, err := os.ReadFile(filepath.Join(dir, file)); err != nil || string(got) != want {
					t.Errorf("%s: %q %v", file, got, err)
				}
			}
		})
	}
}

func TestManyTreesAtOnce(t *testing.T) {
	root := project(t, true, map[string]string{"a.txt": "a\n"})
	s := open(t, root)
	base := must.Get(s.Snapshot(t.Context()))(t)
	var wg sync.WaitGroup
	for i := range 16 {
		wg.Go(func() {
			name := fmt.Sprint("w", i)
			dir, err := s.Checkout(context.Background(), name, base)
			if err != nil {
				t.Error(err)
				return
			}
			_ = os.WriteFile(filepath.Join(dir, name), []byte("x"), 0o644)
			if commit, err := s.Commit(context.Background(), name, base, name); err != nil || commit == base {
				t.Error(commit, err)
			}
			if err := s.Remove(context.Background(), name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	again := must.Get(Open(t.Context(), plainGit, filepath.Dir(s.dir), root))(t) // after a crash
	if _, err := again.Checkout(t.Context(), "w1", base); err != nil {
		t.Error(err)
	}
}

// A machine without git is told what to do.
func TestNoGit(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := Open(t.Context(), plainGit, t.TempDir(), "")
	if fault.CategoryOf(err) != fault.Configuration || !strings.Contains(err.Error(), "install git") {
		t.Errorf("%v", err)
	}
}

// SPEC 14.2: whatever was killed in the middle, the next one goes on: locks of git that
// nobody holds any more, and a repository that was half made.
func TestAfterAKill(t *testing.T) {
	root := project(t, true, map[string]string{"a.txt": "a\n", ".gitattributes": "* text eol=crlf\n"})
	dir := t.TempDir()
	write(t, dir, map[string]string{"store.git.new/HEAD": "ref: refs/heads/main\n", "store.git.new/config": "[core]\n"})
	s := must.Get(Open(t.Context(), plainGit, dir, root))(t)
	base := must.Get(s.Snapshot(t.Context()))(t)
	must.Get(s.Checkout(t.Context(), "verify", base))(t)
	for _, lock := range []string{
		"snapshot.index.lock", "worktrees/verify.index.lock", "worktrees/verify/index.lock", "worktrees/verify/HEAD.lock",
		"config.lock", "packed-refs.lock", "HEAD.lock", "objects/pack/tmp_pack_x",
	} {
		write(t, s.dir, map[string]string{lock: "half"})
	}
	s = must.Get(Open(t.Context(), plainGit, dir, root))(t)
	if again := must.Get(s.Snapshot(t.Context()))(t); !must.Get(s.Same(t.Context(), base, again))(t) {
		t.Error("another snapshot")
	}
	tree := must.Get(s.Checkout(t.Context(), "verify", base))(t)
	if text, err := os.ReadFile(filepath.Join(tree, "a.txt")); string(text) != "a\n" {
		t.Errorf("%q %v", text, err)
	}
	run(t, tree, "status") // takes the lock of the tree's own index
	write(t, tree, map[string]string{"b.txt": "b\n"})
	run(t, tree, "add", "b.txt")
	commit := must.Get(s.Commit(t.Context(), "verify", base, "b"))(t)
	must.Do(t, s.Pack(t.Context(), io.Discard, commit))
	if left, err := filepath.Glob(filepath.Join(s.dir, "objects", "pack", "tmp_*")); err != nil || len(left) > 0 {
		t.Errorf("left: %v, %v", left, err)
	}
}
