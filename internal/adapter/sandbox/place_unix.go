//go:build unix

package sandbox

import (
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// oneLink refuses a workspace whose protected files have a second hard link: a write
// through that link could not be distinguished from any other write.
func oneLink(root string) error {
	for _, pattern := range []string{"AGENTS.md", "CLAUDE.md", ".mcp.json", ".envrc", ".git/config", ".git/HEAD", ".git/hooks/*", ".pawl/*", ".claude/*", ".vscode/*"} {
		dir, name := filepath.Split(pattern)
		names := []string{name}
		if name == "*" {
			names = nil
			entries, err := os.ReadDir(filepath.Join(root, dir))
			if err != nil {
				continue // not there, or nothing that is written to by its name
			}
			for _, e := range entries {
				names = append(names, e.Name())
			}
		}
		for _, n := range names {
			file := filepath.Join(root, dir, n)
			var st unix.Stat_t
			if err := unix.Lstat(file, &st); err == nil && st.Mode&unix.S_IFMT == unix.S_IFREG && st.Nlink > 1 {
				return &Unsupported{"that protected files stay", file + " has a second hard link, by which it could be changed"}
			}
		}
	}
	return nil
}
