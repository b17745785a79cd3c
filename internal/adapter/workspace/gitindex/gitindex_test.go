package gitindex

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func git(t testing.TB, root string, args ...string) {
	t.Helper()
	cmd := exec.Command("git", args...)
	cmd.Dir, cmd.Env = root, append(os.Environ(), "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+os.DevNull)
	if out, err := cmd.CombinedOutput(); err != nil {
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
		if err := b.add(fmt.Appendf(nil, "some/folder/below/%03d/file_%05d.go", i/100, i), false); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(b.data) + 4*len(b.starts); n > 16*10_000 {
		t.Errorf("%d bytes for 10,000 paths", n)
	}
}

// made is an index of version 2.
func made(paths []string, version map[string]byte) []byte {
	out := append([]byte(indexMagic), 0, 0, 0, 2)
	out = binary.BigEndian.AppendUint32(out, uint32(len(paths)))
	for _, p := range paths {
		e := make([]byte, indexStat)
		binary.BigEndian.PutUint32(e[24:], 0o100644)
		e = append(e, bytes.Repeat([]byte{version[p]}, 20)...)
		e = binary.BigEndian.AppendUint16(e, uint16(min(len(p), 0xfff)))
		e = append(e, p...)
		e = append(e, make([]byte, (len(e)/8+1)*8-len(e))...)
		out = append(out, e...)
	}
	out = append(out, "TREE\x00\x00\x00\x03abc"...)
	return append(out, make([]byte, 20)...)
}

// What is read of an index that changed is what changed in it. SPEC 19.1
func TestKnown(t *testing.T) {
	t.Parallel()
	for seed := range uint64(5) {
		r := rand.New(rand.NewPCG(seed, 5))
		version := map[string]byte{}
		for i := range 3000 + r.IntN(2000) {
			version[fmt.Sprintf("m%02d/package%05d/file_%d.go", i/10%50, i/10, i%10)] = 1
		}
		var k Known
		was := map[string]byte{}
		for round := range 15 {
			edits, named := 0, false
			if round > 0 {
				all := slices.Sorted(maps.Keys(version))
				for range r.IntN(4) {
					edits++
					switch p := all[r.IntN(len(all))]; r.IntN(4) {
					case 0:
						delete(version, p)
						named = true
					case 1:
						version[p+"x"] = 1
						named = true
					default:
						version[p]++
					}
				}
				if r.IntN(10) == 0 { // a folder goes
					for p := range version {
						if strings.HasPrefix(p, "m07/") {
							delete(version, p)
							named = true
						}
					}
				}
			}
			paths := slices.Sorted(maps.Keys(version))
			data := made(paths, version)
			now := map[string]byte{}
			_, changed, err := k.Changed(bytes.NewReader(data), int64(len(data)), 20, func(e *Entry) { now[string(e.Path)] = e.ID[0] })
			if err != nil {
				t.Fatal(err)
			}
			for p, v := range version {
				if got, ok := now[p]; ok && got != v || !ok && was[p] != v {
					t.Fatalf("seed %d, round %d: %s is %d, known %d, read %d", seed, round, p, v, was[p], got)
				}
			}
			if round > 0 && (named && !changed || !named && changed) {
				t.Fatalf("seed %d, round %d: other paths %v, said %v", seed, round, named, changed)
			}
			if most := (edits + 2) * 2 * runSize / 80; round > 0 && len(now) > most {
				t.Errorf("seed %d, round %d: %d entries read after %d edits, at most %d", seed, round, len(now), edits, most)
			}
			was = maps.Clone(version)
		}
	}
}

// Whatever an index turns into, what is known of it is what Read says. SPEC 19.2
func FuzzKnown(f *testing.F) {
	f.Add([]byte("a"), uint16(3))
	f.Fuzz(func(t *testing.T, with []byte, at uint16) {
		version := map[string]byte{}
		for i := range 50 {
			version[fmt.Sprintf("d/%d", i)] = byte(i)
		}
		data := made(slices.Sorted(maps.Keys(version)), version)
		var k Known
		all := map[string]bool{}
		if _, _, err := k.Changed(bytes.NewReader(data), int64(len(data)), 20, func(e *Entry) { all[string(e.Path)] = true }); err != nil || len(all) != 50 {
			t.Fatal(err, len(all))
		}
		copy(data[int(at)%len(data):], with)
		want, got := 0, 0
		_, err := Read(bytes.NewReader(data), int64(len(data)), "", 20, func(*Entry) { want++ })
		_, _, err2 := k.Changed(bytes.NewReader(data), int64(len(data)), 20, func(*Entry) { got++ })
		if (err == nil) != (err2 == nil) || err == nil && got > want {
			t.Fatalf("%v and %v, %d of %d", err, err2, got, want)
		}
	})
}
