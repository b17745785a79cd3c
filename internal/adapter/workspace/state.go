package workspace

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/pawl-agent/pawl/internal/adapter/workspace/gitindex"
)

// State is what a repository looks like when a session begins. What could not be found
// out in time is missing.
type State struct {
	Branch    string
	Changed   int // changed and untracked files; -1: not known
	Commits   []string
	Languages []string // the most used ones, with the number of their files
}

const (
	stateCommits   = 3
	stateLanguages = 3
	stateSubject   = 72 // runes of a commit's subject
)

// State returns the state of the repository that dir is in.
func (g *Git) State(ctx context.Context, dir string) State {
	s := State{Changed: -1}
	repo := repository(dir)
	if repo == "" {
		return s
	}
	own, common := gitFolders(repo)
	var all sync.WaitGroup
	all.Go(func() { s.Branch, s.Changed = g.status(ctx, dir, own, common) })
	all.Go(func() {
		if out, err := g.Run(ctx, dir, nil, nil, "log", fmt.Sprintf("-%d", stateCommits), "--no-show-signature", "--format=%h %s"); err == nil {
			for l := range strings.Lines(string(out)) {
				s.Commits = append(s.Commits, oneLine(l))
			}
		}
	})
	below := ""
	if rel, err := filepath.Rel(repo, dir); err == nil && rel != "." {
		below = filepath.ToSlash(rel) + "/"
	}
	s.Languages = languages(filepath.Join(own, "index"), below)
	all.Wait()
	return s
}

// gitFolders returns git's own folder of a repository's tree, and the one that it shares
// with other trees.
func gitFolders(repo string) (own, common string) {
	own = filepath.Join(repo, ".git")
	if b, err := os.ReadFile(own); err == nil { // a file that names it
		own = strings.TrimSpace(strings.TrimPrefix(string(b), "gitdir:"))
		if !filepath.IsAbs(own) {
			own = filepath.Join(repo, own)
		}
	}
	common = own
	if b, err := os.ReadFile(filepath.Join(own, "commondir")); err == nil {
		if common = strings.TrimSpace(string(b)); !filepath.IsAbs(common) {
			common = filepath.Join(own, common)
		}
	}
	return own, common
}

// filters reports whether the repository's own configuration may name a filter, which git
// would run to find out what changed.
func filters(own, common string) bool {
	for _, file := range []string{filepath.Join(common, "config"), filepath.Join(own, "config.worktree"), filepath.Join(common, "config.worktree")} {
		text, err := os.ReadFile(file)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return true
		}
		if low := strings.ToLower(string(text)); strings.Contains(low, "filter") || strings.Contains(low, "include") {
			return true
		}
	}
	return false
}

// status returns the branch, and how many files are changed or untracked, if they can be
// counted without running a program of the repository.
func (g *Git) status(ctx context.Context, dir, own, common string) (branch string, changed int) {
	if filters(own, common) {
		out, _ := g.Run(ctx, dir, nil, nil, "branch", "--show-current")
		return oneLine(string(out)), -1
	}
	out, err := g.Run(ctx, dir, nil, nil, "status", "--porcelain", "--branch", "--untracked-files=normal", "--ignore-submodules=all")
	head, files, _ := strings.Cut(string(out), "\n")
	head, ok := strings.CutPrefix(head, "## ")
	if err != nil || !ok {
		return "", -1
	}
	head = strings.TrimPrefix(head, "No commits yet on ")
	if head, _, _ = strings.Cut(head, "..."); strings.HasPrefix(head, "HEAD (") {
		head = "none (detached)"
	}
	return oneLine(head), strings.Count(files, "\n")
}

// oneLine returns a text of the repository as one short line: anybody may have written it.
func oneLine(s string) string {
	s = strings.Join(strings.FieldsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == ' ' || r == '`' }), " ")
	if r := []rune(s); len(r) > stateSubject {
		s = string(r[:stateSubject]) + "…"
	}
	return s
}

// extensions are those of the files of each language.
var extensions = map[string]string{
	".go": "Go", ".py": "Python", ".rs": "Rust", ".java": "Java", ".kt": "Kotlin", ".rb": "Ruby", ".php": "PHP", ".cs": "C#", ".swift": "Swift",
	".js": "JavaScript", ".jsx": "JavaScript", ".mjs": "JavaScript", ".cjs": "JavaScript", ".ts": "TypeScript", ".tsx": "TypeScript",
	".c": "C", ".h": "C", ".cc": "C++", ".cpp": "C++", ".hpp": "C++", ".scala": "Scala", ".ex": "Elixir", ".exs": "Elixir", ".hs": "Haskell",
	".lua": "Lua", ".sh": "shell", ".zig": "Zig", ".dart": "Dart", ".vue": "Vue", ".svelte": "Svelte",
}

// languages returns the languages of most files below a folder in an index, with their
// number.
func languages(index, below string) (out []string) {
	f, err := os.Open(index)
	if err != nil {
		return nil
	}
	defer f.Close()
	st, err := f.Stat()
	if err != nil {
		return nil
	}
	count := map[string]int{}
	var names []string
	_, err = gitindex.Read(f, st.Size(), below, sha1.Size, func(e *gitindex.Entry) {
		name := extensions[strings.ToLower(path.Ext(string(e.Path)))]
		if name == "" {
			return
		}
		if count[name]++; count[name] == 1 {
			names = append(names, name)
		}
	})
	if err != nil { // its form is not known here
		return nil
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	for _, n := range names[:min(len(names), stateLanguages)] {
		out = append(out, fmt.Sprintf("%s (%d)", n, count[n]))
	}
	return out
}
