package machine

import (
	"path/filepath"
	"testing"

	"github.com/pawl-agent/pawl/internal/core/must"
)

// SPEC 15.1: in a container its own limit counts, also where it is set further
// up; what the kernel would give back is free.
func TestContainer(t *testing.T) {
	root := t.TempDir()
	put := func(path, text string) {
		t.Helper()
		path = filepath.Join(root, path)
		must.Write(t, path, text)
	}
	put("self", "12:cpu:/x\n0::/pod/box\n")
	left := func() (uint64, bool) { return container(filepath.Join(root, "self"), filepath.Join(root, "fs")) }
	if _, ok := left(); ok {
		t.Error("no limit anywhere, and one is known")
	}
	put("fs/pod/memory.max", "1000\n")
	put("fs/pod/memory.current", "900\n")
	put("fs/pod/memory.stat", "anon 5\ninactive_file 300\n")
	put("fs/pod/box/memory.max", "max\n")
	put("fs/pod/box/memory.current", "10\n")
	if n, ok := left(); !ok || n != 400 {
		t.Errorf("left %d %v", n, ok)
	}
	put("fs/pod/box/memory.max", "60\n")
	if n, ok := left(); !ok || n != 50 {
		t.Errorf("left %d %v", n, ok)
	}
	put("fs/pod/box/memory.current", "70\n")
	if n, ok := left(); !ok || n != 0 {
		t.Errorf("left %d %v", n, ok)
	}
}
