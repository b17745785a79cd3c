// Package filetree makes large workspaces for benchmarks.
package filetree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"
)

// File is the path of file i of a tree: ten files are in a folder.
func File(root string, i int) string {
	return filepath.Join(root, fmt.Sprintf("m%02d", i/10%50), fmt.Sprintf("package%05d", i/10), fmt.Sprintf("file_%d.go", i%10))
}

// Make makes a tree of n files, committed in a git repository unless plain. Few
// contents differ, so that git keeps few objects.
func Make(root string, n int, plain bool) error {
	for i := range n {
		p := File(root, i)
		if i%10 == 0 {
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return err
			}
		}
		if err := os.WriteFile(p, fmt.Appendf(nil, "package p // %d\n", i%100), 0o644); err != nil {
			return err
		}
	}
	// Files that were changed a moment ago are read again.
	time.Sleep(200 * time.Millisecond)
	if plain {
		return nil
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}, {"-c", "user.name=x", "-c", "user.email=x@x", "-c", "gc.auto=0", "commit", "-qm", "x"}} {
		if err := Git(root, args...); err != nil {
			return err
		}
	}
	time.Sleep(200 * time.Millisecond)
	return nil
}

// Git runs git in the tree.
func Git(root string, args ...string) error {
	cmd := exec.Command("git", args...)
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("git %v: %w\n%s", args, err, out)
	}
	return nil
}
