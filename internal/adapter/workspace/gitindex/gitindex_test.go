package gitindex

import (
	"bytes"
	"encoding/binary"
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

func git(t testing.TB, root string, args ...string) {
	t.Helper()
	if out, err := processtest.Git(root, args...).CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v\n%s", args, err, out)
	}
}

// An index that ends early or is damaged is an error or other entries, never a
// panic or an endless reading. SPEC 19.2
func FuzzRead(f *testing.F) {
	top := f.TempDir()
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"update-index", "--index-version", "4"}} {
		if err := os.WriteFile(filepath.Join(top, "b"), []byte("x"), 0o644); err != nil {
			f.Fatal(err)
		}
		git(f, top, args...)
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

// A set answers like a list of the same paths, in little memory. SPEC 19.2
func TestSet(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(7, 7))
	for range 50 {
		var paths []string
		b := &builder{}
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
			b.add([]byte(p), strings.HasSuffix(p, "z"))
		}
		s := &b.Set
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
	if b := (&builder{}); b.add([]byte("b"), false) != nil || b.add([]byte("a"), false) == nil {
		t.Error("paths in another order than git's are not refused")
	}
}

func TestSetIsSmall(t *testing.T) {
	t.Parallel()
	b := &builder{}
	for i := range 10_000 {
		must.Do(t, b.add(fmt.Appendf(nil, "some/folder/below/%03d/file_%05d.go", i/100, i), false))
	}
	if n := len(b.data) + 4*len(b.starts); n > 16*10_000 {
		t.Errorf("%d bytes for 10,000 paths", n)
	}
}

// made is an index of a version; of an entry of 3 and 4 some have more flags.
func made(version byte, paths []string, of map[string]byte) []byte {
	out := append([]byte(indexMagic), 0, 0, 0, version)
	out = binary.BigEndian.AppendUint32(out, uint32(len(paths)))
	before := ""
	for _, p := range paths {
		e := make([]byte, indexStat)
		binary.BigEndian.PutUint32(e[24:], 0o100644)
		e = append(e, bytes.Repeat([]byte{of[p]}, 20)...)
		flags := uint16(min(len(p), 0xfff))
		if more := version > 2 && of[p]%3 == 2; more {
			e = binary.BigEndian.AppendUint16(e, flags|flagExtended)
			e = binary.BigEndian.AppendUint16(e, flagSkipWorktree)
		} else {
			e = binary.BigEndian.AppendUint16(e, flags)
		}
		if version < 4 {
			e = append(e, p...)
			e = append(e, make([]byte, (len(e)/8+1)*8-len(e))...)
		} else {
			same := 0
			for same < min(len(p), len(before)) && p[same] == before[same] {
				same++
			}
			cut := len(before) - same
			if cut > 127 {
				panic("paths are short here")
			}
			e = append(append(append(e, byte(cut)), p[same:]...), 0)
		}
		before = p
		out = append(out, e...)
	}
	out = append(out, "TREE\x00\x00\x00\x03abc"...)
	return append(out, make([]byte, 20)...)
}

// What is read of an index that changed is what changed in it, and what was
// marked is what a reading of the whole marks. SPEC 19.1
func TestKnown(t *testing.T) {
	t.Parallel()
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 5))
		of := map[string]byte{}
		for i := range 3000 + r.IntN(2000) {
			of[fmt.Sprintf("m%02d/package%05d/file_%d.go", i/10%50, i/10, i%10)] = byte(r.IntN(4))
		}
		var k Known
		was := map[string]byte{}
		version := byte(2 + seed%3)
		for round := range 20 {
			edits := 0
			if round > 0 {
				all := slices.Sorted(maps.Keys(of))
				for range r.IntN(4) {
					edits++
					switch p := all[r.IntN(len(all))]; r.IntN(4) {
					case 0:
						delete(of, p)
					case 1:
						of[p+"x"] = 1
					default:
						of[p]++
					}
				}
				if r.IntN(10) == 0 { // a folder goes
					maps.DeleteFunc(of, func(p string, _ byte) bool { return strings.HasPrefix(p, "m07/") })
				}
				if r.IntN(15) == 0 {
					version = byte(2 + r.IntN(3))
					edits += len(of)
				}
			}
			paths := slices.Sorted(maps.Keys(of))
			data := made(version, paths, of)
			now := map[string]byte{}
			odd := func(v byte) bool { return v%97 == 5 }
			marked, _, err := k.Changed(bytes.NewReader(data), int64(len(data)), 20, func(e *Entry) bool {
				now[string(e.Path)] = e.ID[0]
				return odd(e.ID[0])
			})
			must.Do(t, err)
			var want []string
			_, err = Read(bytes.NewReader(data), int64(len(data)), "", 20, func(e *Entry) {
				if odd(e.ID[0]) {
					want = append(want, string(e.Path))
				}
			})
			if err != nil || !slices.Equal(marked, want) {
				t.Fatalf("seed %d, round %d, version %d: marked %q, want %q, %v", seed, round, version, marked, want, err)
			}
			for p, v := range of {
				if got, ok := now[p]; ok && got != v || !ok && was[p] != v {
					t.Fatalf("seed %d, round %d, version %d: %s is %d, known %d, read %d", seed, round, version, p, v, was[p], got)
				}
			}
			if most := (edits + 2) * 2 * runSize / 60; round > 0 && len(now) > most {
				t.Errorf("seed %d, round %d, version %d: %d entries read after %d edits, at most %d", seed, round, version, len(now), edits, most)
			}
			was = maps.Clone(of)
		}
	}
}

