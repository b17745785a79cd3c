package workspace

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
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
			must.Do(t, b.prepare(t.Context(), req))
		}
	}
	for _, j := range b.jobs {
		must.Do(t, b.commit(j))
	}
	b.removeOld()
	if len(b.roots) != 4 { // a, b, c, and the folder above c
		t.Errorf("%d folders are open", len(b.roots))
	}
	p := must.Get(w.resolve(filepath.Join(root, "b")))(t)
	old, err := b.open(p)
	if err != nil || old != b.known[p.abs] {
		t.Fatal(err)
	}
	must.Do(t, os.Rename(filepath.Join(root, "b"), filepath.Join(root, "away")))
	must.WriteMode(t, filepath.Join(root, "b/new"), "", 0o644)
	if now, err := b.open(p); err != nil || now == old {
		t.Errorf("the folder that is gone is used: %v", err)
	}
}
