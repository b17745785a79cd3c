package sandbox

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/pawl-agent/pawl/internal/core/gitrepo"
	"github.com/pawl-agent/pawl/internal/core/lazyregexp"
	"github.com/pawl-agent/pawl/internal/core/plainfile"
	"github.com/pawl-agent/pawl/internal/policy/confine"
)

// repository finds the git folders of a workspace that lie outside of it: the
// .git of a folder above, and what a file named .git points to (a linked
// worktree, a submodule). Such a file came with the workspace, so it is
// believed only where the git folder names the workspace in its turn. top is the
// repository's folder, where the workspace is one inside it: what builds the
// workspace (go.mod, package.json) may be there. A home is none.
func repository(root, home string) (git, common []string, top string) {
	for dir := root; dir != home || dir == root; dir = filepath.Dir(dir) {
		dot := filepath.Join(dir, ".git")
		st, err := os.Lstat(dot)
		switch {
		case err == nil && st.Mode().IsRegular():
			if git, common = pointedFolders(dir, dot); git != nil && dir != root {
				top = dir
			}
			return git, common, top
		case err == nil && dir != root && !gitrepo.Is(dir): // git looks on above it, too
		case err == nil && st.IsDir() && dir != root && !confine.Within(dir, home):
			return []string{dot}, nil, dir
		case err == nil || dir == filepath.Dir(dir):
			return nil, nil, ""
		}
	}
	return nil, nil, ""
}

// GitFolders returns the git folders that a folder's file .git points to, and that point
// back; none for another folder.
func GitFolders(dir string) []string {
	dot := filepath.Join(dir, ".git")
	if st, err := os.Lstat(dot); err != nil || !st.Mode().IsRegular() {
		return nil
	}
	git, common := pointedFolders(dir, dot)
	return slices.Concat(git, common)
}

// worktreeOf matches the folder of a submodule's files in its configuration.
var worktreeOf = lazyregexp.New(`(?m)^[ \t]*worktree[ \t]*=[ \t]*"?([^"\r\n]+?)"?[ \t]*$`)

func pointedFolders(root, dot string) (git, common []string) {
	dir, ok := strings.CutPrefix(readLine(dot), "gitdir: ")
	if !ok {
		return nil, nil
	}
	dir = real(resolveAgainst(root, dir))
	if st, err := os.Stat(dir); err != nil || !st.IsDir() {
		return nil, nil
	}
	if back := readLine(filepath.Join(dir, "gitdir")); back != "" {
		shared := readLine(filepath.Join(dir, "commondir"))
		if shared == "" || real(resolveAgainst(dir, back)) != real(dot) {
			return nil, nil
		}
		shared = real(resolveAgainst(dir, shared))
		if filepath.Dir(filepath.Dir(dir)) != shared || filepath.Base(filepath.Dir(dir)) != "worktrees" {
			return nil, nil
		}
		return []string{dir}, []string{shared}
	}
	config, _ := plainfile.Read(filepath.Join(dir, "config"), 1<<20) // none: nothing points back
	if m := worktreeOf().FindSubmatch(config); m != nil && real(resolveAgainst(dir, string(m[1]))) == real(root) {
		return []string{dir}, nil
	}
	return nil, nil
}

// isRepository reports whether a folder is a repository, of any name.
func isRepository(dir string) bool { return confine.IsRepository(holds(dir)) }

// holds returns what tells which names are in a folder.
func holds(dir string) func(name string) bool {
	return func(name string) bool {
		_, err := os.Lstat(filepath.Join(dir, name))
		return err == nil
	}
}

// repositoryOf returns the repository to which a file or folder belongs as git's own, ""
// for none.
func repositoryOf(file string, folder bool) string {
	for dir := file; ; dir = filepath.Dir(dir) {
		if confine.OwnedByGit(dir, file, folder) && isRepository(dir) {
			return dir
		}
		if dir == filepath.Dir(dir) {
			return ""
		}
	}
}

// MayGrant returns why a person cannot grant changes of a file or folder to a
// policy's commands, nil if they can.
func MayGrant(p confine.Policy, file string, folder bool) error {
	if repo := repositoryOf(file, folder); repo != "" {
		return fmt.Errorf("%w: %s is git's own in the repository %s, which holds hooks and configuration; grant a folder beside it", confine.ErrPolicy, file, repo)
	}
	if folder {
		return p.MayGrant(file)
	}
	return nil
}

func resolveAgainst(dir, p string) string {
	if filepath.IsAbs(p) {
		return p
	}
	return filepath.Join(dir, p)
}

// readLine returns the content of a small file of one line, "" if there is none.
func readLine(file string) string {
	st, err := os.Lstat(file)
	if err != nil || !st.Mode().IsRegular() || st.Size() > 8<<10 {
		return ""
	}
	b, _ := plainfile.Read(file, 8<<10) // "" as where there is none
	return strings.TrimRight(string(b), "\r\n")
}
