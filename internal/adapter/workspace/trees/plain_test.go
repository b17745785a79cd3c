package trees

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// listing lists a tree: kinds, rights and contents, without git's own.
func listing(t *testing.T, dir string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(dir, func(p string, d fs.DirEntry, err error) error {
		rel, _ := filepath.Rel(dir, p)
		if err != nil || d.Name() == ".git" {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		text := ""
		switch {
		case info.Mode()&fs.ModeSymlink != 0:
			text, err = os.Readlink(p)
		case info.Mode().IsRegular():
			var raw []byte
			raw, err = os.ReadFile(p)
			text = string(raw)
		}
		fmt.Fprintf(&b, "%s %v %q\n", rel, info.Mode(), text)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// world makes random changes of files, the same ones in each folder.
type world struct {
	*rand.Rand
	dirs []string
}

var (
	worldNames  = []string{"a", "b", "c.log", "d.txt", "x", "x.go", "zz", ".hid", "a-b", "a0"}
	worldIgnore = []string{"*.log\n", "x/\n!x/a\n", "/a\n", "b/**\n", "zz\n!zz\n", "[ab]\n", "# no\n\n", "a*\n!a0\n"}
)

func (w world) pick(from []string) string { return from[w.IntN(len(from))] }

func (w world) path() string {
	parts := []string{w.pick(worldNames)}
	for w.IntN(2) == 0 && len(parts) < 4 {
		parts = append([]string{w.pick(worldNames)}, parts...)
	}
	return filepath.Join(parts...)
}

// change makes one change, where it can be made.
func (w world) change() {
	path, text, what := w.path(), strings.Repeat(w.pick([]string{"1", "2", "3"}), w.IntN(3)), w.IntN(12)
	ignore := w.pick(worldIgnore)
	if w.IntN(100) == 0 { // left to git
		path, ignore = path+"ü", "[^/]x\n"
	}
	for _, dir := range w.dirs {
		full := filepath.Join(dir, path)
		switch {
		case what == 0:
			_ = os.RemoveAll(full)
		case what == 1:
			if info, err := os.Lstat(full); err == nil && info.Mode().IsRegular() {
				_ = os.Chmod(full, info.Mode().Perm()^0o111)
			}
		case what == 2:
			_ = os.Remove(full)
			_ = os.Symlink("a", full)
		case what == 3:
			_ = os.WriteFile(filepath.Join(filepath.Dir(full), ".gitignore"), []byte(ignore), 0o644)
		case what == 4 && filepath.Dir(full) != dir: // a folder becomes a file
			_ = os.RemoveAll(filepath.Dir(full))
			_ = os.WriteFile(filepath.Dir(full), []byte(text), 0o644)
		default:
			_ = os.MkdirAll(filepath.Dir(full), 0o755)
			_ = os.WriteFile(full, []byte(text), 0o644)
		}
	}
}

// What is made, added, compared and merged here is what git makes, adds, compares and
// merges: in random worlds both give the same files, trees and conflicts.
func TestPlainIsGits(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	worlds, plainMerges, plainAdds := 12, 0, 0
	if n, err := strconv.Atoi(os.Getenv("PAWL_WORLDS")); err == nil {
		worlds = n // by hand
	}
	for seed := range worlds {
		w := world{Rand: rand.New(rand.NewPCG(uint64(seed), 7))}
		root := t.TempDir()
		if seed%2 == 0 {
			run(t, root, "init", "-q")
		}
		w.dirs = []string{root}
		write(t, root, map[string]string{"keep": "k"})
		for range w.IntN(25) {
			w.change()
		}
		if seed%4 == 0 {
			_ = os.RemoveAll(filepath.Join(root, ".gitignore"))
			run(t, root, "add", "-A")
			run(t, root, "commit", "-q", "-m", "1")
			run(t, root, "gc", "-q")
		}
		s := open(t, root)
		if !s.plain {
			t.Fatal("nothing is plain here")
		}
		base := must[string](t)(s.Snapshot(t.Context()))
		other, err := Open(t.Context(), plainGit, filepath.Dir(s.dir), root)
		if err != nil {
			t.Fatal(err)
		}
		other.plain = false
		var results []string
		tip := base
		for round := range 3 {
			one, two := fmt.Sprint("p", round), fmt.Sprint("g", round)
			from := tip
			if w.IntN(2) == 0 {
				from = base
			}
			w.dirs = []string{must[string](t)(s.Checkout(t.Context(), one, from)), must[string](t)(other.Checkout(t.Context(), two, from))}
			if a, b := listing(t, w.dirs[0]), listing(t, w.dirs[1]); a != b {
				t.Fatalf("seed %d: the tree is\n%s\nand not\n%s", seed, a, b)
			}
			if out := run(t, w.dirs[0], "status", "--porcelain"); out != "" {
				t.Errorf("seed %d: git says of an unchanged tree:\n%s", seed, out)
			}
			if _, err := s.addPlainly(t.Context(), one, must[string](t)(s.treeOf(t.Context(), from))); err == nil {
				plainAdds++
			}
			for range 1 + w.IntN(6) {
				w.change()
			}
			a := must[string](t)(s.Commit(t.Context(), one, from, "m"))
			b := must[string](t)(other.Commit(t.Context(), two, from, "m"))
			if same := must[bool](t)(s.Same(t.Context(), a, b)); !same || (a == from) != (b == from) {
				t.Fatalf("seed %d round %d: the result is\n%s\nand not\n%s\nof\n%s", seed, round, run(t, s.dir, "--git-dir=.", "diff-tree", "-r", from, a), run(t, s.dir, "--git-dir=.", "diff-tree", "-r", from, b), listing(t, w.dirs[0]))
			}
			var ours, gits []string
			x, y := must[string](t)(s.treeOf(t.Context(), from)), must[string](t)(s.treeOf(t.Context(), a))
			note := func(to *[]string) func(was, now file) error {
				return func(was, now file) error {
					*to = append(*to, fmt.Sprint(was.mode, strings.Trim(was.id, "0"), now.mode, strings.Trim(now.id, "0"), now.path))
					return nil
				}
			}
			if err := errors.Join(s.differ(t.Context(), x, y, note(&ours)), s.diffTree(t.Context(), x, y, note(&gits))); err != nil {
				t.Fatal(err)
			}
			slices.Sort(ours)
			slices.Sort(gits)
			if !slices.Equal(ours, gits) {
				t.Fatalf("seed %d: the changes are %q and not %q", seed, ours, gits)
			}
			if a == from {
				continue
			}
			for _, theirs := range append(results, a) {
				tree, err := s.mergePlainly(t.Context(), tip, theirs)
				want, conflicts, gerr := s.mergeTree(t.Context(), tip, theirs)
				if gerr != nil {
					t.Fatal(gerr)
				}
				if err == nil && (tree != want || len(conflicts) > 0) {
					t.Fatalf("seed %d: merged to %s and not to %s %q", seed, tree, want, conflicts)
				} else if err == nil {
					plainMerges++
				}
			}
			results = append(results, a)
			if merged, conflicts, err := s.Merge(t.Context(), tip, a, "m"); err != nil {
				t.Fatal(err)
			} else if len(conflicts) == 0 {
				tip = merged
			}
		}
	}
	if plainMerges < worlds/2 || plainAdds < worlds {
		t.Errorf("%d merges and %d trees were plain: the test says little", plainMerges, plainAdds)
	}
}

// diffTree is differ, by git.
func (s *Store) diffTree(ctx context.Context, from, to string, take func(was, now file) error) error {
	out, err := s.git(ctx, nil, "diff-tree", "-r", "-z", "--raw", "--no-renames", "--no-abbrev", from, to)
	if err != nil {
		return err
	}
	fields := strings.Split(strings.TrimRight(out, "\x00"), "\x00")
	for i := 0; i+1 < len(fields); i += 2 {
		meta, path := strings.Fields(strings.TrimPrefix(fields[i], ":")), fields[i+1]
		if len(meta) != 5 {
			return fmt.Errorf("git diff-tree answered %q", fields[i])
		}
		if err := take(file{path, meta[0], meta[2]}, file{path, meta[1], meta[3]}); err != nil {
			return err
		}
	}
	return nil
}
