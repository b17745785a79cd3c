package journal

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/pawl-agent/pawl/internal/adapter/workspace"
	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// asked returns git's own listing of an index (listed) and pawl's reading of the file
// (read).
func asked(t *testing.T, root, top, prefix string, idLen int) (listed, read []string, err error) {
	t.Helper()
	line := func(x *gitindex.Entry) string {
		// Of an entry that git does not compare the facts have no meaning, and one
		// that is only meant to be added has none.
		if !x.Plain || x.Mtime == 0 {
			return fmt.Sprintf("%q", x.Path)
		}
		return fmt.Sprintf("%q %x %d %d %d %d", x.Path, x.ID, x.Size, x.Ino, x.Mtime, x.Ctime)
	}
	out, gitErr := plainGit.Run(t.Context(), root, nil, nil, "ls-files", "-s", "-v", "--debug", "-z")
	if gitErr != nil {
		t.Fatal(gitErr)
	}
	must.Do(t, gitindex.ParseListing(out, func(x *gitindex.Entry) { listed = append(listed, line(x)) }))
	_, err = readIndex(filepath.Join(top, ".git/index"), func(f *os.File, size int64) error {
		_, err := gitindex.Read(f, size, prefix, idLen, func(x *gitindex.Entry) { read = append(read, line(x)) })
		return err
	})
	return listed, read, err
}

// SPEC 19.1: pawl reads git's index as git lists it, in each version and form; it
// does not guess at an unknown form.
func TestGitIndex(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		do     func(top string)
		sha256 bool
		asks   bool // git has to be asked
	}{
		{name: "plain"},
		{name: "version 3", do: func(top string) {
			put(t, top, "intent", "x")
			processtest.RunGit(t, top, "add", "-N", "intent")
			processtest.RunGit(t, top, "update-index", "--skip-worktree", "sub/deep/c")
		}},
		{name: "version 4", do: func(top string) { processtest.RunGit(t, top, "update-index", "--index-version", "4") }},
		{name: "version 4 with flags", do: func(top string) {
			processtest.RunGit(t, top, "update-index", "--index-version", "4")
			processtest.RunGit(t, top, "update-index", "--skip-worktree", "sub/a")
			processtest.RunGit(t, top, "update-index", "--assume-unchanged", "sub/b")
		}},
		{name: "sha256", sha256: true},
		{name: "sha256, version 4", sha256: true, do: func(top string) { processtest.RunGit(t, top, "update-index", "--index-version", "4") }},
		{name: "conflict", do: func(top string) {
			processtest.RunGit(t, top, "checkout", "-qb", "other")
			put(t, top, "sub/a", "theirs")
			processtest.RunGit(t, top, "commit", "-qam", "x")
			processtest.RunGit(t, top, "checkout", "-q", "-")
			put(t, top, "sub/a", "ours")
			processtest.RunGit(t, top, "commit", "-qam", "x")
			_, _ = plainGit.Run(t.Context(), top, nil, nil, "-c", "user.name=x", "-c", "user.email=x@x", "merge", "-q", "other")
		}},
		{name: "submodule", do: func(top string) {
			processtest.RunGit(t, top, "update-index", "--add", "--cacheinfo", "160000,1234567890123456789012345678901234567890,sub/module")
		}},
		{name: "without a hash", do: func(top string) {
			processtest.RunGit(t, top, "config", "index.skipHash", "true")
			put(t, top, "one-more", "x")
			processtest.RunGit(t, top, "add", "-A")
		}},
		{name: "untracked cache", do: func(top string) { processtest.RunGit(t, top, "update-index", "--force-untracked-cache") }},
		{name: "all removed", do: func(top string) { processtest.RunGit(t, top, "rm", "-rqf", "--cached", ".") }},
		{name: "split", asks: true, do: func(top string) {
			processtest.RunGit(t, top, "update-index", "--split-index")
			put(t, top, "one-more", "x")
			processtest.RunGit(t, top, "add", "-A")
		}},
		{name: "sparse", asks: true, do: func(top string) {
			processtest.RunGit(t, top, "sparse-checkout", "set", "--sparse-index", "--cone", "other")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			top, idLen, format := realTemp(t), 20, "sha1"
			if c.sha256 {
				idLen, format = 32, "sha256"
			}
			processtest.RunGit(t, top, "init", "-q", "--object-format="+format)
			for _, p := range []string{"a", "sub/a", "sub/b", "sub/deep/c", "sub/deep/\xffbad", "sub/new\nline", "sub/-rf", "other/x", "z"} {
				put(t, top, p, "content of "+p)
			}
			for i := range 300 { // more than one piece is read
				put(t, top, fmt.Sprintf("other/%0150d/%d", i, i), "x")
			}
			must.Do(t, os.Symlink("a", filepath.Join(top, "sub/link")))
			processtest.RunGit(t, top, "add", "-A")
			processtest.RunGit(t, top, "commit", "-qm", "x")
			if c.do != nil {
				c.do(top)
			}
			for _, prefix := range []string{"", "sub/", "sub/deep/", "other/"} {
				root := filepath.Join(top, prefix)
				if _, err := os.Stat(root); err != nil {
					continue // outside what is checked out
				}
				listed, read, err := asked(t, root, top, prefix, idLen)
				if c.asks {
					if !errors.Is(err, gitindex.ErrForm) {
						t.Errorf("%q: %v: it is read all the same", prefix, err)
					}
					r := &repo{git: plainGit, root: root, prefix: prefix, index: filepath.Join(top, ".git/index"), idLen: idLen}
					n := 0
					if _, _, err := r.entries(t.Context(), func() { n = 0 }, func(*gitindex.Entry) { n++ }); err != nil || n != len(listed) {
						t.Errorf("%q: %d entries, git lists %d: %v", prefix, n, len(listed), err)
					}
					continue
				}
				if err != nil || !slices.Equal(listed, read) {
					for i := range min(len(listed), len(read)) {
						if listed[i] != read[i] {
							t.Errorf("%q: entry %d\n git: %s\nread: %s", prefix, i, listed[i], read[i])
							break
						}
					}
					t.Errorf("%q: %d entries, git lists %d: %v", prefix, len(read), len(listed), err)
				}
			}
		})
	}
}

