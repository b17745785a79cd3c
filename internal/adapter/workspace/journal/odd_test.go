package journal

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// odd are workspaces that few tests have: each makes one, and may say what else
// happens in it.
var odd = map[string]struct {
	do  func(t *testing.T, root string)
	git func(t *testing.T, root string, step int)
}{
	"submodule": {do: func(t *testing.T, root string) {
		other := realTemp(t)
		processtest.RunGit(t, other, "init", "-q")
		put(t, other, "inner/f", "1")
		put(t, other, "g", "1")
		processtest.RunGit(t, other, "add", "-A")
		processtest.RunGit(t, other, "commit", "-qm", "x")
		processtest.RunGit(t, root, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", other, "vendor/mod")
		processtest.RunGit(t, root, "commit", "-qm", "x")
	}, git: func(t *testing.T, root string, step int) {
		if dir := filepath.Join(root, "vendor/mod"); step%3 == 0 {
			if _, err := os.Stat(dir); err == nil {
				processtest.RunGit(t, dir, "add", "-A")
				processtest.RunGit(t, dir, "checkout", "-q", "-f")
			}
		}
	}},
	"nested repositories": {do: func(t *testing.T, root string) {
		for _, dir := range []string{"one", "one/two", "three"} {
			put(t, root, dir+"/f", "1")
			processtest.RunGit(t, filepath.Join(root, dir), "init", "-q")
			processtest.RunGit(t, filepath.Join(root, dir), "add", "f")
		}
	}},
	"sparse": {do: func(t *testing.T, root string) {
		for i := range 30 {
			put(t, root, fmt.Sprintf("s%d/sub/f%d", i%5, i), fmt.Sprint(i))
		}
		processtest.RunGit(t, root, "add", "-A")
		processtest.RunGit(t, root, "commit", "-qm", "x")
		processtest.RunGit(t, root, "sparse-checkout", "set", "--cone", "s1", "d0")
	}, git: func(t *testing.T, root string, step int) {
		_, _ = plainGit.Run(t.Context(), root, nil, nil, "sparse-checkout", []string{"add", "set"}[step%2], fmt.Sprintf("s%d", step%5), "d0", "d1")
	}},
	"a worktree": {do: func(t *testing.T, root string) {
		processtest.RunGit(t, root, "worktree", "add", "-q", "--detach", "tree")
	}, git: func(t *testing.T, root string, step int) {
		if dir := filepath.Join(root, "tree"); step%3 == 0 {
			if _, err := os.Stat(filepath.Join(dir, ".git")); err == nil {
				_, _ = plainGit.Run(t.Context(), dir, nil, nil, "checkout", "-q", "-f")
			}
		}
	}},
	"names that differ by case": {do: func(t *testing.T, root string) {
		processtest.RunGit(t, root, "config", "core.ignoreCase", "true")
		for _, p := range []string{"Case/File", "case/file", "case/FILE", "CASE/file", "İ/ı", "ß", "SS", "e\u0301", "\u00e9"} {
			put(t, root, p, p)
		}
	}},
	"names of all bytes": {do: func(t *testing.T, root string) {
		for i := range 255 {
			if c := byte(i + 1); c != '/' {
				put(t, root, "names/"+string([]byte{'x', c}), fmt.Sprint(i))
				put(t, root, "dirs/"+string([]byte{c, 'y'})+"/f", fmt.Sprint(i))
			}
		}
		put(t, root, "\n/\n/\n", "1")
		put(t, root, strings.Repeat("n", 255), "1")
		processtest.RunGit(t, root, "add", "-A")
	}},
	"a folder 200 deep": {do: func(t *testing.T, root string) {
		for i := range 200 {
			put(t, root, strings.Repeat("d/", i)+"f", fmt.Sprint(i))
		}
		processtest.RunGit(t, root, "add", "-A")
	}},
	"many files in one folder": {do: func(t *testing.T, root string) {
		for i := range 3000 {
			put(t, root, fmt.Sprintf("many/f%04d", i), fmt.Sprint(i))
		}
		processtest.RunGit(t, root, "add", "-A")
	}},
	"links to folders": {do: func(t *testing.T, root string) {
		put(t, root, "real/sub/f", "1")
		for name, to := range map[string]string{"link": "real", "real/loop": "..", "broken": "nothing", "real/sub/up": "../../link"} {
			must.Do(t, os.Symlink(to, filepath.Join(root, name)))
		}
	}},
	"no repository": {do: func(t *testing.T, root string) {
		must.Do(t, os.RemoveAll(filepath.Join(root, ".git")))
	}},
}

// SPEC 11.1, 19.1: what changes in an odd workspace is said, with both contents,
// and nothing else, by looking at every file and by following.
func TestOddWorkspaces(t *testing.T) {
	t.Parallel()
	n, first := worlds(t)
	for name, c := range odd {
		for seed := 2 * first; seed < 2*(first+n); seed++ {
			t.Run(fmt.Sprintf("%s/%d", name, seed), func(t *testing.T) {
				t.Parallel()
				root := realTemp(t)
				processtest.RunGit(t, root, "init", "-q")
				for i := range 12 {
					put(t, root, fmt.Sprintf("d%d/f%d", i%3, i), fmt.Sprint(i))
				}
				processtest.RunGit(t, root, "add", "-A")
				processtest.RunGit(t, root, "commit", "-qm", "x")
				c.do(t, root)
				in := must.Get(os.OpenRoot(root))(t)
				defer in.Close()
				opt := Options{FollowFrom: -1 + 2*int(seed%2)}
				past(&opt)
				j := open(t, root, opt)
				see(t, j, "")
				see(t, j, "")
				r := rand.New(rand.NewPCG(seed, 31))
				before := readTree(t, root)
				clock := newClock(t)
				for step := range 12 {
					clock.ticks()
					oddActs(in, r, slices.Sorted(maps.Keys(before)), step)
					if c.git != nil && r.IntN(2) == 0 {
						c.git(t, root, step)
					} else if name != "no repository" && r.IntN(3) == 0 {
						_, _ = plainGit.Run(t.Context(), root, nil, nil, "add", "-A")
					}
					after := readTree(t, root)
					compare(t, j, before, after, see(t, j, "").Effects, true)
					before = after
				}
			})
		}
	}
}

// oddActs changes a few of the files that are there.
func oddActs(in *os.Root, r *rand.Rand, files []string, step int) {
	pick := func() string {
		if len(files) == 0 {
			return "new"
		}
		return files[r.IntN(len(files))]
	}
	for range 1 + r.IntN(4) {
		p := pick()
		switch r.IntN(9) {
		case 0:
			_ = in.Remove(p)
		case 1:
			_ = in.Rename(p, filepath.Join(filepath.Dir(pick()), "moved\n"+fmt.Sprint(step)))
		case 2:
			_ = in.Rename(filepath.Dir(p), filepath.Join(filepath.Dir(pick()), fmt.Sprint("dir", step)))
		case 3:
			if in.MkdirAll(filepath.Join(filepath.Dir(p), "new", "er"), 0o755) == nil {
				_ = in.WriteFile(filepath.Join(filepath.Dir(p), "new", "er", "f"), fmt.Append(nil, step), 0o644)
			}
		case 4:
			_ = in.WriteFile(p+"~", []byte("in its place"), 0o644)
			_ = in.Rename(p+"~", p)
		case 5:
			_ = in.Chmod(p, 0o755)
		default:
			if info, err := in.Lstat(p); err == nil && info.Mode().IsRegular() {
				_ = in.WriteFile(p, fmt.Append(nil, "changed ", step), 0o644)
			}
		}
	}
}
