package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 11.2: a batch of many files, such as an undo, needs no descriptor for each; a folder
// that somebody replaced meanwhile is not taken for the one that was opened.
func TestABatchOpensAFolderOnce(t *testing.T) {
	t.Parallel()
	files, n := map[string]string{}, 100
	for i := range n {
		files[fmt.Sprintf("a/%d", i)] = "x"
		files[fmt.Sprintf("b/%d", i)] = "x"
	}
	w, root := open(t, files)
	b := &batch{w: w, taken: map[place]bool{}, known: map[string]*os.Root{}}
	defer b.close()
	for i := range n {
		for _, req := range []tool.Write{
			{Path: fmt.Sprintf("a/%d", i), Remove: true, Expect: HashOf([]byte("x"))},
			{Path: fmt.Sprintf("b/%d", i), Data: []byte("y"), Expect: HashOf([]byte("x"))},
			{Path: fmt.Sprintf("c/%d", i), Data: []byte("z")},
		} {
			if err := b.prepare(t.Context(), req); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, j := range b.jobs {
		if err := b.commit(j); err != nil {
			t.Fatal(err)
		}
	}
	b.removeOld()
	if len(b.roots) != 4 { // a, b, c, and the folder above c
		t.Errorf("%d folders are open", len(b.roots))
	}
	p, err := w.resolve(filepath.Join(root, "b"))
	if err != nil {
		t.Fatal(err)
	}
	old, err := b.open(p)
	if err != nil || old != b.known[p.abs] {
		t.Fatal(err)
	}
	if err := os.Rename(filepath.Join(root, "b"), filepath.Join(root, "away")); err != nil {
		t.Fatal(err)
	}
	put(t, filepath.Join(root, "b/new"), "")
	if now, err := b.open(p); err != nil || now == old {
		t.Errorf("the folder that is gone is used: %v", err)
	}
}
