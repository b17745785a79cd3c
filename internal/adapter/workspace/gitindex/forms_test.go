package gitindex

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/process/processtest"
)

// SPEC 19.1: for an index that git writes, in each form, the entries read after a change
// and those read before add up to those of a whole read; both refuse an unknown form.
func TestKnownOfGit(t *testing.T) {
	t.Parallel()
	const blob = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
	for name, c := range map[string]struct {
		set    []string // configuration
		do     []string
		has    string // what shows the form
		refuse bool
	}{
		"version 2":       {has: "DIRC\x00\x00\x00\x02"},
		"version 3":       {do: []string{"update-index", "--skip-worktree", "d0001/f00010"}, has: "DIRC\x00\x00\x00\x03"},
		"version 4":       {do: []string{"update-index", "--index-version", "4"}, has: "DIRC\x00\x00\x00\x04"},
		"untracked cache": {do: []string{"update-index", "--force-untracked-cache"}, has: "UNTR"},
		"fsmonitor":       {set: []string{"core.fsmonitor=.git/hook"}, do: []string{"update-index", "--fsmonitor"}, has: "FSMN"},
		"offset table":    {set: []string{"index.threads=2", "index.recordOffsetTable=true", "index.recordEndOfIndexEntries=true"}, has: "IEOT"},
		"offset table, 4": {set: []string{"index.threads=2", "index.recordOffsetTable=true", "index.recordEndOfIndexEntries=true", "index.version=4"}, do: []string{"update-index", "--index-version", "4"}, has: "IEOT"},
		"split":           {do: []string{"update-index", "--split-index"}, has: "link", refuse: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			top := t.TempDir()
			git(t, top, "init", "-q")
			must.WriteMode(t, filepath.Join(top, ".git/hook"), "#!/bin/sh\nprintf 'token\\0'\n", 0o755)
			for _, s := range c.set {
				k, v, _ := strings.Cut(s, "=")
				git(t, top, "config", k, v)
			}
			feed := func(lines string) {
				cmd := processtest.Git(top, "update-index", "--index-info")
				cmd.Stdin = strings.NewReader(lines)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v\n%s", err, out)
				}
			}
			var all strings.Builder
			for i := range 21_000 { // an offset table has a row for each 10,000
				fmt.Fprintf(&all, "100644 %s\td%04d/f%05d\n", blob, i/10, i)
			}
			feed(all.String())
			git(t, top, "config", "feature.manyFiles", "false")
			if c.do != nil {
				git(t, top, c.do...)
			}
			var k Known
			r := rand.New(rand.NewPCG(1, 8))
			for step := range 8 {
				f := must.Get(os.Open(filepath.Join(top, ".git/index")))(t)
				st := must.Get(f.Stat())(t)
				if data, err := os.ReadFile(f.Name()); err != nil || !bytes.Contains(data, []byte(c.has)) {
					t.Fatalf("git writes no index of this form: %v", err)
				}
				var want []string
				odd := func(e *Entry) bool { return e.ID[0] != 0xe6 || e.Path[len(e.Path)-1] == '7' }
				n, read := 0, 0
				end, err := Read(f, st.Size(), "", 20, func(e *Entry) {
					if n++; odd(e) {
						want = append(want, string(e.Path))
					}
				})
				got, end2, err2 := k.Changed(f, st.Size(), 20, func(e *Entry) bool { read++; return odd(e) })
				_ = f.Close()
				if c.refuse {
					if !errors.Is(err, ErrForm) || !errors.Is(err2, ErrForm) {
						t.Fatalf("it is read: %v, %v", err, err2)
					}
					return
				}
				if err != nil || err2 != nil || end != end2 || !slices.Equal(got, want) || n < 20_000 {
					t.Fatalf("step %d: %v and %v, %d marked, want %d of %d", step, err, err2, len(got), len(want), n)
				}
				if step > 0 && read > n/4 {
					t.Errorf("step %d: %d of %d entries were read again", step, read, n)
				}
				i := r.IntN(21_000)
				switch step % 4 {
				case 0:
					feed(fmt.Sprintf("100755 %s\td%04d/f%05d\n", "1234567890123456789012345678901234567890", i/10, i))
				case 1:
					feed(fmt.Sprintf("0 %s\td%04d/f%05d\n", strings.Repeat("0", 40), i/10, i))
				case 2:
					feed(fmt.Sprintf("100644 %s\td%04d/new%d\n", blob, i/10, step))
				default:
					git(t, top, "update-index", "--assume-unchanged", "d0003/f00030")
				}
			}
		})
	}
}