// However an index changes, what is known of it equals what Read returns. SPEC 19.2
func FuzzKnown(f *testing.F) {
	f.Add([]byte("a"), uint16(3), byte(2))
	f.Add([]byte("\x01"), uint16(200), byte(4))
	f.Fuzz(func(t *testing.T, with []byte, at uint16, version byte) {
		of := map[string]byte{}
		for i := range 50 {
			of[fmt.Sprintf("d/%d", i)] = byte(i)
		}
		data := made(2+version%3, slices.Sorted(maps.Keys(of)), of)
		var k Known
		all := map[string]bool{}
		mark := func(e *Entry) bool { all[string(e.Path)] = true; return e.ID[0]%2 == 0 }
		if _, _, err := k.Changed(bytes.NewReader(data), int64(len(data)), 20, mark); err != nil || len(all) != 50 {
			t.Fatal(err, len(all))
		}
		copy(data[int(at)%len(data):], with)
		var want []string
		_, err := Read(bytes.NewReader(data), int64(len(data)), "", 20, func(e *Entry) {
			if e.ID[0]%2 == 0 {
				want = append(want, string(e.Path))
			}
		})
		got, _, err2 := k.Changed(bytes.NewReader(data), int64(len(data)), 20, mark)
		if (err == nil) != (err2 == nil) || err == nil && !slices.Equal(got, want) {
			t.Fatalf("%v and %v, %q, want %q", err, err2, got, want)
		}
	})
}

// Parts of an index that differ anywhere have other hashes. SPEC 19.1
func TestSums(t *testing.T) {
	t.Parallel()
	s := newSums()
	r := rand.New(rand.NewPCG(3, 3))
	seen := map[uint64]int{}
	note := func(b []byte, i int) {
		h := s.of(b)
		if was, ok := seen[h]; ok && was != i {
			t.Fatalf("%d and %d have the same hash", was, i)
		}
		seen[h] = i
	}
	n := 0
	for _, size := range []int{1, 63, 64, 65, 128, 200, 1000} {
		for _, fill := range []byte{0, 'a', 255} {
			b := bytes.Repeat([]byte{fill}, size)
			n++
			note(b, n)
			for i := range size * 8 { // each bit
				b[i/8] ^= 1 << (i % 8)
				n++
				note(b, n)
				b[i/8] ^= 1 << (i % 8)
			}
			for range 200 { // two words by the same
				if i, j := r.IntN(max(size, 8)/8)*8, r.IntN(max(size, 8)/8)*8; i != j {
					c := slices.Clone(b)
					x := byte(1 + r.IntN(255))
					c[i], c[j] = c[i]^x, c[j]^x
					if s.of(c) == s.of(b) {
						t.Fatalf("a change of two words at %d and %d is not seen", i, j)
					}
				}
			}
		}
	}
	abc, again := s.of([]byte("abc")), s.of([]byte("abc"))
	if abc != again {
		t.Error("the same bytes have two hashes")
	}
	if o := newSums(); o.of([]byte("abc")) == abc {
		t.Error("two readers have the same hashes")
	}
}
