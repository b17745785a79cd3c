//go:build unix

package workspace

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
	"github.com/pawl-agent/pawl/internal/core/tool"
)

// SPEC 16.8: FIFOs, devices and kernel files are refused, and never block.
func TestSpecialFiles(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a.txt": "needle\n"})
	must.Do(t, syscall.Mkfifo(filepath.Join(root, "pipe"), 0o644))
	must.Do(t, os.Symlink("/dev/zero", filepath.Join(root, "zero")))
	ctx := context.Background()
	all := w.WithOutside(true)
	var special *SpecialError
	for _, p := range []string{"pipe", "zero", "/proc/self/status", "/sys/kernel/notes", "/dev/null", ".", root} {
		if _, err := all.Read(ctx, p, 0); !errors.As(err, &special) {
			t.Errorf("read %s: %v", p, err)
		}
		if _, err := all.Write(ctx, p, []byte("x"), ""); !errors.As(err, &special) {
			t.Errorf("write %s: %v", p, err)
		}
	}
	if _, _, err := w.Stat("pipe"); !errors.As(err, &special) {
		t.Errorf("stat: %v", err)
	}
	m, err := w.Grep(ctx, tool.Query{Pattern: "needle"})
	if err != nil || m.Hits != 1 {
		t.Errorf("grep beside a FIFO: %+v, %v", m, err)
	}
}

// SPEC 16.8: a file with several hard links is written only after it was said.
func TestHardLinks(t *testing.T) {
	t.Parallel()
	w, root := open(t, map[string]string{"a": "old"})
	ctx := context.Background()
	must.Do(t, os.Link(filepath.Join(root, "a"), filepath.Join(root, "b")))
	if f, err := w.Read(ctx, "a", 0); err != nil || string(f.Data) != "old" {
		t.Fatalf("%v", err)
	}
	h := HashOf([]byte("old"))
	var linked *LinkedError
	if _, err := w.Write(ctx, "a", []byte("new"), h); !errors.As(err, &linked) || linked.Links != 2 || get(t, filepath.Join(root, "a")) != "old" {
		t.Fatalf("%v", err)
	}
	must.Done(t)(w.Write(ctx, "a", []byte("new"), h))
	if get(t, filepath.Join(root, "a")) != "new" || get(t, filepath.Join(root, "b")) != "old" {
		t.Error("not parted as said")
	}
}