// SPEC 19.1: what a command overwrites is known and kept without a process of
// git, whether the content is a file of its own or in a pack.
func TestOldContentsWithoutGit(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	processtest.RunGit(t, root, "init", "-q")
	for i := range 20 {
		put(t, root, fmt.Sprintf("f%02d", i), fmt.Sprintf("content %d\n", i))
	}
	processtest.RunGit(t, root, "add", "-A")
	processtest.RunGit(t, root, "commit", "-qm", "x")
	opt := Options{Dir: t.TempDir()}
	past(&opt)
	j := open(t, root, opt)
	starter := &processtest.Plain{}
	j.opt.Git = &workspace.Git{Starter: starter, Confine: process.Free}
	see(t, j, "")
	before := len(starter.Started)
	for i, pack := range []bool{false, true} {
		if pack {
			processtest.RunGit(t, root, "repack", "-qad")
		}
		name := fmt.Sprintf("f%02d", i)
		put(t, root, name, "new\n")
		l, err := j.Snapshot(t.Context(), nil)
		if err != nil || len(l.Effects) != 1 || !l.Effects[0].Kept {
			t.Fatalf("packed %v: %+v, %v", pack, l.Effects, err)
		}
		data, err := j.Content(t.Context(), l.Effects[0].Before)
		if err != nil || string(data) != fmt.Sprintf("content %d\n", i) {
			t.Errorf("packed %v: %q, %v", pack, data, err)
		}
	}
	if n := len(starter.Started); n != before {
		t.Errorf("git was started %d times: %q", n-before, starter.Started[before].Args)
	}
}

// SPEC 19.1: an index that did not change is not read again, and one that did is
// read once.
func TestGitIndexIsReadOnce(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	processtest.RunGit(t, root, "init", "-q")
	put(t, root, "a", "1")
	processtest.RunGit(t, root, "add", "-A")
	j := open(t, root, Options{})
	past(&j.opt)
	see(t, j, "")
	read := func() bool {
		changed := j.forced == nil || j.gitChanged(j.now())
		see(t, j, "")
		return changed
	}
	for range 2 {
		if read() {
			t.Error("it is read though nothing changed")
		}
	}
	put(t, root, "b", "1")
	processtest.RunGit(t, root, "add", "-A")
	if !read() || read() {
		t.Error("it is not read once after it changed")
	}
	// In the moment in which it was written, the hash at its end tells.
	j.opt.Now = func() time.Time { return time.Now().Add(-time.Hour) }
	if read() {
		t.Error("one with the same hash is read")
	}
}
