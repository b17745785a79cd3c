package workspace

import (
	"context"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// unsynced is for tests of many writes.
func unsynced(*os.File) error { return nil }

// SPEC 4.10: the new content is on the disk, all of it, before it takes the old
// one's name, and the name is when the write is done. What is opened calls the
// system's own sync.
func TestSyncBeforeRename(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	must.WriteMode(t, filepath.Join(root, "a"), "old", 0o644)
	w := must.Get(Open(root, Options{}))(t)
	defer w.Close()
	real := runtime.FuncForPC(reflect.ValueOf(w.flush).Pointer()).Name()
	if !strings.Contains(real, "os.(*File).Sync") {
		t.Errorf("an open workspace syncs by %s", real)
	}
	var did []string
	w.hook = func(step, name string) error {
		if step == "rename" {
			did = append(did, "rename "+name)
		}
		return nil
	}
	w.flush = func(f *os.File) error {
		what := "folder"
		if info, err := f.Stat(); err != nil {
			t.Error(err)
		} else if !info.IsDir() {
			data, err := os.ReadFile(f.Name()) // it is open for writing only
			if err != nil {
				t.Error(err)
			}
			what = "content " + string(data)
		}
		did = append(did, what)
		return f.Sync()
	}
	must.Done(t)(w.WriteAll(context.Background(), []tool.Write{{Path: "a", Data: []byte("new"), Expect: hashText("old")}, {Path: "b", Data: []byte("more")}}))
	at := func(s string) int { return slices.Index(did, s) }
	firstRename := slices.IndexFunc(did, func(s string) bool { return strings.HasPrefix(s, "rename") })
	for _, content := range []string{"content new", "content more"} {
		if at(content) < 0 || firstRename < 0 || at(content) > firstRename {
			t.Errorf("%s is not synced before the first rename: %q", content, did)
		}
	}
	if runtime.GOOS != "windows" && (len(did) == 0 || did[len(did)-1] != "folder") {
		t.Errorf("the folder is not synced after the renames: %q", did)
	}
}
