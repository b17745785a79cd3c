// Package filetree makes large workspaces for benchmarks.
package filetree

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
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

// Source makes a tree of n files of source-like text, 1 to 5 KB each, in git:
// ten files in a folder, one of them documentation; ignore files at the top and
// further down, and as many ignored files as a build leaves, a tenth. A few files
// have the word rareNeedle.
func Source(root string, n int) error {
	var lines []string
	for i := range 200 {
		lines = append(lines, fmt.Sprintf("\tif value%d := compute(input, %d); value%d != nil {\n\t\treturn wrap(value%d, \"step %d\")\n\t}\n", i, i*7, i, i, i))
	}
	for i := range n {
		p := File(root, i)
		if i%10 == 9 {
			p = strings.TrimSuffix(p, ".go") + ".md"
		}
		if i%10 == 0 {
			if err := os.MkdirAll(filepath.Dir(p), 0o755); err != nil {
				return err
			}
			if err := os.WriteFile(filepath.Join(filepath.Dir(p), "built.o"), make([]byte, 500), 0o644); err != nil {
				return err
			}
		}
		var b strings.Builder
		fmt.Fprintf(&b, "package p%d\n\nfunc readError(input string) error {\n", i)
		for k := range 10 + i*31%40 {
			b.WriteString(lines[(i*13+k*29)%len(lines)])
		}
		b.WriteString("}\n")
		if i%5000 == 77 || i%5000 == 79 {
			b.WriteString("// rareNeedle x12345_Y\n")
		}
		if err := os.WriteFile(p, []byte(b.String()), 0o644); err != nil {
			return err
		}
	}
	rules := "*.o\n*.log\nbuild/\n/dist\n!keep.log\n**/node_modules/\n*.py[co]\n.cache\n"
	if err := os.WriteFile(filepath.Join(root, ".gitignore"), []byte(rules), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(filepath.Dir(File(root, 0)), ".gitignore"), []byte("*.tmp\n"), 0o644); err != nil {
		return err
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "-A"}} {
		if err := Git(root, args...); err != nil {
			return err
		}
	}
	return nil
}
