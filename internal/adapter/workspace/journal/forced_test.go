package journal

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

func watched(j *Journal) (out []string) {
	for _, d := range j.index.sorted() {
		for _, f := range d.files {
			out = append(out, d.join(f.name))
		}
	}
	slices.Sort(out)
	return out
}

// SPEC 19.1: of git's index only what changed is read; what is watched is what a
// journal that reads all of it watches, in each version, with files that are
// tracked and ignored, and with folders that go and come back with other rules.
func TestForcedIsWhole(t *testing.T) {
	t.Parallel()
	for seed := range uint64(4) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			t.Parallel()
			r := rand.New(rand.NewPCG(seed, 77))
			root := realTemp(t)
			processtest.RunGit(t, root, "init", "-q")
			for i := range 1500 { // more than one run
				put(t, root, fmt.Sprintf("many/%02d/file_with_a_long_name_%04d", i/100, i), "x")
			}
			for _, p := range []string{"a.o", "d/a.o", "d/b.c", "e/sub/a.o", "e/sub/b.c", "f/b.c"} {
				put(t, root, p, "x")
			}
			put(t, root, ".gitignore", "*.o\nout/\n")
			processtest.RunGit(t, root, "add", "-Af")
			processtest.RunGit(t, root, "update-index", "--index-version", fmt.Sprint(2+2*(seed%2)))
			opt := Options{FollowFrom: -1 + 2*int(seed/2%2)} // by looking at every file, or by following
			past(&opt)
			again := opt
			again.Dir = t.TempDir()
			j := open(t, root, again)
			see(t, j, "")
			see(t, j, "")
			away := map[string]bool{}
			dirs := []string{"d", "e", "e/sub", "f", "out"}
			for step := range 20 {
				dir := dirs[r.IntN(len(dirs))]
				there := func(p string) bool { _, err := os.Stat(filepath.Join(root, p)); return err == nil }
				name := []string{"a.o", "b.c", "c.o", "d.log"}[r.IntN(4)]
				did := ""
				switch r.IntN(8) {
				case 0:
					did = "rules in " + dir
					put(t, root, dir+"/.gitignore", []string{"*.c\n", "!*.o\n", "*.log\n"}[r.IntN(3)])
				case 1:
					did = "no rules in " + dir
					_ = os.Remove(filepath.Join(root, dir, ".gitignore"))
				case 2, 3:
					did = "add " + dir + "/" + name
					put(t, root, dir+"/"+name, fmt.Sprint(step))
					processtest.RunGit(t, root, "add", "-f", dir+"/"+name)
				case 4:
					did = "a folder goes: " + dir
					if there(dir) && os.Rename(filepath.Join(root, dir), filepath.Join(root, ".git", fmt.Sprint("away", step))) == nil {
						away[fmt.Sprint("away", step)] = true
					}
				case 5:
					did = "a folder comes: " + dir
					for _, p := range slices.Sorted(maps.Keys(away)) {
						if !there(dir) && there(filepath.Dir(dir)) && os.Rename(filepath.Join(root, ".git", p), filepath.Join(root, dir)) == nil {
							delete(away, p)
							if r.IntN(2) == 0 {
								put(t, root, dir+"/.gitignore", "*.c\n")
							}
						}
					}
				case 6:
					did = "no longer tracked: " + dir
					processtest.RunGit(t, root, "rm", "-rqf", "--cached", "--ignore-unmatch", dir)
				default:
					did = "changed " + dir + "/" + name
					if there(dir + "/" + name) {
						put(t, root, dir+"/"+name, fmt.Sprint("changed", step))
					}
				}
				if r.IntN(5) == 0 {
					did += ", taken up"
					must.Do(t, j.Close())
					j = open(t, root, again)
				}
				if r.IntN(2) == 0 { // something else in the index
					p := fmt.Sprintf("many/%02d/file_with_a_long_name_%04d", 3, 300+r.IntN(100))
					put(t, root, p, fmt.Sprint(step))
					processtest.RunGit(t, root, "add", p)
				}
				see(t, j, "")
				see(t, j, "")
				fresh := open(t, root, opt)
				see(t, fresh, "")
				if got, want := watched(j), watched(fresh); !slices.Equal(got, want) {
					t.Fatalf("step %d, %s: watched\n%q\nwant\n%q\nforced %v, want %v", step, did, less(got, want), less(want, got), j.forced, fresh.forced)
				}
			}
		})
	}
}

// less returns what is in a and not in b.
func less(a, b []string) (out []string) {
	for _, p := range a {
		if !slices.Contains(b, p) {
			out = append(out, p)
		}
	}
	return out
}

// SPEC 11.1: a file that is tracked and ignored goes, and comes back while git's
// index unchanged: it is watched again, also by a process that did not see it
// go.
func TestForcedComesBack(t *testing.T) {
	t.Parallel()
	for _, taken := range []bool{false, true} {
		root := realTemp(t)
		processtest.RunGit(t, root, "init", "-q")
		put(t, root, ".gitignore", "*.o\n")
		put(t, root, "d/a.o", "1")
		put(t, root, "d/b.o", "1")
		processtest.RunGit(t, root, "add", "-f", "d/a.o")
		opt := Options{Dir: t.TempDir()}
		past(&opt)
		j := open(t, root, opt)
		see(t, j, "")
		away := filepath.Join(root, ".git", "away")
		must.Do(t, os.Rename(filepath.Join(root, "d/a.o"), away))
		put(t, root, "new", "1")
		processtest.RunGit(t, root, "add", "new")
		expect(t, "gone", see(t, j, ""), "-d/a.o", "+new")
		if taken {
			must.Do(t, j.Close())
			j = open(t, root, opt)
			expect(t, "taken up", see(t, j, ""))
		}
		must.Do(t, os.Rename(away, filepath.Join(root, "d/a.o")))
		see(t, j, "")
		put(t, root, "d/a.o", "changed")
		put(t, root, "d/b.o", "changed")
		expect(t, "changed", see(t, j, ""), "d/a.o")
	}
}

// SPEC 11.1: a folder that goes and comes back with an ignore file of its own: what
// git tracks in it is watched, though nothing of it changed in git's index.
func TestFolderComesBackWithRules(t *testing.T) {
	t.Parallel()
	root := realTemp(t)
	processtest.RunGit(t, root, "init", "-q")
	put(t, root, "d/sub/a.o", "1")
	processtest.RunGit(t, root, "add", "-A")
	opt := Options{}
	past(&opt)
	j := open(t, root, opt)
	see(t, j, "")
	see(t, j, "")
	away := filepath.Join(root, ".git", "away")
	must.Do(t, os.Rename(filepath.Join(root, "d"), away))
	expect(t, "gone", see(t, j, ""), "-d/sub/a.o")
	must.Do(t, os.Rename(away, filepath.Join(root, "d")))
	put(t, root, "d/.gitignore", "*.o\n")
	see(t, j, "")
	put(t, root, "d/sub/a.o", "changed")
	expect(t, "changed", see(t, j, ""), "d/sub/a.o")
}
