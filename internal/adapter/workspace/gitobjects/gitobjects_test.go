package gitobjects

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

func git(t testing.TB, root string, in []byte, args ...string) []byte {
	t.Helper()
	cmd := processtest.Git(root, args...)
	cmd.Stdin = bytes.NewReader(in)
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("git %v: %v", args, err)
	}
	return out
}

// grown is a text that differs a little from version to version, so that packs
// hold differences.
func grown(r *rand.Rand, versions int) [][]byte {
	var lines []string
	for range 300 {
		lines = append(lines, fmt.Sprintf("a line with the number %d in it", r.IntN(1000)))
	}
	var out [][]byte
	for range versions {
		for range 1 + r.IntN(5) {
			lines[r.IntN(len(lines))] = fmt.Sprintf("another line %d", r.Int())
		}
		out = append(out, []byte(strings.Join(lines, "\n")))
	}
	return out
}

// SPEC 19.1: a blob is read as git prints it, wherever it is kept.
func TestBlob(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		format string
		do     func(t *testing.T, root string)
	}{
		{"loose", "sha1", nil},
		{"packed", "sha1", func(t *testing.T, root string) { git(t, root, nil, "repack", "-qad", "--depth=50", "--window=50") }},
		{"packed with named bases", "sha1", func(t *testing.T, root string) {
			git(t, root, nil, "-c", "repack.useDeltaBaseOffset=false", "repack", "-qadf", "--window=50")
		}},
		{"several packs and a list of all", "sha1", func(t *testing.T, root string) {
			git(t, root, nil, "repack", "-qad")
			for i := range 3 {
				git(t, root, fmt.Appendf(nil, "more %d", i), "hash-object", "-w", "--stdin")
				git(t, root, nil, "repack", "-qd")
			}
			git(t, root, nil, "multi-pack-index", "write")
		}},
		{"sha256", "sha256", nil},
		{"sha256, packed", "sha256", func(t *testing.T, root string) { git(t, root, nil, "repack", "-qad", "--window=50") }},
		{"from another store", "sha1", func(t *testing.T, root string) {
			other := filepath.Join(t.TempDir(), "objects")
			git(t, root, nil, "repack", "-qad", "--window=50")
			must.Do(t, os.Rename(filepath.Join(root, ".git/objects"), other))
			must.Write(t, filepath.Join(root, ".git/objects/info/alternates"), "# where\n"+other+"\n")
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			root, r, idLen := t.TempDir(), rand.New(rand.NewPCG(1, 2)), 20
			if c.format == "sha256" {
				idLen = 32
			}
			git(t, root, nil, "init", "-q", "--object-format="+c.format)
			want := grown(r, 30)
			want = append(want, nil, []byte("x"), bytes.Repeat([]byte("long "), 100_000))
			args := []string{"hash-object", "-w", "--"}
			for i, body := range want {
				name := fmt.Sprintf("f%02d", i)
				must.Do(t, os.WriteFile(filepath.Join(root, name), body, 0o644))
				args = append(args, name)
			}
			var ids [][]byte
			for line := range strings.Lines(string(git(t, root, nil, args...))) {
				id := must.Get(hex.DecodeString(strings.TrimSpace(line)))(t)
				ids = append(ids, id)
			}
			git(t, root, nil, "add", "-A")
			git(t, root, nil, "commit", "-qm", "x")
			if c.do != nil {
				c.do(t, root)
			}
			o := New(filepath.Join(root, ".git/objects"), idLen)
			defer o.Close()
			for i, id := range ids {
				got, err := o.Blob(id)
				if err != nil || !bytes.Equal(got, want[i]) {
					t.Fatalf("blob %d: %d bytes, want %d: %v", i, len(got), len(want[i]), err)
				}
			}
			if _, err := o.Blob(bytes.Repeat([]byte{7}, idLen)); err != ErrAskGit {
				t.Errorf("one that is not there: %v", err)
			}
			head, _ := hex.DecodeString(strings.TrimSpace(string(git(t, root, nil, "rev-parse", "HEAD"))))
			if _, err := o.Blob(head); err != ErrAskGit {
				t.Errorf("a commit: %v", err)
			}
		})
	}
}

// Whatever is in a pack, nothing is returned that is not the blob. SPEC 19.2
func TestDamagedPack(t *testing.T) {
	t.Parallel()
	root, r := t.TempDir(), rand.New(rand.NewPCG(3, 4))
	git(t, root, nil, "init", "-q")
	want := map[string][]byte{}
	args, bodies := []string{"hash-object", "-w", "--"}, [][]byte(nil)
	for _, body := range grown(r, 20) {
		must.Do(t, os.WriteFile(filepath.Join(root, fmt.Sprint(len(bodies))), body, 0o644))
		args, bodies = append(args, fmt.Sprint(len(bodies))), append(bodies, body)
	}
	for i, id := range strings.Fields(string(git(t, root, nil, args...))) {
		want[id] = bodies[i]
	}
	var names []byte
	for id := range want {
		names = append(names, id+"\n"...)
	}
	git(t, root, names, "pack-objects", "-q", "--window=50", ".git/objects/pack/pack")
	git(t, root, nil, "prune-packed", "-q")
	files, err := filepath.Glob(filepath.Join(root, ".git/objects/pack/*"))
	if err != nil || len(files) < 2 {
		t.Fatal(files, err)
	}
	read := 0
	for range 150 {
		var kept [][]byte
		for _, f := range files {
			data := must.Get(os.ReadFile(f))(t)
			kept = append(kept, data)
			bad := bytes.Clone(data)
			for range r.IntN(3) {
				bad[r.IntN(len(bad))] ^= byte(1 + r.IntN(255))
			}
			if r.IntN(10) == 0 {
				bad = bad[:r.IntN(len(bad))]
			}
			_ = os.Remove(f)
			must.Do(t, os.WriteFile(f, bad, 0o644))
		}
		o := New(filepath.Join(root, ".git/objects"), 20)
		for name, body := range want {
			id, _ := hex.DecodeString(name)
			got, err := o.Blob(id)
			if err == nil && !bytes.Equal(got, body) {
				t.Fatalf("%s: something else", name)
			}
			if err == nil {
				read++
			}
		}
		o.Close()
		for i, f := range files {
			must.Do(t, os.WriteFile(f, kept[i], 0o644))
		}
	}
	if read == 0 {
		t.Error("nothing could be read")
	}
}

func FuzzApply(f *testing.F) {
	f.Add([]byte("base"), []byte{4, 4, 0x90, 4})
	f.Fuzz(func(t *testing.T, base, delta []byte) {
		if out, err := apply(base, delta); err == nil && len(out) > maxObject {
			t.Error("too large")
		}
	})
}
