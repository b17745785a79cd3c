package gitindex

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// An index that ends early or is damaged is an error or other entries, never a
// panic or an endless reading. SPEC 19.2
func FuzzRead(f *testing.F) {
	top := f.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"update-index", "--index-version", "4"}} {
		if err := os.WriteFile(filepath.Join(top, "b"), []byte("x"), 0o644); err != nil {
			f.Fatal(err)
		}
		processtest.RunGit(f, top, args...)
		if data, err := os.ReadFile(filepath.Join(top, ".git/index")); err == nil {
			f.Add(data)
			f.Add(data[:len(data)-30])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		n := 0
		_, _ = Read(bytes.NewReader(data), int64(len(data)), "", 20, func(x *Entry) {
			if n++; len(x.Path) == 0 || n > len(data) {
				t.Fatalf("%d entries in %d bytes, a path of %d", n, len(data), len(x.Path))
			}
		})
		_, _ = NewSet(bytes.NewReader(data), int64(len(data)), "", 20)
	})
}

// A set answers like a list of the same paths. SPEC 19.2
func TestSet(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		var paths []string
		s := &Set{}
		n := r.IntN(200)
		for range n {
			parts := make([]string, 1+r.IntN(4))
			for i := range parts {
				parts[i] = []string{"a", "ab", "a-b", "a.c", "b", "\xff", strings.Repeat("long", 90), "z"}[r.IntN(8)]
			}
			paths = append(paths, strings.Join(parts, "/"))
		}
		slices.Sort(paths)
		for _, p := range paths {
			must.Do(t, s.Add(&Entry{Path: []byte(p), Module: strings.HasSuffix(p, "z")}))
		}
		slices.Sort(paths)
		paths = slices.Compact(paths)
		if s.Len() != len(paths) {
			t.Fatalf("%d, want %d of %q", s.Len(), len(paths), paths)
		}
		for range 300 {
			q := []string{"a", "ab/z", "a-b", "nothing", "", "a/a", "b/a.c/z", "zz", "\xff/z"}[r.IntN(9)]
			if len(paths) > 0 && r.IntN(2) == 0 {
				q = paths[r.IntN(len(paths))]
			}
			if got, want := s.Has(q), slices.Contains(paths, q); got != want {
				t.Fatalf("Has(%q) = %v in %q", q, got, paths)
			}
			if got, want := s.Below(q), slices.ContainsFunc(paths, func(p string) bool { return strings.HasPrefix(p, q+"/") }); got != want {
				t.Fatalf("Below(%q) = %v in %q", q, got, paths)
			}
			if got, want := s.Module(q), slices.Contains(paths, q) && strings.HasSuffix(q, "z"); got != want {
				t.Fatalf("Module(%q) = %v in %q", q, got, paths)
			}
		}
	}
	if s := (&Set{}); s.Add(&Entry{Path: []byte("b")}) != nil || s.Add(&Entry{Path: []byte("a")}) == nil {
		t.Error("paths in another order than git's are not refused")
	}
}
